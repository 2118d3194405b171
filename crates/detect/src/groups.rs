//! Candidates, gathered by what they would be reported as.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::{HashMap, HashSet};
use reweave_trace::{EventId, Trace};
use reweave_witness::Claim;

use crate::identity::{Key, Keys};
use crate::{Kind, Pattern};

/// A question whose yes is a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Candidate {
    /// The events that make up the bug.
    pub(crate) events: Vec<EventId>,
    pub(crate) claim: Claim,
}

impl Candidate {
    pub(crate) fn coenabled(a: EventId, b: EventId) -> Candidate {
        let events = vec![a.min(b), a.max(b)];
        Candidate { claim: Claim::CoEnabled(events.clone()), events }
    }

    pub(crate) fn deadlock(mut acquires: Vec<EventId>) -> Candidate {
        acquires.sort_unstable();
        Candidate { claim: Claim::Deadlock(acquires.clone()), events: acquires }
    }

    /// How far apart its events are.
    pub(crate) fn span(&self) -> u32 {
        let (first, last) = (self.events.iter().min(), self.events.iter().max());
        first.zip(last).map_or(0, |(first, last)| last.0 - first.0)
    }

    pub(crate) fn sequence(events: Vec<EventId>) -> Candidate {
        Candidate { claim: Claim::Sequence { events: events.clone(), adjacent: Vec::new() }, events }
    }

    /// A notification that comes too early, and the wait that then sleeps for ever.
    pub(crate) fn asleep(waker: EventId, wait: EventId) -> Candidate {
        Candidate { claim: Claim::Asleep(wait), events: vec![waker, wait] }
    }

    /// A read of what nobody has written, and the write that it should have observed.
    pub(crate) fn unwritten(read: EventId, write: EventId) -> Candidate {
        Candidate { claim: Claim::Unwritten(read), events: vec![read, write] }
    }

    /// A call that goes ahead of its order, and the event that then comes too late.
    pub(crate) fn ahead(first: EventId, then: EventId) -> Candidate {
        Candidate { claim: Claim::Ahead { first, then }, events: vec![first, then] }
    }

    pub(crate) fn pairs(events: Vec<EventId>, pairs: Vec<(EventId, EventId)>) -> Candidate {
        Candidate { claim: Claim::Before { pairs, adjacent: Vec::new() }, events }
    }
}

/// Candidates with the same kind, pattern and events by their identity: one finding, unless every one is asked for.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    pub(crate) pattern: Pattern,
    /// Some of the candidates, spread over the trace, and of those near each other the one whose events are the
    /// closest together; all where there is no limit.
    pub(crate) candidates: Vec<Candidate>,
    /// How many there are in all.
    pub(crate) total: u64,
    /// How many of them were left out, because they are known to be feasible.
    known: u64,
    /// Every how many-th is kept; grows as they come.
    stride: u64,
}

/// The groups of all kinds, in order of first appearance.
pub(crate) struct Groups<'t> {
    trace: &'t Trace,
    /// How many candidates a group keeps; none is all.
    limit: Option<usize>,
    places: HashMap<(Kind, Pattern, Vec<Key>), usize>,
    keys: Keys,
    pub(crate) list: Vec<Group>,
    /// How many possible candidates were passed over without a look.
    pub(crate) unexamined: u64,
    /// What was not looked at because it is not likely to be a bug: its pattern and sites.
    refused: HashSet<(Pattern, Vec<Key>)>,
    stop: Arc<AtomicBool>,
}

impl<'t> Groups<'t> {
    pub(crate) fn new(trace: &'t Trace, limit: Option<usize>, stop: Arc<AtomicBool>) -> Groups<'t> {
        Groups {
            trace,
            limit,
            places: HashMap::new(),
            keys: Keys::default(),
            list: Vec::new(),
            unexamined: 0,
            refused: HashSet::new(),
            stop,
        }
    }

    /// Whether the run was stopped: then the candidates so far are all there will be.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Whether every candidate is wanted.
    pub(crate) fn all(&self) -> bool {
        self.limit.is_none()
    }

    /// Whether so many candidates of the group have come that more add nothing but to their number.
    pub(crate) fn is_saturated(&self, group: usize) -> bool {
        self.limit.is_some_and(|limit| self.list[group].total >= 4 * limit as u64)
    }

    /// Counts an atomicity violation that is not looked at, by the two accesses that would name it.
    pub(crate) fn refuse(&mut self, pattern: Pattern, named: [EventId; 2]) {
        let sites = named.map(|event| self.keys.of(self.trace, event));
        self.refused.insert((pattern, sites.to_vec()));
    }

    /// How many atomicity violations were not looked at, by pattern and sites, that have no candidate either.
    pub(crate) fn refused(&self) -> u64 {
        let is_place = |(pattern, sites): &(Pattern, Vec<Key>)| {
            self.places.contains_key(&(Kind::Atomicity, *pattern, sites.clone()))
        };
        self.refused.iter().filter(|key| !is_place(key)).count() as u64
    }

    /// Adds a candidate to its group, and says which that is.
    pub(crate) fn add(&mut self, kind: Kind, pattern: Pattern, candidate: Candidate) -> usize {
        let named = named_by(kind, &candidate.events);
        let mut sites: Vec<Key> = named.map(|event| self.keys.of(self.trace, event)).collect();
        if matches!(kind, Kind::Race | Kind::Deadlock) {
            sites.sort_unstable();
        }
        let next = self.list.len();
        let place = *self.places.entry((kind, pattern, sites)).or_insert(next);
        if place == next {
            self.list.push(Group { kind, pattern, candidates: Vec::new(), total: 0, known: 0, stride: 1 });
        }
        let group = &mut self.list[place];
        let number = group.total;
        group.total += 1;
        match group.candidates.last_mut() {
            Some(last) if !number.is_multiple_of(group.stride) => {
                if candidate.span() < last.span() {
                    *last = candidate;
                }
            }
            _ => group.candidates.push(candidate),
        }
        if self.limit.is_some_and(|limit| group.candidates.len() > limit) {
            group.thin_out();
        }
        place
    }

    /// The groups; in each, what is likeliest and quickest to decide comes first.
    pub(crate) fn finish(mut self) -> Vec<Group> {
        if !self.all() {
            for group in &mut self.list {
                group.candidates.sort_by_key(Candidate::span);
            }
        }
        self.list
    }
}

impl Group {
    /// How many candidates are neither here nor known.
    pub(crate) fn untried(&self) -> u64 {
        self.total - self.known - self.candidates.len() as u64
    }

    /// Leaves out the candidates that are `known` to be feasible.
    pub(crate) fn leave_out(&mut self, known: impl Fn(&Candidate) -> bool) {
        let before = self.candidates.len();
        self.candidates.retain(|candidate| !known(candidate));
        self.known += (before - self.candidates.len()) as u64;
    }

    /// Leaves the better one of each two.
    fn thin_out(&mut self) {
        let all = std::mem::take(&mut self.candidates);
        let mut all = all.into_iter();
        while let Some(first) = all.next() {
            let second = all.next().filter(|second| second.span() < first.span());
            self.candidates.push(second.unwrap_or(first));
        }
        self.stride *= 2;
    }
}

/// The events whose sites name a bug: it is the local accesses that should be one step, whatever comes between.
pub(crate) fn named_by(kind: Kind, events: &[EventId]) -> impl Iterator<Item = EventId> {
    let last = events.len().saturating_sub(1);
    let named = move |place: usize| kind != Kind::Atomicity || place == 0 || place == last;
    events.iter().copied().enumerate().filter(move |(place, _)| named(*place)).map(|(_, event)| event)
}
