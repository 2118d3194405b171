//! Schedules in which a read observes what it did not, and best what no thread with its history ever did.
//!
//! What a predictor says of one run ends where a thread would have read something else: nobody knows what it does then. So these
//! are schedules to *run*: up to such a read, and on from there. In the recording of that run there are others. This is how failures
//! are found that hang on the order of critical sections, each of which is correctly locked.
//!
//! For a read r that observed the write w there are two kinds: r comes before w, and observes what was there before; or another
//! write w' comes between w and r. The schedule up to r is decided in the model of the trace. Steps that run only where they find what they
//! found (updates, failed attempts) have no such schedule if they are to find something else; for them it is decided by locks and forks
//! alone, and the run shows whether it comes.
//!
//! What this can miss: each of a few candidates per pair of sites is tried, reads and writes that are far from each other in the
//! trace are not paired, and a read is moved by itself: what needs two at once takes two runs.

use hashbrown::HashMap;
use reweave_decide::{Decider, Error, Limits, Prepared, Reduction, Stages, Verdict};
use reweave_trace::{EventId, Kind, LockId, Model, Trace};
use reweave_witness::{CheckedWitness, Claim};

use crate::histories::{Histories, INITIAL, Walked, mixed, value, walk};

/// So many writes on either side of a read are looked at, and so many of other threads among them are taken.
const LOOKED_AT: usize = 64;
const NEAR: usize = 8;
/// So many candidates are kept of one pair of sites.
const ALIKE: usize = 4;
/// So many candidates are decided for each one that is wanted.
const ASKED: usize = 4;

/// A schedule that lets a thread observe something new.
#[derive(Debug)]
pub struct News {
    /// The read.
    pub read: EventId,
    /// The write that it is to observe; none where it is to come before the one that it observed.
    pub write: Option<EventId>,
    /// What is new about it.
    pub novelty: Novelty,
    /// What identifies it, over all runs.
    pub key: u64,
    /// The schedule. Where there is no write, the read is next after it, and it is the first that is claimed; else it is in it.
    pub witness: CheckedWitness,
}

/// What is new about a schedule; the most first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Novelty {
    /// No read at that site ever observed a write at that of this one.
    Pair,
    /// The thread of the read never had the history that it will have then.
    History,
    /// It had, but perhaps not together with what the other threads observed in this run.
    Order,
}

/// What may be tried, in terms of the core of the trace.
struct Candidate {
    read: EventId,
    write: Option<EventId>,
    claim: Claim,
    novelty: Novelty,
    key: u64,
}

/// At most `most` schedules of a trace that let a thread observe what it did not; the newest first.
pub fn news(
    trace: &Trace,
    model: Model,
    known: &Histories,
    limits: &Limits,
    most: usize,
) -> Result<Vec<News>, Error> {
    let reduction = Reduction::new(trace, model, false)?;
    let core = &reduction.core;
    let prepared = Prepared::new(core.trace(), core.trace().dependences());
    let decider = Decider::new(&prepared, model)?;
    let by_locks = Decider::new(&prepared, Model::Sync)?;
    let walked = walk(trace, &mut |_, _| ());
    let original = |event| core.original(event);
    let candidates = Search { prepared: &prepared, original: &original, walked: &walked, known }.candidates();
    let mut found: Vec<News> = Vec::new();
    for candidate in candidates.into_iter().take(most.saturating_mul(ASKED)) {
        if found.len() >= most {
            break;
        }
        if found.iter().any(|news| news.key == candidate.key) {
            continue;
        }
        let conditional = matches!(prepared.trace.kind(candidate.read), Kind::Update | Kind::FailedAttempt);
        let by = if conditional { &by_locks } else { &decider };
        let mut asked = by.basis().decider().without_reasons();
        let verdict = asked
            .decide_with(&candidate.claim, limits, Stages::All)
            .map_err(|error| by.expand_error(trace, core, error))?;
        let Verdict::Feasible(witness) = verdict else { continue };
        found.push(News {
            read: original(candidate.read),
            write: candidate.write.map(original),
            novelty: candidate.novelty,
            key: candidate.key,
            witness: by.expand(trace, core, &witness)?,
        });
    }
    Ok(found)
}

