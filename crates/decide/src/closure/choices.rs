//! Reads with a choice: what the order leaves of the writes that they may observe.
//!
//! In the value models a read that has to be clean observes some write of the value that it read. A write that is after the read, is
//! overwritten before it, or cannot run before what is to be next, is none of them. Where none is left, the query is refuted;
//! where one is left, the read binds to it.
//!
//! Of each thread only a few come into question: the last write that is before the read, and those that are ordered
//! neither before nor after it. So a read costs a few searches for each thread that writes its variable.

use reweave_order::chain::Node;
use reweave_trace::{EventId, ThreadId};

use super::window::BoundRead;
use super::{Closure, Stop};
use crate::cone::Cone;
use crate::verdict::{Step, Why};

/// How many writes are left for a read to observe.
enum Left {
    None,
    One(EventId),
    Many,
}

/// A thread's writes that have the value which a read read.
struct Carrying<'a> {
    positions: &'a [u32],
    /// The one that the read observed, which has it by definition.
    observed: Option<u32>,
}

impl Carrying<'_> {
    fn from(&self, start: u32) -> Option<u32> {
        let first = self.positions.partition_point(|&position| position < start);
        let observed = self.observed.filter(|&position| position >= start);
        self.positions.get(first).copied().into_iter().chain(observed).min()
    }
}

impl Closure<'_, '_> {
    /// Binds the reads that have one write left, and refutes where one has none.
    pub(super) fn choices(&mut self, cone: &mut Cone) -> Result<(), Stop> {
        for place in 0..self.window.choices.len() {
            if self.settled[place] {
                continue;
            }
            let choice = self.window.choices[place];
            match self.left(choice, cone)? {
                Left::Many => {}
                Left::None => return Err(self.none_left(choice.read, cone)?),
                Left::One(write) => {
                    self.settled[place] = true;
                    self.bind(choice, write, cone)?;
                }
            }
        }
        Ok(())
    }

    fn bind(&mut self, choice: BoundRead, write: EventId, cone: &mut Cone) -> Result<(), Stop> {
        if cone.contains(self.prepared, write) {
            self.bound.push(BoundRead { write: Some(write), ..choice });
            return self.insert(write, choice.read, Why::OnlyOneLeft);
        }
        match cone.add_write(self.prepared, self.must, write, choice.read) {
            Ok(()) => {
                self.cone_grew = true;
                Ok(())
            }
            Err(contradiction) => {
                let steps = self.meter.tells.then(|| contradiction.steps(self.must));
                Err(Stop::Refuted(steps.unwrap_or_default()))
            }
        }
    }

    /// What is left for a read to observe.
    fn left(&mut self, choice: BoundRead, cone: &Cone) -> Result<Left, Stop> {
        let (prepared, read) = (self.prepared, choice.read);
        let values = self.must.values();
        let (Some(node), Some(value), Some(all)) =
            (self.window.node(prepared, read), prepared.trace.values(read).read, values.all(choice.variable))
        else {
            return Ok(Left::Many);
        };
        self.meter.spend(1 + 3 * all.len())?;
        let before = self.last_writes(read, node, all);
        let observed = prepared.links.observed(read);
        let initial = prepared.links.initial_value(choice.variable) == Some(value);
        if before.is_empty() && (initial || observed.is_none()) {
            return Ok(Left::Many);
        }
        let equal = values.equal(choice.variable, value);
        let mut left = Left::None;
        for &(thread, _) in all {
            let positions = equal.iter().find(|(other, _)| *other == thread);
            let of_thread = observed.filter(|&write| prepared.trace.thread(write) == thread);
            let carrying = Carrying {
                positions: positions.map_or(&[][..], |(_, positions)| positions),
                observed: of_thread.map(|write| prepared.position(write)),
            };
            for position in self.candidates(read, node, thread, &carrying, &before, cone) {
                match left {
                    Left::None => left = Left::One(prepared.event_at(thread, position)),
                    _ => return Ok(Left::Many),
                }
            }
        }
        Ok(left)
    }

    /// The last write of each thread that is before a read, out of all writes of its variable.
    fn last_writes(&self, read: EventId, node: Node, all: &[(ThreadId, Vec<u32>)]) -> Vec<EventId> {
        let last = |(thread, positions): &(ThreadId, Vec<u32>)| {
            let before =
                positions.partition_point(|&position| position < self.known_before(read, node, *thread));
            before.checked_sub(1).map(|place| self.prepared.event_at(*thread, positions[place]))
        };
        all.iter().filter_map(last).collect()
    }

