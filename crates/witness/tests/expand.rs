//! Witnesses of a core that leaves out too much: each is refused in the whole trace, with the right reason.

use reweave_testkit::trace;
use reweave_trace::{Core, EventId, Links, Model, NotACore, ProgramOrder, Trace};
use reweave_witness::{CheckedWitness, Checker, Claim, Expander, Refusal, Rejection, Witness};

/// Checks a schedule of the core that has the events `kept` of `whole`, and expands it.
fn expand(whole: &Trace, kept: &[usize], tail: &[u32], claim: Claim) -> Result<CheckedWitness, Rejection> {
    let core = Core::new(whole, &kept.iter().copied().collect()).expect("a core");
    let (links, order) = (Links::new(core.trace()), ProgramOrder::new(core.trace()));
    let checker = Checker::new(core.trace(), &links, &order);
    let witness = Witness { prefix: 0, tail: tail.iter().copied().map(EventId).collect() };
    let checked = checker.check(Model::Rf, witness, claim).expect("a witness of the core");
    let checkpoints = checker.checkpoints(Model::Rf, 1).expect("a sound model");
    Expander::new(whole, &core, checker).check(&checkpoints, &checked)
}

fn before(a: u32, b: u32) -> Claim {
    Claim::Before { pairs: vec![(EventId(a), EventId(b))], adjacent: Vec::new() }
}

fn refusal(answer: Result<CheckedWitness, Rejection>) -> Refusal {
    match answer {
        Err(Rejection::Step { refusal, .. }) => refusal,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_left_out_runs_before_the_next_event_of_its_thread() {
    let whole = trace! { a: w(own); a: w(x); b: r(mine); b: w(x); a: r(own); a: w(y); };
    let found = expand(&whole, &[1, 3, 5], &[1, 0, 2], before(1, 0)).expect("a witness");
    let tail: Vec<u32> = found.witness().tail.iter().map(|event| event.0).collect();
    // The prefix ends where the first event of the core is.
    assert_eq!((found.witness().prefix, &tail[..]), (1, &[2, 3, 1, 4, 5][..]));
    assert_eq!(found.claim(), &before(3, 1));
}

#[test]
fn a_read_that_would_observe_something_new_is_refused() {
    let whole = trace! { a: w(x); b: r(x); b: w(y); };
    assert_eq!(
        refusal(expand(&whole, &[0, 2], &[1, 0], before(1, 0))),
        Refusal::Tainted { read: EventId(1) }
    );
}

#[test]
fn what_others_may_wait_for_is_refused() {
    let whole = trace! { a: w(x); b: acq(l); b: w(y); };
    assert_eq!(refusal(expand(&whole, &[0, 2], &[1, 0], before(1, 0))), Refusal::NoEvent);
}

#[test]
fn a_claim_of_adjacent_events_is_refused() {
    let whole = trace! { a: w(x); b: w(own); b: w(y); };
    let claim = Claim::Before { pairs: vec![(EventId(0), EventId(1))], adjacent: vec![0] };
    assert!(matches!(expand(&whole, &[0, 2], &[0, 1], claim), Err(Rejection::Claim(_))));
}

#[test]
fn a_core_without_a_write_that_it_reads_is_none() {
    let whole = trace! { a: w(x); b: r(x); };
    assert_eq!(Core::new(&whole, &[1].into_iter().collect()).map(drop), Err(NotACore));
}
