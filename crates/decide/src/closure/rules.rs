//! The rules, one round each.

use reweave_order::chain::Node;
use reweave_trace::{EventId, Op, ThreadId};
use reweave_witness::Claim;

use super::{Closure, Stop};
use crate::cone::Cone;
use crate::prepare::Section;
use crate::verdict::{Step, Why};

impl Closure<'_, '_> {
    pub(super) fn observations(&mut self) -> Result<(), Stop> {
        for place in 0..self.window.reads.len() + self.bound.len() {
            self.meter.spend(1)?;
            let bound = match self.window.reads.get(place) {
                Some(&bound) => bound,
                None => self.bound[place - self.window.reads.len()],
            };
            let Some(read) = self.window.node(self.prepared, bound.read) else { continue };
            if let Some(write) = bound.write {
                self.insert(write, bound.read, Why::Observes)?;
            }
            // A write before the window is before all of it only by the must order, which is closed already.
            let write = bound.write.and_then(|write| self.window.node(self.prepared, write));
            if bound.write.is_some() && write.is_none() {
                self.later_writes_of_early_write(bound.read, read, bound.variable, bound.write)?;
                continue;
            }
            let why = Why::NotBefore { read: bound.read, write: bound.write };
            let Some(threads) = self.window.writes.get(&bound.variable) else { continue };
            for (thread, writes) in threads {
                self.meter.spend(2)?;
                if let Some(earlier) = self.last_at_or_before(read, *thread, writes, bound.read)
                    && Some(earlier) != bound.write
                {
                    match bound.write {
                        Some(write) => self.insert(earlier, write, why)?,
                        None => self.insert(bound.read, earlier, why)?,
                    }
                }
                let after = match write {
                    Some(write) => self.first_at_or_after(write, *thread, writes, bound.write),
                    None => writes.iter().copied().find(|&w| w != bound.read),
                };
                if let Some(later) = after.filter(|&later| Some(later) != bound.write && later != bound.read)
                {
                    self.insert(bound.read, later, why)?;
                }
            }
        }
        Ok(())
    }

    /// The write is before the window. It still comes before the later writes of its own thread, so a read that
    /// observes it comes before them too.
    fn later_writes_of_early_write(
        &mut self,
        read: EventId,
        node: Node,
        variable: reweave_trace::VarId,
        write: Option<EventId>,
    ) -> Result<(), Stop> {
        let Some(write) = write else { return Ok(()) };
        let thread = self.prepared.trace.thread(write).0;
        let Some(threads) = self.window.writes.get(&variable) else { return Ok(()) };
        let first = threads
            .iter()
            .find(|(other, _)| *other == thread)
            .and_then(|(_, writes)| writes.first().copied());
        match first.filter(|&later| later != read && node.chain != thread) {
            Some(later) => self.insert(read, later, Why::NotBefore { read, write: Some(write) }),
            None => Ok(()),
        }
    }

    /// The last of a thread's writes that is before `node`, an event itself excepted.
    fn last_at_or_before(
        &self,
        node: Node,
        thread: u32,
        writes: &[EventId],
        but: EventId,
    ) -> Option<EventId> {
        let position = self.order.latest_predecessor(node, thread)?;
        let bound = self.event(Node::new(thread, position));
        let before = writes.partition_point(|&write| write <= bound);
        writes[..before].iter().rev().copied().find(|&write| write != but)
    }

    /// The first of a thread's writes that is after `node`, an event itself excepted.
    fn first_at_or_after(
        &self,
        node: Node,
        thread: u32,
        writes: &[EventId],
        but: Option<EventId>,
    ) -> Option<EventId> {
        let position = self.order.earliest_successor(node, thread)?;
        let bound = self.event(Node::new(thread, position));
        let before = writes.partition_point(|&write| write < bound);
        writes[before..].iter().copied().find(|&write| Some(write) != but)
    }

