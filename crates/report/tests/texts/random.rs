//! Whatever the answer, it can be told.

use reweave_decide::Verdict;
use reweave_report::json::{Head, Query};
use reweave_report::schedule::{self, Options};
use reweave_report::{claim, refutation};
use reweave_testkit::{Rng, Shape, generate};
use reweave_trace::{EventId, Kind, Model, Trace};
use reweave_witness::Claim;

use crate::common::decide;

fn questions(trace: &Trace, rng: &mut Rng) -> Vec<Claim> {
    let events: Vec<EventId> = trace.events().map(|(id, _)| id).collect();
    let blocks = |event: &EventId| matches!(trace.kind(*event), Kind::Acquire | Kind::SharedAcquire);
    let acquires: Vec<EventId> = events.iter().copied().filter(blocks).collect();
    let mut some = |from: &[EventId]| -> Vec<EventId> {
        if from.is_empty() { Vec::new() } else { (0..2).map(|_| from[rng.below(from.len())]).collect() }
    };
    let mut asked = vec![Claim::CoEnabled(some(&events)), Claim::CoEnabled(some(&events))];
    asked.extend([some(&acquires), some(&acquires)].map(Claim::Deadlock));
    asked.push(Claim::Sequence { events: some(&events), adjacent: Vec::new() });
    asked.push(Claim::Sequence { events: some(&events), adjacent: vec![0] });
    asked.retain(|claim| !claim::events(claim).is_empty());
    asked
}

#[test]
fn every_answer_can_be_told_in_the_width_given() {
    let (mut feasible, mut infeasible) = (0, 0);
    for (_, shape) in Shape::presets() {
        for seed in 0..60 {
            let trace = generate(&shape, seed);
            for asked in questions(&trace, &mut Rng::new(seed)) {
                let verdict = decide(&trace, Model::Rf, &asked);
                let told = match &verdict {
                    Verdict::Feasible(checked) => {
                        feasible += 1;
                        let text =
                            schedule::text(&trace, checked, Options { width: 60, ..Options::default() });
                        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
                        let marked = |id: &EventId| text.lines().any(|line| is_mark(line, *id));
                        assert!(claim::events(&asked).iter().all(marked), "{asked:?}\n{text}");
                        text
                    }
                    Verdict::Infeasible(why) => {
                        infeasible += 1;
                        refutation::text(&trace, Model::Rf, &asked, why)
                    }
                    Verdict::Unknown(reason) => panic!("{reason:?}"),
                };
                assert!(
                    told.ends_with('\n') && !told.contains("nobody") && !told.contains("held by\n"),
                    "{told}"
                );
                let head = Head::new(&trace, "t.std", Model::Rf);
                let document = Query::new(&trace, head, &asked, &verdict, 1.0);
                let text = serde_json::to_string(&document).expect("a document");
                assert_eq!(serde_json::from_str::<Query>(&text).expect("the same"), document, "{text}");
            }
        }
    }
    assert!(feasible > 100 && infeasible > 100, "{feasible} {infeasible}");
}

/// Whether the line is that of the event, marked.
fn is_mark(line: &str, id: EventId) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("▶") && words.next() == Some(&id.0.to_string())
}
