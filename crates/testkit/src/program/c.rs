//! Programs as C.
//!
//! Many programs, *cases*, make one binary: its argument is the number of the case. All names of a case end in its number.

mod calls;
mod prelude;

use std::fmt::Write;

use super::{Atomic, Bug, HandOver, LockKind, Mode, Program, Region, Statement, Step};
use calls::{acquire, call, how, make, release};

/// The source of a binary with these programs as its cases, from 0.
pub fn c_binary(programs: &[Program]) -> String {
    let mut text = prelude::PRELUDE.to_owned();
    for (case, program) in programs.iter().enumerate() {
        text.push_str(&c_source(program, case));
    }
    text.push_str("int main(int count, char **arguments) {\n");
    text.push_str("    start = now();\n    switch (count > 1 ? atoi(arguments[1]) : -1) {\n");
    for case in 0..programs.len() {
        let _ = writeln!(text, "    case {case}: return main_{case}();");
    }
    text.push_str("    default: return 9;\n    }\n}\n");
    text
}

/// The source of one program, without what all have in common.
pub fn c_source(program: &Program, case: usize) -> String {
    let mut printer = Printer { program, case, text: format!("\n/* seed {} */\n", program.seed) };
    printer.globals();
    for (number, statements) in program.threads.iter().enumerate() {
        printer.thread(number, statements);
    }
    printer.first_thread();
    printer.text
}

struct Printer<'p> {
    program: &'p Program,
    case: usize,
    text: String,
}

/// Appends a line.
macro_rules! line {
    ($printer:expr, $($format:tt)*) => {{ let _ = writeln!($printer.text, $($format)*); }};
}

