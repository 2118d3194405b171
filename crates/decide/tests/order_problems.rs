//! Order problems: instances with known verdicts, from papers and made to be hard for the fast stages.
//!
//! The figures are those of "Precisely Deciding Control State Reachability in Concurrent Traces with Limited
//! Observability", section 4. Their either-or edges are critical sections here, and their regular edges are what the
//! query asks for.

use reweave_decide::{Decider, Demand, Limits, Prepared, Refutation, Stages, Verdict};
use reweave_testkit::litmus::{self, Litmus};
use reweave_testkit::{Oracle, trace};
use reweave_trace::{EventId, Kind, Model, Trace};
use reweave_witness::Claim;

/// The event at the site of this name.
fn at(trace: &Trace, site: &str) -> EventId {
    let mut events = trace.events().filter(|(_, event)| trace.site_name(event.site) == site);
    events.next().unwrap_or_else(|| panic!("no site {site}")).0
}

/// The claim that the events at these sites come in the order of the arrows, as in `"s -> p, q -> t"`.
fn asked(trace: &Trace, arrows: &str) -> Claim {
    let pair = |arrow: &str| {
        let (from, to) = arrow.split_once("->").expect("an arrow");
        (at(trace, from.trim()), at(trace, to.trim()))
    };
    Claim::Before { pairs: arrows.split(',').map(pair).collect(), adjacent: Vec::new() }
}

fn decide(trace: &Trace, model: Model, claim: &Claim, stages: Stages) -> Verdict {
    let prepared = Prepared::new(trace, None);
    let mut decider = Decider::new(&prepared, model).expect("the model is sound");
    decider.decide_with(claim, &Limits::none(), stages).expect("the claim is well posed")
}

/// What a stage, and all of them, are to say.
#[derive(PartialEq, Debug)]
enum Answer {
    Feasible,
    Cycle,
    Clash,
    Unknown,
}

fn answer(verdict: &Verdict) -> Answer {
    match verdict {
        Verdict::Feasible(_) => Answer::Feasible,
        Verdict::Infeasible(Refutation::Clash(_)) => Answer::Clash,
        Verdict::Infeasible(_) => Answer::Cycle,
        Verdict::Unknown(_) => Answer::Unknown,
    }
}

/// Checks both answers, and the second against the oracle too where the trace is small enough for it.
fn check(trace: &Trace, model: Model, claim: &Claim, fast: Answer, all: Answer) {
    assert_eq!(answer(&decide(trace, model, claim, Stages::Fast)), fast, "the fast stages on {claim:?}");
    assert_eq!(answer(&decide(trace, model, claim, Stages::All)), all, "all stages on {claim:?}");
    let exact = answer(&decide(trace, model, claim, Stages::Exact));
    assert_eq!(exact == Answer::Feasible, all == Answer::Feasible, "the exact stage on {claim:?}");
    if let (Ok(oracle), Claim::Before { pairs, adjacent }) = (Oracle::new(trace, model, None), claim) {
        assert_eq!(oracle.before(pairs, adjacent), all == Answer::Feasible, "the oracle on {claim:?}");
    }
}

/// Sections on `l` of T1 and T2; s and t' are in the first, s' and t in the second.
const LEFT: &str = "
    T1|acq(l)|acq1
    T1|br|s
    T1|br|t'
    T1|rel(l)|rel1
    T2|acq(l)|acq2
    T2|br|s'
    T2|br|t
    T2|rel(l)|rel2
";

/// Sections on `m` of T3 and T4, each with a p and then a q in it.
const RIGHT: &str = "
    T3|acq(m)|acq1'
    T3|br|p1
    T3|br|q1
    T3|rel(m)|rel1'
    T4|acq(m)|acq2'
    T4|br|p2
    T4|br|q2
    T4|rel(m)|rel2'
";

fn parse(text: &str) -> Trace {
    reweave_testkit::parse(text).expect("a trace")
}

/// The arrows that make whole sections run: the figures do not have any that stay open.
const LEFT_RUNS: &str = "acq1 -> rel1, acq2 -> rel2";
const BOTH_RUN: &str = "acq1 -> rel1, acq2 -> rel2, acq1' -> rel1', acq2' -> rel2'";

/// Three threads: no edge alone settles the either-or, but two paths through the third thread contradict each other.
#[test]
fn figure_2_has_no_schedule() {
    let trace = parse(&format!("{LEFT} T3|br|p\n T3|br|q"));
    let arrows = "s -> p, s' -> p, q -> t', q -> t";
    let closed = asked(&trace, &format!("{LEFT_RUNS}, {arrows}"));
    check(&trace, Model::Sync, &closed, Answer::Cycle, Answer::Cycle);
    let verdict = decide(&trace, Model::Sync, &asked(&trace, arrows), Stages::All);
    assert!(matches!(verdict, Verdict::Infeasible(_)), "sections that stay open do not help: {verdict:?}");
    for half in ["s -> p, q -> t", "s' -> p, q -> t'"] {
        let half = asked(&trace, &format!("{LEFT_RUNS}, {half}"));
        assert_eq!(answer(&decide(&trace, Model::Sync, &half, Stages::All)), Answer::Feasible);
    }
}

