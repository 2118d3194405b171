//! The guess: a schedule as close to the observed one as the closure allows.
//!
//! Among the events that the closed order lets come next and whose lock is free, the one observed first comes next.
//! Where everything waits for a lock that a thread holds at the end of its cone, that thread runs on to its release.
//!
//! If the checker does not accept that, the guess of the polygraph paper is made: critical sections on one lock with
//! conflicting accesses keep their observed order ("causally precedes"), as far as the closed order permits.
//!
//! A guess proves nothing by itself; what the checker says of it does. It misses whatever needs a choice that goes
//! against the observed order without being forced to.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;
use reweave_order::chain::{Inserted, Node};
use reweave_trace::{EventId, LockId, Op, ThreadId, VarId};

use crate::closure::Order;
use crate::limits::Meter;
use crate::must::Must;
use crate::prepare::{Prepared, Section};
use crate::verdict::Reason;

/// How many events of a section are looked at for a conflict with another.
const SECTION_LIMIT: usize = 256;

/// A guess in the window of `order`: the events after the prefix. An error is the limit that was reached.
pub(crate) fn observed_order(
    prepared: &Prepared<'_>,
    must: &Must<'_>,
    order: &Order,
    meter: &mut Meter<'_>,
) -> Result<Option<Vec<EventId>>, Reason> {
    Run::new(prepared, must, order).run(meter)
}

/// Keeps conflicting critical sections in their observed order; says whether that changed anything.
pub(crate) fn causally_precede(
    prepared: &Prepared<'_>,
    order: &mut Order,
    meter: &mut Meter<'_>,
) -> Result<bool, Reason> {
    let mut changed = false;
    for sections in order.sections_by_lock() {
        let mut accessed = Accessed::default();
        for section in &sections {
            let earlier = accessed.enter(prepared, section);
            meter.spend(1 + earlier.len())?;
            for first in earlier {
                let Some(release) = first.release.filter(|_| first.excludes(section)) else { continue };
                let (Some(from), Some(to)) =
                    (order.node(prepared, release), order.node(prepared, section.acquire))
                else {
                    continue;
                };
                changed |= order.chains.insert(from, to, &mut Vec::new()) == Inserted::New;
            }
        }
    }
    Ok(changed)
}

/// What sections of one lock have accessed so far. A section conflicts with those that accessed a variable since it was last
/// written, and with the one that wrote it; with earlier ones it is ordered through these.
#[derive(Default)]
struct Accessed {
    variables: HashMap<VarId, Sections>,
}

#[derive(Default)]
struct Sections {
    wrote: Option<Section>,
    since: Vec<Section>,
}

impl Accessed {
    /// Takes note of the next section, and tells which earlier ones it conflicts with.
    fn enter(&mut self, prepared: &Prepared<'_>, section: &Section) -> Vec<Section> {
        let events = prepared.order.of(section.thread);
        let start = prepared.position(section.acquire) as usize;
        let inside = events[start..].iter().copied().take_while(|&e| section.release.is_none_or(|r| e < r));
        let mut earlier = Vec::new();
        for event in inside.take(SECTION_LIMIT) {
            let Some(access) = prepared.trace.op(event).access() else { continue };
            self.access(section, access.variable, access.writes, &mut earlier);
            // Whoever makes or ends an object writes all of it.
            for object in prepared.trace.objects().around(access.variable) {
                self.access(section, object, false, &mut earlier);
            }
        }
        earlier.sort_unstable_by_key(|first| first.acquire);
        earlier.dedup_by_key(|first| first.acquire);
        earlier
    }

    fn access(&mut self, section: &Section, variable: VarId, writes: bool, earlier: &mut Vec<Section>) {
        let known = self.variables.entry(variable).or_default();
        earlier.extend(known.wrote);
        if writes {
            earlier.append(&mut known.since);
            known.wrote = Some(*section);
        } else if known.since.last().is_none_or(|last| last.acquire != section.acquire) {
            known.since.push(*section);
        }
    }
}

struct Run<'a> {
    prepared: &'a Prepared<'a>,
    must: &'a Must<'a>,
    order: &'a Order,
    /// Per thread, how many of its events are placed, and how many are to be.
    placed: Vec<u32>,
    cuts: Vec<u32>,
    open: HashMap<LockId, Vec<Section>>,
    /// Threads whose next event waits for an event or a lock.
    waiting: Vec<ThreadId>,
    ready: BinaryHeap<Reverse<EventId>>,
    schedule: Vec<EventId>,
}

