//! From candidates to findings, in one model.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::{HashMap, HashSet};
use reweave_decide::{Decider, Error, Limits, Prepared, Reason, Reduction, Stages, Verdict};
use reweave_trace::{Core, EventId, Model, Trace};
use reweave_witness::CheckedWitness;

use crate::finding::fingerprint;
use crate::groups::{Candidate, Group, Groups};
use crate::variables::Variables;
use crate::{
    Counts, Dropped, Finding, Kind, Options, Undecided, UndecidedReason, atomicity, calls, deadlocks, orders,
    races,
};

/// What one group came to.
#[derive(Default)]
pub(crate) struct Outcome {
    pub(crate) findings: Vec<Finding>,
    pub(crate) undecided: Vec<Undecided>,
    pub(crate) counts: Counts,
}

/// What the search in one model came to.
pub(crate) struct Searched {
    /// Per group that was not known before.
    pub(crate) outcomes: Vec<Outcome>,
    /// How many candidates there are of each fingerprint that was known before.
    pub(crate) instances: HashMap<String, u64>,
    pub(crate) dropped: Dropped,
    pub(crate) unexamined: u64,
    pub(crate) refused: u64,
}

/// Searches the trace for what is not among the `known` findings, whose witnesses hold in `model`, too.
pub(crate) fn search(
    trace: &Trace,
    model: Model,
    options: &Options<'_>,
    known: &[Finding],
) -> Result<Searched, Error> {
    let reduction = Reduction::new(trace, model, options.all)?;
    let prepared = Prepared::new(reduction.core.trace(), reduction.core.trace().dependences());
    let decider = Decider::new(&prepared, model)?;
    let search = Search { whole: trace, core: &reduction.core, decider: &decider, options };
    let variables = Variables::new(&prepared, decider.must());
    let groups = search.groups(&variables);
    let (unexamined, refused) = (groups.unexamined, groups.refused());
    let mut list = groups.finish();
    let mut instances = HashMap::new();
    search.leave_out(known, &mut list, &mut instances);
    let list = interleaved(prepared.trace, list);
    let outcomes = match search.in_rounds() {
        true => search.decide_in_rounds(&list)?,
        false => search.each(list.len(), true, |place| search.decide(&list[place]))?,
    };
    Ok(Searched { outcomes, instances, dropped: variables.dropped(&reduction), unexamined, refused })
}

/// The groups with the first of each variable or lock first, then the second of each, and of those in turn one of each kind:
/// what is said of a variable comes early, and a run that is stopped has looked for every kind.
fn interleaved(trace: &Trace, list: Vec<Group>) -> Vec<Group> {
    let (mut of_target, mut of_kind) = (HashMap::new(), HashMap::new());
    let next = |rank: &mut HashMap<_, usize>, key| {
        let rank = rank.entry(key).or_default();
        *rank += 1;
        *rank
    };
    let mut ranked: Vec<([usize; 2], Group)> = Vec::with_capacity(list.len());
    for group in list {
        let op = group.candidates.first().and_then(|one| one.events.first()).map(|&event| trace.op(event));
        let target = op.map(|op| (op.access().is_some(), op.target()));
        let round = next(&mut of_target, (group.kind, 0, target));
        let turn = next(&mut of_kind, (group.kind, round, None));
        ranked.push(([round, turn], group));
    }
    ranked.sort_by_key(|(rank, group)| (*rank, group.kind));
    ranked.into_iter().map(|(_, group)| group).collect()
}

