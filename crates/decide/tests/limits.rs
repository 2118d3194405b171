//! Limits of the quick stages: what is cut off is unknown, and the same every time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reweave_decide::{Decider, Limits, Prepared, Reason, Stages, Verdict};
use reweave_testkit::{Rng, Shape, Weights, generate, trace};
use reweave_trace::{EventId, Model, Trace};
use reweave_witness::Claim;

/// A trace whose threads keep getting in each other's way, and go on to its end.
fn busy_trace(seed: u64) -> Trace {
    let weights = Weights {
        read: 30,
        write: 18,
        acquire: 12,
        shared_acquire: 3,
        release: 40,
        shared_release: 20,
        fork: 20,
        join: 0,
        end: 0,
        ..Weights::rare()
    };
    let shape = Shape {
        threads: (3, 6),
        events: (300, 300),
        variables: (15, 25),
        locks: (5, 8),
        free_starts: 50,
        burst: 50,
        weights,
        ..Shape::mixed()
    };
    generate(&shape, seed)
}

fn work(steps: u64) -> Limits {
    Limits { work: Some(steps), stop: None }
}

/// A verdict in a form that can be compared, with all that was found.
fn told(verdict: &Verdict) -> String {
    format!("{verdict:?}")
}

fn ask(decider: &mut Decider<'_>, claim: &Claim, limits: &Limits, stages: Stages) -> Verdict {
    decider.decide_with(claim, limits, stages).expect("the question makes sense")
}

/// Pairs of different threads, as questions of two kinds; none where the trace has but one thread.
fn questions(trace: &Trace, seed: u64, count: usize) -> Vec<Claim> {
    let events: Vec<EventId> = trace.events().map(|(id, _)| id).collect();
    let mut rng = Rng::new(seed);
    let pairs = (0..count * 10).map(|_| {
        let (a, b) = (events[rng.below(events.len())], events[rng.below(events.len())]);
        (a, b, rng.chance(50))
    });
    let apart = pairs.filter(|&(a, b, _)| trace.thread(a) != trace.thread(b));
    let claims = apart.map(|(a, b, next)| match next {
        true => Claim::CoEnabled(vec![a, b]),
        false => Claim::Sequence { events: vec![a.max(b), a.min(b)], adjacent: vec![] },
    });
    claims.take(count).collect()
}

/// The least number of steps with which the answer is not cut off, by halving.
fn needed(mut answer: impl FnMut(&Limits) -> Verdict) -> u64 {
    let mut cut_off = |steps| matches!(answer(&work(steps)), Verdict::Unknown(Reason::Work));
    let mut enough = 1;
    while cut_off(enough) {
        enough *= 2;
    }
    let mut least = 0;
    while least < enough {
        let middle = least + (enough - least) / 2;
        match cut_off(middle) {
            true => least = middle + 1,
            false => enough = middle,
        }
    }
    least
}

#[test]
fn less_work_gives_the_same_answer_or_none() {
    let (mut settled, mut cut_off, mut free) = (0, 0, 0);
    for seed in 0..20 {
        let trace = busy_trace(seed);
        let prepared = Prepared::new(&trace, None);
        let mut decider = Decider::new(&prepared, Model::Rf).expect("the model is sound");
        for claim in questions(&trace, seed, 20) {
            let full = ask(&mut decider, &claim, &Limits::none(), Stages::Fast);
            let least = needed(|limits| ask(&mut decider, &claim, limits, Stages::Fast));
            for steps in [0, 1, least / 2, least.saturating_sub(1), least, least + 1, least * 2, u64::MAX] {
                let answer = ask(&mut decider, &claim, &work(steps), Stages::Fast);
                if steps < least {
                    assert!(
                        matches!(answer, Verdict::Unknown(Reason::Work)),
                        "{steps} of {least}: {answer:?}"
                    );
                    cut_off += 1;
                } else {
                    assert_eq!(told(&answer), told(&full), "{steps} of {least}");
                    settled += 1;
                }
            }
            free += u64::from(least == 0);
        }
    }
    println!("{settled} settled, {cut_off} cut off, {free} settled without a step");
    assert!(settled > 1000 && cut_off > 500, "{settled} {cut_off}");
}

#[test]
fn what_was_asked_before_does_not_change_the_work() {
    let trace = busy_trace(3);
    let prepared = Prepared::new(&trace, None);
    let mut decider = Decider::new(&prepared, Model::Rf).expect("the model is sound");
    let claims = questions(&trace, 3, 20);
    let mut needs = |claim| needed(|limits| ask(&mut decider, claim, limits, Stages::Fast));
    let expected: Vec<u64> = claims.iter().map(&mut needs).collect();
    for claim in &claims {
        ask(&mut decider, claim, &Limits::none(), Stages::All);
    }
    let mut needs = |claim| needed(|limits| ask(&mut decider, claim, limits, Stages::Fast));
    let after: Vec<u64> = claims.iter().map(&mut needs).collect();
    assert_eq!(after, expected);
    assert!(expected.iter().any(|&steps| steps > 400), "{expected:?}");
}

#[test]
fn all_stages_share_one_budget() {
    let mut both = 0;
    for seed in 0..20 {
        let trace = busy_trace(seed);
        let prepared = Prepared::new(&trace, None);
        let decider = Decider::new(&prepared, Model::Rf).expect("the model is sound");
        for claim in questions(&trace, seed, 40) {
            // Always a fresh one: the exact stage learns.
            let answer =
                |limits: &Limits, stages| ask(&mut decider.basis().decider(), &claim, limits, stages);
            if !matches!(answer(&Limits::none(), Stages::Fast), Verdict::Unknown(_)) {
                continue;
            }
            let exact = needed(|limits| answer(limits, Stages::Exact));
            let all = needed(|limits| answer(limits, Stages::All));
            assert!(all > exact, "the closure, which does not settle it, comes on top: {all} {exact}");
            both += 1;
        }
    }
    assert!(both > 10, "{both} questions that the quick stages leave open");
}

#[test]
fn a_set_flag_stops_the_closure() {
    let trace = trace! {
        a: acq(m); a: w(x); a: rel(m);
        b: acq(m); b: r(x); b: rel(m); b: w(y);
        a: w(y);
    };
    let prepared = Prepared::new(&trace, None);
    let mut decider = Decider::new(&prepared, Model::Rf).expect("the model is sound");
    let claim = Claim::CoEnabled(vec![EventId(6), EventId(7)]);
    let flag = Arc::new(AtomicBool::new(false));
    let limits = Limits { work: None, stop: Some(flag.clone()) };
    for stages in [Stages::Fast, Stages::All] {
        flag.store(false, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(ask(&mut decider, &claim, &limits, stages), Verdict::Feasible(_)));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        let answer = ask(&mut decider, &claim, &limits, stages);
        assert!(matches!(answer, Verdict::Unknown(Reason::Stopped)), "{answer:?}");
    }
}
