//! What a replay comes to where the program does not do what was recorded, and what it shows.

use std::fs;

use crate::common::{Program, fingerprint, ran, reweave};

/// One of two increments may be lost; the argument makes a thread do something else.
const BRANCHES: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static int counter, other;
static int branch;
static void *add(void *unused) {
    if (branch) other++;
    else counter++;
    return unused;
}
int main(int count, char **arguments) {
    pthread_t a, b;
    branch = count > 1;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#;

#[test]
fn another_branch_is_a_divergence_with_the_step_and_the_reason() {
    let program = Program::of_text(BRANCHES);
    assert_eq!(program.record(&[]).code, Some(0));
    let findings = program.predict("race");
    let name = fingerprint(&findings[0]);
    let same = program.replay(name, &[], &[]);
    assert!(same.out.starts_with("confirmed: both accesses were next at once"), "{}", same.out);
    for flags in [&[][..], &["--strict"]] {
        let other = program.replay(name, flags, &["another"]);
        assert_eq!(other.code, Some(1), "{}", other.out);
        assert!(other.out.starts_with("diverged: at step "), "{}", other.out);
        assert!(other.out.contains("another branch"), "{}", other.out);
        assert!(other.out.contains("wanted was: ") && other.out.contains("counter"), "{}", other.out);
    }
}

/// The same code is no race where it touches other memory.
#[test]
fn accesses_to_memory_apart_confirm_nothing() {
    let program = Program::of_text(
        r#"
#include <pthread.h>
#include <stdlib.h>
static int counters[2];
static void *add(void *counter) {
    ++*(int *)counter;
    return NULL;
}
int main(int count, char **arguments) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, &counters[0]);
    pthread_create(&b, NULL, add, &counters[count > 1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#,
    );
    assert_eq!(program.record(&[]).code, Some(0));
    let findings = program.predict("race");
    let name = fingerprint(&findings[0]);
    assert!(program.replay(name, &[], &[]).out.starts_with("confirmed: "));
    let apart = program.replay(name, &[], &["apart"]);
    assert!(apart.code == Some(1) && !apart.out.contains("confirmed"), "{}", apart.out);
}

/// A strict replay gives up where a greedy one lets the thread run on: it does more before the step than it did.
#[test]
fn a_greedy_replay_reaches_what_a_strict_one_gives_up() {
    let program = Program::of_text(
        r#"
#include <pthread.h>
#include <stdlib.h>
static int counter, rounds;
static volatile int warm;
static void *add(void *unused) {
    for (int i = 0; i < rounds; i++) warm = i;
    counter++;
    return unused;
}
int main(int count, char **arguments) {
    pthread_t a;
    rounds = count > 1 ? atoi(arguments[1]) : 1;
    pthread_create(&a, NULL, add, NULL);
    int seen = counter;
    pthread_join(a, NULL);
    return seen < 0;
}
"#,
    );
    assert_eq!(program.record(&["1"]).code, Some(0));
    let findings = program.predict("race");
    let found = findings.iter().find(|finding| finding["target"] == "global counter").expect("a race");
    let name = fingerprint(found);
    assert_eq!(program.replay(name, &["--strict"], &["1"]).code, Some(0));
    let strict = program.replay(name, &["--strict"], &["9"]);
    assert!(strict.code == Some(1) && strict.out.starts_with("diverged: "), "{}", strict.out);
    let greedy = program.replay(name, &[], &["9"]);
    assert!(greedy.code == Some(0) && greedy.out.starts_with("confirmed: "), "{}", greedy.out);
}

/// The second thread waits for input that does not come.
#[test]
fn a_call_that_never_returns_is_named() {
    let program = Program::of_text(
        r#"
#include <pthread.h>
#include <unistd.h>
static int counter, waits, end[2];
static void *add(void *unused) {
    char byte;
    if (waits) read(end[0], &byte, 1);
    counter++;
    return unused;
}
int main(int count, char **arguments) {
    pthread_t a;
    waits = count > 1;
    pipe(end);
    pthread_create(&a, NULL, add, NULL);
    counter++;
    pthread_join(a, NULL);
    return 0;
}
"#,
    );
    assert_eq!(program.record(&[]).code, Some(0));
    let name = program.predict("race")[0]["fingerprint"].as_str().unwrap().to_owned();
    let hung = program.replay(&name, &["--replay-timeout", "1s", "--order", "ab"], &["wait"]);
    assert_eq!(hung.code, Some(1));
    assert!(hung.out.starts_with("hung: "), "{}", hung.out);
    assert!(hung.out.contains("waits for something outside of the program"), "{}", hung.out);
    assert!(hung.out.contains("#0 add ") && hung.out.contains("program.c:7"), "{}", hung.out);
}

/// A program that ends before its threads get there.
#[test]
fn an_early_end_is_told_from_a_divergence() {
    let program = Program::of_text(
        r#"
#include <pthread.h>
#include <stdlib.h>
static int counter;
static void *add(void *unused) { counter++; return unused; }
int main(int count, char **arguments) {
    pthread_t a, b;
    if (count > 1) return 0;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#,
    );
    assert_eq!(program.record(&[]).code, Some(0));
    let name = program.predict("race")[0]["fingerprint"].as_str().unwrap().to_owned();
    let early = program.replay(&name, &[], &["early"]);
    assert_eq!(early.code, Some(1));
    assert!(early.out.starts_with("finished: the program ended"), "{}", early.out);
}

/// Stacks go through the callers, and both orders are shown, with what they do to the program.
#[test]
fn a_race_shows_both_stacks_and_what_each_order_does() {
    let program = Program::of_text(
        r#"
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
static int counter;
__attribute__((noinline)) static void bump(void) { counter = counter + 1; }
__attribute__((noinline)) static void work(void) { bump(); puts("done"); }
static void *add(void *unused) { work(); return unused; }
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(counter == 2);
    return 0;
}
"#,
    );
    assert_eq!(program.record(&[]).code, Some(0));
    let name = program.predict("race")[0]["fingerprint"].as_str().unwrap().to_owned();
    let shown = program.replay(&name, &[], &[]);
    assert_eq!(shown.code, Some(0), "{}", shown.out);
    for expected in
        ["#0 bump ", "#1 work ", "#2 add ", "T1 first:", "T2 first:", "aborted", "status 0", "done"]
    {
        assert!(shown.out.contains(expected), "{expected}: {}", shown.out);
    }
    let output: String = shown.out.split('|').collect::<Vec<_>>().join("").split_whitespace().collect();
    assert!(output.contains("counter==2'failed"), "{}", shown.out);
    // One order alone.
    let one = program.replay(&name, &["--order", "ba"], &[]);
    assert!(one.out.contains("the program: aborted") && !one.out.contains("first:"), "{}", one.out);
    let one = program.replay(&name, &["--order", "ab"], &[]);
    assert!(one.out.contains("the program: ended with status 0"), "{}", one.out);
}

/// Random numbers, times and input decide what the threads do; all come again.
#[test]
fn inputs_of_the_recorded_run_come_again() {
    let program = Program::of_text(
        r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
static int counter, unlike;
static unsigned random_;
static void *add(void *unused) {
    if (random_ % 3 == 1) counter++;
    else if (random_ % 3 == 2) counter += 2;
    else counter += 3;
    return unused;
}
int main(void) {
    pthread_t a, b;
    char line[64];
    struct timespec now;
    getrandom(&random_, sizeof random_, 0);
    clock_gettime(CLOCK_REALTIME, &now);
    if (!fgets(line, sizeof line, stdin)) return 7;
    printf("%u %ld.%09ld %ld %s", random_, (long)now.tv_sec, now.tv_nsec, (long)time(NULL), line);
    fflush(stdout);
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&b, NULL, add, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#,
    );
    let input = program.folder.path().join("input.txt");
    fs::write(&input, "a line of input\n").unwrap();
    let mut command = reweave();
    command
        .args(["record", "--quiet", "--policy", "plain", "-o"])
        .arg(&program.trace)
        .arg("--")
        .arg(&program.path);
    let recorded = ran(command.stdin(fs::File::open(&input).unwrap()));
    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    assert!(recorded.out.contains("a line of input"));
    let name = program.predict("race")[0]["fingerprint"].as_str().unwrap().to_owned();
    for _ in 0..4 {
        // There is no input now, and the clock has gone on.
        let again = program.replay(&name, &["--order", "ab"], &[]);
        assert_eq!(again.code, Some(0), "{}", again.out);
        assert!(again.out.contains(recorded.out.trim()), "{} is not in {}", recorded.out, again.out);
    }
    // Without what was kept, it is another run.
    let mut kept = program.trace.clone().into_os_string();
    kept.push(".inputs");
    fs::remove_file(kept).unwrap();
    let without = program.replay(&name, &["--order", "ab"], &[]);
    assert!(without.code == Some(1) && without.out.contains("status 7"), "{}", without.out);
}

/// A thread is known by who made it, where, and which of those it is, not by its number in the run.
#[test]
fn threads_are_named_by_where_they_are_made() {
    let program = Program::of_text(
        r#"
#include <pthread.h>
static int counter;
static void *add(void *unused) { counter++; return unused; }
static void *parent(void *unused) {
    pthread_t mine;
    pthread_create(&mine, NULL, add, NULL);
    pthread_join(mine, NULL);
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, parent, NULL);
    pthread_create(&b, NULL, parent, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
"#,
    );
    assert_eq!(program.record(&[]).code, Some(0));
    let name = program.predict("race")[0]["fingerprint"].as_str().unwrap().to_owned();
    let schedule = program.folder.path().join("schedule.txt");
    let saved = program.replay(&name, &["--save", schedule.to_str().unwrap()], &[]);
    assert_eq!(saved.code, Some(0), "{}", saved.out);
    let text = fs::read_to_string(&schedule).unwrap();
    assert!(text.contains("thread T3 by T1 at program+0x") || text.contains("thread T3 by T2 at"), "{text}");
    // The file is all that a colleague needs, and addresses may be elsewhere.
    let mut command = reweave();
    command.env("REWEAVE_RANDOM_ADDRESSES", "1");
    let again = ran(command.args(["replay", "--schedule"]).arg(&schedule).arg("--").arg(&program.path));
    assert_eq!(again.code, Some(0), "{}{}", again.out, again.err);
    assert!(again.out.starts_with("confirmed: "));
}
