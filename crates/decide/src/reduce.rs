//! What of a trace can be left out without changing an answer.
//!
//! An access can be left out when no schedule can make it observe anything new, and make anything observe it that did
//! not before. That is so for every access to a variable
//!
//! - of one thread (*local*);
//! - that nobody writes (*read-only*);
//! - whose conflicting accesses are all ordered by program order, forks and joins alone (*ordered*). A thread forks,
//!   ends and is joined only while it is clean, so that what is observed over these is never tainted.
//!
//! In models without branches, branches can be left out too, where no table of dependences says that they need a read. Where a tainted thread may run on, only what it may run in
//! any case is left out: an update, say, holds it up. In the `dep` models reads of local variables carry taint,
//! and nothing is left out. Locks, forks, joins, waits, looks at clocks and calls stay, and so does the event before each
//! wait, at which it starts; and so do the birth and death of an object that a lock or condition variable lies in. Writes that nobody recorded stay, and of each thread the last event before one.
//!
//! Three passes over the columns, with five bytes a variable and a bit an event.

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;
use reweave_order::chain::Node;
use reweave_order::must::{MustOrder, MustOrderBuilder};
use reweave_trace::{Core, Embedded, EventId, Kind, Model, NotACore, Op, Space, ThreadId, Trace, VarId};

/// How a variable is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// By no event.
    Unused,
    /// By one thread.
    Local,
    /// By several threads that only read it.
    ReadOnly,
    /// By several threads whose conflicting accesses forks and joins order.
    Ordered,
    /// By several threads, one of which writes.
    Shared,
}

/// The core of a trace for a model, and what was left out.
#[derive(Debug)]
pub struct Reduction {
    /// The events that matter.
    pub core: Core,
    /// Per variable of the trace, its use.
    pub uses: Vec<Use>,
    /// How many events were left out.
    pub left_out: u64,
}

impl Reduction {
    /// Leaves out of `trace` what cannot matter in `model`. With `ordered`, variables that are ordered stay: no bug is
    /// in their accesses, but a pattern of several that holds in every schedule may be.
    pub fn new(trace: &Trace, model: Model, ordered: bool) -> Result<Reduction, NotACore> {
        let fields = Fields::new(trace);
        let Survey { mut uses, framed, skipped } = Survey::new(trace, &fields);
        find_unordered(trace, &fields, &framed, &mut uses);
        let runs_on = matches!(model, Model::Branch | Model::BranchValue);
        let anchors = anchors(trace);
        let held_up = runs_on.then(|| trace.ids().filter(|&id| trace.kind(id).is_conditional()));
        for event in held_up.into_iter().flatten().chain(anchors.iter().copied()) {
            if let Some(access) = trace.op(event).access() {
                uses[access.variable.index()] = Use::Shared;
            }
        }
        // Whoever uses a lock uses the object that it lies in.
        for object in Embedded::new(trace).objects().flat_map(|object| trace.objects().around(object)) {
            uses[object.index()] = Use::Shared;
        }
        let stays = |variable: VarId| match uses[variable.index()] {
            Use::Shared => true,
            Use::Ordered => ordered,
            Use::Unused | Use::Local | Use::ReadOnly => false,
        };
        let mut keep = keep(trace, model, &fields, stays);
        keep.extend(anchors.iter().map(|event| event.index()));
        let core = Core::new(trace, &keep)?;
        let core = if model.by_dependence() { core.with_dependences(trace) } else { core };
        let left_out = (trace.len() - skipped - core.trace().len()) as u64;
        Ok(Reduction { core, uses, left_out })
    }
}

/// Per object, the variables that its birth and death touch.
struct Fields {
    of: HashMap<VarId, Vec<VarId>>,
}

impl Fields {
    fn new(trace: &Trace) -> Fields {
        let mut of: HashMap<VarId, Vec<VarId>> = HashMap::new();
        if !trace.objects().is_empty() {
            for variable in (0..trace.count(Space::Variable)).map(VarId::from_index) {
                for object in trace.objects().around(variable) {
                    of.entry(object).or_default().push(variable);
                }
            }
        }
        Fields { of }
    }

    /// Calls `touch` with each variable that an access touches.
    #[inline]
    fn each(&self, variable: VarId, lifetime: bool, mut touch: impl FnMut(VarId)) {
        match self.of.get(&variable).filter(|_| lifetime) {
            Some(fields) => fields.iter().copied().for_each(touch),
            None => touch(variable),
        }
    }
}

/// What one look at every event tells.
struct Survey {
    /// Who touches what: variables of several threads with a write are taken as ordered.
    uses: Vec<Use>,
    /// The forks and joins.
    framed: Vec<EventId>,
    /// How many positions are skipped.
    skipped: usize,
}

impl Survey {
    fn new(trace: &Trace, fields: &Fields) -> Survey {
        let count = trace.count(Space::Variable);
        let mut owners: Vec<Option<ThreadId>> = vec![None; count];
        let (mut several, mut written) =
            (FixedBitSet::with_capacity(count), FixedBitSet::with_capacity(count));
        let (mut framed, mut skipped) = (Vec::new(), 0);
        for id in trace.ids() {
            let Some(access) = trace.op(id).access() else {
                match trace.kind(id) {
                    Kind::Fork | Kind::Join => framed.push(id),
                    Kind::Skip => skipped += 1,
                    _ => {}
                }
                continue;
            };
            let thread = trace.thread(id);
            fields.each(access.variable, access.lifetime, |variable| {
                let owner = owners[variable.index()].get_or_insert(thread);
                if *owner != thread {
                    several.insert(variable.index());
                }
                if access.writes {
                    written.insert(variable.index());
                }
            });
        }
        let of = |variable: usize| match (owners[variable], several[variable], written[variable]) {
            (None, ..) => Use::Unused,
            (_, false, _) => Use::Local,
            (_, true, false) => Use::ReadOnly,
            (_, true, true) => Use::Ordered,
        };
        Survey { uses: (0..count).map(of).collect(), framed, skipped }
    }
}

