//! The trace engine against brute force.

mod common;

use common::{explore, trace, wanted};
use reweave_testkit::Rng;
use reweave_testkit::interleave::{Flavour, Instr, classes, draw, everything};

/// Each flavour: as many executions as classes, and the oracle's failures, deadlocks, races and exits.
#[test]
fn one_execution_per_class() {
    let rounds: u64 = std::env::var("REWEAVE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    for flavour in Flavour::ALL {
        let (mut compared, mut total, mut blocked) = (0, 0, 0);
        for seed in 0..rounds {
            let program = draw(&mut Rng::new(seed * 7 + flavour as u64), flavour);
            if program.threads.iter().flatten().any(|instr| matches!(instr, Instr::Spin { .. })) {
                continue;
            }
            let Some(classes) = classes(&program, 8_000) else { continue };
            let Some(oracle) = everything(&program, 8_000) else { continue };
            let (found, report) = trace(&program);
            assert_eq!(report.counts.executions, classes as u64, "{flavour:?} {seed}: {program:?}");
            assert_eq!(found, wanted(&oracle), "{flavour:?} {seed}: {program:?}");
            compared += 1;
            total += classes;
            blocked += report.counts.blocked;
        }
        println!("{flavour:?}: {compared} programs, {total} classes, {blocked} blocked");
        assert!(compared > rounds / 4, "most programs are small");
    }
}

/// Both engines say the same of programs whose threads spin, whose classes the oracle does not count.
#[test]
fn engines_agree() {
    for seed in 0..60 {
        let program = draw(&mut Rng::new(seed), Flavour::Memory);
        if everything(&program, 2_000).is_none() {
            continue;
        }
        let (saturated, _) = explore(&program, true, None);
        let (traced, _) = trace(&program);
        assert_eq!(saturated, traced, "{seed}: {program:?}");
    }
}
