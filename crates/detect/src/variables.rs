//! Which variables can have bugs at all.

use hashbrown::HashMap;
use reweave_decide::{self as decide, Must, Prepared, Reduction};
use reweave_trace::{EventId, Space, ThreadId, VarId, is_stand_in};

use crate::Dropped;

/// How a variable is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Use {
    /// By one thread at most.
    Local,
    /// By several threads that only read it.
    ReadOnly,
    /// By several threads, but no schedule can reorder two conflicting accesses.
    Ordered,
    /// By several threads that may reorder.
    Contended,
}

/// The use of each variable.
pub(crate) struct Variables {
    uses: Vec<Use>,
    /// Which of them stand for something that is no memory: they are in no finding.
    stand_ins: Vec<bool>,
    /// Per object, the variables that its birth and death touch.
    fields: HashMap<VarId, Vec<VarId>>,
}

impl Variables {
    /// Two passes: who touches what, and whether what is shared is ordered.
    pub(crate) fn new(prepared: &Prepared<'_>, must: &Must<'_>) -> Variables {
        let trace = prepared.trace;
        let count = trace.count(Space::Variable);
        let names = trace.names().space(Space::Variable);
        let stand_ins = (0..count as u32).map(|variable| is_stand_in(names.get(variable))).collect();
        let mut variables = Variables { uses: vec![Use::Local; count], stand_ins, fields: fields(prepared) };
        let mut first: Vec<Option<ThreadId>> = vec![None; count];
        let (mut several, mut written) = (vec![false; count], vec![false; count]);
        for (_, event) in trace.events() {
            let Some(access) = event.op.access() else { continue };
            variables.each_touched(access.variable, access.lifetime, |variable| {
                let owner = *first[variable.index()].get_or_insert(event.thread);
                several[variable.index()] |= owner != event.thread;
                written[variable.index()] |= access.writes;
            });
        }
        for variable in 0..count {
            variables.uses[variable] = match (several[variable], written[variable]) {
                (false, _) => Use::Local,
                (true, false) => Use::ReadOnly,
                (true, true) => Use::Ordered,
            };
        }
        variables.find_contended(prepared, must);
        variables
    }

    pub(crate) fn use_of(&self, variable: VarId) -> Use {
        self.uses[variable.index()]
    }

    /// Whether it is memory that several threads use and one writes.
    pub(crate) fn is_shared(&self, variable: VarId) -> bool {
        matches!(self.use_of(variable), Use::Ordered | Use::Contended) && !self.stand_ins[variable.index()]
    }

    /// Calls `touch` with each variable that an access to `variable` touches.
    pub(crate) fn each_touched(&self, variable: VarId, lifetime: bool, mut touch: impl FnMut(VarId)) {
        match self.fields.get(&variable).filter(|_| lifetime) {
            Some(fields) => fields.iter().copied().for_each(touch),
            None => touch(variable),
        }
    }

    /// How many variables of the whole trace are looked at, and why others are not.
    pub(crate) fn dropped(&self, reduction: &Reduction) -> Dropped {
        let mut dropped = Dropped { events: reduction.left_out, ..Dropped::default() };
        for (of_whole, of_core) in reduction.uses.iter().zip(&self.uses) {
            match (of_whole, of_core) {
                (decide::Use::Unused, _) => {}
                (decide::Use::Local, _) => dropped.thread_local += 1,
                (decide::Use::ReadOnly, _) => dropped.read_only += 1,
                (decide::Use::Ordered, _) | (_, Use::Ordered) => dropped.ordered += 1,
                _ => dropped.kept += 1,
            }
        }
        dropped
    }

    /// A shared variable is ordered when each access must come after the last write and, if it writes, after the
    /// last reads: the rest follows, because the must order is transitive.
    fn find_contended(&mut self, prepared: &Prepared<'_>, must: &Must<'_>) {
        let trace = prepared.trace;
        let mut last_write: Vec<Option<EventId>> = vec![None; self.uses.len()];
        let mut last_reads: HashMap<VarId, Vec<EventId>> = HashMap::new();
        let ordered = |a: EventId, b: EventId| trace.thread(a) == trace.thread(b) || must.before(a, b);
        for (id, event) in trace.events() {
            let Some(access) = event.op.access() else { continue };
            let mut contended = Vec::new();
            self.each_touched(access.variable, access.lifetime, |variable| {
                if self.uses[variable.index()] != Use::Ordered {
                    return;
                }
                let reads = last_reads.entry(variable).or_default();
                let write = last_write[variable.index()];
                let mut fine = write.is_none_or(|write| ordered(write, id));
                if access.writes {
                    fine &= reads.iter().all(|&read| ordered(read, id));
                    last_write[variable.index()] = Some(id);
                    reads.clear();
                }
                if access.reads {
                    reads.retain(|&read| trace.thread(read) != event.thread);
                    reads.push(id);
                }
                if !fine {
                    contended.push(variable);
                }
            });
            for variable in contended {
                self.uses[variable.index()] = Use::Contended;
                last_reads.remove(&variable);
            }
        }
    }
}

fn fields(prepared: &Prepared<'_>) -> HashMap<VarId, Vec<VarId>> {
    let mut fields: HashMap<VarId, Vec<VarId>> = HashMap::new();
    let trace = prepared.trace;
    if !trace.objects().is_empty() {
        for variable in (0..trace.count(Space::Variable)).map(VarId::from_index) {
            for object in trace.objects().around(variable) {
                fields.entry(object).or_default().push(variable);
            }
        }
    }
    fields
}
