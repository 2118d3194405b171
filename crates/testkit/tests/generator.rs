//! The generator: its traces are well formed, deterministic, and show every operation.

use std::collections::BTreeMap;

use reweave_testkit::{Rng, Shape, ValueMode, dependences, generate, parse, show};
use reweave_trace::{Kind, Trace};

const SEEDS: u64 = 2_000;

fn all() -> impl Iterator<Item = (u64, Trace)> {
    Shape::presets()
        .into_iter()
        .flat_map(|(_, shape)| (0..SEEDS).map(move |seed| (seed, generate(&shape, seed))))
}

#[test]
fn every_operation_occurs_often() {
    let mut counts: BTreeMap<Kind, usize> = BTreeMap::new();
    for (_, trace) in all() {
        for (_, event) in trace.events() {
            *counts.entry(event.op.kind()).or_default() += 1;
        }
    }
    for &kind in Kind::ALL {
        let count = counts.get(&kind).copied().unwrap_or(0);
        match kind {
            Kind::Skip => assert_eq!(count, 0),
            _ => assert!(count > 500, "{kind:?} occurs {count} times"),
        }
    }
}

#[test]
fn a_seed_gives_the_same_trace_and_text_gives_it_back() {
    for (name, shape) in Shape::presets() {
        for seed in 0..200 {
            let trace = generate(&shape, seed);
            let text = show(&trace);
            assert_eq!(text, show(&generate(&shape, seed)), "{name} {seed}");
            assert_eq!(text, show(&parse(&text).unwrap()), "{name} {seed}");
        }
    }
}

#[test]
fn values_are_as_the_shape_asks() {
    for seed in 0..200 {
        let with = |mode| generate(&Shape::mixed().with_values(mode), seed);
        assert!(!with(ValueMode::Off).has_values());
        assert!(with(ValueMode::All).capabilities().values);
    }
}

#[test]
fn dependence_tables_name_earlier_reads_of_the_same_thread() {
    for (seed, trace) in all().step_by(7) {
        let table = dependences(&trace, &mut Rng::new(seed));
        for (id, event) in trace.events() {
            for &read in table.needs(id).iter().chain(table.feeds(id)) {
                assert!(read < id || read == id && trace.kind(id) == Kind::Update);
                assert!(trace.kind(read).reads() || trace.kind(read) == Kind::Wait);
                assert_eq!(trace.thread(read), event.thread);
            }
        }
    }
}