    /// What a thread that is cut inside a section excludes must be over before that section is entered.
    pub(super) fn held_sections(&mut self, cone: &Cone) -> Result<(), Stop> {
        for &next in cone.next.iter().flatten() {
            let thread = self.prepared.trace.thread(next);
            let held = self.prepared.open_at(next).into_iter().filter(|section| section.thread == thread);
            for section in held {
                for other in (0..self.window.threads()).map(ThreadId) {
                    let mut looked_at = 1;
                    let entered = self.prepared.sections_by(section.lock, other).rev();
                    let entered = entered.inspect(|_| looked_at += 1);
                    let mut entered = entered.filter(|other| section.excludes(other));
                    let last = entered.find(|other| cone.contains(self.prepared, other.acquire));
                    let release = last.and_then(|last| last.release);
                    self.meter.spend(looked_at)?;
                    if let Some(release) = release.filter(|&release| cone.contains(self.prepared, release)) {
                        self.insert(release, section.acquire, Why::Mutex(section.lock))?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn locks(&mut self, cone: &mut Cone) -> Result<(), Stop> {
        let window = self.window;
        for (_, threads) in &window.sections {
            for (thread, sections) in threads {
                for section in sections {
                    for (other, others) in threads.iter().filter(|(other, _)| other != thread) {
                        self.lock_pair(section, *other, others, cone)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `section` is entered before the first of `others` that excludes it is left: then it is left before that one
    /// is entered.
    fn lock_pair(
        &mut self,
        section: &Section,
        other: u32,
        others: &[Section],
        cone: &mut Cone,
    ) -> Result<(), Stop> {
        self.meter.spend(1)?;
        let Some(node) = self.window.node(self.prepared, section.acquire) else { return Ok(()) };
        let Some(position) = self.order.earliest_successor(node, other) else { return Ok(()) };
        let reached = self.event(Node::new(other, position));
        let is_later = |later: &&Section| {
            let left = later.release.filter(|&release| cone.contains(self.prepared, release));
            section.excludes(later) && left.is_none_or(|release| release >= reached)
        };
        let place = others.iter().position(|later| is_later(&later));
        self.meter.spend(place.unwrap_or(others.len()))?;
        let Some(later) = place.map(|place| others[place]) else { return Ok(()) };
        // Whether it is left later or stays open, what it excludes must be over before it is entered.
        match section.release {
            Some(release) if cone.contains(self.prepared, release) => {
                self.insert(release, later.acquire, Why::Mutex(section.lock))
            }
            Some(release) => match cone.add_release(self.prepared, self.must, release, later) {
                // What else follows in this round is still worth having: it may grow the cone too, or refute.
                Ok(()) => {
                    self.cone_grew = true;
                    Ok(())
                }
                Err(contradiction) => {
                    let steps = self.meter.tells.then(|| contradiction.steps(self.must));
                    Err(Stop::Refuted(steps.unwrap_or_default()))
                }
            },
            None => {
                let why = Why::Mutex(section.lock);
                Err(Stop::Refuted(vec![
                    Step { from: section.acquire, to: later.acquire, why },
                    Step { from: later.acquire, to: section.acquire, why },
                ]))
            }
        }
    }

    pub(super) fn waits(&mut self) -> Result<(), Stop> {
        for place in 0..self.window.woken_waits.len() {
            self.meter.spend(1)?;
            let wait = self.window.woken_waits[place];
            if let Some(link) = self.prepared.links.wait(wait).copied()
                && let Some(waker) = link.waker
            {
                self.insert(link.start, waker, Why::Starts)?;
            }
        }
        for place in 0..self.window.quiet_waits.len() {
            self.quiet_wait(self.window.quiet_waits[place])?;
        }
        Ok(())
    }

    /// Those looks at one clock that have to run keep their observed order.
    pub(super) fn looks(&mut self) -> Result<(), Stop> {
        for place in 1..self.window.looks.len() {
            let ((clock, look), (other, later)) = (self.window.looks[place - 1], self.window.looks[place]);
            if clock == other {
                self.insert(look, later, Why::Looked)?;
            }
        }
        Ok(())
    }

    /// A wait that nothing woke: what notifies it comes before its start or after itself.
    fn quiet_wait(&mut self, wait: EventId) -> Result<(), Stop> {
        let Op::Wait(condition) = self.prepared.trace.op(wait) else { return Ok(()) };
        let Some(link) = self.prepared.links.wait(wait).copied() else { return Ok(()) };
        let all = self.prepared.notifications_between(condition, EventId(0), EventId(u32::MAX));
        let (Some(start), Some(end)) =
            (self.window.node(self.prepared, link.start), self.window.node(self.prepared, wait))
        else {
            return Ok(());
        };
        if link.start == wait {
            return Ok(());
        }
        for &notification in all {
            self.meter.spend(2)?;
            let Some(node) = self.window.node(self.prepared, notification) else { continue };
            let why = Why::NotNotified { wait };
            if node.chain != end.chain && self.order.reaches(node, end) {
                self.insert(notification, link.start, why)?;
            }
            if node.chain != start.chain && self.order.reaches(start, node) {
                self.insert(wait, notification, why)?;
            }
        }
        Ok(())
    }

    pub(super) fn adjacency(&mut self) -> Result<(), Stop> {
        let pairs: Vec<(EventId, EventId)> = match self.claim {
            Claim::CoEnabled(_)
            | Claim::Deadlock(_)
            | Claim::Asleep(_)
            | Claim::Unwritten(_)
            | Claim::Ahead { .. } => {
                return Ok(());
            }
            Claim::Sequence { events, adjacent } => {
                adjacent.iter().map(|&place| (events[place], events[place + 1])).collect()
            }
            Claim::Before { pairs, adjacent } => adjacent.iter().map(|&place| pairs[place]).collect(),
        };
        for (a, b) in pairs {
            let (Some(first), Some(second)) =
                (self.window.node(self.prepared, a), self.window.node(self.prepared, b))
            else {
                continue;
            };
            for thread in 0..self.window.threads() {
                self.meter.spend(2)?;
                if let Some(position) = self.previous(second, thread) {
                    let before = self.event(Node::new(thread, position));
                    if before != a {
                        self.insert_beside(before, a)?;
                    }
                }
                if let Some(position) = self.following(first, thread) {
                    let after = self.event(Node::new(thread, position));
                    if after != b {
                        self.insert_beside(b, after)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn insert_beside(&mut self, from: EventId, to: EventId) -> Result<(), Stop> {
        if from == to { Ok(()) } else { self.insert(from, to, Why::Adjacent) }
    }

    /// The last position of `thread` strictly before `node`.
    fn previous(&self, node: Node, thread: u32) -> Option<u32> {
        let position = self.order.latest_predecessor(node, thread)?;
        if node.chain == thread { position.checked_sub(1) } else { Some(position) }
    }

    /// The first position of `thread` strictly after `node`.
    fn following(&self, node: Node, thread: u32) -> Option<u32> {
        let position = self.order.earliest_successor(node, thread)?;
        let next = if node.chain == thread { position + 1 } else { position };
        (next < self.window.length(thread)).then_some(next)
    }
}
