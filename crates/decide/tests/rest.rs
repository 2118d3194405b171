//! Waits that sleep for ever and reads of what nobody wrote, on small random traces, against the brute-force oracle.
//!
//! `REWEAVE_TRACES=1000000 cargo test --release -p reweave-decide --test rest` compares more.

use std::collections::BTreeSet;

use reweave_decide::{Decider, Limits, Prepared, Stages, Verdict};
use reweave_testkit::{Oracle, Rng, Shape, ValueMode, dependences, generate, show, sleepers};
use reweave_trace::{EventId, Kind, Model, Trace};
use reweave_witness::Claim;

fn traces() -> u64 {
    std::env::var("REWEAVE_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(14_000)
}

/// One in four is a bit of everything, the others are of threads that wait for each other.
fn trace_of(seed: u64, model: Model) -> Trace {
    if !seed.is_multiple_of(4) {
        return sleepers(seed, model.by_value());
    }
    let presets = Shape::presets();
    let (_, shape) = presets[seed as usize / 4 % presets.len()].clone();
    let values = if model.by_value() { ValueMode::All } else { ValueMode::Off };
    generate(&Shape { branches: true, ..shape.with_values(values) }, seed)
}

#[derive(Default, Debug)]
struct Tally {
    asleep: [u64; 2],
    unwritten: [u64; 2],
    deadlocks: [u64; 2],
}

/// Every set of two acquires or waits with a wait in it, and what the oracle found.
fn deadlocks(trace: &Trace, oracle: &Oracle) -> BTreeSet<Vec<EventId>> {
    let stops = |&e: &EventId| matches!(trace.kind(e), Kind::Acquire | Kind::SharedAcquire | Kind::Wait);
    let events: Vec<EventId> = trace.events().map(|(id, _)| id).filter(stops).collect();
    let mut all: BTreeSet<Vec<EventId>> = oracle.deadlocks().into_iter().collect();
    for (i, &a) in events.iter().enumerate() {
        all.extend(events[i + 1..].iter().map(|&b| vec![a, b]));
    }
    all.retain(|set| set.iter().any(|&e| trace.kind(e) == Kind::Wait));
    all
}

#[test]
fn every_sleep_and_unwritten_read_is_decided_as_the_oracle_says() {
    let mut tally = Tally::default();
    for seed in 0..traces() {
        let model = Model::ALL[seed as usize / 4 % Model::ALL.len()];
        let trace = trace_of(seed, model);
        let table = dependences(&trace, &mut Rng::new(seed));
        let table = model.by_dependence().then_some(&table);
        let Ok(oracle) = Oracle::new(&trace, model, table) else { continue };
        let prepared = Prepared::new(&trace, table);
        let mut decider = Decider::new(&prepared, model).expect("the model is sound");
        let mut compare = |claim: Claim, expected: bool, counts: &mut [u64; 2]| {
            counts[usize::from(expected)] += 1;
            let context = || format!("seed {seed} {model} {claim:?}, expected {expected}\n{}", show(&trace));
            for stages in [Stages::Fast, Stages::Exact, Stages::All] {
                let verdict = decider.decide_with(&claim, &Limits::none(), stages);
                let answer = match verdict.unwrap_or_else(|error| panic!("{error} {}", context())) {
                    Verdict::Feasible(_) => Some(true),
                    Verdict::Infeasible(_) => Some(false),
                    Verdict::Unknown(_) if stages == Stages::Fast => Some(expected),
                    Verdict::Unknown(_) => None,
                };
                assert_eq!(answer, Some(expected), "{stages:?} {}", context());
            }
        };
        let (asleep, unwritten) = (oracle.lost_wake_ups(), oracle.unwritten_reads());
        for (id, event) in trace.events() {
            if event.op.kind() == Kind::Wait {
                compare(Claim::Asleep(id), asleep.contains(&id), &mut tally.asleep);
            }
            if event.op.kind().reads() {
                compare(Claim::Unwritten(id), unwritten.contains(&id), &mut tally.unwritten);
            }
        }
        for set in deadlocks(&trace, &oracle) {
            let expected = oracle.deadlock(&set);
            compare(Claim::Deadlock(set), expected, &mut tally.deadlocks);
        }
    }
    println!("{tally:?}");
    let yes = [tally.asleep[1], tally.unwritten[1], tally.deadlocks[1]];
    assert!(yes.iter().all(|&count| count > traces() / 400), "{tally:?} shows too little");
}
