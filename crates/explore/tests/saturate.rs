//! Saturation against brute force.

mod common;

use common::{explore, explore_hasty, wanted};
use reweave_explore::Mutation;
use reweave_testkit::Rng;
use reweave_testkit::interleave::{Flavour, draw, everything};

/// Each flavour, with and without reductions: histories, failures, deadlocks, races and exits are exactly the oracle's.
#[test]
fn finds_what_brute_force_finds() {
    let rounds: u64 = std::env::var("REWEAVE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    for flavour in Flavour::ALL {
        let (mut compared, mut full, mut reduced, mut deadlocks, mut races) = (0, 0, 0, 0, 0);
        for seed in 0..rounds {
            let program = draw(&mut Rng::new(seed * 7 + flavour as u64), flavour);
            let Some(oracle) = everything(&program, 6_000) else { continue };
            let expected = wanted(&oracle);
            let (all, report) = explore(&program, false, None);
            assert_eq!(all, expected, "{flavour:?} {seed} in full: {program:?}");
            let (some, less) = explore(&program, true, None);
            assert_eq!(some, expected, "{flavour:?} {seed} reduced: {program:?}");
            compared += 1;
            full += report.counts.states;
            reduced += less.counts.states;
            deadlocks += expected.deadlocks.len();
            races += expected.races.len();
        }
        println!(
            "{flavour:?}: {compared} programs, {deadlocks} deadlocks, {races} races, {full} states, {reduced} reduced"
        );
        assert!(compared > rounds / 2, "most programs are small");
    }
}

/// Each repair, left out, is seen by the oracle.
#[test]
fn mistakes_are_seen() {
    for mutation in [
        Mutation::OpenFutures,
        Mutation::ExitTouchesNothing,
        Mutation::OnePass,
        Mutation::WaitsTouchNoCondition,
        Mutation::LocksOnlyRead,
    ] {
        let caught = (0..800).any(|seed| {
            let flavour = Flavour::ALL[seed as usize % Flavour::ALL.len()];
            let program = draw(&mut Rng::new(seed), flavour);
            let Some(oracle) = everything(&program, 1_500) else { return false };
            explore(&program, true, Some(mutation)).0 != wanted(&oracle)
        });
        assert!(caught, "{mutation:?}");
    }
}

/// A host that has a thread wait as soon as it sees the same again, though it counts its looks, is seen too.
#[test]
fn waiting_after_any_second_look_is_seen() {
    let caught = (0..800).any(|seed| {
        let program = draw(&mut Rng::new(seed), Flavour::Memory);
        let Some(oracle) = everything(&program, 1_500) else { return false };
        explore_hasty(&program) != wanted(&oracle)
    });
    assert!(caught);
}
