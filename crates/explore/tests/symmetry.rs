//! Threads that are alike, against brute force.

mod common;

use common::{alike, policy, saturate, specified, trace, wanted};
use reweave_explore::{
    Explorer, Failure, Init, Limits, Mutation, Op, Policy, Script, Scripted, Steps, ThreadId,
};
use reweave_testkit::Rng;
use reweave_testkit::interleave::{Everything, Flavour, Small, draw_same, everything};

fn drawn(seed: u64) -> Small {
    let flavour = Flavour::ALL[seed as usize % Flavour::ALL.len()];
    draw_same(&mut Rng::new(seed * 11 + 5), flavour)
}

fn explored(program: &Small, reduce: bool, symmetry: bool, mutation: Option<Mutation>) -> (Everything, u64) {
    let mut explorer = Explorer::with(policy(program), Some(specified()), mutation);
    (explorer.reduce, explorer.symmetry) = (reduce, symmetry);
    let (found, report) = saturate(explorer, program);
    (alike(&found), report.counts.states)
}

/// With symmetry and without, with stubborn sets and without: what brute force finds, up to exchanging threads.
#[test]
fn exchanging_threads_loses_nothing() {
    let rounds: u64 = std::env::var("REWEAVE_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(250);
    let (mut compared, mut with, mut without) = (0, 0, 0);
    for seed in 0..rounds {
        let program = drawn(seed);
        let Some(oracle) = everything(&program, 6_000) else { continue };
        let expected = alike(&wanted(&oracle));
        let (found, states) = explored(&program, false, true, None);
        assert_eq!(found, expected, "{seed} in full: {program:?}");
        let (found, all) = explored(&program, false, false, None);
        assert_eq!(found, expected, "{seed} apart: {program:?}");
        let (found, _) = explored(&program, true, true, None);
        assert_eq!(found, expected, "{seed} reduced: {program:?}");
        let (found, _) = trace(&program);
        assert_eq!(alike(&found), expected, "{seed} traced: {program:?}");
        compared += 1;
        with += states;
        without += all;
    }
    println!("{compared} programs, {without} states, {with} with symmetry");
    assert!(compared > rounds / 2 && with * 10 < without * 9, "{with} {without}");
}

/// Threads that a step names are not alike: what was taken for granted is seen by the oracle.
#[test]
fn names_tell_threads_apart() {
    let caught = (0..1_500).any(|seed| {
        let program = drawn(seed);
        let Some(oracle) = everything(&program, 1_500) else { return false };
        explored(&program, true, true, Some(Mutation::NamesTellNothing)).0 != alike(&wanted(&oracle))
    });
    assert!(caught);
}

/// `spawn A, B; join A; x = 1; join B`, where a worker that sees 1 fails.
#[test]
fn joining_one_by_one_finds_the_one_that_fails() {
    let work = |_: u32, script: &mut Script<'_>| -> Steps {
        let seen = script.read(0)?;
        script.check(seen == 0, 1)
    };
    let joins = |script: &mut Script<'_>| -> Steps {
        script.step(Op::Join { thread: ThreadId(1) })?;
        script.write(0, 1)?;
        script.step(Op::Join { thread: ThreadId(2) })?;
        Ok(())
    };
    let mut program = Scripted::new([Init::Cell(0)], 2, &work).same(0).detached().then(&joins);
    let report =
        Explorer::new(Policy::default()).saturate(&mut program, &Limits::default()).expect("an answer");
    assert!(matches!(report.first, Some((Failure::Failed { site: 1, .. }, _))), "{report:?}");
}

/// A counter that fifty increment and one reads: 51 results, and as many runs.
#[test]
fn fifty_increments_and_a_look() {
    let objects = specified();
    let (class, state) = objects.add(reweave_spec::builtin("counter").expect("built in").types.remove(0));
    let inc = objects.number(class, "inc", &[]).expect("a method");
    let get = objects.number(class, "get", &[]).expect("a method");
    let work = |index: u32, script: &mut Script<'_>| -> Steps {
        script.call(0, if index == 0 { get } else { inc })?;
        Ok(())
    };
    let mut program = Scripted::new([Init::Object { class, state }], 51, &work).same(1).detached();
    let mut explorer = Explorer::with_objects(Policy::default(), objects, true);
    let report = explorer.saturate(&mut program, &Limits::default()).expect("an answer");
    println!("{:?}", report.counts);
    assert!(report.proved && report.counts.runs <= 51, "{:?}", report.counts);
    assert!(report.counts.states < 20_000, "{:?}", report.counts);
}
