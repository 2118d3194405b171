//! The order that no schedule can escape, computed once for a trace and a model.
//!
//! *a must come before b* when every feasible schedule that has b, or in which b may run next, has a before it: by
//! program order, forks and joins, wakers of waits, earlier calls on b's object, all before a write that nobody recorded, and
//! the observations that b depends on. Locks are not part of
//! it: which of two critical sections comes first is free.
//!
//! Each thread has two chains in the order. A node of the first stands for "this event runs". A node of the second
//! stands for "the thread is clean up to this read"; there is one for each read that binds to a write of another
//! thread. An event that the model does not let a tainted thread run comes after the latest clean node of its
//! thread, and a clean node comes after the write that its read observed *and* after the latest clean node of the
//! writer's thread at that write: a tainted write would not do.
//!
//! In the value models a read binds only where no other write has the same value. Where it has a choice ([`choice`]), it
//! comes after what *every* write that it may still observe comes after. In the `dep` models there are no
//! clean nodes and no such meets, and an event comes after the writes that the reads it needs observed. Both are weaker
//! than they could be, never stronger.
//!
//! One pass, linear in the trace; a query takes the time of a few binary searches.

mod choice;
mod values;

use reweave_order::chain::Node;
use reweave_order::must::{MustOrder, MustOrderBuilder};
use reweave_trace::{EventId, Model, Op, ThreadId};

use crate::prepare::Prepared;
use crate::verdict::{Step, Why};
use choice::Past;
use values::Values;

/// The must order of a trace in a model.
#[derive(Debug)]
pub struct Must<'p> {
    prepared: &'p Prepared<'p>,
    model: Model,
    order: MustOrder,
    /// Per thread, the positions of the reads that have a clean node.
    cleans: Vec<Vec<u32>>,
    values: Values,
}

