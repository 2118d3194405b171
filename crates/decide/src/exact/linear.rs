//! Schedules as close to the observed order as the chosen edges allow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use reweave_trace::{EventId, ThreadId};

use crate::prepare::Prepared;

/// What a schedule must respect.
pub(super) struct Demands<'a> {
    /// How many positions of the trace come first, as observed.
    pub(super) prefix: u32,
    /// Per thread, how many of its events run.
    pub(super) cuts: &'a [u32],
    /// Edges between threads; those with an end that does not run do not count.
    pub(super) edges: &'a [(EventId, EventId)],
    /// Pairs that should stand side by side where that is possible.
    pub(super) adjacent: &'a [(EventId, EventId)],
}

/// The events that run after the prefix: of those that may come next, always the one observed first.
///
/// Takes O(n log k) for n events of k threads. The edges together with program order must be acyclic.
pub(super) fn linearise(prepared: &Prepared<'_>, demands: &Demands<'_>) -> Vec<EventId> {
    let mut run = Run::new(prepared, demands);
    while let Some((event, forced)) = run.pick() {
        if !forced && run.misses_partner(event) {
            run.held_back.push(event);
            continue;
        }
        run.emit(event);
        let mut last = event;
        while let Some(&partner) = run.partner.get(&last)
            && run.is_ready(partner)
        {
            run.emit(partner);
            last = partner;
        }
    }
    debug_assert_eq!(run.schedule.len(), run.total, "the edges are acyclic");
    run.schedule
}

struct Run<'a> {
    prepared: &'a Prepared<'a>,
    cuts: &'a [u32],
    /// Per thread, how many of its events are placed.
    placed: Vec<u32>,
    /// Per event, how many of its edges come from events not placed yet.
    waiting: HashMap<EventId, u32>,
    successors: HashMap<EventId, Vec<EventId>>,
    /// What should come right after an event.
    partner: HashMap<EventId, EventId>,
    ready: BinaryHeap<Reverse<EventId>>,
    /// Events that wait until their partner is ready too, or nothing else is.
    held_back: Vec<EventId>,
    schedule: Vec<EventId>,
    total: usize,
}

impl<'a> Run<'a> {
    fn new(prepared: &'a Prepared<'a>, demands: &Demands<'a>) -> Run<'a> {
        let threads = prepared.order.threads();
        let prefix = EventId(demands.prefix);
        let placed: Vec<u32> = (0..threads)
            .map(|thread| {
                prepared.order.of(ThreadId::from_index(thread)).partition_point(|&event| event < prefix)
                    as u32
            })
            .collect();
        let runs =
            |event: EventId| prepared.position(event) < demands.cuts[prepared.trace.thread(event).index()];
        let mut waiting: HashMap<EventId, u32> = HashMap::new();
        let mut successors: HashMap<EventId, Vec<EventId>> = HashMap::new();
        for &(from, to) in
            demands.edges.iter().filter(|&&(from, to)| runs(from) && runs(to) && from >= prefix)
        {
            *waiting.entry(to).or_default() += 1;
            successors.entry(from).or_default().push(to);
        }
        let total = (0..threads).map(|thread| (demands.cuts[thread] - placed[thread]) as usize).sum();
        let mut run = Run {
            prepared,
            cuts: demands.cuts,
            placed,
            waiting,
            successors,
            partner: demands.adjacent.iter().copied().collect(),
            ready: BinaryHeap::new(),
            held_back: Vec::new(),
            schedule: Vec::with_capacity(total),
            total,
        };
        for thread in (0..threads).map(ThreadId::from_index) {
            run.offer(thread);
        }
        run
    }

    /// Makes the next event of `thread` available if nothing has to come before it.
    fn offer(&mut self, thread: ThreadId) {
        let next = self.placed[thread.index()];
        if next < self.cuts[thread.index()] {
            let event = self.prepared.event_at(thread, next);
            if !self.waits(event) {
                self.ready.push(Reverse(event));
            }
        }
    }

    fn waits(&self, event: EventId) -> bool {
        self.waiting.get(&event).is_some_and(|&count| count > 0)
    }

    fn is_ready(&self, event: EventId) -> bool {
        let thread = self.prepared.trace.thread(event);
        self.placed[thread.index()] == self.prepared.position(event) && !self.waits(event)
    }

    /// The next event to place, and whether there is no other choice.
    fn pick(&mut self) -> Option<(EventId, bool)> {
        while let Some(Reverse(event)) = self.ready.pop() {
            // A partner may have been placed while it was on offer.
            if self.is_ready(event) {
                return Some((event, false));
            }
        }
        self.held_back.pop().map(|event| (event, true))
    }

    /// Whether something else than `event` has to come before the event that should follow it.
    fn misses_partner(&self, event: EventId) -> bool {
        let Some(&partner) = self.partner.get(&event) else { return false };
        let (thread, other) = (self.prepared.trace.thread(event), self.prepared.trace.thread(partner));
        let steps = u32::from(thread == other);
        let next = self.placed[other.index()] + steps == self.prepared.position(partner);
        let edges =
            self.successors.get(&event).map_or(0, |to| to.iter().filter(|&&to| to == partner).count());
        !next || self.waiting.get(&partner).is_some_and(|&count| count as usize > edges)
    }

    fn emit(&mut self, event: EventId) {
        let thread = self.prepared.trace.thread(event);
        self.schedule.push(event);
        self.placed[thread.index()] += 1;
        self.offer(thread);
        for to in self.successors.remove(&event).unwrap_or_default() {
            let count = self.waiting.entry(to).or_default();
            *count -= 1;
            if *count == 0 && self.is_ready(to) {
                self.ready.push(Reverse(to));
            }
        }
        self.ready.extend(self.held_back.drain(..).map(Reverse));
    }
}
