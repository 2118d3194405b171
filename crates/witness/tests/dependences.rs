//! The models `dep` and `dep+value`: what the checker refuses because of a table of dependences, and what it lets through.

use reweave_testkit::trace;
use reweave_trace::{
    DependenceBuilder, Dependent, EventId, Links, Model, ProgramOrder, Space, ThreadId, Trace,
};
use reweave_witness::{Checker, Claim, Refusal, Rejection, Witness};

const MODELS: [Model; 2] = [Model::Dep, Model::DepValue];

/// A trace with a table: `(event, its needs, its feeds)`.
fn with_table(trace: Trace, entries: &[(u32, &[u32], &[u32])], ends: &[(&str, &[u32])]) -> Trace {
    let ids = |events: &[u32]| events.iter().copied().map(EventId).collect::<Vec<_>>();
    let mut table = DependenceBuilder::new();
    for (event, needs, feeds) in entries {
        table.needs(EventId(*event), &ids(needs)).feeds(EventId(*event), &ids(feeds));
    }
    for (name, reads) in ends {
        let mut all = (0..trace.count(Space::Thread)).map(ThreadId::from_index);
        let thread = all.find(|&thread| trace.thread_name(thread) == *name);
        table.set(Dependent::End(thread.expect("there is such a thread")), &ids(reads));
    }
    trace.with_dependences(table.finish()).expect("the table fits")
}

/// Whether a schedule runs; else the step that does not, and why.
fn run(trace: &Trace, model: Model, schedule: &[u32]) -> Result<(), (u32, Refusal)> {
    let (links, order) = (Links::new(trace), ProgramOrder::new(trace));
    let tail: Vec<EventId> = schedule.iter().copied().map(EventId).collect();
    let claim = Claim::Sequence { events: tail.last().copied().into_iter().collect(), adjacent: vec![] };
    match Checker::new(trace, &links, &order).check(model, Witness { prefix: 0, tail }, claim) {
        Ok(_) => Ok(()),
        Err(Rejection::Step { event, refusal, .. }) => Err((event.0, refusal)),
        Err(other) => panic!("{schedule:?}: {other}"),
    }
}

#[track_caller]
fn refuses(trace: &Trace, schedule: &[u32], event: u32, refusal: Refusal) {
    for model in MODELS.into_iter().filter(|model| !model.by_value() || trace.capabilities().values) {
        assert_eq!(run(trace, model, schedule), Err((event, refusal)), "{model}: {schedule:?}");
    }
}

#[track_caller]
fn accepts(trace: &Trace, schedule: &[u32]) {
    for model in MODELS.into_iter().filter(|model| !model.by_value() || trace.capabilities().values) {
        assert_eq!(run(trace, model, schedule), Ok(()), "{model}: {schedule:?}");
    }
}

#[test]
fn what_is_needed_has_to_be_clean() {
    let trace = trace! { a: w(x); b: r(x); b: r(y); b: br; b: w(z); };
    let trace = with_table(trace, &[(3, &[2], &[]), (4, &[1], &[])], &[]);
    // The branch needs y alone; the write has an address that x decides.
    accepts(&trace, &[1, 2, 3]);
    refuses(&trace, &[1, 2, 3, 4], 4, Refusal::Tainted { read: EventId(1) });
    accepts(&trace, &[0, 1, 2, 3, 4]);
}

#[test]
fn taint_goes_through_memory_and_other_threads() {
    let trace =
        trace! { a: w(x); b: r(x); b: w(z); b: w(u); c: r(z); c: w(v); d: r(v); d: br; d: r(u); d: br; };
    let entries: [(u32, &[u32], &[u32]); 4] =
        [(2, &[], &[1]), (5, &[], &[4]), (7, &[6], &[]), (9, &[8], &[])];
    let trace = with_table(trace, &entries, &[]);
    refuses(&trace, &[1, 2, 3, 4, 5, 6, 7], 7, Refusal::Tainted { read: EventId(6) });
    accepts(&trace, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // What x does not feed is as good as ever.
    let trace = trace! { a: w(x); b: r(x); b: w(u); c: r(u); c: br; };
    accepts(&with_table(trace, &[(4, &[3], &[])], &[]), &[1, 2, 3, 4]);
}

#[test]
fn an_equal_value_of_a_tainted_write_is_not_clean() {
    let trace = trace! { capabilities: values; a: w(x) = 1; b: r(x) = 1; b: w(z) = 1; c: r(z) = 1; c: br; };
    let trace = with_table(trace, &[(2, &[], &[1]), (4, &[3], &[])], &[]);
    refuses(&trace, &[1, 2, 3, 4], 4, Refusal::Tainted { read: EventId(3) });
}

#[test]
fn an_end_needs_what_its_thread_returns() {
    let trace = trace! { a: fork(b); b: r(x); c: w(x); b: w(y); a: join(b); };
    let plain = with_table(trace.clone(), &[(3, &[], &[1])], &[]);
    accepts(&plain, &[0, 2, 1, 3, 4]);
    let returns = with_table(trace, &[(3, &[], &[1])], &[("b", &[1])]);
    refuses(&returns, &[0, 2, 1, 3, 4], 4, Refusal::JoinsTainted { read: EventId(1) });
    accepts(&returns, &[0, 1, 2, 3, 4]);
}

#[test]
fn a_table_is_of_earlier_reads_of_the_same_thread() {
    let trace = trace! { a: w(x); b: r(x); b: br; b: r(y); };
    for (event, reads) in [(2, [0]), (2, [3]), (1, [1]), (0, [1]), (2, [9])] {
        let mut table = DependenceBuilder::new();
        table.needs(EventId(event), &reads.map(EventId));
        assert!(trace.clone().with_dependences(table.finish()).is_err(), "{event} needs {reads:?}");
    }
}