impl<'p> Must<'p> {
    /// The must order of the prepared trace in `model`.
    pub fn new(prepared: &'p Prepared<'p>, model: Model) -> Must<'p> {
        let threads = prepared.order.threads();
        let mut builder = MustOrderBuilder::new(2 * threads as u32);
        let values = if model.by_value() { Values::new(prepared) } else { Values::default() };
        let mut must = Must {
            prepared,
            model,
            order: MustOrderBuilder::new(0).finish(),
            cleans: vec![Vec::new(); threads],
            values,
        };
        let mut edges = Vec::new();
        let mut incoming = Vec::new();
        for (event, _) in prepared.trace.events() {
            let thread = prepared.trace.thread(event);
            edges.clear();
            must.before_run(event, &mut edges);
            incoming.clear();
            incoming.extend(edges.iter().map(|&(from, _)| must.node(from)));
            let chooses = must.chooses(event);
            if chooses && must.runs_clean_only(event) {
                incoming.extend(must.common(&mut builder, event));
            }
            builder.event(thread.0, &incoming);
            if chooses && !must.runs_clean_only(event) {
                incoming.clear();
                incoming.extend(must.common(&mut builder, event));
                if !incoming.is_empty() {
                    builder.event(threads as u32 + thread.0, &incoming);
                    must.cleans[thread.index()].push(prepared.position(event));
                }
            } else if let Some(write) = must.clean_write(event) {
                edges.clear();
                must.before_clean(write, &mut edges);
                incoming.clear();
                incoming.extend(edges.iter().map(|&(from, _)| must.node(from)));
                builder.event(threads as u32 + thread.0, &incoming);
                must.cleans[thread.index()].push(prepared.position(event));
            }
        }
        must.order = builder.finish();
        must
    }

    /// The model.
    pub fn model(&self) -> Model {
        self.model
    }

    /// Who writes which value where; nothing where values do not matter.
    pub(crate) fn values(&self) -> &Values {
        &self.values
    }

    /// The order itself: first a chain per thread, then the clean chains.
    pub fn order(&self) -> &MustOrder {
        &self.order
    }

    /// Whether `a` must come before `b`.
    pub fn before(&self, a: EventId, b: EventId) -> bool {
        a != b && self.order.before(self.node(At::Run(a)), self.node(At::Run(b)))
    }

    /// How many events of `thread` must come before `event`.
    pub fn needed(&self, event: EventId, thread: ThreadId) -> u32 {
        if self.prepared.trace.thread(event) == thread {
            return self.prepared.position(event);
        }
        self.order.latest_predecessor(self.node(At::Run(event)), thread.0).map_or(0, |position| position + 1)
    }

    /// Whether the model keeps a tainted thread from running the operation.
    pub fn restricts(&self, op: Op) -> bool {
        match self.model {
            Model::Sync | Model::Dep | Model::DepValue => false,
            Model::Branch | Model::BranchValue => !op.kind().is_transparent(),
            Model::Rf | Model::Value => true,
        }
    }

    /// Whether the event runs only when it is clean: an update, or a failed attempt that might succeed otherwise.
    pub(crate) fn runs_clean_only(&self, event: EventId) -> bool {
        self.prepared.trace.kind(event).is_conditional()
            && !self.prepared.can_fail_otherwise(self.model, event)
    }

    /// The write that a read must observe if it has to be clean; none where that is the initial value, or where
    /// there is a choice.
    pub fn binding_write(&self, read: EventId) -> Option<EventId> {
        let write = self.prepared.links.observed(read)?;
        (self.model != Model::Sync && (!self.model.by_value() || self.values.is_unique(self.prepared, read)))
            .then_some(write)
    }

    /// Whether a read that has to be clean must observe the initial value.
    pub fn binds_to_initial(&self, read: EventId) -> bool {
        self.model != Model::Sync
            && self.prepared.links.observed(read).is_none()
            && (!self.model.by_value() || self.values.is_unique(self.prepared, read))
    }

    /// Why `a` must come before `b`: a chain of steps from one to the other.
    pub fn path(&self, a: EventId, b: EventId) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = At::Run(b);
        while let Some((from, why)) = self.step_towards(a, at) {
            steps.push(Step { from: from.event(), to: at.event(), why });
            at = from;
            if at == At::Run(a) {
                break;
            }
        }
        steps.reverse();
        steps.retain(|step| step.from != step.to);
        steps
    }

    /// A direct predecessor of `at` that `a` is or must come before.
    fn step_towards(&self, a: EventId, at: At) -> Option<(At, Why)> {
        let goal = self.node(At::Run(a));
        let reached = |from: At| {
            let node = self.node(from);
            node == goal || self.order.before(goal, node)
        };
        let mut edges = Vec::new();
        match at {
            At::Run(event) => self.before_run(event, &mut edges),
            At::Clean(read) => {
                if let Some(write) = self.clean_write(read) {
                    self.before_clean(write, &mut edges);
                }
            }
        }
        if let Some(&found) = edges.iter().find(|&&(from, _)| reached(from)) {
            return Some(found);
        }
        // What neither an edge nor the thread so far explains is due to the choice that was met.
        let chosen = || self.chooses(at.event()).then_some((At::Run(a), Why::Whichever));
        let thread = self.prepared.trace.thread(at.event());
        match at {
            At::Run(event) => {
                // The first event of the thread after `a` that is not before it is where the path comes in.
                let events = &self.prepared.order.of(thread)[..self.prepared.position(event) as usize];
                let first = events.partition_point(|&event| !reached(At::Run(event)));
                events.get(first).map(|&first| (At::Run(first), Why::ProgramOrder)).or_else(chosen)
            }
            At::Clean(read) => {
                let cleans = &self.cleans[thread.index()];
                let before = cleans.partition_point(|&position| position < self.prepared.position(read));
                let event = |position: &u32| self.prepared.event_at(thread, *position);
                let first = cleans[..before].partition_point(|position| !reached(At::Clean(event(position))));
                let first = cleans[..before].get(first);
                first.map(|first| (At::Clean(event(first)), Why::ProgramOrder)).or_else(chosen)
            }
        }
    }

    /// What comes directly before the event runs, program order aside.
    fn before_run(&self, event: EventId, edges: &mut Vec<(At, Why)>) {
        let prepared = self.prepared;
        let (thread, op) = (prepared.trace.thread(event), prepared.trace.op(event));
        let position = prepared.position(event);
        if position == 0
            && let Some(fork) = prepared.links.fork(thread)
        {
            edges.push((At::Run(fork), Why::Fork));
        }
        if self.restricts(op) {
            edges.extend(self.latest_clean(thread, position).map(|read| (At::Clean(read), Why::Depends)));
        }
        if let Some(table) = prepared.dependences.filter(|_| self.model.by_dependence()) {
            // A call runs with the arguments that it had, or not at all.
            let feeds = if matches!(op, Op::Call(_)) { table.feeds(event) } else { &[] };
            let reads = table.needs(event).iter().chain(feeds);
            let writes = reads.filter(|&&read| prepared.trace.kind(read).reads());
            edges.extend(
                writes.filter_map(|&read| self.binding_write(read)).map(|w| (At::Run(w), Why::Depends)),
            );
        }
        match op {
            Op::Join(child) => {
                let last = prepared.last(child).or(prepared.links.fork(child));
                edges.extend(last.map(|last| (At::Run(last), Why::Join)));
                if !self.model.by_dependence() {
                    let clean = self.latest_clean(child, u32::MAX);
                    edges.extend(clean.map(|read| (At::Clean(read), Why::Depends)));
                }
            }
            Op::Wait(_) => {
                let waker = prepared.links.wait(event).and_then(|link| link.waker);
                edges.extend(waker.map(|waker| (At::Run(waker), Why::Woken)));
            }
            Op::Unseen(_) => {
                edges.extend(prepared.last_before(event).map(|earlier| (At::Run(earlier), Why::Unseen)));
            }
            Op::Call(_) if self.model != Model::Sync => {
                // Some claims let a call go ahead of others: those are not in the order, whatever is claimed.
                let before = prepared.links.firmly_before(event).iter();
                edges.extend(before.map(|&earlier| (At::Run(earlier), Why::Called)));
            }
            _ if self.runs_clean_only(event) => {
                if let Some(write) = self.binding_write(event) {
                    edges.push((At::Run(write), Why::Observes));
                    edges.extend(self.clean_at(write).map(|read| (At::Clean(read), Why::Depends)));
                }
            }
            _ => {}
        }
    }

    /// What comes directly before a read that observes `write` of another thread can be clean.
    fn before_clean(&self, write: EventId, edges: &mut Vec<(At, Why)>) {
        edges.push((At::Run(write), Why::Observes));
        edges.extend(self.clean_at(write).map(|read| (At::Clean(read), Why::Depends)));
    }

    /// The write of another thread that `event` binds to, if it is a read with a clean node.
    fn clean_write(&self, event: EventId) -> Option<EventId> {
        let reads = self.prepared.trace.kind(event).reads() && !self.model.by_dependence();
        let write = reads.then(|| self.binding_write(event))??;
        (self.prepared.trace.thread(write) != self.prepared.trace.thread(event)).then_some(write)
    }

    /// Whether the event reads a value that several writes have, and the model lets it observe any of them.
    fn chooses(&self, event: EventId) -> bool {
        self.model.by_value()
            && !self.model.by_dependence()
            && self.prepared.trace.kind(event).reads()
            && self.prepared.links.observed(event).is_some()
            && !self.values.is_unique(self.prepared, event)
    }

    /// What comes before whatever write a read that chooses observes, and is not known to come before it anyway.
    fn common(&self, builder: &mut MustOrderBuilder, read: EventId) -> Vec<Node> {
        let past = Past::new(self, builder.so_far(), read);
        let Some(alternatives) = past.alternatives() else { return Vec::new() };
        let known = past.known();
        builder.common(known, &alternatives)
    }

    /// The read with the latest clean node that the value written by `write` may depend on.
    fn clean_at(&self, write: EventId) -> Option<EventId> {
        self.latest_clean(self.prepared.trace.thread(write), self.prepared.position(write))
    }

    /// The last read with a clean node of `thread` before `position`.
    fn latest_clean(&self, thread: ThreadId, position: u32) -> Option<EventId> {
        let cleans = &self.cleans[thread.index()];
        let before = cleans.partition_point(|&clean| clean < position);
        before.checked_sub(1).map(|last| self.prepared.event_at(thread, cleans[last]))
    }

    fn node(&self, at: At) -> Node {
        let (event, threads) = (at.event(), self.prepared.order.threads() as u32);
        let (thread, position) = (self.prepared.trace.thread(event), self.prepared.position(event));
        match at {
            At::Run(_) => Node::new(thread.0, position),
            At::Clean(_) => {
                let place = self.cleans[thread.index()].partition_point(|&clean| clean < position);
                Node::new(threads + thread.0, place as u32)
            }
        }
    }

    /// The chain of the clean nodes of a thread.
    fn clean_chain(&self, thread: ThreadId) -> u32 {
        self.prepared.order.threads() as u32 + thread.0
    }
}

/// A node of the order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    Run(EventId),
    Clean(EventId),
}

impl At {
    fn event(self) -> EventId {
        match self {
            At::Run(event) | At::Clean(event) => event,
        }
    }
}