/// Four threads: every path leads through the other either-or, so only looking at both its cases shows the clash.
#[test]
fn figure_3_has_no_schedule_and_only_the_exact_stage_sees_it() {
    let trace = parse(&format!("{LEFT}{RIGHT}"));
    let arrows = "s -> q1, s -> q2, s' -> q1, s' -> q2, p1 -> t, p2 -> t, p1 -> t', p2 -> t'";
    let claim = asked(&trace, &format!("{BOTH_RUN}, {arrows}"));
    check(&trace, Model::Sync, &claim, Answer::Unknown, Answer::Clash);
    let verdict = decide(&trace, Model::Sync, &claim, Stages::All);
    let Verdict::Infeasible(Refutation::Clash(demands)) = verdict else { panic!("{verdict:?}") };
    let locks = |demand: &&Demand| matches!(demand, Demand::Mutex { .. });
    assert_eq!(demands.iter().filter(locks).count(), 2, "both locks have a part in it: {demands:?}");
    // The clash is a smallest one: any seven of the eight arrows can be had.
    for left_out in arrows.split(", ") {
        let rest: Vec<&str> = arrows.split(", ").filter(|&arrow| arrow != left_out).collect();
        let rest = asked(&trace, &format!("{BOTH_RUN}, {}", rest.join(", ")));
        let verdict = decide(&trace, Model::Sync, &rest, Stages::All);
        assert_eq!(answer(&verdict), Answer::Feasible, "without {left_out}");
    }
}

/// Whichever of the right sections comes first, s' comes before t'; so the left sections must swap, against the
/// observed order.
#[test]
fn figure_4_has_a_schedule_although_the_observed_order_of_the_left_sections_has_none() {
    let trace = parse(&format!("{LEFT}{RIGHT}"));
    let arrows = format!("{BOTH_RUN}, s' -> q1, s' -> q2, p1 -> t', p2 -> t'");
    check(&trace, Model::Sync, &asked(&trace, &arrows), Answer::Unknown, Answer::Feasible);
    let wrong = asked(&trace, &format!("{arrows}, rel1 -> acq2"));
    check(&trace, Model::Sync, &wrong, Answer::Cycle, Answer::Cycle);
    let right = asked(&trace, &format!("{arrows}, rel2 -> acq1, rel2' -> acq1'"));
    check(&trace, Model::Sync, &right, Answer::Feasible, Answer::Feasible);
}

/// A gate: whichever of two sections on `lock` comes first, what comes before both exits (`q`) comes before what
/// comes after both entries (`p`).
fn gate(lock: &str, threads: [usize; 2]) -> String {
    let side = |thread: usize| {
        format!(
            "T{thread}|acq({lock})|\n T{thread}|br|p{thread}\n T{thread}|br|q{thread}\n T{thread}|rel({lock})|\n"
        )
    };
    threads.map(side).concat()
}

/// The same made of a variable that both threads write and read back.
fn data_gate(variable: &str, threads: [usize; 2]) -> String {
    let side = |thread: usize| {
        format!(
            "T{thread}|w({variable})|\n T{thread}|br|p{thread}\n T{thread}|br|q{thread}\n \
             T{thread}|r({variable})|\n T{thread}|br|z{thread}\n"
        )
    };
    threads.map(side).concat()
}

/// The arrows from `first` through a gate to `last`.
fn through(first: &str, [a, b]: [usize; 2], last: &str) -> String {
    format!("{first} -> q{a}, {first} -> q{b}, p{a} -> {last}, p{b} -> {last}")
}

#[test]
fn three_gates_in_a_row_close_a_cycle_in_each_of_eight_cases() {
    let gates = [gate("l", [1, 2]), gate("m", [3, 4]), gate("n", [5, 6])].concat();
    let trace = parse(&format!("{gates} A|br|a\n B|br|b\n C|br|c"));
    let cycle = [through("a", [1, 2], "b"), through("b", [3, 4], "c"), through("c", [5, 6], "a")].join(", ");
    check(&trace, Model::Sync, &asked(&trace, &cycle), Answer::Unknown, Answer::Clash);
    let open = [through("a", [1, 2], "b"), through("b", [3, 4], "c"), "c -> q5".to_owned()].join(", ");
    assert_eq!(answer(&decide(&trace, Model::Sync, &asked(&trace, &open), Stages::All)), Answer::Feasible);
}

