//! From candidates to findings.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use reweave_decide::{Decider, Error, Limits, Reason, Verdict};

use crate::finding::fingerprint;
use crate::groups::{Candidate, Group, Groups};
use crate::variables::Variables;
use crate::{
    Counts, Finding, Kind, Options, Prediction, Undecided, UndecidedReason, atomicity, deadlocks, orders,
    races,
};

/// What one group came to.
#[derive(Default)]
struct Outcome {
    findings: Vec<Finding>,
    undecided: Vec<Undecided>,
    counts: Counts,
}

pub(crate) fn predict(decider: &Decider<'_>, options: &Options<'_>) -> Result<Prediction, Error> {
    let (prepared, must) = (decider.prepared(), decider.must());
    let variables = Variables::new(prepared, must);
    let limit = (!options.all).then_some(options.tries.max(1) as usize);
    let mut groups = Groups::new(prepared.trace, limit, options.stop.clone());
    for kind in &options.kinds {
        match kind {
            Kind::Race => races::candidates(prepared, must, &variables, &mut groups),
            Kind::Deadlock => deadlocks::candidates(prepared, must, &mut groups),
            Kind::Atomicity => atomicity::candidates(prepared, must, &variables, options, &mut groups),
            Kind::Order => orders::candidates(prepared, must, &variables, &mut groups),
            Kind::UseAfterFree => orders::uses_after_free(prepared, must, &mut groups),
        }
    }
    let unexamined = groups.unexamined;
    let mut list = groups.list;
    if let Some(shard) = options.shard {
        let mut number = 0;
        list.retain(|_| {
            number += 1;
            (number - 1) % shard.count.max(1) == shard.index
        });
    }
    let outcomes = decide_all(decider, options, &list)?;
    let mut prediction = Prediction { dropped: variables.dropped(), unexamined, ..Prediction::default() };
    for outcome in outcomes {
        prediction.findings.extend(outcome.findings);
        prediction.undecided.extend(outcome.undecided);
        prediction.counts.candidates += outcome.counts.candidates;
        prediction.counts.feasible += outcome.counts.feasible;
        prediction.counts.infeasible += outcome.counts.infeasible;
        prediction.counts.unknown += outcome.counts.unknown;
    }
    prediction.findings.sort_by(|a, b| (a.kind, &a.events, a.pattern).cmp(&(b.kind, &b.events, b.pattern)));
    prediction.undecided.sort_by(|a, b| (a.kind, &a.events).cmp(&(b.kind, &b.events)));
    prediction.partial = options.stop.load(Ordering::Relaxed);
    Ok(prediction)
}

/// Decides the groups on several threads. Each group has a decider of its own, so that the answers are the same
/// whoever decides it.
fn decide_all(decider: &Decider<'_>, options: &Options<'_>, list: &[Group]) -> Result<Vec<Outcome>, Error> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, Result<Outcome, Error>)>> = Mutex::new(Vec::with_capacity(list.len()));
    let basis = decider.basis();
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(group) = list.get(place) else { return };
            let outcome = decide(&mut basis.decider(), options, group);
            let Ok(mut done) = done.lock() else { return };
            done.push((place, outcome));
            if let Some(progress) = options.progress {
                progress(done.len() as u64, list.len() as u64);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.clamp(1, list.len().max(1)) {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Decides the candidates of a group, up to the first that is feasible unless every one is wanted.
fn decide(decider: &mut Decider<'_>, options: &Options<'_>, group: &Group) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    for candidate in &group.candidates {
        outcome.counts.candidates += 1;
        let verdict = match options.stop.load(Ordering::Relaxed) {
            true => Verdict::Unknown(Reason::Stopped),
            false => decider.decide_with(&candidate.claim, &limits(options), options.stages)?,
        };
        match verdict {
            Verdict::Feasible(witness) => {
                outcome.counts.feasible += 1;
                outcome.findings.push(finding(decider, group, candidate, witness));
                if !options.all {
                    // What was left open before it is settled with it: the group is one finding.
                    outcome.undecided.clear();
                    return Ok(outcome);
                }
            }
            Verdict::Infeasible(_) => outcome.counts.infeasible += 1,
            Verdict::Unknown(reason) => {
                outcome.counts.unknown += 1;
                let stopped = options.stop.load(Ordering::Relaxed);
                let reason = match reason {
                    _ if stopped => UndecidedReason::Stopped,
                    Reason::Inconclusive => UndecidedReason::Inconclusive,
                    _ => UndecidedReason::Budget,
                };
                outcome.undecided.push(undecided(group, candidate, reason));
            }
        }
    }
    let untried = group.total - group.candidates.len() as u64;
    if untried > 0
        && let Some(candidate) = group.candidates.last()
    {
        outcome.counts.unknown += untried;
        outcome.counts.candidates += untried;
        outcome.undecided.push(undecided(group, candidate, UndecidedReason::Tries));
    }
    Ok(outcome)
}

fn limits(options: &Options<'_>) -> Limits {
    let timer = options.timer.map(|timer| timer());
    Limits { work: options.limits.work, stop: timer.or_else(|| Some(options.stop.clone())) }
}

fn undecided(group: &Group, candidate: &Candidate, reason: UndecidedReason) -> Undecided {
    Undecided { kind: group.kind, events: candidate.events.clone(), reason }
}

fn finding(
    decider: &Decider<'_>,
    group: &Group,
    candidate: &Candidate,
    witness: reweave_witness::CheckedWitness,
) -> Finding {
    let trace = decider.prepared().trace;
    let sites: Vec<_> = candidate.events.iter().map(|&event| trace.site(event)).collect();
    Finding {
        kind: group.kind,
        pattern: group.pattern,
        fingerprint: fingerprint(trace, group.kind, group.pattern, &candidate.events),
        events: candidate.events.clone(),
        sites,
        witness,
        instances: group.total,
    }
}
