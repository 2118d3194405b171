//! The machine against the oracle, which was written from the same law by other hands.

use reweave_testkit::{Machine as Twin, Oracle, Rng, Shape, ValueMode, dependences, generate, show};
use reweave_trace::{EventId, Model, ProgramOrder, Trace};
use reweave_witness::{Checker, Claim, Machine, Witness};

/// How many traces; `REWEAVE_TRACES` asks for more.
fn traces() -> u64 {
    std::env::var("REWEAVE_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(100_000)
}

fn trace_of(seed: u64, model: Model) -> Trace {
    let presets = Shape::presets();
    let (_, shape) = presets[seed as usize % presets.len()].clone();
    let mode = [ValueMode::All, ValueMode::Some, ValueMode::Off][seed as usize / presets.len() % 3];
    let mode = if model.by_value() { ValueMode::All } else { mode };
    generate(&Shape { branches: true, ..shape.with_values(mode) }, seed)
}

/// A schedule as it is, or with one or two things wrong.
fn spoil(mut schedule: Vec<EventId>, trace: &Trace, rng: &mut Rng) -> Vec<EventId> {
    for _ in 0..rng.below(3) {
        if schedule.is_empty() || trace.is_empty() {
            break;
        }
        let (i, j) = (rng.below(schedule.len()), rng.below(schedule.len()));
        match rng.below(4) {
            0 => schedule.swap(i, j),
            1 => drop(schedule.remove(i)),
            2 => schedule.insert(j, EventId(rng.below(trace.len()) as u32)),
            _ => {
                let moved = schedule.remove(i);
                schedule.insert(rng.below(schedule.len() + 1), moved);
            }
        }
    }
    schedule
}

#[test]
fn the_same_steps_are_refused() {
    for seed in 0..traces() {
        let model = Model::ALL[seed as usize % Model::ALL.len()];
        let trace = trace_of(seed, model);
        let mut rng = Rng::new(seed);
        let table = dependences(&trace, &mut rng);
        let table = model.by_dependence().then_some(&table);
        let (links, order) = (reweave_spec::links(&trace), ProgramOrder::new(&trace));
        let twin = Twin::new(&trace, model, table).expect("the oracle knows every model");
        for _ in 0..4 {
            let walk = twin.random_schedule(&mut rng);
            let schedule = spoil(walk, &trace, &mut rng);
            let mut machine = Machine::new(&trace, &links, &order, model, table);
            let refused = schedule.iter().position(|&event| machine.step(event).is_err());
            let expected = twin.accepts(&schedule).err();
            assert_eq!(refused, expected, "seed {seed} {model} {schedule:?}\n{}", show(&trace));
        }
    }
}

#[test]
fn claims_hold_exactly_where_the_oracle_says() {
    for seed in 0..traces() / 10 {
        let model = Model::ALL[seed as usize % Model::ALL.len()];
        let trace = trace_of(seed, model);
        let mut rng = Rng::new(seed);
        let table = dependences(&trace, &mut rng);
        let table = model.by_dependence().then_some(&table);
        let (links, order) = (reweave_spec::links(&trace), ProgramOrder::new(&trace));
        let mut checker = Checker::new(&trace, &links, &order);
        if let Some(table) = table {
            checker = checker.with_dependences(table);
        }
        let oracle = Oracle::new(&trace, model, table).expect("the trace is small");
        let checkpoints = checker.checkpoints(model, 2).expect("the model is sound");
        let accepted = |tail: &[EventId], claim: Claim| {
            // As much as possible in the prefix, from a checkpoint: the answer must be the same.
            let prefix = tail.iter().zip(trace.ids()).take_while(|(a, b)| **a == *b).count();
            let short = Witness { prefix: prefix as u32, tail: tail[prefix..].to_vec() };
            let answer = checker.check(model, Witness { prefix: 0, tail: tail.to_vec() }, claim.clone());
            let again = checker.check_from(&checkpoints, short, claim);
            let answer = answer.map(|_| ());
            assert_eq!(answer, again.map(|_| ()), "seed {seed} {model}");
            answer.is_ok()
        };
        for (a, b) in oracle.races() {
            assert!(trace.conflict(a, b));
            let schedule = oracle.witness(&[a, b]).expect("a race has a witness");
            assert!(
                accepted(&schedule, Claim::CoEnabled(vec![a, b])),
                "seed {seed} {model}\n{}",
                show(&trace)
            );
        }
        let deadlocks = oracle.deadlocks();
        for _ in 0..4 {
            let schedule = oracle.random_schedule(&mut rng);
            let next: Vec<EventId> = (0..order.threads() as u32)
                .filter_map(|thread| {
                    let events = order.of(reweave_trace::ThreadId(thread));
                    events.iter().find(|event| !schedule.contains(event)).copied()
                })
                .collect();
            for (i, &a) in next.iter().enumerate() {
                for &b in &next[..i] {
                    if accepted(&schedule, Claim::CoEnabled(vec![a, b])) {
                        assert!(oracle.coenabled(&[a, b]), "seed {seed} {model}\n{}", show(&trace));
                    }
                    let mut pair = vec![a, b];
                    pair.sort();
                    if accepted(&schedule, Claim::Deadlock(pair.clone())) {
                        assert!(deadlocks.contains(&pair), "seed {seed} {model} {pair:?}\n{}", show(&trace));
                    }
                }
            }
            if schedule.len() >= 3 {
                let mut places: Vec<usize> = (0..3).map(|_| rng.below(schedule.len())).collect();
                places.sort_unstable();
                places.dedup();
                let events: Vec<EventId> = places.iter().map(|&place| schedule[place]).collect();
                let adjacent: Vec<usize> =
                    (1..places.len()).filter(|&i| places[i] == places[i - 1] + 1).map(|i| i - 1).collect();
                assert!(oracle.sequence(&events, &adjacent));
                assert!(accepted(&schedule, Claim::Sequence { events, adjacent }), "seed {seed} {model}");
            }
        }
    }
}

#[test]
fn every_litmus_witness_is_accepted() {
    for litmus in reweave_testkit::litmus::all() {
        let (trace, table) = (&litmus.trace, litmus.dependences.as_ref());
        let (links, order) = (reweave_spec::links(trace), ProgramOrder::new(trace));
        for (model, verdicts) in &litmus.expected {
            let oracle = Oracle::new(trace, *model, table).expect("a litmus trace is small");
            for &(a, b) in &verdicts.races {
                let schedule = oracle.witness(&[a, b]).expect("a race has a witness");
                let mut machine = Machine::new(trace, &links, &order, *model, table);
                assert!(schedule.iter().all(|&event| machine.step(event).is_ok()), "{}", litmus.name);
                assert!(machine.may_run(a).is_ok() && machine.may_run(b).is_ok(), "{}", litmus.name);
            }
        }
    }
}