impl<'a> Run<'a> {
    fn new(prepared: &'a Prepared<'a>, must: &'a Must<'a>, order: &'a Order) -> Run<'a> {
        let threads = (0..prepared.order.threads()).map(ThreadId::from_index);
        let prefix = EventId(order.prefix);
        let placed: Vec<u32> = threads
            .map(|thread| prepared.order.of(thread).partition_point(|&event| event < prefix) as u32)
            .collect();
        let cuts = order.cuts.iter().zip(&placed).map(|(&cut, &placed)| cut.max(placed)).collect();
        let mut open: HashMap<LockId, Vec<Section>> = HashMap::new();
        for section in prepared.open_at(prefix) {
            open.entry(section.lock).or_default().push(section);
        }
        let waiting = (0..prepared.order.threads()).map(ThreadId::from_index).collect();
        let (ready, schedule) = (BinaryHeap::new(), Vec::new());
        Run { prepared, must, order, placed, cuts, open, waiting, ready, schedule }
    }

    fn run(mut self, meter: &mut Meter<'_>) -> Result<Option<Vec<EventId>>, Reason> {
        loop {
            // Each thread that waits is asked whether it can come now.
            meter.spend(1 + self.waiting.len())?;
            self.wake();
            match self.ready.pop() {
                Some(Reverse(event)) => self.place(event),
                None if self.placed == self.cuts => return Ok(Some(self.schedule)),
                None if self.unblock() => {}
                None => return Ok(None),
            }
        }
    }

    /// Makes ready what has nothing left to wait for.
    fn wake(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        for thread in waiting {
            match self.next(thread) {
                Some(event) if self.may_come(event) => self.ready.push(Reverse(event)),
                Some(_) => self.waiting.push(thread),
                None => {}
            }
        }
    }

    fn next(&self, thread: ThreadId) -> Option<EventId> {
        let position = self.placed[thread.index()];
        (position < self.cuts[thread.index()]).then(|| self.prepared.event_at(thread, position))
    }

    fn may_come(&self, event: EventId) -> bool {
        let ordered = match self.order.node(self.prepared, event) {
            Some(node) => (0..self.placed.len() as u32).all(|thread| self.is_after(node, thread)),
            None => (0..self.placed.len())
                .all(|thread| self.must.needed(event, ThreadId::from_index(thread)) <= self.placed[thread]),
        };
        ordered && self.blocker(event).is_none()
    }

    /// Whether all that comes before `node` in `thread` is placed.
    fn is_after(&self, node: Node, thread: u32) -> bool {
        node.chain == thread
            || self
                .order
                .chains
                .latest_predecessor(node, thread)
                .is_none_or(|position| self.order.start(thread) + position < self.placed[thread as usize])
    }

    /// The open section that keeps `event` from running.
    fn blocker(&self, event: EventId) -> Option<Section> {
        let (Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock)) =
            self.prepared.trace.op(event)
        else {
            return None;
        };
        let section = self.prepared.section(lock, event)?;
        self.open.get(&lock)?.iter().find(|other| section.excludes(other)).copied()
    }

    fn place(&mut self, event: EventId) {
        if self.blocker(event).is_some() {
            self.waiting.push(self.prepared.trace.thread(event));
            return;
        }
        let (thread, op) = (self.prepared.trace.thread(event), self.prepared.trace.op(event));
        self.schedule.push(event);
        self.placed[thread.index()] += 1;
        self.waiting.push(thread);
        match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => {
                if let Some(section) = self.prepared.section(lock, event) {
                    self.open.entry(lock).or_default().push(section);
                }
            }
            Op::Release(lock) | Op::SharedRelease(lock) => {
                if let Some(open) = self.open.get_mut(&lock) {
                    open.retain(|section| section.release != Some(event));
                }
            }
            _ => {}
        }
    }

    /// Nothing can come next: a thread that holds a lock others wait for runs on to its release.
    fn unblock(&mut self) -> bool {
        for &thread in &self.waiting {
            let Some(blocker) = self.next(thread).and_then(|event| self.blocker(event)) else { continue };
            let holder = blocker.thread.index();
            let Some(release) = blocker.release else { continue };
            let cut = self.prepared.position(release) + 1;
            if !self.order.is_cut(blocker.thread)
                && self.placed[holder] == self.cuts[holder]
                && cut > self.cuts[holder]
            {
                self.cuts[holder] = cut;
                self.waiting.push(blocker.thread);
                return true;
            }
        }
        false
    }
}
