//! Candidates, gathered by what they would be reported as.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashMap;
use reweave_trace::{EventId, SiteId, Trace};
use reweave_witness::Claim;

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

    pub(crate) fn sequence(events: Vec<EventId>) -> Candidate {
        Candidate { claim: Claim::Sequence { events: events.clone(), adjacent: Vec::new() }, events }
    }

    pub(crate) fn pairs(events: Vec<EventId>, pairs: Vec<(EventId, EventId)>) -> Candidate {
        Candidate { claim: Claim::Before { pairs, adjacent: Vec::new() }, events }
    }
}

/// Candidates with the same kind, pattern and sites: one finding, unless every one is asked for.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    pub(crate) pattern: Pattern,
    /// Some of the candidates, spread over the trace, in observed order; all where there is no limit.
    pub(crate) candidates: Vec<Candidate>,
    /// How many there are in all.
    pub(crate) total: u64,
    /// Every how many-th is kept; grows as they come.
    stride: u64,
}

/// The groups of all kinds, in order of first appearance.
pub(crate) struct Groups<'t> {
    trace: &'t Trace,
    /// How many candidates a group keeps; none is all.
    limit: Option<usize>,
    places: HashMap<(Kind, Pattern, Vec<SiteKey>), usize>,
    pub(crate) list: Vec<Group>,
    /// How many possible candidates were passed over without a look.
    pub(crate) unexamined: u64,
    stop: Arc<AtomicBool>,
}

impl<'t> Groups<'t> {
    pub(crate) fn new(trace: &'t Trace, limit: Option<usize>, stop: Arc<AtomicBool>) -> Groups<'t> {
        Groups { trace, limit, places: HashMap::new(), list: Vec::new(), unexamined: 0, stop }
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

    /// Adds a candidate to its group, and says which that is.
    pub(crate) fn add(&mut self, kind: Kind, pattern: Pattern, candidate: Candidate) -> usize {
        let mut sites: Vec<SiteKey> =
            candidate.events.iter().map(|&event| site_key(self.trace, event)).collect();
        if matches!(kind, Kind::Race | Kind::Deadlock) {
            sites.sort_unstable();
        }
        let next = self.list.len();
        let place = *self.places.entry((kind, pattern, sites)).or_insert(next);
        if place == next {
            self.list.push(Group { kind, pattern, candidates: Vec::new(), total: 0, stride: 1 });
        }
        let group = &mut self.list[place];
        let number = group.total;
        group.total += 1;
        if number.is_multiple_of(group.stride) {
            group.candidates.push(candidate);
            if self.limit.is_some_and(|limit| group.candidates.len() > limit) {
                // Thin out evenly, so that what is kept is spread over the whole trace.
                let mut place = 0;
                group.candidates.retain(|_| {
                    place += 1;
                    place % 2 == 1
                });
                group.stride *= 2;
            }
        }
        place
    }
}

/// A site, or where it has no text the operation and its target.
type SiteKey = (SiteId, Option<(u8, u32)>);

fn site_key(trace: &Trace, event: EventId) -> SiteKey {
    let (site, op) = (trace.site(event), trace.op(event));
    let unnamed = trace.site_name(site).is_empty();
    (site, unnamed.then(|| (op.kind() as u8, op.target())))
}
