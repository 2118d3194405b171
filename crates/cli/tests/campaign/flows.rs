//! Random C programs in which much is computed from little: through locals, memory, calls, recursion and other threads.

use std::fmt::Write;

use reweave_testkit::Rng;

const HEAD: &str = r#"
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE static __attribute__((noinline))
struct s { int a, b, c; long d, e; };
struct big { long q[6]; };
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
int x[6] = {1, 2, 3, 4, 5, 6}, y, z, one = 1, at = 3;
long w;
short h = 7;
char text[16] = "abc";
struct s shared = {1, 2, 3, 4, 5};
struct big g = {{1, 2, 3, 4, 5, 6}};
static int own[4][8], row[4][32], col[4][32];
static struct s kept[4];
static __thread int local[4];
int other(int a, int *to);
NOINLINE void bump(int *at, int by) { *at += by; }
NOINLINE int twice(int a) { return a * 2 + 1; }
NOINLINE int pick(int a, int b) { return a > b ? a - b : b; }
NOINLINE int deep(int n, int a, int b) { if (n <= 0) return b; return a * 2 + deep(n - 1, b, a); }
NOINLINE int down(int n, int a, int *to) { if (n <= 0) { *to = a; return 1; } return down(n - 1, a + x[n & 3], to) + a; }
NOINLINE int look(int i) { return x[i & 3] + 1; }
NOINLINE int keep(int t, int v) { own[t][v & 7] = v; return own[t][(v + 1) & 7]; }
NOINLINE int sum(struct big b, int i) { b.q[1] += i; return (int)(b.q[i & 3] + b.q[1]); }
NOINLINE struct big make(int a, int b) { struct big r = {{a, b, y, 4}}; return r; }
NOINLINE int many(int n, ...) {
    va_list list; int all = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++) all += va_arg(list, int);
    va_end(list);
    return all;
}
NOINLINE int jump(int v) {
    jmp_buf to; volatile int kept = v;
    int r = setjmp(to);
    if (r) return kept + r;
    if (v & 1) longjmp(to, (v & 2) + 1);
    return kept;
}
NOINLINE int computed(int v) {
    static const void *const to[2] = {&&one_way, &&another};
    goto *to[v & 1];
one_way: return v + 3;
another: return x[2];
}
NOINLINE int tail_end(int a, int b) { return x[a & 3] + b; }
#if defined(__OPTIMIZE__)
#define TAIL __attribute__((musttail))
/* Where a division traps, the behaviour is undefined, and an optimised one may trap earlier than it stands in the source. */
#define ONE (one | 1)
#else
#define TAIL
#define ONE one
#endif
NOINLINE int tail(int a, int b) { if (b > 100) return a; TAIL return tail_end(b, a); }
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int (*const table[2])(int) = {twice, look};
"#;

/// Another module of the same program.
pub(crate) const SECOND: &str = "
int other(int a, int *to);
extern int x[6];
int other(int a, int *to) { *to = x[a & 3]; return a > 3 ? a * 5 : *to + a; }
";

struct Writer<'r> {
    rng: &'r mut Rng,
    text: String,
    thread: usize,
    loops: usize,
}

/// The text of a program.
pub(crate) fn program(seed: u64) -> String {
    let mut rng = Rng::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(7));
    let mut text = HEAD.to_owned();
    for thread in 0..3 {
        let mut writer = Writer { rng: &mut rng, text: String::new(), thread, loops: 0 };
        writer.statements(20, 0);
        let body = writer.text;
        let _ = write!(
            text,
            "static void *t{thread}(void *u) {{\n int a = 1, b = 2, c = 3, d = 4; struct s l = {{0}};\n{body} x[5] = a + b + c + d; return u;\n}}\n"
        );
    }
    text.push_str(
        "int main(void) {\n pthread_t t[3]; void *(*f[3])(void *) = {t0, t1, t2};\n for (int i = 0; i < 3; i++) \
         pthread_create(&t[i], 0, f[i], 0);\n for (int i = 0; i < 3; i++) pthread_join(t[i], 0);\n return 0;\n}\n",
    );
    text
}