    /// How many events of a thread are before a read.
    fn known_before(&self, read: EventId, node: Node, thread: ThreadId) -> u32 {
        if thread.0 == node.chain {
            return self.prepared.position(read);
        }
        match self.order.latest_predecessor(node, thread.0) {
            Some(position) => self.window.start(thread.0) + position + 1,
            None => self.must.needed(read, thread),
        }
    }

    /// The writes of a thread that a read may observe, two of them at most.
    fn candidates(
        &self,
        read: EventId,
        node: Node,
        thread: ThreadId,
        carrying: &Carrying<'_>,
        before: &[EventId],
        cone: &Cone,
    ) -> Vec<u32> {
        let mut found = Vec::new();
        let last = before.iter().copied().find(|&write| self.prepared.trace.thread(write) == thread);
        if let Some(last) = last {
            let position = self.prepared.position(last);
            if carrying.from(position) == Some(position) && self.overwriter(last, before).is_none() {
                found.push(position);
            }
        }
        if thread.0 == node.chain {
            return found;
        }
        let after = self.order.earliest_successor(node, thread.0);
        let end = after.map_or(u32::MAX, |position| self.window.start(thread.0) + position);
        let mut from = self.known_before(read, node, thread);
        while let Some(position) = carrying.from(from).filter(|&position| position < end && found.len() < 2) {
            if self.obstacle(read, self.prepared.event_at(thread, position), cone).is_some() {
                // What comes later in the thread needs no less.
                break;
            }
            found.push(position);
            from = position + 1;
        }
        found
    }

    /// One of the last writes before a read that comes after `write`.
    fn overwriter(&self, write: EventId, before: &[EventId]) -> Option<EventId> {
        before.iter().copied().find(|&other| other != write && self.is_before(write, other))
    }

    fn is_before(&self, a: EventId, b: EventId) -> bool {
        if self.must.before(a, b) {
            return true;
        }
        let nodes = self.window.node(self.prepared, a).zip(self.window.node(self.prepared, b));
        nodes.is_some_and(|(a, b)| a.chain != b.chain && self.order.reaches(a, b))
    }

    /// What keeps `write` from being observed by a read, though nothing orders it after the read: what is to be next would have to
    /// run before it, or the read itself.
    fn obstacle(&self, read: EventId, write: EventId, cone: &Cone) -> Option<EventId> {
        if cone.contains(self.prepared, write) {
            return None;
        }
        let mut next = cone.next.iter().flatten().copied();
        let blocks = |&next: &EventId| next == write || self.must.before(next, write);
        next.find(blocks).or_else(|| self.must.before(read, write).then_some(read))
    }

    /// The refutation where nothing is left to observe: why it cannot be what was observed.
    fn none_left(&mut self, read: EventId, cone: &Cone) -> Result<Stop, Stop> {
        let why = Why::NoneLeft { read };
        let Some(node) = self.window.node(self.prepared, read).filter(|_| self.meter.tells) else {
            return Ok(Stop::Refuted(Vec::new()));
        };
        let variable = self.prepared.trace.op(read).access().map(|access| access.variable);
        let all = variable.and_then(|variable| self.must.values().all(variable)).unwrap_or_default();
        let before = self.last_writes(read, node, all);
        let Some(write) = self.prepared.links.observed(read) else {
            // The initial value is gone with the first write.
            let Some(&other) = before.first() else { return Ok(Stop::Refuted(Vec::new())) };
            let mut steps = self.path(other, read)?;
            steps.push(Step { from: read, to: other, why });
            return Ok(Stop::Refuted(steps));
        };
        // The write may be beyond the window, and something before it is after the read.
        let thread = self.prepared.trace.thread(write);
        let after = self.order.earliest_successor(node, thread.0).filter(|_| thread.0 != node.chain);
        let after = after.map(|position| self.event(Node::new(thread.0, position)));
        if let Some(after) = after.filter(|&after| after <= write) {
            let mut steps = self.path(read, after)?;
            if after != write {
                steps.push(Step { from: after, to: write, why: Why::ProgramOrder });
            }
            steps.push(Step { from: write, to: read, why });
            return Ok(Stop::Refuted(steps));
        }
        if let Some(other) = self.overwriter(write, &before) {
            let mut steps = self.path(write, other)?;
            steps.push(Step { from: other, to: write, why });
            return Ok(Stop::Refuted(steps));
        }
        let Some(next) = self.obstacle(read, write, cone) else { return Ok(Stop::Refuted(Vec::new())) };
        let mut steps = if next == write { Vec::new() } else { self.path(next, write)? };
        steps.push(Step { from: write, to: read, why });
        steps.push(Step { from: read, to: next, why: Why::Asked });
        Ok(Stop::Refuted(steps))
    }
}
