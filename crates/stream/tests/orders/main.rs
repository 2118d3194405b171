//! Each analysis against its definition, on random traces.

mod edc;
mod naive;
mod relation;
mod sound;
mod streams;

use naive::Naive;
use reweave_stream::{Analysis, races};
use reweave_testkit::{Shape, ValueMode, Weights, generate, show};
use reweave_trace::{EventId, Trace};

/// How many traces of each shape: more than 100,000 together.
const TRACES: u64 = 8_000;

/// The presets, and longer ones: with sections in sections, with atomics, with notifications, with long sections.
pub(crate) fn shapes() -> Vec<(&'static str, Shape)> {
    let weights = Weights {
        read: 12,
        write: 14,
        acquire: 14,
        release: 22,
        shared_acquire: 3,
        shared_release: 8,
        busy: 1,
        ..Weights::rare()
    };
    let nested = Shape {
        threads: (3, 4),
        events: (18, 30),
        variables: (2, 3),
        locks: (2, 3),
        conditions: (0, 0),
        objects: (0, 0),
        free_starts: 90,
        burst: 60,
        nests: 20,
        value_mode: ValueMode::Off,
        weights,
        ..Shape::mixed()
    };
    let exclusive = exclusive_weights(&nested);
    let classic = Shape { weights: exclusive, events: (20, 40), ..nested.clone() };
    let often = Weights { atomic_read: 8, atomic_write: 8, update: 2, ..exclusive_weights(&nested) };
    let atomics = Shape {
        threads: (2, 3),
        events: (20, 44),
        variables: (1, 1),
        locks: (1, 2),
        weights: often,
        ..nested.clone()
    };
    let notes = Weights { wait: 40, notify: 30, notify_all: 4, acquire: 12, release: 6, ..Weights::rare() };
    let waits =
        Shape { conditions: (1, 1), threads: (3, 5), locks: (1, 1), weights: notes, ..nested.clone() };
    let long = Weights { read: 30, write: 20, acquire: 6, release: 5, ..Weights::rare() };
    let held = Shape {
        threads: (2, 2),
        events: (50, 60),
        variables: (3, 5),
        burst: 90,
        weights: long,
        ..nested.clone()
    };
    let more =
        [("nested", nested), ("classic", classic), ("atomics", atomics), ("notes", waits), ("held", held)];
    Shape::presets().into_iter().chain(more).collect()
}

fn exclusive_weights(shape: &Shape) -> Weights {
    Weights { shared_acquire: 0, atomic_read: 0, atomic_write: 0, update: 0, ..shape.weights.clone() }
}

/// The analyses that have one kind of pairs.
const PLAIN: [Analysis; 5] = [Analysis::Hb, Analysis::Shb, Analysis::Wcp, Analysis::Wdc, Analysis::SyncP];

fn pairs(trace: &Trace, analysis: Analysis, all: bool) -> Vec<(EventId, EventId)> {
    let races = races(trace, analysis, all).expect("generated traces are well formed");
    races.iter().map(|race| (race.earlier, race.later)).collect()
}

#[track_caller]
fn check(trace: &Trace, about: &str) -> [usize; 5] {
    let naive = Naive::new(trace);
    let mut counts = [0; 5];
    for (analysis, count) in PLAIN.into_iter().zip(&mut counts) {
        let mut expected = naive.races(analysis);
        expected.sort_unstable_by_key(|&(earlier, later)| (later, earlier));
        let all = pairs(trace, analysis, true);
        assert_eq!(all, expected, "{analysis}, {about}:\n{}", show(trace));
        let one = pairs(trace, analysis, false);
        let mut racy: Vec<EventId> = expected.iter().map(|&(_, later)| later).collect();
        racy.dedup();
        let found: Vec<EventId> = one.iter().map(|&(_, later)| later).collect();
        assert_eq!(found, racy, "{analysis}, one partner, {about}:\n{}", show(trace));
        assert!(one.iter().all(|pair| expected.contains(pair)), "{analysis}, {about}:\n{}", show(trace));
        *count = all.len();
    }
    counts
}

#[test]
fn each_analysis_finds_what_its_definition_says() {
    let shapes = shapes();
    let mut totals = [0; 5];
    for (name, shape) in &shapes {
        for seed in 0..TRACES {
            let counts = check(&generate(shape, seed), &format!("{name}, seed {seed}"));
            totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        }
    }
    // The analyses are told apart, or there would be nothing to see.
    let [hb, shb, wcp, wdc, syncp] = totals;
    assert!(shb < hb && hb < wcp && wcp < wdc && shb < syncp, "{totals:?}");
}

#[test]
fn races_grow_as_the_papers_say() {
    let subset = |small: &[(EventId, EventId)], large: &[(EventId, EventId)]| {
        small.iter().all(|pair| large.contains(pair))
    };
    for (name, shape) in shapes() {
        for seed in 0..500 {
            let trace = generate(&shape, 1_000_000 + seed);
            let about = || format!("{name}, seed {seed}:\n{}", show(&trace));
            let [hb, shb, wcp, wdc, syncp] = PLAIN.map(|analysis| pairs(&trace, analysis, true));
            assert!(subset(&shb, &hb), "shb in hb, {}", about());
            assert!(subset(&hb, &wcp), "hb in wcp, {}", about());
            assert!(subset(&wcp, &wdc), "wcp in wdc, {}", about());
            let unclear = naive::has_missed_wait(&trace);
            let plain: Vec<_> = shb
                .iter()
                .copied()
                .filter(|&(a, b)| !naive::is_update(&trace, a) && !naive::is_update(&trace, b))
                .collect();
            assert!(unclear || subset(&plain, &syncp), "shb in syncp, {}", about());
        }
    }
}