impl Writer<'_> {
    fn local(&mut self) -> &'static str {
        ["a", "b", "c", "d"][self.rng.below(4)]
    }

    fn shared(&mut self) -> String {
        match self.rng.below(6) {
            5 => "h".to_owned(),
            0 => "y".to_owned(),
            1 => "z".to_owned(),
            2 => "w".to_owned(),
            _ => format!("x[{}]", self.rng.below(4)),
        }
    }

    fn value(&mut self) -> String {
        let (a, b) = (self.local(), self.local());
        match self.rng.below(9) {
            8 => format!("(int)({a} * 1.5f + (float){b})"),
            0 => self.rng.below(9).to_string(),
            1 | 2 => a.to_owned(),
            3 => format!("({a} + {b})"),
            4 => format!("({a} ^ {b})"),
            5 => format!("({a} > {b} ? {a} : 3)"),
            6 => format!("({a} / (({b} & 7) + 1))"),
            _ => format!("({a} * 3 - {b})"),
        }
    }

    fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..1 + self.rng.below(count) + count / 2 {
            self.statement(depth);
        }
    }

    fn block(&mut self, depth: usize) -> String {
        let outer = std::mem::take(&mut self.text);
        self.statements(2, depth + 1);
        std::mem::replace(&mut self.text, outer)
    }

    fn statement(&mut self, depth: usize) {
        let (l, v, u, s, t) = (self.local(), self.value(), self.value(), self.shared(), self.thread);
        if self.rng.below(2) == 0 {
            let line = self.rare(l, &v, &u, t);
            let _ = writeln!(self.text, " {line}");
            return;
        }
        let line = match self.rng.below(if depth < 2 { 22 } else { 17 }) {
            0..=3 => format!("{l} = {s};"),
            4 | 5 => format!("{s} = {v};"),
            6 => format!("own[{t}][{v} & 7] = {u};"),
            7 => format!("{l} = own[{t}][{v} & 7];"),
            8 => format!("{l} = pick({v}, {u});"),
            9 => format!("{l} = deep({v} & 3, {u}, {l});"),
            10 => format!("{l} = deep(2, {u}, {v});"),
            11 => format!("bump(&{l}, {v});"),
            12 => format!("{l} = table[{v} & 1]({u});"),
            13 => format!("l = shared; l.b = {v}; kept[{t}] = l;"),
            14 => format!("l = kept[{t}]; {l} = l.a + l.b; shared.c = l.b;"),
            15 => format!("{l} = keep({t}, {v}) + look({u});"),
            16 => format!("x[{v} & 3] = {u};"),
            17 => {
                let (yes, no) = (self.block(depth), self.block(depth));
                format!("if ({v} > {u}) {{ {yes} }} else {{ {no} }}")
            }
            18 => {
                self.loops += 1;
                let (name, body) = (self.loops, self.block(depth));
                format!("for (int i{name} = 0; i{name} < ({v} & 3); i{name}++) {{ {body} }}")
            }
            // Never one within another: it would wait for itself.
            19 if depth == 0 => {
                let body = self.block(depth);
                format!("pthread_mutex_lock(&m); {body} pthread_mutex_unlock(&m);")
            }
            20 => {
                let (one, two) = (self.block(depth), self.block(depth));
                format!(
                    "switch ({v} & 3) {{ case 0: {one} break; case 2: {two} break; default: {l} = {s}; }}"
                )
            }
            _ => {
                let body = self.block(depth);
                format!("if ({v} & 1) {{ {body} }}")
            }
        };
        let _ = writeln!(self.text, " {line}");
    }

    /// What is not in every program.
    fn rare(&mut self, l: &str, v: &str, u: &str, t: usize) -> String {
        match self.rng.below(30) {
            0 => format!("{l} = __atomic_load_n(&at, 5);"),
            1 => format!("__atomic_store_n(&at, {v}, 5);"),
            2 => format!("{l} = __atomic_fetch_add(&at, {v}, 5);"),
            3 => {
                format!("{{ int e = {v}; if (__atomic_compare_exchange_n(&at, &e, {u}, 0, 5, 5)) {l} = e; }}")
            }
            4 | 5 => format!("{l} = {v} / ONE;"),
            6 => format!("one = 1; {l} = {v} % ONE;"),
            7 => format!("{l} = sum(g, {v});"),
            8 => format!("g.q[{v} & 3] = {u}; {l} = (int)g.q[{u} & 3];"),
            9 => format!("{{ struct big r = make({v}, {u}); {l} = (int)r.q[{u} & 3]; }}"),
            10 => format!("for (int i = 0; i < 32; i++) row[{t}][i] = col[{t}][i] * {v} + i;"),
            11 => format!("for (int i = 0; i < 32; i++) if (row[{t}][i] > {v}) col[{t}][i] = {u};"),
            12 => format!("for (int i = 0; i < 32; i++) {l} += row[{t}][i] ^ i;"),
            13 => format!("memcpy(own[{t}], x, (size_t)({v} & 3) * 4); {l} = own[{t}][1];"),
            14 => format!("memcpy(&shared, &kept[{t}], sizeof shared);"),
            15 => format!("{l} = many(3, {v}, {u}, y);"),
            16 => format!("{l} = jump({v});"),
            17 => format!("{l} = computed({v});"),
            18 => format!("{l} = tail({v}, {u});"),
            19 => {
                format!("{{ int *p = calloc(4, sizeof *p); p[{v} & 3] = {u}; {l} = p[{u} & 3]; free(p); }}")
            }
            20 => format!("local[{v} & 3] = {u}; {l} = local[1];"),
            21 => format!("{{ int v[({v} & 7) + 1]; v[0] = {u}; bump(v, 3); {l} = v[0]; }}"),
            22 => format!("{l} = other({v}, &own[{t}][2]);"),
            23 => format!("{{ int r; {l} = down(2, {v}, &r) + r; }}"),
            24 => format!("if (!pthread_mutex_trylock(&k)) {{ {l} = y; pthread_mutex_unlock(&k); }}"),
            25 => format!("pthread_rwlock_rdlock(&rw); {l} = z; pthread_rwlock_unlock(&rw);"),
            26 => format!("__asm__(\"addl %1, %0\" : \"+r\"({l}) : \"r\"({v}));"),
            27 => format!("text[1] = (char)('b' + ({v} & 1)); {l} = (int)strlen(text) + text[{u} & 1];"),
            28 => format!("qsort(own[{t}], 4, sizeof(int), order); {l} = own[{t}][0];"),
            _ => format!("printf(\"%d \", {v}); __asm__ volatile(\"\" : \"+r\"({l}));"),
        }
    }
}
