//! Reads with a choice: what comes before each write that they may still observe.
//!
//! In the value models a clean read may observe any write of the value that it read. It cannot observe one that is overwritten in
//! every schedule that comes to the read, nor one that comes after it. Of the writes of one thread that are left, the
//! earliest has the fewest predecessors, so that one for each thread is enough.
//!
//! While the trace is read, a write that is still to come has no place in the order yet. It comes after all that its thread has
//! done so far; if the thread has not started, after the fork that starts it, which is not the last that its parent has done;
//! and if that is to come too, after all that the parent has done.

use reweave_order::chain::Node;
use reweave_order::must::MustOrder;
use reweave_trace::{EventId, ThreadId};

use super::{At, Must};

/// What is known when a read is added to the order.
pub(super) struct Past<'a> {
    must: &'a Must<'a>,
    order: &'a MustOrder,
    read: EventId,
    own: ThreadId,
    /// What comes before the read: the last event of its thread so far, and the latest clean point.
    tops: Vec<Node>,
}

impl<'a> Past<'a> {
    pub(super) fn new(must: &'a Must<'a>, order: &'a MustOrder, read: EventId) -> Past<'a> {
        let own = must.prepared.trace.thread(read);
        let chains = [own.0, must.clean_chain(own)];
        let tops = chains.iter().filter_map(|&chain| last_of(order, chain)).collect();
        Past { must, order, read, own, tops }
    }

    /// A node whose predecessors come before the read, too.
    pub(super) fn known(&self) -> Node {
        let fallback = Node::new(self.own.0, 0);
        self.tops.iter().copied().max_by_key(|top| top.chain).unwrap_or(fallback)
    }

    /// How many events of a thread are known to come before the read.
    fn needed(&self, thread: ThreadId) -> u32 {
        if thread == self.own {
            return self.must.prepared.position(self.read);
        }
        let of =
            |&top: &Node| self.order.latest_predecessor(top, thread.0).map_or(0, |position| position + 1);
        self.tops.iter().map(of).max().unwrap_or(0)
    }

    /// For each thread with a write that may be observed, the earliest such: the nodes that come before it or are it. None
    /// where something may be observed that adds nothing to what is known.
    pub(super) fn alternatives(&self) -> Option<Vec<[Node; 2]>> {
        let prepared = self.must.prepared;
        let observed = prepared.links.observed(self.read)?;
        let access = prepared.trace.op(self.read).access()?;
        let value = prepared.trace.values(self.read).read?;
        let writers = self.must.values.all(access.variable)?;
        let last_before = |(thread, positions): &(ThreadId, Vec<u32>)| {
            let before = positions.partition_point(|&position| position < self.needed(*thread));
            before.checked_sub(1).map(|place| Node::new(thread.0, positions[place]))
        };
        let before: Vec<Node> = writers.iter().filter_map(last_before).collect();
        if before.is_empty() && prepared.links.initial_value(access.variable) == Some(value) {
            return None;
        }
        let equal = self.must.values.equal(access.variable, value);
        let mut alternatives = Vec::new();
        for &(thread, _) in writers {
            let carrying = equal.iter().find(|(other, _)| *other == thread);
            let carrying = carrying.map_or(&[][..], |(_, positions)| positions);
            let first_from = |from: u32| {
                let first = carrying.get(carrying.partition_point(|&position| position < from)).copied();
                let observed = (prepared.trace.thread(observed) == thread)
                    .then(|| prepared.position(observed))
                    .filter(|&position| position >= from);
                first.into_iter().chain(observed).min()
            };
            let last = before.iter().find(|node| node.chain == thread.0).copied();
            let last = last.filter(|&last| !self.is_overwritten(last, &before));
            let from = self.needed(thread);
            match last.filter(|last| first_from(last.position) == Some(last.position)) {
                Some(_) if thread == self.own => return None,
                Some(last) => alternatives.push(self.done(thread, last.position)),
                None if thread == self.own => {}
                None => {
                    if let Some(position) = first_from(from) {
                        alternatives.extend(self.coming(thread, position)?);
                    }
                }
            }
        }
        Some(alternatives)
    }

    /// Whether another write comes after `write` and before the read.
    fn is_overwritten(&self, write: Node, before: &[Node]) -> bool {
        before.iter().any(|&other| other.chain != write.chain && self.order.before(write, other))
    }

    /// The nodes of a write that is in the order.
    fn done(&self, thread: ThreadId, position: u32) -> [Node; 2] {
        let run = Node::new(thread.0, position);
        let clean = self.must.latest_clean(thread, position).map(|read| self.must.node(At::Clean(read)));
        [run, clean.unwrap_or(run)]
    }

    /// The same for one that need not come before the read; an empty list if it comes after it, and none if nothing is
    /// known to come before it.
    fn coming(&self, thread: ThreadId, position: u32) -> Option<Vec<[Node; 2]>> {
        let prepared = self.must.prepared;
        if prepared.event_at(thread, position) < self.read {
            return Some(vec![self.done(thread, position)]);
        }
        let mut thread = thread;
        while self.order.length(thread.0) == 0 {
            let fork = prepared.links.fork(thread)?;
            if fork < self.read {
                let fork = Node::new(prepared.trace.thread(fork).0, prepared.position(fork));
                return Some(vec![[fork, fork]]);
            }
            thread = prepared.trace.thread(fork);
            if thread == self.own {
                return Some(Vec::new());
            }
        }
        let run = last_of(self.order, thread.0)?;
        Some(vec![[run, last_of(self.order, self.must.clean_chain(thread)).unwrap_or(run)]])
    }
}

/// The last node of a chain so far.
fn last_of(order: &MustOrder, chain: u32) -> Option<Node> {
    order.length(chain).checked_sub(1).map(|last| Node::new(chain, last))
}