/// The events that others are measured by: those at which waits start, which are releases of locks in all but odd
/// traces, and the last one of each thread before a write that nobody recorded, which comes after it.
fn anchors(trace: &Trace) -> Vec<EventId> {
    let mut found = Vec::new();
    let unseen = trace.ids().any(|id| trace.kind(id) == Kind::Unseen);
    if trace.count(Space::Condition) == 0 && !unseen {
        return found;
    }
    let mut previous: Vec<Option<EventId>> = vec![None; trace.count(Space::Thread)];
    // Which of the threads have run since the last unseen write.
    let mut moved: Vec<usize> = Vec::new();
    for (id, event) in trace.events() {
        if let Op::Unseen(_) = event.op {
            found.extend(moved.drain(..).filter_map(|thread| previous[thread]));
        }
        if unseen && moved.last() != Some(&event.thread.index()) && !moved.contains(&event.thread.index()) {
            moved.push(event.thread.index());
        }
        let before = previous[event.thread.index()].replace(id);
        found.extend(before.filter(|_| matches!(event.op, Op::Wait(_))));
    }
    found
}

fn keep(trace: &Trace, model: Model, fields: &Fields, stays: impl Fn(VarId) -> bool) -> FixedBitSet {
    let mut keep = FixedBitSet::with_capacity(trace.len());
    let runs_on = matches!(model, Model::Branch | Model::BranchValue);
    for id in trace.ids() {
        let kind = trace.kind(id);
        let stays = match kind {
            Kind::Skip => false,
            // In the `dep` models a branch is what needs the reads that it is decided by.
            Kind::Branch if model.by_dependence() => {
                trace.dependences().is_some_and(|table| !table.needs(id).is_empty())
            }
            Kind::Branch => runs_on,
            _ => match trace.op(id).access() {
                None => true,
                Some(_) if model.by_dependence() || kind == Kind::Unseen => true,
                Some(_) if runs_on && !kind.is_transparent() => true,
                Some(access) => {
                    let mut any = false;
                    fields.each(access.variable, access.lifetime, |variable| any |= stays(variable));
                    any
                }
            },
        };
        keep.set(id.index(), stays);
    }
    keep
}

/// Tells the ordered variables from the shared ones.
///
/// A thread's events fall into segments that end at its forks and start at its joins; which segments come before which
/// is the order of forks and joins.
fn find_unordered(trace: &Trace, fields: &Fields, framed: &[EventId], uses: &mut [Use]) {
    let order = segments(trace, framed);
    let mut current = vec![0; trace.count(Space::Thread)];
    let mut last: HashMap<VarId, Last> = HashMap::new();
    for id in trace.ids() {
        let (thread, op) = (trace.thread(id), trace.op(id));
        if let Op::Join(_) = op {
            current[thread.index()] += 1;
        }
        if let Some(access) = op.access() {
            // Most variables are of one thread.
            if !access.lifetime && uses[access.variable.index()] != Use::Ordered {
                continue;
            }
            let here = Node::new(thread.0, current[thread.index()]);
            fields.each(access.variable, access.lifetime, |variable| {
                if uses[variable.index()] != Use::Ordered {
                    return;
                }
                if !last.entry(variable).or_default().access(here, access.reads, access.writes, &order) {
                    uses[variable.index()] = Use::Shared;
                    last.remove(&variable);
                }
            });
        }
        if let Op::Fork(_) = op {
            current[thread.index()] += 1;
        }
    }
}

/// The order of the segments.
fn segments(trace: &Trace, framed: &[EventId]) -> MustOrder {
    let threads = trace.count(Space::Thread);
    let mut builder = MustOrderBuilder::new(threads as u32);
    let mut forked = FixedBitSet::with_capacity(threads);
    for &id in framed {
        if let Op::Fork(child) = trace.op(id) {
            forked.insert(child.index());
        }
    }
    let mut last: Vec<Option<Node>> = vec![None; threads];
    for thread in (0..threads).filter(|&thread| !forked.contains(thread)) {
        last[thread] = Some(builder.event(thread as u32, &[]));
    }
    for &id in framed {
        let thread = trace.thread(id);
        let Some(here) = last[thread.index()] else { continue };
        match trace.op(id) {
            Op::Fork(child) => {
                last[child.index()] = Some(builder.event(child.0, &[here]));
                last[thread.index()] = Some(builder.event(thread.0, &[]));
            }
            Op::Join(child) => {
                let incoming: Vec<Node> = last[child.index()].into_iter().collect();
                last[thread.index()] = Some(builder.event(thread.0, &incoming));
            }
            _ => {}
        }
    }
    builder.finish()
}

/// The last write of a variable, and the last reads of each thread since.
#[derive(Default)]
struct Last {
    write: Option<Node>,
    reads: Vec<Node>,
}

impl Last {
    /// Runs an access; whether it comes after all that it conflicts with.
    fn access(&mut self, here: Node, reads: bool, writes: bool, order: &MustOrder) -> bool {
        let after = |node: &Node| node.chain == here.chain || order.before(*node, here);
        let mut fine = self.write.iter().all(after);
        if writes {
            fine &= self.reads.iter().all(after);
            self.write = Some(here);
            self.reads.clear();
        }
        if reads {
            self.reads.retain(|read| read.chain != here.chain);
            self.reads.push(here);
        }
        fine
    }
}