impl Printer<'_> {
    fn globals(&mut self) {
        let n = self.case;
        for (lock, kind) in self.program.locks.iter().enumerate() {
            let made = match kind {
                LockKind::Normal | LockKind::Recursive | LockKind::ErrorCheck | LockKind::Robust => {
                    "pthread_mutex_t"
                }
                LockKind::ReadWrite => "pthread_rwlock_t",
                LockKind::Spin => "pthread_spinlock_t",
                LockKind::Semaphore => "sem_t",
                LockKind::Pipe => "channel",
                LockKind::Atomic => "atomic_int",
                LockKind::Stream => "FILE *",
            };
            line!(self, "static {made} m{lock}_{n};");
            // Not static: libc says of `flockfile` that it touches none of this file's own variables, and gcc keeps them in
            // registers across it.
            line!(
                self,
                "int x{lock}_0_{n}, x{lock}_1_{n}, a{lock}_{n}[4], u{lock}_{n}, v{lock}_{n}, *p{lock}_{n};"
            );
        }
        for token in 0..self.program.tokens.len() {
            line!(self, "static hand_over t{token}_{n};");
        }
        for feed in 0..self.program.feeds.len() {
            line!(self, "static feed f{feed}_{n};");
        }
        for meeting in 0..self.program.meetings {
            line!(self, "static pthread_barrier_t b{meeting}_{n};");
        }
        for atomic in 0..self.program.atomics {
            line!(self, "static atomic_int z{atomic}_{n};");
        }
        for once in 0..2 {
            line!(self, "static pthread_once_t o{once}_{n} = PTHREAD_ONCE_INIT;");
            line!(self, "static int i{once}_{n};");
            line!(self, "static void init{once}_{n}(void) {{ i{once}_{n} = {}; }}", once + 3);
        }
        if self.program.bug.is_some() {
            line!(self, "static int bug_{n}, *bad_{n};");
            line!(
                self,
                "static pthread_mutex_t m_{n} = PTHREAD_MUTEX_INITIALIZER, k_{n} = PTHREAD_MUTEX_INITIALIZER;"
            );
        }
    }

    fn thread(&mut self, number: usize, statements: &[Statement]) {
        let n = self.case;
        line!(self, "static void *thread{number}_{n}(void *unused) {{");
        line!(self, "    int a = {number}, c = 0, done[{}] = {{0}};", self.program.locks.len());
        self.bug(number);
        for statement in statements {
            self.statement(statement);
        }
        for lock in 0..self.program.locks.len() {
            line!(self, "    atomic_fetch_add(&total[{lock}], done[{lock}]);");
        }
        line!(self, "    (void)c; (void)done;");
        line!(self, "    atomic_fetch_add(&sum, a);");
        line!(self, "    return unused;\n}}");
    }

    fn bug(&mut self, thread: usize) {
        let n = self.case;
        match (self.program.bug, thread) {
            (Some(Bug::Race), 0) => line!(self, "    bug_{n} = 1;"),
            (Some(Bug::Race), 1) => line!(self, "    if (bug_{n} > 50) _exit(6);"),
            (Some(Bug::Deadlock), 0 | 1) => {
                let (first, second) = if thread == 0 { ("m", "k") } else { ("k", "m") };
                line!(self, "    pthread_mutex_lock(&{first}_{n});");
                line!(self, "    pthread_mutex_lock(&{second}_{n});");
                line!(self, "    bug_{n}++;");
                line!(self, "    pthread_mutex_unlock(&{second}_{n});");
                line!(self, "    pthread_mutex_unlock(&{first}_{n});");
            }
            (Some(Bug::UseAfterFree), 0) => {
                line!(
                    self,
                    "    pthread_mutex_lock(&m_{n}); if (*bad_{n} > 50) _exit(6); pthread_mutex_unlock(&m_{n});"
                );
            }
            (Some(Bug::UseAfterFree), 1) => {
                line!(self, "    pthread_mutex_lock(&m_{n}); free(bad_{n}); pthread_mutex_unlock(&m_{n});");
            }
            _ => {}
        }
    }

    fn statement(&mut self, statement: &Statement) {
        let n = self.case;
        match statement {
            Statement::Locked(region) => self.region(region),
            Statement::Atomic(which, access) => self.atomic(&format!("z{which}_{n}"), *access),
            Statement::Give(token) => self.give(*token),
            Statement::Take(token) => self.take(*token),
            Statement::Eat(feed) => {
                let how = how(self.program.feeds[*feed].how);
                line!(self, "    c = eat_{how}(&f{feed}_{n});");
                line!(self, "    if (c & 1) atomic_fetch_add(&z0_{n}, c); else atomic_store(&z1_{n}, c);");
            }
            Statement::Meet(meeting) => {
                line!(self, "    if (pthread_barrier_wait(&b{meeting}_{n})) atomic_fetch_add(&z0_{n}, 1);");
            }
            Statement::Once(once) => {
                line!(self, "    pthread_once(&o{once}_{n}, init{once}_{n});");
                line!(self, "    a = (a + i{once}_{n}) & 7;");
            }
            Statement::Helper => line!(self, "    a = helper(a);"),
            Statement::Abandon(lock) => {
                line!(self, "    acquire(pthread_mutex_lock(&m{lock}_{n}), &m{lock}_{n});");
                line!(self, "    x{lock}_0_{n} = a;");
            }
        }
    }

    fn atomic(&mut self, name: &str, access: Atomic) {
        match access {
            Atomic::Load => {
                line!(
                    self,
                    "    if (atomic_load(&{name}) > 3) a = (a + 1) & 7; else atomic_fetch_add(&{name}, 2);"
                );
            }
            Atomic::Store(value) => line!(self, "    atomic_store(&{name}, {value});"),
            Atomic::Add(value) => line!(self, "    a = (a + atomic_fetch_add(&{name}, {value})) & 7;"),
            Atomic::Swap(value) => line!(self, "    a = (a + atomic_exchange(&{name}, {value})) & 7;"),
            Atomic::Compare(old, new) => {
                line!(self, "    c = {old};");
                line!(self, "    if (atomic_compare_exchange_strong(&{name}, &c, {new})) a = (a + 1) & 7;");
                line!(self, "    else if (c > 4) atomic_fetch_add(&{name}, -2);");
            }
            Atomic::Loop => {
                line!(self, "    c = atomic_load(&{name});");
                line!(
                    self,
                    "    while (!atomic_compare_exchange_strong(&{name}, &c, (c + 1) & 15)) a = (a + 1) & 7;"
                );
            }
        }
    }

    fn give(&mut self, number: usize) {
        let (n, token) = (self.case, self.program.tokens[number]);
        match token.block {
            true => line!(self, "    t{number}_{n}.block = block(a);"),
            false => line!(self, "    t{number}_{n}.value = a;"),
        }
        line!(self, "    give_{}(&t{number}_{n});", how(token.how));
    }

    fn take(&mut self, number: usize) {
        let (n, token) = (self.case, self.program.tokens[number]);
        let way = match (token.looks, token.patient) {
            (true, _) => "look",
            (false, true) => "take",
            (false, false) if token.how == HandOver::Pipe => "take",
            (false, false) => "timed",
        };
        line!(self, "    if ({way}_{}(&t{number}_{n})) {{", how(token.how));
        match token.block {
            true => line!(
                self,
                "        a = (a + *t{number}_{n}.block) & 7; free(t{number}_{n}.block); t{number}_{n}.block = 0;"
            ),
            false => line!(self, "        a = (a + t{number}_{n}.value) & 7;"),
        }
        line!(self, "    }} else a = (a + 1) & 7;");
    }

    fn region(&mut self, region: &Region) {
        let (n, lock) = (self.case, region.lock);
        let kind = self.program.locks[lock];
        let name = format!("m{lock}_{n}");
        let attempt = acquire(kind, region.mode, &name);
        let conditional = !matches!(region.mode, Mode::Wait | Mode::Shared);
        match conditional {
            true => line!(self, "    if ({attempt}) {{"),
            false => line!(self, "    {{ {attempt};"),
        }
        let shared = matches!(region.mode, Mode::Shared | Mode::TryShared);
        if !shared {
            line!(self, "    u{lock}_{n}++;");
        }
        for step in &region.steps {
            self.step(lock, kind, step);
        }
        if !shared {
            line!(self, "    v{lock}_{n}++; done[{lock}]++;");
        } else {
            line!(self, "    if (u{lock}_{n} != v{lock}_{n}) _exit(7);");
        }
        line!(self, "    {};", release(kind, &name));
        match conditional {
            true => line!(self, "    }} else atomic_fetch_add(&z0_{n}, 1);"),
            false => line!(self, "    }}"),
        }
    }

    fn step(&mut self, lock: usize, kind: LockKind, step: &Step) {
        let n = self.case;
        let x = |variable: usize| format!("x{lock}_{variable}_{n}");
        let p = format!("p{lock}_{n}");
        match step {
            Step::Load(variable) => line!(self, "    a = (a + {}) & 7;", x(*variable)),
            Step::Store(variable, value) => line!(self, "    {} = (a + {value}) & 7;", x(*variable)),
            Step::Add(variable, value) => line!(self, "    {0} = ({0} + {value}) & 7;", x(*variable)),
            Step::If(variable, value, then, other) => {
                line!(self, "    if ({} > {value}) {{", x(*variable));
                then.iter().for_each(|step| self.step(lock, kind, step));
                line!(self, "    }} else {{");
                other.iter().for_each(|step| self.step(lock, kind, step));
                line!(self, "    }}");
            }
            Step::Index => line!(self, "    a{lock}_{n}[a & 3]++;"),
            Step::Divide(variable) => line!(self, "    a = (a + 20 / ({} + 1)) & 7;", x(*variable)),
            Step::Use => line!(self, "    if ({p}) a = (a + *{p}) & 7;"),
            Step::Replace(value) => line!(self, "    free({p}); {p} = block({value});"),
            Step::Drop => line!(self, "    if ({p}) {{ free({p}); {p} = 0; }}"),
            Step::Call(state) => {
                line!(self, "    c = {};", call(*state));
                line!(self, "    if (c & 1) {} = c & 7; else {} = (c + 1) & 7;", x(0), x(1));
            }
            Step::Clock(micros) => {
                line!(self, "    if (now() - start > {micros}000) {} = a; else {} = a;", x(0), x(1));
            }
            Step::Again => self.again(lock, kind),
            Step::Inner(region) => self.region(region),
        }
    }

    fn again(&mut self, lock: usize, kind: LockKind) {
        let n = self.case;
        let (m, x) = (format!("m{lock}_{n}"), format!("x{lock}_0_{n}"));
        match kind {
            LockKind::Recursive => {
                line!(self, "    pthread_mutex_lock(&{m}); {x} = ({x} + 1) & 7; pthread_mutex_unlock(&{m});");
            }
            LockKind::ErrorCheck => {
                line!(self, "    if (pthread_mutex_lock(&{m}) == EDEADLK) {x} = ({x} + 1) & 7;")
            }
            LockKind::Normal => {
                line!(self, "    if (pthread_mutex_trylock(&{m}) == EBUSY) {x} = ({x} + 1) & 7;")
            }
            _ => line!(self, "    {x} = ({x} + 1) & 7;"),
        }
    }

    fn first_thread(&mut self) {
        let (n, threads) = (self.case, self.program.threads.len());
        line!(self, "static int main_{n}(void) {{\n    pthread_t threads[{threads}];\n    int bad = 0;");
        for (lock, kind) in self.program.locks.iter().enumerate() {
            line!(self, "    {};", make(*kind, &format!("m{lock}_{n}")));
            line!(
                self,
                "    p{lock}_{n} = block({lock}); x{lock}_0_{n} = x{lock}_1_{n} = u{lock}_{n} = v{lock}_{n} = 0;"
            );
            line!(self, "    for (int i = 0; i < 4; i++) a{lock}_{n}[i] = 0;");
        }
        for (number, token) in self.program.tokens.iter().enumerate() {
            line!(self, "    make_{}(&t{number}_{n});", how(token.how));
        }
        for (number, feed) in self.program.feeds.iter().enumerate() {
            line!(self, "    make_feed_{}(&f{number}_{n});", how(feed.how));
        }
        for meeting in 0..self.program.meetings {
            line!(self, "    pthread_barrier_init(&b{meeting}_{n}, 0, {threads});");
        }
        if self.program.bug == Some(Bug::UseAfterFree) {
            line!(self, "    bad_{n} = block(1);");
        }
        for atomic in 0..self.program.atomics {
            line!(self, "    atomic_store(&z{atomic}_{n}, 0);");
        }
        line!(self, "    i0_{n} = i1_{n} = 0;");
        line!(self, "    make_states();");
        for thread in 0..threads {
            line!(self, "    pthread_create(&threads[{thread}], 0, thread{thread}_{n}, 0);");
        }
        for (number, feed) in self.program.feeds.iter().enumerate() {
            for item in 0..feed.count {
                line!(self, "    feed_{}(&f{number}_{n}, {item});", how(feed.how));
            }
        }
        line!(self, "    for (int i = 0; i < {threads}; i++) pthread_join(threads[i], 0);");
        self.checks();
        line!(self, "    return bad;\n}}");
    }

    /// Whether each lock kept others out, and all blocks are given back.
    fn checks(&mut self) {
        let n = self.case;
        for lock in 0..self.program.locks.len() {
            line!(self, "    if (u{lock}_{n} != v{lock}_{n} || v{lock}_{n} != total[{lock}]) bad = 1;");
            line!(self, "    free(p{lock}_{n});");
        }
        for (number, _) in self.program.tokens.iter().enumerate().filter(|(_, token)| token.block) {
            line!(self, "    free(t{number}_{n}.block);");
        }
    }
}