#[test]
fn observations_make_gates_too() {
    let gates = [data_gate("x", [1, 2]), data_gate("y", [3, 4])].concat();
    let trace = parse(&format!("{gates} A|br|a\n B|br|b"));
    let cycle = [through("a", [1, 2], "b"), through("b", [3, 4], "a")].join(", ");
    // Each z needs its thread's read to have observed its thread's write.
    let bound = asked(&trace, &format!("{cycle}, q1 -> z1, q2 -> z2, q3 -> z3, q4 -> z4"));
    check(&trace, Model::Rf, &bound, Answer::Unknown, Answer::Clash);
    // In `sync` data does not count; and without its z, nothing depends on what a thread reads back.
    assert_eq!(answer(&decide(&trace, Model::Sync, &bound, Stages::All)), Answer::Feasible);
    let one_free = asked(&trace, &format!("{cycle}, q1 -> z1, q3 -> z3, q4 -> z4"));
    assert_eq!(answer(&decide(&trace, Model::Rf, &one_free, Stages::All)), Answer::Feasible);
}

/// Which section the attempt runs into is a choice, and here each of them is ruled out.
#[test]
fn an_attempt_that_failed_needs_somebody_who_is_always_elsewhere() {
    let trace = trace! {
        T1: acq(l) @ "acq1"; T3: busy(l) @ "busy"; T1: rel(l) @ "rel1";
        T2: acq(l) @ "acq2"; T2: rel(l) @ "rel2";
    };
    let before_both = asked(&trace, "busy -> acq1, busy -> acq2");
    check(&trace, Model::Sync, &before_both, Answer::Unknown, Answer::Clash);
    let by_the_other = asked(&trace, "busy -> acq1, acq2 -> busy");
    assert_eq!(answer(&decide(&trace, Model::Sync, &by_the_other, Stages::All)), Answer::Feasible);
}

/// Every set of acquires of different threads.
fn acquire_sets(trace: &Trace) -> Vec<Vec<EventId>> {
    let mut sets: Vec<Vec<EventId>> = vec![Vec::new()];
    for (id, event) in trace.events() {
        if matches!(event.op.kind(), Kind::Acquire | Kind::SharedAcquire) {
            let apart = |set: &&Vec<EventId>| set.iter().all(|&e| trace.thread(e) != event.thread);
            let with: Vec<Vec<EventId>> =
                sets.iter().filter(apart).map(|set| [&set[..], &[id]].concat()).collect();
            sets.extend(with);
        }
    }
    sets.retain(|set| !set.is_empty());
    sets.sort();
    sets
}

fn feasible(decider: &mut Decider<'_>, claim: Claim, stages: Stages, context: &str) -> bool {
    let verdict = decider.decide_with(&claim, &Limits::none(), stages);
    match verdict.unwrap_or_else(|error| panic!("{context} {claim:?}: {error}")) {
        Verdict::Feasible(_) => true,
        Verdict::Infeasible(_) => false,
        Verdict::Unknown(reason) => panic!("{context} {claim:?}: {reason:?} without a limit"),
    }
}

fn check_litmus(Litmus { name, trace, dependences, expected, .. }: &Litmus, stages: Stages) {
    let prepared = Prepared::new(trace, dependences.as_ref());
    let events: Vec<EventId> = trace.events().map(|(id, _)| id).collect();
    for (model, verdicts) in expected {
        let context = format!("{name} in {model} by {stages:?}");
        let mut decider = Decider::new(&prepared, *model).expect("the model is sound");
        let mut ask = |claim| feasible(&mut decider, claim, stages, &context);
        let mut races = Vec::new();
        for (place, &a) in events.iter().enumerate() {
            let partners = events[place + 1..].iter().filter(|&&b| trace.conflict(a, b));
            races.extend(partners.map(|&b| (a, b)).filter(|&(a, b)| ask(Claim::CoEnabled(vec![a, b]))));
        }
        assert_eq!(races, verdicts.races, "races of {context}");
        let mut deadlocks = acquire_sets(trace);
        deadlocks.retain(|acquires| ask(Claim::Deadlock(acquires.clone())));
        assert_eq!(deadlocks, verdicts.deadlocks, "deadlocks of {context}");
        for sequence in &verdicts.sequences {
            let claim =
                Claim::Sequence { events: sequence.order.clone(), adjacent: sequence.adjacent.clone() };
            assert_eq!(ask(claim), sequence.feasible, "{sequence:?} of {context}");
        }
    }
}

#[test]
fn every_question_about_a_litmus_trace_is_decided_as_derived_by_hand() {
    for litmus in litmus::all() {
        check_litmus(&litmus, Stages::All);
        check_litmus(&litmus, Stages::Exact);
    }
}
