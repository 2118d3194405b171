//! The races of shb, which predict confirms by shb's own order: nothing is lost, and it takes less work.

use reweave_decide::{Decider, Limits, Prepared, Stages, Verdict};
use reweave_detect::{Kind, Options, predict};
use reweave_stream::{Analysis, races};
use reweave_testkit::{Shape, generate, show};
use reweave_trace::{EventId, Kind as OpKind, Model, Trace};
use reweave_witness::Claim;

/// Traces on which every race of shb is one in `rf`: without updates and failed attempts, which run only when they are clean, and waits.
fn traces() -> impl Iterator<Item = Trace> {
    let presets = Shape::presets();
    let plain = |trace: &Trace| {
        trace.ids().all(|id| {
            !matches!(trace.kind(id), OpKind::Update | OpKind::FailedAttempt | OpKind::Wait | OpKind::Busy)
        })
    };
    (0..4000_u64)
        .map(move |seed| {
            let (_, shape) = presets[seed as usize % presets.len()].clone();
            generate(&shape, seed)
        })
        .filter(plain)
}

fn pairs(trace: &Trace) -> Vec<(EventId, EventId)> {
    let found = races(trace, Analysis::Shb, true).expect("the trace is well formed");
    found.iter().map(|race| (race.earlier, race.later)).collect()
}

#[test]
fn predict_has_every_race_of_shb() {
    let mut count = 0;
    for trace in traces() {
        let options = Options { kinds: vec![Kind::Race], all: true, ..Options::default() };
        let found = predict(&trace, Model::Rf, &options).expect("every yes passes the checker").findings;
        for (a, b) in pairs(&trace) {
            assert!(found.iter().any(|race| race.events() == [a, b]), "{a:?} {b:?}\n{}", show(&trace));
            count += 1;
        }
    }
    assert!(count > 1000, "{count}");
}

#[test]
fn one_sweep_confirms_them_where_a_closure_takes_longer() {
    let (mut swept, mut searched) = (0, 0);
    for trace in traces().take(600) {
        let prepared = Prepared::new(&trace, None);
        let decider = Decider::new(&prepared, Model::Rf).expect("the model is sound");
        for (a, b) in pairs(&trace) {
            let claim = Claim::CoEnabled(vec![a, b]);
            let answer = |work: u64, stages| {
                let limits = Limits { work: Some(work), stop: None };
                decider.basis().decider().decide_with(&claim, &limits, stages).expect("a question")
            };
            // A step for each event in between, and nothing more.
            let steps = u64::from(b.0 - a.0);
            let verdict = answer(steps, Stages::All);
            assert!(matches!(verdict, Verdict::Feasible(_)), "{a:?} {b:?} {verdict:?}\n{}", show(&trace));
            swept += steps;
            let enough = |work: &u64| matches!(answer(*work, Stages::Closure), Verdict::Feasible(_));
            searched += (0..).map(|power| 1 << power).find(enough).unwrap_or(u64::MAX);
        }
    }
    assert!(0 < swept && 2 * swept < searched, "{swept} steps instead of {searched}");
}
