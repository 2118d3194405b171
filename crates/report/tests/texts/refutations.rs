//! Stories of why not.

use std::fmt::Write;

use reweave_decide::{Demand, Impossible, Refutation, Step, Verdict, Why};
use reweave_report::refutation;
use reweave_testkit::parse;
use reweave_trace::{LockId, Model, Trace};
use reweave_witness::Claim;

use crate::common::{decide, golden, id, ids, litmus};

/// A trace with an event of every kind that a refutation can speak of.
fn trace() -> Trace {
    let text = "\
        main|fork(T2)|main.c:1\n\
        main|w(x)|main.c:2\n\
        T2|acq(l)|t2.c:1\n\
        T2|r(x)|t2.c:2\n\
        T2|rel(l)|t2.c:3\n\
        main|acq(l)|main.c:3\n\
        main|notify(c)|main.c:4\n\
        T2|wait(c)|t2.c:4\n\
        T3|busy(l)|t3.c:1\n\
        main|w(x)|main.c:5\n\
        main|rel(l)|main.c:6\n\
        main|join(T2)|main.c:7\n\
        T3|au(x)|t3.c:2\n";
    parse(text).expect("a trace")
}

pub(crate) const LOCK: LockId = LockId(0);

/// A step for every reason. Who adds a variant to `Why` has to add it here: see `covered`.
pub(crate) fn steps() -> Vec<Step> {
    let step = |from, to, why| Step { from: id(from), to: id(to), why };
    vec![
        step(1, 5, Why::ProgramOrder),
        step(0, 2, Why::Fork),
        step(7, 11, Why::Join),
        step(6, 7, Why::Woken),
        step(4, 6, Why::Starts),
        step(1, 3, Why::Observes),
        step(3, 4, Why::Depends),
        step(1, 4, Why::Depends),
        step(3, 9, Why::NotBefore { read: id(3), write: Some(id(1)) }),
        step(9, 1, Why::NotBefore { read: id(3), write: Some(id(1)) }),
        step(3, 1, Why::NotBefore { read: id(3), write: None }),
        step(4, 5, Why::Mutex(LOCK)),
        step(6, 4, Why::NotNotified { wait: id(7) }),
        step(5, 1, Why::Adjacent),
        step(3, 5, Why::Adjacent),
        step(9, 3, Why::Asked),
    ]
}

pub(crate) fn demands() -> Vec<Demand> {
    let (read, write) = (id(3), Some(id(1)));
    vec![
        Demand::Asked(id(1)),
        Demand::AskedNext(id(3)),
        Demand::AskedBefore(id(9), id(3)),
        Demand::AskedAdjacent(id(1), id(9), id(5)),
        Demand::Fork { event: id(2), fork: id(0) },
        Demand::Join { join: id(11), last: id(7) },
        Demand::Needs { event: id(4), read },
        Demand::Needs { event: id(12), read: id(12) },
        Demand::Observes { read, write },
        Demand::Observes { read, write: None },
        Demand::NotBetween { read, write, other: id(9) },
        Demand::NotBetween { read, write: None, other: id(9) },
        Demand::Untainted { read, write: id(1), by: id(12) },
        Demand::Mutex { lock: LOCK, first: id(2), second: id(5) },
        Demand::Busy { attempt: id(8) },
        Demand::Woken { wait: id(7), waker: id(6) },
        Demand::NotNotified { wait: id(7), notification: id(6) },
        Demand::DeadHolder { acquire: id(5) },
    ]
}

pub(crate) fn contradictions() -> Vec<Impossible> {
    vec![
        Impossible::SameThread(id(2), id(3)),
        Impossible::SameThread(id(2), id(2)),
        Impossible::NotAnAcquire(id(3)),
        Impossible::NoCycle,
        Impossible::Backwards(id(3), id(2)),
        Impossible::Backwards(id(3), id(3)),
    ]
}

