//! One program per construct: where control, an address, a callee, a size or a lock depends on what was read, there is a
//! branch, and two runs that go different ways differ in it.

use crate::common::{OLDER, Program, Run, is_there, plugins};

/// What the worker of a program does, and what it needs; and two inputs for which it goes different ways.
struct Construct {
    name: &'static str,
    language: &'static str,
    declares: &'static str,
    /// Before the worker starts; `n` is the input.
    prepares: &'static str,
    works: &'static str,
    inputs: [&'static str; 2],
    /// Whether the way that is written down differs, too; of a vector there is none.
    has_way: bool,
}

const PLAIN: Construct = Construct {
    name: "",
    language: "c",
    declares: "",
    prepares: "shared = n;",
    works: "",
    inputs: ["1", "5"],
    has_way: true,
};

const CONSTRUCTS: &[Construct] = &[
    Construct { name: "if", works: "if (shared > 3) out[0] = 1; else out[1] = 1;", ..PLAIN },
    Construct { name: "an if without else", works: "if (shared > 3) out[0]++;", ..PLAIN },
    Construct { name: "ternary", works: "out[0] = shared > 3 ? 5 : 9;", ..PLAIN },
    Construct {
        name: "switch",
        works: "switch (shared) { case 1: out[0] = 1; break; case 5: other = 7; break; case 9: out[2]++; }",
        ..PLAIN
    },
    Construct { name: "loop bound", works: "for (int i = 0; i < shared; i++) out[i]++;", ..PLAIN },
    Construct {
        name: "loop over a copy",
        works: "int n = shared; for (int i = 0; i < n; i++) out[i]++;",
        ..PLAIN
    },
    Construct {
        name: "loop that touches nothing",
        works: "int n = shared, turns = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; turns++; } out[0] = turns;",
        inputs: ["6", "7"],
        ..PLAIN
    },
    Construct { name: "and", works: "if (shared > 3 && other == 0) out[0] = 1; else out[1] = 1;", ..PLAIN },
    Construct { name: "or", works: "if (other == 1 || shared > 3) out[0] = 1; else out[1] = 1;", ..PLAIN },
    Construct { name: "array index", works: "out[shared] = 1;", ..PLAIN },
    Construct { name: "array index of a read", works: "other = out[shared];", ..PLAIN },
    Construct {
        name: "pointer",
        declares: "int *pointer;",
        prepares: "pointer = &out[n];",
        works: "*pointer = 3;",
        ..PLAIN
    },
    Construct {
        name: "callee",
        declares: "void first(void) { out[0] = 1; } void second(void) { out[1] = 2; } void (*function)(void);",
        prepares: "function = n > 3 ? first : second;",
        works: "function();",
        ..PLAIN
    },
    Construct { name: "divisor", works: "other = 100 / shared;", ..PLAIN },
    Construct { name: "divisor without a sign", works: "other = 100u / (unsigned)shared;", ..PLAIN },
    Construct { name: "divisor of a remainder", works: "other = 100 % shared;", ..PLAIN },
    Construct {
        name: "divisor of a vector",
        declares: "typedef int four __attribute__((vector_size(16)));",
        works: "four by = {shared, shared, shared, shared}, of = {9, 8, 7, 6}; of /= by; memcpy(out, &of, 16);",
        has_way: false,
        ..PLAIN
    },
    Construct {
        name: "size of a local array",
        works: "volatile char room[shared + 1]; room[shared] = 1; other = room[shared];",
        ..PLAIN
    },
    Construct { name: "size of a copy", works: "memcpy(out, from, shared * 4);", ..PLAIN },
    Construct { name: "size of a memset", works: "memset(out, 1, shared * 4);", ..PLAIN },
    Construct {
        name: "lock",
        declares: "pthread_mutex_t locks[8];",
        works: "pthread_mutex_lock(&locks[shared]); out[0] = 1; pthread_mutex_unlock(&locks[shared]);",
        ..PLAIN
    },
    Construct {
        name: "size of a block",
        declares: "void *volatile block;",
        works: "block = malloc(shared * 16); free(block);",
        ..PLAIN
    },
    Construct {
        name: "goto",
        works: "static void *to[8] = {&&a, &&b, &&a, &&b, &&a, &&a}; goto *to[shared]; a: out[0] = 1; return 0; b: out[1] = 2;",
        ..PLAIN
    },
    Construct {
        name: "bit field",
        declares: "struct { unsigned a : 3, b : 7; } bits;",
        prepares: "bits.b = n;",
        works: "if (bits.b > 3) out[0] = 1; else out[1] = 1;",
        ..PLAIN
    },
    Construct {
        name: "structure by value",
        declares: "struct large { int many[12]; } large; __attribute__((noinline)) int third(struct large l) { return l.many[3]; }",
        prepares: "large.many[3] = n;",
        works: "if (third(large) > 3) out[0] = 1; else out[1] = 1;",
        ..PLAIN
    },
    Construct {
        name: "argument and result",
        declares: "__attribute__((noinline)) int is_large(int n) { if (n > 3) return 1; return 0; }",
        works: "if (is_large(shared)) out[0] = 1; else out[1] = 1;",
        ..PLAIN
    },
    Construct {
        name: "comparison of texts",
        works: "if (strcmp(text, \"5\") == 0) out[0] = 1; else out[1] = 1;",
        ..PLAIN
    },
    Construct {
        name: "comparison of memory",
        works: "if (memcmp(text, \"5\", 1) == 0) out[0] = 1; else out[1] = 1;",
        ..PLAIN
    },
    Construct { name: "length of a text", works: "out[strlen(text)] = 1;", inputs: ["1", "55"], ..PLAIN },
    Construct {
        name: "atomic load",
        declares: "_Atomic int atomic;",
        prepares: "atomic = n;",
        works: "if (atomic > 3) out[0] = 1; else out[1] = 1;",
        ..PLAIN
    },
    Construct {
        name: "exception",
        language: "cpp",
        works: "try { if (shared > 3) throw 1; out[0] = 1; } catch (int) { out[1] = 1; }",
        ..PLAIN
    },
    Construct {
        name: "virtual call",
        language: "cpp",
        declares: "struct Base { virtual void run() { out[0] = 1; } virtual ~Base() {} }; \
                   struct Derived : Base { void run() override { out[1] = 1; } }; Base *object;",
        prepares: "object = n > 3 ? new Base : new Derived;",
        works: "object->run();",
        ..PLAIN
    },
];

impl Construct {
    fn text(&self) -> String {
        let Construct { declares, prepares, works, .. } = self;
        format!(
            "#include <pthread.h>\n#include <stdlib.h>\n#include <string.h>\n\
             int shared, other, out[16], from[16]; char text[64];\n{declares}\n\
             static void *worker(void *unused) {{ (void)unused; {works} return 0; }}\n\
             int main(int count, char **arguments) {{\n\
             if (count < 2) return 1;\n\
             int n = atoi(arguments[1]); strcpy(text, arguments[1]); {prepares}\n\
             pthread_t thread; pthread_create(&thread, 0, worker, 0); pthread_join(thread, 0);\n\
             int sum = shared + other; for (int i = 0; i < 16; i++) sum += out[i] + from[i];\n\
             return sum < 0; }}\n"
        )
    }
}

/// Whether there is a branch after the first read of what the input decides, before anything else is written or done.
fn branches_first(run: &Run) -> bool {
    let events = run.of("T1");
    let first = events.iter().position(|event| event.starts_with("r(") || event.starts_with("ar("));
    let after = first.and_then(|first| {
        events[first..].iter().find(|event| !event.starts_with("r(") && !event.starts_with("ar("))
    });
    after.is_some_and(|event| event == "br")
}

#[test]
fn no_difference_of_path_goes_unrecorded() {
    if !is_there() {
        return;
    }
    let has_older = plugins().contains(&OLDER);
    for (number, construct) in CONSTRUCTS.iter().enumerate() {
        let mut builds = vec![("plugin", "-O0"), ("plugin", "-O1"), ("plugin", "-O2")];
        // The passes are the same for every LLVM: a third of all is enough to see that they work
        // there.
        builds.extend((has_older && number % 3 == 0).then_some((OLDER, "-O1")));
        for (front, level) in builds {
            let name = format!("{} {front} {level}", construct.name);
            let program = Program::new(&construct.text(), construct.language, front, &[level]);
            let runs = construct.inputs.map(|input| program.record(&format!("run{input}"), &[input]));
            let again = program.record("again", &construct.inputs[..1]);
            for run in &runs {
                assert_eq!(run.capabilities, "branches values", "{name}");
                assert!(branches_first(run), "{name}: {:#?}", run.of("T1"));
            }
            let [one, other] = &runs;
            if construct.has_way {
                assert_ne!(one.ways("T1"), other.ways("T1"), "{name}: {:#?}", one.of("T1"));
            }
            assert_eq!(one.of("T1"), again.of("T1"), "{name}: the same input");
        }
    }
}

/// What depends on nothing that was read has no branch, and what no other thread can reach is not recorded.
#[test]
fn constants_and_private_memory_are_left_out() {
    if !is_there() {
        return;
    }
    let works = "volatile int mine[4]; static const int table[4] = {1, 2, 3, 4}; \
                 for (int i = 0; i < 4; i++) mine[i] = table[i]; out[2] = 7; \
                 pthread_mutex_t *lock = &locks[1]; pthread_mutex_lock(lock); other = 3; pthread_mutex_unlock(lock);";
    let construct = Construct { declares: "pthread_mutex_t locks[8];", works, ..PLAIN };
    for level in ["-O0", "-O1", "-O2"] {
        let program = Program::new(&construct.text(), "c", "plugin", &[level]);
        let run = program.record("run", &["1"]);
        let expected = [
            "begin",
            "w(global out+8)=7",
            "acq(global locks+40)",
            "w(global other)=3",
            "rel(global locks+40)",
            "end",
        ];
        assert_eq!(run.of("T1"), expected, "{level}");
    }
}
