//! What is written and read, exactly, for every kind of access.

use crate::common::{OLDER, Program, plugins};

/// Each plugin that is there, with the levels that it is tried at.
fn builds() -> Vec<(&'static str, &'static str)> {
    let levels = |front: &str| if front == OLDER { &["-O1"][..] } else { &["-O0", "-O1", "-O2"] };
    plugins().into_iter().flat_map(|front| levels(front).iter().map(move |level| (front, *level))).collect()
}

/// A program whose worker does something with variables that the main thread then looks at.
fn program(declares: &str, works: &str, looks: &str) -> String {
    format!(
        "#include <pthread.h>\n#include <string.h>\n{declares}\n\
         static void *worker(void *unused) {{ {works} return unused; }}\n\
         int main(void) {{ pthread_t t; pthread_create(&t, 0, worker, 0); pthread_join(t, 0); {looks} return 0; }}\n"
    )
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    for (front, level) in builds() {
        let run = Program::new(text, "c", front, &[level]).record("run", &[]);
        let all = run.of("T1");
        let events: Vec<&str> =
            all.iter().map(String::as_str).filter(|event| !["begin", "br", "end"].contains(event)).collect();
        assert_eq!(events, expected, "{front} {level}");
    }
}

#[test]
fn plain_writes_of_every_type() {
    let declares = "volatile signed char c; volatile short s; volatile int i; volatile long l; volatile float f; \
                    volatile double d; volatile _Bool b; int *volatile p;";
    let works = "c = -2; s = -3; i = 7; l = -1; f = 1.5f; d = 2.5; b = 1; p = (int *)64;";
    let looks = "(void)c; (void)s; (void)i; (void)l; (void)f; (void)d; (void)b; (void)p;";
    let expected = [
        "w(global c)=254",
        "w(global s)=65533",
        "w(global i)=7",
        "w(global l)=18446744073709551615",
        "w(global f)=1069547520",
        "w(global d)=4612811918334230528",
        "w(global b)=1",
        "w(global p)=64",
    ];
    check(&program(declares, works, looks), &expected);
}

#[test]
fn reads_and_writes_of_bit_fields() {
    let declares = "struct { unsigned a : 3, b : 5; } volatile s;";
    check(&program(declares, "s.b = 9;", "(void)s.a;"), &["r(global s)=0", "w(global s)=72"]);
}

#[test]
fn vectors_are_recorded_by_their_words() {
    let declares = "typedef int four __attribute__((vector_size(16))); volatile four v;";
    check(
        &program(declares, "v = (four){1, 2, 3, 4};", "(void)v;"),
        &["w(global v)=8589934593", "w(global v+8)=17179869187"],
    );
}

#[test]
fn copies_and_fills() {
    let declares = "struct s { int many[4]; } one = {{1, 2, 3, 4}}, two; char filled[8]; long from = 77, to;";
    let works = "two = one; memset(filled, 3, 8); memcpy(&to, &from, 8);";
    let looks = "one = two; *(volatile long *)filled; from = to;";
    check(
        &program(declares, works, looks),
        &[
            "r(global one)=8589934593",
            "r(global one+8)=17179869187",
            "w(global two)=8589934593",
            "w(global two+8)=17179869187",
            "w(global filled)=217020518514230019",
            "r(global from)=77",
            "w(global to)=77",
        ],
    );
}

/// All operations of one width, on a variable that is 5 at first.
#[test]
fn atomic_operations_of_every_kind_and_width() {
    for (of, bits) in
        [("unsigned char", 8), ("unsigned short", 16), ("unsigned int", 32), ("unsigned long", 64)]
    {
        let works = format!(
            "{of} e = 1; __atomic_store_n(&x, 5, 5); __atomic_fetch_add(&x, 3, 0); __atomic_fetch_sub(&x, 1, 5); \
             __atomic_fetch_and(&x, 6, 5); __atomic_fetch_or(&x, 9, 5); __atomic_fetch_xor(&x, 5, 5); \
             __atomic_fetch_nand(&x, 3, 5); __atomic_exchange_n(&x, 4, 5); e = 4; \
             __atomic_compare_exchange_n(&x, &e, 9, 0, 5, 5); e = 1; \
             __atomic_compare_exchange_n(&x, &e, 7, 1, 5, 0); __atomic_fetch_max(&x, 12, 5); \
             __atomic_fetch_min(&x, 2, 5); __atomic_load_n(&x, 2);"
        );
        let inverted = u64::MAX >> (64 - bits) & !2;
        let expected = [
            "aw(global x)=5".to_owned(),
            "au(global x)=5>8".to_owned(),
            "au(global x)=8>7".to_owned(),
            "au(global x)=7>6".to_owned(),
            "au(global x)=6>15".to_owned(),
            "au(global x)=15>10".to_owned(),
            format!("au(global x)=10>{inverted}"),
            format!("au(global x)={inverted}>4"),
            "au(global x)=4>9".to_owned(),
            "af(global x)=9!1".to_owned(),
            "au(global x)=9>12".to_owned(),
            "au(global x)=12>2".to_owned(),
            "ar(global x)=2".to_owned(),
        ];
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check(&program(&format!("{of} x;"), &works, "__atomic_load_n(&x, 5);"), &expected);
    }
}

#[test]
fn atomic_updates_of_floating_point() {
    let works = "_Atomic float *p = &x; *p += 1.5f;";
    let text = program("_Atomic float x;", works, "float y = x; (void)y;");
    for (front, level) in builds() {
        let run = Program::new(&text, "c", front, &[level]).record("run", &[]);
        let events = run.of("T1");
        assert!(events.contains(&"au(global x)=0>1069547520".to_owned()), "{front} {level}: {events:?}");
    }
}
