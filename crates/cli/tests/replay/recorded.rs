//! Forced runs that are recorded: traces like any other.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Program, Ran, fingerprint, ran, reweave};

/// A seat is looked for and taken in two critical sections. What the program reads from its standard input decides how many there are.
const SEATS: &str = r#"
#include <pthread.h>
#include <stdio.h>
static int seats, closed, sold_after_closing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *sell(void *unused) {
    pthread_mutex_lock(&lock);
    int free_seats = seats;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (free_seats > 0) {
        seats = free_seats - 1;
        sold_after_closing = closed;
    }
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *close_sale(void *unused) {
    pthread_mutex_lock(&lock);
    seats = 0;
    closed = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void) {
    pthread_t a, b;
    seats = getchar() == 'y' ? 3 : 0;
    pthread_create(&a, NULL, sell, NULL);
    pthread_create(&b, NULL, close_sale, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return sold_after_closing;
}
"#;

/// The recorded program, and the fingerprint of its bug.
fn seats() -> (Program, String) {
    let program = Program::of_text(SEATS);
    let input = program.folder.path().join("input");
    fs::write(&input, "y").expect("it is written");
    let mut command = reweave();
    command.stdin(fs::File::open(&input).expect("it is there"));
    command.args(["record", "--quiet", "--policy", "plain", "-o"]).arg(&program.trace);
    assert_eq!(ran(command.arg("--").arg(&program.path)).code, Some(0));
    let findings = program.predict("atomicity");
    let name = fingerprint(&findings[0]).to_owned();
    (program, name)
}

/// The lines of a trace as text that touch the variable with the seats, and what main reads in the end.
fn accesses(trace: &Path) -> Vec<String> {
    let shown = ran(reweave().arg("convert").arg(trace).args(["-", "--to", "std"]));
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    let is_one =
        |line: &&str| line.contains("(global seats)") || line.contains("(global sold_after_closing)");
    let fields = |line: &str| {
        let fields: Vec<&str> = line.split('|').collect();
        [fields[0], fields[1], fields.get(3).unwrap_or(&"")].join(" ")
    };
    shown.out.lines().filter(is_one).map(fields).collect()
}

/// The trace of a run in which the seat was sold after the sale was closed.
const WRONG: [&str; 6] = [
    "main w(global seats) 3",
    "T1 r(global seats) 3",
    "T2 w(global seats) 0",
    "T1 w(global seats) 2",
    "T1 w(global sold_after_closing) 1",
    "main r(global sold_after_closing) 1",
];

fn confirmed(replayed: &Ran) {
    assert_eq!(replayed.code, Some(0), "{}{}", replayed.out, replayed.err);
    assert!(replayed.out.starts_with("confirmed: the events came in the wrong order"), "{}", replayed.out);
}

#[test]
fn a_recorded_replay_is_a_trace_that_can_be_replayed_itself() {
    let (mut program, name) = seats();
    let again: PathBuf = program.folder.path().join("again.rw");
    let flag = again.to_string_lossy().into_owned();
    confirmed(&program.replay(&name, &["--record", &flag], &[]));
    assert_eq!(accesses(&again), WRONG);
    // What was read is beside that trace, too: there is no standard input here.
    program.trace = again;
    let findings = program.predict("atomicity");
    let name = fingerprint(&findings[0]).to_owned();
    confirmed(&program.replay(&name, &[], &[]));
}

#[test]
fn a_schedule_is_recorded_with_what_came_of_it_and_the_programs_own_status() {
    let (program, name) = seats();
    let folder = program.folder.path();
    let (schedule, trace) = (folder.join("schedule"), folder.join("forced.rw"));
    let flag = schedule.to_string_lossy().into_owned();
    confirmed(&program.replay(&name, &["--save", &flag], &[]));
    let record = |schedule: &Path| {
        let mut command = reweave();
        command.stdin(fs::File::open(folder.join("input")).expect("it is there"));
        command.arg("record").arg("--schedule").arg(schedule).arg("-o").arg(&trace);
        ran(command.arg("--").arg(&program.path))
    };
    let recorded = record(&schedule);
    assert_eq!(recorded.code, Some(1), "{}", recorded.err);
    assert!(recorded.err.contains("the schedule: confirmed; of 7 steps 7 came"), "{}", recorded.err);
    assert_eq!(accesses(&trace), WRONG);
    // One of another build is refused, and no trace is left of what was not run.
    fs::remove_file(&trace).expect("it is there");
    let text = fs::read_to_string(&schedule).expect("it is there");
    let other: Vec<String> = text
        .lines()
        .map(|line| if line.starts_with("program ") { "program program 00" } else { line }.to_owned())
        .collect();
    fs::write(&schedule, other.join("\n")).expect("it is written");
    let refused = record(&schedule);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("it was built anew since") && !trace.exists(), "{}", refused.err);
}

/// A race after more steps than a thread may take that runs in circles: what it took in the recorded run is allowed.
#[test]
fn a_long_way_to_a_step_is_not_taken_for_a_circle() {
    let program = Program::of_text(
        r#"
#include <pthread.h>
static volatile int work[16];
static int late;
static void *toil(void *unused) {
    for (int round = 0; round < 300000; round++) work[round & 15] = round;
    late = 1;
    return unused;
}
static void *look(void *unused) {
    work[15] = 7;
    late = 2;
    return unused;
}
int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, toil, NULL);
    pthread_create(&b, NULL, look, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return late == 0;
}
"#,
    );
    assert_eq!(program.record(&[]).code, Some(0));
    let findings = program.predict("race");
    let late = findings.iter().find(|finding| finding["target"] == "global late").expect("it races");
    let replayed = program.replay(fingerprint(late), &[], &[]);
    assert_eq!(replayed.code, Some(0), "{}", replayed.out);
    assert!(replayed.out.starts_with("confirmed: both accesses were next at once"), "{}", replayed.out);
}
