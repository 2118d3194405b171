//! Searches in parts against brute force.

mod common;

use common::{Interpreter, found, policy, specified, wanted};
use reweave_explore::{Explorer, Limits, Report, Split, Stopped};
use reweave_testkit::Rng;
use reweave_testkit::interleave::{Everything, Flavour, Instr, Small, classes, draw, everything};

fn explorer(program: &Small) -> Explorer {
    let mut explorer = Explorer::with_objects(policy(program), specified(), true);
    (explorer.keep_going, explorer.audit) = (true, 0);
    explorer
}

fn add(all: &mut Everything, more: Everything) {
    all.histories.extend(more.histories);
    all.failures.extend(more.failures);
    all.deadlocks.extend(more.deadlocks);
    all.races.extend(more.races);
    all.codes.extend(more.codes);
}

fn split(program: &Small, parts: usize, trace: bool) -> (Split, Everything) {
    let mut first = explorer(program);
    let split = first
        .split(&mut Interpreter::new(program), &Limits::default(), parts, trace)
        .expect("a function of its histories");
    assert_eq!(split.report.stopped, Stopped::Complete);
    let all = found(&first, &split.report);
    (split, all)
}

/// What the parts come to, each by itself; `left_out` is one that is not done.
fn in_parts(program: &Small, parts: usize, trace: bool, left_out: Option<usize>) -> (Everything, u64) {
    let (split, mut all) = split(program, parts, trace);
    let mut executions = split.report.counts.executions;
    for (number, item) in split.items.into_iter().enumerate() {
        if Some(number) == left_out {
            continue;
        }
        let mut explorer = explorer(program);
        explorer.item = item;
        let (mut interpreter, limits) = (Interpreter::new(program), Limits::default());
        let report: Report = match trace {
            true => explorer.trace(&mut interpreter, &limits),
            false => explorer.saturate(&mut interpreter, &limits),
        }
        .expect("a function of its histories");
        assert_eq!(report.stopped, Stopped::Complete);
        executions += report.counts.executions;
        add(&mut all, found(&explorer, &report));
    }
    (all, executions)
}

fn rounds() -> u64 {
    std::env::var("REWEAVE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

/// Each flavour in 1, 2 and 7 parts: histories, failures, deadlocks, races and exits are exactly the oracle's.
#[test]
fn parts_find_what_brute_force_finds() {
    for flavour in Flavour::ALL {
        let mut compared = 0;
        for seed in 0..rounds() {
            let program = draw(&mut Rng::new(seed * 7 + flavour as u64), flavour);
            let Some(oracle) = everything(&program, 3_000) else { continue };
            for parts in [1, 2, 7] {
                let (all, _) = in_parts(&program, parts, false, None);
                assert_eq!(all, wanted(&oracle), "{flavour:?} {seed} in {parts}: {program:?}");
            }
            compared += 1;
        }
        assert!(compared > rounds() / 2, "most programs are small");
    }
}

/// The executions of the trace engine, over all parts, are the classes.
#[test]
fn parts_have_each_class_once() {
    let mut compared = 0;
    for flavour in Flavour::ALL {
        // The last one is a program of which classes were lost where parts were not saturated first.
        for seed in (0..rounds()).chain([21]) {
            let program = draw(&mut Rng::new(seed * 7 + flavour as u64), flavour);
            if program.threads.iter().flatten().any(|instr| matches!(instr, Instr::Spin { .. })) {
                continue;
            }
            let Some(classes) = classes(&program, 3_000) else { continue };
            let Some(oracle) = everything(&program, 3_000) else { continue };
            for parts in [1, 2, 7] {
                let (all, executions) = in_parts(&program, parts, true, None);
                assert_eq!(executions, classes as u64, "{flavour:?} {seed} in {parts}: {program:?}");
                assert_eq!(all, wanted(&oracle), "{flavour:?} {seed} in {parts}: {program:?}");
            }
            compared += 1;
        }
    }
    assert!(compared > rounds(), "{compared}");
}

/// A part that is left out is missed by the oracle: parts are no copies of each other.
#[test]
fn every_part_counts() {
    let caught = (0..100).any(|seed| {
        let program = draw(&mut Rng::new(seed), Flavour::Memory);
        let Some(oracle) = everything(&program, 1_500) else { return false };
        let parts = split(&program, 4, false).0.items.len();
        (0..parts).any(|left_out| in_parts(&program, 4, false, Some(left_out)).0 != wanted(&oracle))
    });
    assert!(caught);
}
