//! Verdicts against Z3, which is asked with an encoding of its own.
//!
//! Optional: where no `z3` is found, nothing is compared and the tests pass. `REWEAVE_Z3` names the executable,
//! `REWEAVE_Z3_ROUNDS=20` asks for that many times the questions, `REWEAVE_Z3_EVENTS=2000` for traces of that size,
//! `REWEAVE_Z3_ARITH` for an arithmetic solver, and `REWEAVE_Z3_SECONDS` bounds each check.

mod encoding;

use std::time::{Duration, Instant};

use reweave_decide::{Decider, Limits, Prepared, Stages, Verdict};
use reweave_testkit::{Oracle, Rng, Shape, ValueMode, generate, show};
use reweave_trace::{EventId, Kind, Model, Trace};
use reweave_witness::Claim;

use encoding::{Law, Z3, claims};

const MODELS: [Model; 5] = [Model::Rf, Model::Value, Model::Branch, Model::BranchValue, Model::Sync];

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn start(seconds: u64) -> Option<Z3> {
    Z3::start(number("REWEAVE_Z3_ARITH", 1) as u32, seconds as u32)
}

/// A small trace of every preset in turn.
fn small(model: Model, seed: u64) -> Trace {
    let presets = Shape::presets();
    let (_, shape) = presets[seed as usize % presets.len()].clone();
    let values = if model.by_value() { ValueMode::All } else { ValueMode::Off };
    generate(&Shape { branches: true, ..shape.with_values(values) }, seed)
}

/// A random question, mostly a senseless one, with its true answer.
fn question(trace: &Trace, oracle: &Oracle, rng: &mut Rng) -> (Claim, bool) {
    let events: Vec<EventId> = trace.events().map(|(id, _)| id).collect();
    let count = 1 + rng.below(3);
    let adjacent: Vec<usize> = (0..count).filter(|_| rng.chance(30)).collect();
    let mut pick = |n: usize| -> Vec<EventId> { (0..n).map(|_| events[rng.below(events.len())]).collect() };
    let (first, second) = (pick(count + 1), pick(count));
    match rng.below(4) {
        0 => {
            let answer = oracle.coenabled(&second);
            (Claim::CoEnabled(second), answer)
        }
        1 => {
            let answer = oracle.sequence(&first, &adjacent);
            (Claim::Sequence { events: first, adjacent }, answer)
        }
        2 => {
            let pairs: Vec<_> = first.into_iter().zip(second).collect();
            let answer = oracle.before(&pairs, &adjacent);
            (Claim::Before { pairs, adjacent }, answer)
        }
        _ => {
            let blocks = |e: &EventId| matches!(trace.kind(*e), Kind::Acquire | Kind::SharedAcquire);
            let mut acquires: Vec<EventId> = first.into_iter().chain(second).filter(blocks).collect();
            acquires.sort();
            acquires.dedup();
            acquires.truncate(count);
            let answer = oracle.deadlock(&acquires);
            (Claim::Deadlock(acquires), answer)
        }
    }
}

#[test]
fn the_encoding_agrees_with_the_oracle_on_small_traces() {
    let Some(mut z3) = start(60) else { return };
    let traces = 250 * number("REWEAVE_Z3_ROUNDS", 1);
    let (mut yes, mut all) = (0, 0);
    for seed in 0..traces {
        for model in MODELS {
            let trace = small(model, seed);
            if trace.is_empty() {
                continue;
            }
            let oracle = Oracle::new(&trace, model, None).expect("the trace is small");
            let law = Law::new(&trace, model);
            z3.load(&law.script()).expect("z3 takes the encoding");
            let mut rng = Rng::new(seed);
            let deadlocks = oracle.deadlocks().into_iter().map(|deadlock| (Claim::Deadlock(deadlock), true));
            let races = oracle.races().into_iter().map(|(a, b)| (Claim::CoEnabled(vec![a, b]), true));
            let mut questions: Vec<(Claim, bool)> = deadlocks.take(2).chain(races.take(2)).collect();
            questions.extend((0..4).map(|_| question(&trace, &oracle, &mut rng)));
            for (claim, expected) in questions {
                if matches!(&claim, Claim::Deadlock(acquires) if acquires.is_empty()) {
                    continue;
                }
                let answer = z3.check(&law.asked(&claim)).expect("z3 answers");
                assert_eq!(answer, Some(expected), "seed {seed} {model} {claim:?}\n{}", show(&trace));
                all += 1;
                yes += u64::from(expected);
            }
        }
    }
    println!("{all} questions, {yes} with yes");
}

/// What was asked, and how long the two took.
#[derive(Default, Debug)]
struct Tally {
    questions: u64,
    feasible: u64,
    settled_fast: u64,
    z3_gave_up: u64,
    ours: Duration,
    z3: Duration,
}

fn compare(z3: &mut Z3, model: Model, events: usize, seed: u64, questions: usize, tally: &mut Tally) {
    let trace = encoding::trace(events, model, seed);
    let law = Law::new(&trace, model);
    let start = Instant::now();
    let prepared = Prepared::new(&trace, None);
    let mut decider = Decider::new(&prepared, model).expect("the model is sound");
    tally.ours += start.elapsed();
    let claims = claims(&mut decider, seed, questions);
    z3.load(&law.script()).expect("z3 takes the encoding");
    for claim in claims {
        let context = || format!("{events} events, seed {seed}, {model}, {claim:?}\n{}", show(&trace));
        let fast = decider.decide_with(&claim, &Limits::none(), Stages::Fast);
        tally.settled_fast += u64::from(!matches!(fast, Ok(Verdict::Unknown(_))));
        let start = Instant::now();
        let verdict = decider.decide(&claim, &Limits::none());
        tally.ours += start.elapsed();
        let ours = match verdict.unwrap_or_else(|error| panic!("{error}\n{}", context())) {
            Verdict::Feasible(_) => true,
            Verdict::Infeasible(_) => false,
            Verdict::Unknown(reason) => panic!("{reason:?} without a limit\n{}", context()),
        };
        let start = Instant::now();
        let theirs = z3.check(&law.asked(&claim)).expect("z3 answers");
        tally.z3 += start.elapsed();
        tally.questions += 1;
        tally.feasible += u64::from(ours);
        tally.z3_gave_up += u64::from(theirs.is_none());
        assert_eq!(theirs.unwrap_or(ours), ours, "{}", context());
    }
}

#[test]
fn verdicts_on_large_traces_agree_with_z3() {
    let Some(mut z3) = start(number("REWEAVE_Z3_SECONDS", 4)) else { return };
    let rounds = number("REWEAVE_Z3_ROUNDS", 1);
    let sizes = match number("REWEAVE_Z3_EVENTS", 0) {
        0 => vec![200, 400],
        events => vec![events as usize],
    };
    for events in sizes {
        for model in MODELS {
            let mut tally = Tally::default();
            for seed in 0..rounds {
                compare(&mut z3, model, events, seed, 10, &mut tally);
            }
            println!("{events} events, {model}: {tally:?}");
        }
    }
}