#[test]
fn every_reason_has_its_sentence() {
    let trace = trace();
    let asked = Claim::Before { pairs: vec![(id(1), id(3))], adjacent: vec![0] };
    let mut text = String::new();
    for step in steps() {
        let reason = refutation::reason(&trace, &asked, &step);
        writeln!(text, "{:?} {} {}: {reason}", step.why, step.from.0, step.to.0).expect("a string");
    }
    let next = Claim::CoEnabled(ids(&[3, 9]));
    for (from, to) in [(9, 3), (5, 3)] {
        let step = Step { from: id(from), to: id(to), why: Why::Asked };
        let reason = refutation::reason(&trace, &next, &step);
        writeln!(text, "Asked to be next {from} {to}: {reason}").expect("a string");
    }
    golden("reasons", &text);
}

#[test]
fn every_demand_has_its_sentence() {
    let trace = trace();
    let mut text =
        refutation::text(&trace, Model::Rf, &Claim::CoEnabled(ids(&[1, 3])), &Refutation::Clash(demands()));
    text += "by value:\n";
    for demand in demands().into_iter().filter(|demand| matches!(demand, Demand::Observes { .. })) {
        writeln!(text, "  - {}", refutation::demand(&trace, Model::Value, demand)).expect("a string");
    }
    golden("demands", &text);
}

#[test]
fn every_contradiction_has_its_sentence() {
    let trace = trace();
    let sentences = contradictions().into_iter().map(|one| refutation::contradiction(&trace, one) + "\n");
    golden("contradictions", &sentences.collect::<String>());
}

#[test]
fn steps_along_one_thread_are_one_and_the_question_comes_last() {
    let trace = trace();
    let step = |from, to, why| Step { from: id(from), to: id(to), why };
    let steps = vec![
        step(9, 1, Why::Asked),
        step(1, 5, Why::ProgramOrder),
        step(5, 6, Why::ProgramOrder),
        step(6, 9, Why::ProgramOrder),
    ];
    let asked = Claim::Sequence { events: ids(&[9, 1]), adjacent: Vec::new() };
    golden("merged", &refutation::text(&trace, Model::Rf, &asked, &Refutation::Cycle(steps)));
}

#[test]
fn stories_of_litmus_traces() {
    let sequence = |events: &[u32], adjacent: &[usize]| Claim::Sequence {
        events: ids(events),
        adjacent: adjacent.to_vec(),
    };
    let mut text = String::new();
    for (name, model, claim) in [
        ("deadlock-gate", Model::Rf, Claim::Deadlock(ids(&[2, 8]))),
        ("deadlock-ordered-by-data", Model::Branch, Claim::Deadlock(ids(&[1, 8]))),
        ("use-after-free-guarded", Model::Branch, sequence(&[7, 4], &[])),
        ("fork-and-join", Model::Rf, Claim::CoEnabled(ids(&[3, 6]))),
        ("adjacent", Model::Rf, sequence(&[1, 4], &[0])),
        ("busy-needs-holder", Model::Rf, sequence(&[4, 1], &[])),
        ("deadlock-dead-holder", Model::Rf, Claim::Deadlock(ids(&[2]))),
        ("wait-nested", Model::Rf, sequence(&[5, 3, 7], &[])),
        ("wait-spurious", Model::Rf, sequence(&[1, 7, 2, 4], &[])),
        ("taint-through-memory", Model::Branch, sequence(&[5, 0], &[])),
        ("tainted-write-equal-value", Model::Value, sequence(&[1, 0, 5, 3], &[])),
        ("deadlock-two-readers", Model::Rf, sequence(&[4, 0, 5, 1], &[])),
    ] {
        let trace = litmus(name);
        let Verdict::Infeasible(refutation) = decide(&trace, model, &claim) else { panic!("{name}") };
        writeln!(text, "{name}, {model}, {}:", reweave_report::claim::text(&claim)).expect("a string");
        text += &refutation::text(&trace, model, &claim, &refutation);
        text.push('\n');
    }
    golden("stories", &text);
}
