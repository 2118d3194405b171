//! Candidates for deadlocks with waits: a thread sleeps with a lock that another needs before it notifies.
//!
//! A cycle as of locks, but some of its events are waits: each is awaited by who held its lock, or needs a notification of the
//! thread that woke it. A cycle has no two waits side by side without an acquire somewhere, so one of its waits holds a lock
//! that an acquire of the cycle waits for: the search starts there. It ends after [`MAX_STEPS`], and says that it did.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use reweave_decide::{Must, Prepared, Section};
use reweave_trace::{EventId, Kind as OpKind, LockId, ThreadId};

use crate::groups::{Candidate, Groups};
use crate::{Kind, Pattern};

/// How many steps the search takes at most.
const MAX_STEPS: usize = 500_000;

pub(super) fn candidates(prepared: &Prepared<'_>, must: &Must<'_>, groups: &mut Groups<'_>) {
    let starts: Vec<(EventId, Vec<Section>)> = prepared
        .links
        .waits()
        .iter()
        .filter(|link| prepared.ends_only_when_notified(link.wait))
        .map(|link| (link.wait, held_at(prepared, link.wait)))
        .filter(|(_, held)| !held.is_empty())
        .collect();
    if starts.is_empty() {
        return;
    }
    let stops = stops(prepared);
    let mut search = Search { prepared, must, stops, found: BTreeSet::new(), path: Vec::new(), steps: 0 };
    for (wait, held) in starts {
        if search.steps >= MAX_STEPS || groups.stopped() {
            break;
        }
        search.path.push(wait);
        search.extend(&held);
        search.path.pop();
    }
    groups.unexamined += u64::from(search.steps >= MAX_STEPS);
    for events in search.found {
        groups.add(Kind::Deadlock, Pattern::WaitCycle, Candidate::deadlock(events));
    }
}

/// The sections that the thread of `event` is in just before it.
fn held_at(prepared: &Prepared<'_>, event: EventId) -> Vec<Section> {
    let thread = prepared.trace.thread(event);
    prepared.open_at(event).into_iter().filter(|section| section.thread == thread).collect()
}

/// Per thread, the events that it can be stuck at: acquires, and waits that only a notification ends.
fn stops(prepared: &Prepared<'_>) -> HashMap<ThreadId, Vec<EventId>> {
    let mut stops: HashMap<ThreadId, Vec<EventId>> = HashMap::new();
    for (id, event) in prepared.trace.events() {
        let is_stop = match event.op.kind() {
            OpKind::Acquire | OpKind::SharedAcquire => true,
            OpKind::Wait => prepared.ends_only_when_notified(id),
            _ => false,
        };
        if is_stop {
            stops.entry(event.thread).or_default().push(id);
        }
    }
    stops
}

struct Search<'a> {
    prepared: &'a Prepared<'a>,
    must: &'a Must<'a>,
    stops: HashMap<ThreadId, Vec<EventId>>,
    found: BTreeSet<Vec<EventId>>,
    path: Vec<EventId>,
    steps: usize,
}

impl Search<'_> {
    /// Finds the cycles that begin with the path, whose first event holds these.
    fn extend(&mut self, held: &[Section]) {
        let last = self.path[self.path.len() - 1];
        let trace = self.prepared.trace;
        if self.path.len() > 1 && held.iter().any(|section| blocks(self.prepared, section, last)) {
            let mut events = self.path.clone();
            events.sort_unstable();
            self.found.insert(events);
        }
        for next in self.successors(last) {
            self.steps += 1;
            if self.steps >= MAX_STEPS {
                return;
            }
            let thread = trace.thread(next);
            let together = |&other: &EventId| {
                trace.thread(other) != thread
                    && !self.must.before(next, self.reached(other))
                    && !self.must.before(other, self.reached(next))
            };
            if self.path.iter().all(together) {
                self.path.push(next);
                self.extend(held);
                self.path.pop();
            }
        }
    }

    /// The last event that has run where a thread stands at `event`, or that event itself.
    fn reached(&self, event: EventId) -> EventId {
        self.prepared.previous(event).unwrap_or(event)
    }

    /// Where the thread that `event` waits for may stand.
    fn successors(&self, event: EventId) -> Vec<EventId> {
        let (prepared, trace) = (self.prepared, self.prepared.trace);
        let none: &[EventId] = &[];
        let of = |thread: ThreadId| self.stops.get(&thread).map_or(none, Vec::as_slice);
        if let Some(link) = prepared.links.wait(event) {
            let Some(waker) = link.waker else { return Vec::new() };
            let stops = of(trace.thread(waker));
            return stops[..stops.partition_point(|&stop| stop < waker)].to_vec();
        }
        let lock = LockId(trace.op(event).target());
        let sections = prepared.sections(lock).filter(|section| blocks(prepared, section, event));
        let mut found: Vec<EventId> = Vec::new();
        for section in sections {
            let stops = of(section.thread);
            let from = stops.partition_point(|&stop| stop <= section.acquire);
            let inside =
                stops[from..].iter().take_while(|&&stop| section.release.is_none_or(|end| stop < end));
            found.extend(inside);
        }
        found
    }
}

/// Whether an acquire has to wait for the section of another thread.
fn blocks(prepared: &Prepared<'_>, section: &Section, acquire: EventId) -> bool {
    let trace = prepared.trace;
    let shared = match trace.kind(acquire) {
        OpKind::Acquire => false,
        OpKind::SharedAcquire => true,
        _ => return false,
    };
    section.lock == LockId(trace.op(acquire).target())
        && section.thread != trace.thread(acquire)
        && !(shared && section.shared)
}
