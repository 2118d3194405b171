//! Schedules in columns.

use std::fmt::Write;

use reweave_decide::Verdict;
use reweave_report::schedule::{self, Options};
use reweave_testkit::parse;
use reweave_trace::{Links, Model, ProgramOrder, Trace};
use reweave_witness::{CheckedWitness, Checker, Claim, Witness};

use crate::common::{decide, golden, ids, litmus};

fn witness(trace: &Trace, claim: &Claim) -> CheckedWitness {
    match decide(trace, Model::Rf, claim) {
        Verdict::Feasible(checked) => checked,
        verdict => panic!("{claim:?}: {verdict:?}"),
    }
}

/// A witness with a given schedule.
fn given(trace: &Trace, prefix: u32, tail: &[u32], claim: Claim) -> CheckedWitness {
    let (links, order) = (Links::new(trace), ProgramOrder::new(trace));
    let witness = Witness { prefix, tail: ids(tail) };
    Checker::new(trace, &links, &order).check(Model::Rf, witness, claim).expect("it is one")
}

fn sequence(events: &[u32]) -> Claim {
    Claim::Sequence { events: ids(events), adjacent: Vec::new() }
}

#[test]
fn schedules_of_litmus_traces() {
    let mut text = String::new();
    for (name, claim) in [
        ("race-needs-reversal", Claim::CoEnabled(ids(&[0, 7]))),
        ("fork-and-join", Claim::CoEnabled(ids(&[6, 7]))),
        ("deadlock-two", Claim::Deadlock(ids(&[1, 5]))),
        ("deadlock-three-rw", Claim::Deadlock(ids(&[1, 5, 9]))),
        ("deadlock-dead-holder", Claim::Deadlock(ids(&[0]))),
        ("adjacent", sequence(&[4, 1])),
        ("use-after-free-locked", sequence(&[6, 3])),
    ] {
        let trace = litmus(name);
        let checked = witness(&trace, &claim);
        writeln!(text, "{name}, {}:", reweave_report::claim::text(&claim)).expect("a string");
        text += &schedule::text(&trace, &checked, Options::default());
        text.push('\n');
    }
    golden("schedules", &text);
}

/// Thread A works on its own for long, then both meet in x.
fn long() -> Trace {
    let mut text = String::from("A|w(a)|setup.c:1\nA|fork(B)|setup.c:2\nA|w(y)|a.c:1\n");
    for line in 0..12 {
        text += &format!("A|w(own{line})|a.c:{}\n", line + 2);
    }
    text += "A|w(x)|a.c:20\nB|begin|b.c:1\nB|r(y)|b.c:2\nB|r(a)|b.c:3\nB|w(x)|b.c:4\nB|end|b.c:5\n";
    parse(&text).expect("a trace")
}

#[test]
fn what_does_not_matter_is_elided() {
    let trace = long();
    let mut text = String::new();
    let tail: Vec<u32> = [2, 16].into_iter().chain(3..15).chain(17..19).collect();
    let race = given(&trace, 2, &tail, Claim::CoEnabled(ids(&[15, 19])));
    text += &schedule::text(&trace, &race, Options::default());
    text += "\na sequence, partly in the prefix, with more to come:\n";
    let checked = given(&trace, 15, &[16, 17, 15, 18, 19, 20], sequence(&[2, 17]));
    text += &schedule::text(&trace, &checked, Options::default());
    text += "\nat most two lines of steps:\n";
    text += &schedule::text(&trace, &race, Options { rows: 2, ..Options::default() });
    golden("elided", &text);
}

#[test]
fn threads_that_do_not_fit_share_a_column() {
    let mut text = String::new();
    for thread in 0..9 {
        text += &format!("worker-{thread}|acq(l)|src/worker/loop.rs:{thread}0\n");
        text += &format!("worker-{thread}|w(x)|src/worker/loop.rs:{thread}1\n");
        text += &format!("worker-{thread}|rel(l)|src/worker/loop.rs:{thread}2\n");
    }
    text += "worker-8|w(x)|src/worker/loop.rs:99\nworker-0|w(x)|src/worker/loop.rs:98\n";
    let trace = parse(&text).expect("a trace");
    // The last thread goes first: nothing of it is as observed.
    let tail: Vec<u32> = (0..9).rev().flat_map(|thread| 3 * thread..3 * thread + 3).collect();
    let checked = given(&trace, 0, &tail, Claim::CoEnabled(ids(&[27, 28])));
    for (name, width) in [("wide", 100), ("narrow", 0)] {
        let text = schedule::text(&trace, &checked, Options { width, ..Options::default() });
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest <= Some(width.max(40)), "{longest:?}");
        assert!(text.contains("others"));
        golden(name, &text);
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let trace = litmus("deadlock-two");
    let checked = witness(&trace, &Claim::Deadlock(ids(&[1, 5])));
    let plain = schedule::text(&trace, &checked, Options::default());
    let colored = schedule::text(&trace, &checked, Options { color: true, ..Options::default() });
    let mut stripped = String::new();
    for part in colored.split('\x1b') {
        stripped += part.split_once('m').filter(|_| part.starts_with('[')).map_or(part, |(_, rest)| rest);
    }
    assert_ne!(plain, colored);
    assert_eq!(plain, stripped);
}