struct Search<'s, 'p> {
    prepared: &'s Prepared<'p>,
    original: &'s dyn Fn(EventId) -> EventId,
    walked: &'s Walked,
    known: &'s Histories,
}

impl Search<'_, '_> {
    /// What may be tried: of each pair of sites the first one, then the second of each, new pairs before all others.
    fn candidates(&self) -> Vec<Candidate> {
        let trace = self.prepared.trace;
        let mut alike: HashMap<(u64, u64), usize> = HashMap::new();
        let mut ranked: Vec<(usize, Candidate)> = Vec::new();
        for read in trace.ids().filter(|&read| trace.kind(read).reads()) {
            self.of_read(read, &mut |pair, candidate| {
                let count = alike.entry(pair).or_default();
                if *count < ALIKE {
                    ranked.push((*count, candidate));
                    *count += 1;
                }
            });
        }
        ranked.sort_by_key(|(count, candidate)| (candidate.novelty, *count));
        ranked.into_iter().map(|(_, candidate)| candidate).collect()
    }

    fn of_read(&self, read: EventId, give: &mut dyn FnMut((u64, u64), Candidate)) {
        let trace = self.prepared.trace;
        let Some(access) = trace.op(read).access() else { return };
        let Some(&before) = self.walked.before.get(&(self.original)(read)) else { return };
        let site = self.walked.site(trace.site(read));
        let writes = |id: &EventId| !matches!(trace.kind(*id), Kind::Alloc | Kind::Free) && *id != read;
        let writers = self.prepared.writers(access.variable);
        let observed = self.prepared.links.observed(read).filter(writes);
        let mut offer = |write: Option<EventId>, from: Option<EventId>, claim: Claim| {
            let (label, writer) = match from {
                Some(from) => (self.label(from), self.walked.site(trace.site(from))),
                None => (self.initial(access.variable), INITIAL),
            };
            let history = mixed(before, label);
            let (novelty, key) = match self.known.contains(history) {
                true => (Novelty::Order, mixed(history, self.walked.run)),
                false if self.known.met(site, writer) => (Novelty::History, history),
                false => (Novelty::Pair, history),
            };
            give((site, writer), Candidate { read, write, claim, novelty, key });
        };
        if let Some(observed) = observed.filter(|&write| trace.thread(write) != trace.thread(read)) {
            let until = writers.partition_point(|&write| write < observed);
            let earlier = writers[..until].iter().rev().take(LOOKED_AT).find(|&write| writes(write)).copied();
            offer(None, earlier, Claim::CoEnabled(vec![read, self.entry(read, observed)]));
        }
        let at = writers.partition_point(|&write| write < read);
        let others = |write: &EventId| {
            writes(write) && Some(*write) != observed && trace.thread(*write) != trace.thread(read)
        };
        let later = writers[at..].iter().take(LOOKED_AT).copied().filter(others).take(NEAR);
        let earlier = writers[..at].iter().rev().take(LOOKED_AT).copied().filter(others).take(NEAR);
        for write in later.chain(earlier) {
            let first = observed.map(|observed| (observed, write));
            let pairs = first.into_iter().chain([(write, read)]).collect();
            offer(Some(write), Some(write), Claim::Before { pairs, adjacent: Vec::new() });
        }
    }

    /// Where the thread of `write` still stands when the read comes before it: where it takes the first lock that both hold.
    fn entry(&self, read: EventId, write: EventId) -> EventId {
        let trace = self.prepared.trace;
        let (thread, position) = (trace.thread(write), self.prepared.position(write));
        let open = self.prepared.open_at(read).into_iter().filter(|own| own.thread == trace.thread(read));
        let acquires = open.flat_map(|own| {
            let others = self.prepared.open_sections(LockId(own.lock.0), thread, position);
            others.filter(move |other| own.excludes(other)).map(|other| other.acquire).collect::<Vec<_>>()
        });
        acquires.min().unwrap_or(write)
    }

    fn label(&self, write: EventId) -> u64 {
        self.walked.labels.get(&(self.original)(write)).copied().unwrap_or(INITIAL)
    }

    fn initial(&self, variable: reweave_trace::VarId) -> u64 {
        let known = self.prepared.links.initial_value(variable);
        known.map_or(INITIAL, |known| value(self.prepared.trace, known))
    }
}