/// A search in the core of a trace.
pub(crate) struct Search<'a> {
    whole: &'a Trace,
    core: &'a Core,
    pub(crate) decider: &'a Decider<'a>,
    pub(crate) options: &'a Options<'a>,
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
                    let traces = (self.whole, self.core);
                    atomicity::candidates(prepared, traces, must, variables, options, &mut groups);
                }
                Kind::Order => {
                    orders::candidates(prepared, must, variables, &mut groups);
                    calls::candidates(prepared, must, &mut groups);
                }
                Kind::UseAfterFree => orders::uses_after_free(prepared, must, &mut groups),
            }
        }
        groups
    }

    /// Takes out of the groups what belongs to other shards, and what is known; `instances` gets the number of candidates
    /// of each fingerprint that is known.
    fn leave_out(&self, known: &[Finding], list: &mut Vec<Group>, instances: &mut HashMap<String, u64>) {
        if known.is_empty() && self.options.shard.is_none() {
            return;
        }
        let prints: HashSet<&str> = known.iter().map(Finding::fingerprint).collect();
        let events: HashSet<(&str, &[EventId])> =
            known.iter().map(|finding| (finding.fingerprint(), finding.events())).collect();
        list.retain_mut(|group| {
            let Some(print) = self.fingerprint(group) else { return false };
            if self.options.shard.is_some_and(|shard| !shard.has(&print)) {
                return false;
            }
            if !prints.contains(print.as_str()) {
                return true;
            }
            instances.insert(print.clone(), group.total);
            if !self.options.all {
                return false;
            }
            group.leave_out(|candidate| events.contains(&(print.as_str(), &self.originals(candidate)[..])));
            !group.candidates.is_empty()
        });
    }

    /// Does so many things on several threads, and says how far it is if that is `told`.
    pub(crate) fn each<T: Send>(
        &self,
        count: usize,
        told: bool,
        one: impl Fn(usize) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Result<T, Error>)>> = Mutex::new(Vec::with_capacity(count));
        let work = || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                if place >= count {
                    return;
                }
                let outcome = one(place);
                let mut done = locked(&done);
                done.push((place, outcome));
                if let Some(progress) = self.options.progress.filter(|_| told) {
                    progress(done.len() as u64, count as u64);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.options.jobs.clamp(1, count.max(1)) {
                // Without a thread it is done here.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        let mut done = unlocked(done);
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
            let verdict = match self.stopped() {
                true => Verdict::Unknown(Reason::Stopped),
                false => self.ask(candidate, &limits(options), options.stages)?.0,
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
                    let reason = match reason {
                        _ if self.stopped() => UndecidedReason::Stopped,
                        Reason::Inconclusive => UndecidedReason::Inconclusive,
                        _ => UndecidedReason::Budget,
                    };
                    // A group is undecided once, however many of its candidates are.
                    if options.all || outcome.undecided.is_empty() {
                        outcome.undecided.push(self.undecided(group, candidate, reason));
                    }
                }
            }
        }
        let untried = group.untried();
        outcome.counts.unknown += untried;
        outcome.counts.candidates += untried;
        if untried > 0
            && outcome.undecided.is_empty()
            && let Some(candidate) = group.candidates.last()
        {
            outcome.undecided.push(self.undecided(group, candidate, UndecidedReason::Tries));
        }
        Ok(outcome)
    }

    /// Asks a decider that has learnt nothing yet; the answer, and how much work of the exact search it took.
    pub(crate) fn ask(
        &self,
        candidate: &Candidate,
        limits: &Limits,
        stages: Stages,
    ) -> Result<(Verdict, u64), Error> {
        let mut decider = self.decider.basis().decider().without_reasons();
        let verdict = decider.decide_with(&candidate.claim, limits, stages);
        let verdict = verdict.map_err(|error| self.decider.expand_error(self.whole, self.core, error))?;
        Ok((verdict, decider.work()))
    }

    pub(crate) fn stopped(&self) -> bool {
        self.options.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn undecided(
        &self,
        group: &Group,
        candidate: &Candidate,
        reason: UndecidedReason,
    ) -> Undecided {
        Undecided { kind: group.kind, pattern: group.pattern, events: self.originals(candidate), reason }
    }

    /// What identifies the findings of a group.
    fn fingerprint(&self, group: &Group) -> Option<String> {
        let events = self.originals(group.candidates.first()?);
        Some(fingerprint(self.whole, group.kind, group.pattern, &events))
    }

    pub(crate) fn finding(
        &self,
        group: &Group,
        candidate: &Candidate,
        witness: &CheckedWitness,
    ) -> Result<Finding, Error> {
        let events = self.originals(candidate);
        let sites: Vec<_> = events.iter().map(|&event| self.whole.site(event)).collect();
        let finding = Finding {
            kind: group.kind,
            pattern: group.pattern,
            fingerprint: fingerprint(self.whole, group.kind, group.pattern, &events),
            events,
            sites,
            witness: self.decider.expand(self.whole, self.core, witness)?,
            instances: group.total,
            torn: Vec::new(),
        };
        if let Some(found) = self.options.found {
            found(&finding);
        }
        Ok(finding)
    }

    fn originals(&self, candidate: &Candidate) -> Vec<EventId> {
        candidate.events.iter().map(|&event| self.core.original(event)).collect()
    }
}

/// What a mutex guards, also after a panic elsewhere: that ends the run anyway.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same, for good.
pub(crate) fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn limits(options: &Options<'_>) -> Limits {
    let timer = options.timer.map(|timer| timer());
    Limits { work: options.limits.work, stop: timer.or_else(|| Some(options.stop.clone())) }
}
