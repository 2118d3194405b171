//! From candidates to findings.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hashbrown::HashSet;
use reweave_decide::{Decider, Error, Limits, Prepared, Reason, Reduction, Verdict};
use reweave_trace::{Core, EventId, Model, Trace};
use reweave_witness::CheckedWitness;

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

/// Searches the trace; where `only` is given, only for findings with these fingerprints.
pub(crate) fn predict(
    trace: &Trace,
    model: Model,
    options: &Options<'_>,
    only: Option<&HashSet<&str>>,
) -> Result<Prediction, Error> {
    let reduction = Reduction::new(trace, model, options.all)?;
    let prepared = Prepared::new(reduction.core.trace(), None);
    let decider = Decider::new(&prepared, model)?;
    let search = Search { whole: trace, core: &reduction.core, decider: &decider, options };
    let variables = Variables::new(&prepared, decider.must());
    let groups = search.groups(&variables);
    let unexamined = groups.unexamined;
    let mut list = groups.finish();
    if let Some(only) = only {
        list.retain(|group| search.fingerprint(group).is_some_and(|print| only.contains(print.as_str())));
    }
    if let Some(shard) = options.shard {
        let mut number = 0;
        list.retain(|_| {
            number += 1;
            (number - 1) % shard.count.max(1) == shard.index
        });
    }
    let dropped = variables.dropped(&reduction);
    let mut prediction = Prediction { dropped, unexamined, ..Prediction::default() };
    for outcome in search.decide_all(&list)? {
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

/// A search in the core of a trace.
struct Search<'a> {
    whole: &'a Trace,
    core: &'a Core,
    decider: &'a Decider<'a>,
    options: &'a Options<'a>,
}

impl Search<'_> {
    fn groups(&self, variables: &Variables) -> Groups<'_> {
        let (prepared, must, options) = (self.decider.prepared(), self.decider.must(), self.options);
        let limit = (!options.all).then_some(options.tries.max(1) as usize);
        let mut groups = Groups::new(prepared.trace, limit, options.stop.clone());
        for kind in options.kinds.iter().take_while(|_| !options.stop.load(Ordering::Relaxed)) {
            match kind {
                Kind::Race => races::candidates(prepared, must, variables, &mut groups),
                Kind::Deadlock => deadlocks::candidates(prepared, must, &mut groups),
                Kind::Atomicity => {
                    atomicity::candidates(prepared, self.core, must, variables, options, &mut groups);
                }
                Kind::Order => orders::candidates(prepared, must, variables, &mut groups),
                Kind::UseAfterFree => orders::uses_after_free(prepared, must, &mut groups),
            }
        }
        groups
    }

    /// Decides the groups on several threads.
    fn decide_all(&self, list: &[Group]) -> Result<Vec<Outcome>, Error> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<Outcome, Error>)>> = Mutex::new(Vec::with_capacity(list.len()));
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(group) = list.get(place) else { return };
                let outcome = self.decide(group);
                let Ok(mut done) = done.lock() else { return };
                done.push((place, outcome));
                if let Some(progress) = self.options.progress {
                    progress(done.len() as u64, list.len() as u64);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.options.jobs.clamp(1, list.len().max(1)) {
                scope.spawn(work);
            }
            work();
        });
        let mut done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        done.sort_unstable_by_key(|(place, _)| *place);
        done.into_iter().map(|(_, outcome)| outcome).collect()
    }

    /// Decides the candidates of a group, up to the first that is feasible unless every one is wanted.
    ///
    /// Each candidate has a decider of its own: the answers are then the same whoever decides them, and what is learnt
    /// in one place of a long trace is of no use in another, only in the way.
    fn decide(&self, group: &Group) -> Result<Outcome, Error> {
        let (options, mut outcome) = (self.options, Outcome::default());
        for candidate in &group.candidates {
            outcome.counts.candidates += 1;
            let verdict = match options.stop.load(Ordering::Relaxed) {
                true => Verdict::Unknown(Reason::Stopped),
                false => (self.decider.basis().decider().without_reasons())
                    .decide_with(&candidate.claim, &limits(options), options.stages)
                    .map_err(|error| self.decider.expand_error(self.whole, self.core, error))?,
            };
            match verdict {
                Verdict::Feasible(witness) => {
                    outcome.counts.feasible += 1;
                    outcome.findings.push(self.finding(group, candidate, &witness)?);
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
                    outcome.undecided.push(self.undecided(group, candidate, reason));
                }
            }
        }
        let untried = group.total - group.candidates.len() as u64;
        if untried > 0
            && let Some(candidate) = group.candidates.last()
        {
            outcome.counts.unknown += untried;
            outcome.counts.candidates += untried;
            outcome.undecided.push(self.undecided(group, candidate, UndecidedReason::Tries));
        }
        Ok(outcome)
    }

    fn undecided(&self, group: &Group, candidate: &Candidate, reason: UndecidedReason) -> Undecided {
        Undecided { kind: group.kind, pattern: group.pattern, events: self.originals(candidate), reason }
    }

    /// What identifies the findings of a group.
    fn fingerprint(&self, group: &Group) -> Option<String> {
        let events = self.originals(group.candidates.first()?);
        Some(fingerprint(self.whole, group.kind, group.pattern, &events))
    }

    fn finding(
        &self,
        group: &Group,
        candidate: &Candidate,
        witness: &CheckedWitness,
    ) -> Result<Finding, Error> {
        let events = self.originals(candidate);
        let sites: Vec<_> = events.iter().map(|&event| self.whole.site(event)).collect();
        Ok(Finding {
            kind: group.kind,
            pattern: group.pattern,
            fingerprint: fingerprint(self.whole, group.kind, group.pattern, &events),
            events,
            sites,
            witness: self.decider.expand(self.whole, self.core, witness)?,
            instances: group.total,
        })
    }

    fn originals(&self, candidate: &Candidate) -> Vec<EventId> {
        candidate.events.iter().map(|&event| self.core.original(event)).collect()
    }
}

fn limits(options: &Options<'_>) -> Limits {
    let timer = options.timer.map(|timer| timer());
    Limits { work: options.limits.work, stop: timer.or_else(|| Some(options.stop.clone())) }
}
