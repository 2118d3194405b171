//! Views: what the rows of both orders and the states say, for every finding of every litmus test.

use reweave_detect::{Options, predict};
use reweave_report::view::{Maker, Row, Step, Subject, View};
use reweave_testkit::litmus;
use reweave_trace::{Model, Trace};

fn views(trace: &Trace, model: Model) -> Vec<(Vec<u32>, View)> {
    let prediction = predict(trace, model, &Options::default()).expect("a prediction");
    let subjects: Vec<Subject<'_>> = prediction
        .findings
        .iter()
        .map(|finding| Subject {
            kind: finding.kind(),
            pattern: finding.pattern(),
            events: finding.events(),
            checked: finding.witness(),
        })
        .collect();
    let maker = Maker::new(trace, subjects.iter().flat_map(|subject| subject.events).copied());
    let events = subjects.iter().map(|subject| subject.events.iter().map(|event| event.0).collect());
    events.zip(maker.views(&subjects)).collect()
}

fn steps(rows: &[Row]) -> impl Iterator<Item = &Step> {
    rows.iter().filter_map(|row| if let Row::Step(step) = row { Some(&**step) } else { None })
}

fn count(rows: &[Row]) -> u64 {
    rows.iter().map(|row| if let Row::Fold(fold) = row { fold.folded } else { 1 }).sum()
}

#[test]
fn every_event_of_a_run_is_in_its_rows_and_every_event_of_a_finding_is_shown() {
    let mut seen = 0;
    for test in litmus::all() {
        for (events, view) in views(&test.trace, Model::Rf) {
            let board = view.board.expect("a litmus test is small");
            assert_eq!(count(&board.observed), test.trace.events().count() as u64, "{}", test.name);
            for event in events {
                let step = steps(&board.observed).find(|step| step.event == event);
                assert!(step.is_some_and(|step| step.bug), "{}: event {event}", test.name);
            }
            // A witness may end before the write that should have come first.
            assert!(steps(&board.witness).any(|step| step.bug), "{}", test.name);
            for read in steps(&board.observed).filter_map(|step| step.reads.as_ref()) {
                assert!(!read.changed, "{}: the recorded run reads what it read", test.name);
            }
            assert!((board.bug as usize) < board.witness.len());
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn a_deadlock_says_who_blocks_whom() {
    let trace =
        litmus::all().into_iter().find(|test| test.name == "deadlock-two").expect("it is there").trace;
    let (events, view) = views(&trace, Model::Rf).remove(0);
    let board = view.board.expect("it is small");
    let mut last = std::collections::BTreeMap::new();
    for row in &board.witness {
        let state = match row {
            Row::Step(step) => &step.state,
            Row::Fold(fold) => &fold.state,
        };
        for thread in &state.threads {
            last.insert(thread.thread, thread.clone());
        }
    }
    assert_eq!(last.len(), 2);
    for (thread, state) in last {
        let next = state.next.expect("it waits");
        assert!(events.contains(&next.event));
        assert_eq!((state.held.len(), &state.blocked_by[..]), (1, &[1 - thread][..]));
    }
    assert!(steps(&board.witness).filter(|step| step.pending).count() == 2);
}
