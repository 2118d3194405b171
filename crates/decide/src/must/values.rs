//! Who writes which value where.

use hashbrown::HashMap;
use reweave_trace::{EventId, Kind, Space, ThreadId, ValueId, VarId};

use crate::prepare::Prepared;

/// Where more threads write a variable, its reads are left out.
const MOST_THREADS: usize = 64;

/// Positions of a thread's writes, in order, for each thread that has some.
pub(crate) type ByThread = Vec<(ThreadId, Vec<u32>)>;

/// The writes of each variable, by value and thread.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// How many writes of each value each variable has.
    writes: HashMap<(VarId, ValueId), u32>,
    /// Where a value has several writes or is also the initial one, which they are.
    equal: HashMap<(VarId, ValueId), ByThread>,
    /// All writes of the variables that have such values.
    all: HashMap<VarId, ByThread>,
}

impl Values {
    pub(super) fn new(prepared: &Prepared<'_>) -> Values {
        let trace = prepared.trace;
        let written = |id: EventId| {
            let value = trace.values(id).written.filter(|_| trace.kind(id).writes());
            trace.op(id).access().filter(|access| !access.lifetime).zip(value)
        };
        let mut values = Values::default();
        for id in trace.ids() {
            if let Some((access, value)) = written(id) {
                *values.writes.entry((access.variable, value)).or_default() += 1;
            }
        }
        for id in trace.ids().filter(|&id| trace.kind(id).reads()) {
            if !values.is_unique(prepared, id)
                && let Some((access, value)) = trace.op(id).access().zip(trace.values(id).read)
            {
                values.equal.entry((access.variable, value)).or_default();
                values.all.entry(access.variable).or_default();
            }
        }
        for id in trace.ids() {
            if let Some((access, value)) = written(id)
                && let Some(equal) = values.equal.get_mut(&(access.variable, value))
            {
                push(equal, trace.thread(id), prepared.position(id));
            }
        }
        for variable in (0..trace.count(Space::Variable)).map(VarId::from_index) {
            let Some(all) = values.all.get_mut(&variable) else { continue };
            for &write in prepared.writers(variable) {
                push(all, trace.thread(write), prepared.position(write));
            }
        }
        values
    }

    /// The writes of a value that a read which chooses may have read.
    pub(crate) fn equal(&self, variable: VarId, value: ValueId) -> &[(ThreadId, Vec<u32>)] {
        self.equal.get(&(variable, value)).map_or(&[], Vec::as_slice)
    }

    /// All writes of a variable that some read which chooses reads; none where too many threads write it.
    pub(crate) fn all(&self, variable: VarId) -> Option<&[(ThreadId, Vec<u32>)]> {
        self.all.get(&variable).map(Vec::as_slice).filter(|all| all.len() <= MOST_THREADS)
    }

    /// Whether nothing but what `read` observed has the value that it read.
    pub(super) fn is_unique(&self, prepared: &Prepared<'_>, read: EventId) -> bool {
        let values = prepared.trace.values(read);
        let (Some(access), Some(value)) = (prepared.trace.op(read).access(), values.read) else {
            return true;
        };
        let own = prepared.trace.kind(read) == Kind::Update && values.written == Some(value);
        let all = self.writes.get(&(access.variable, value)).copied().unwrap_or(0) - u32::from(own);
        let initial = prepared.links.initial_value(access.variable) == Some(value);
        match prepared.links.observed(read) {
            Some(write) => {
                let carries = prepared.trace.values(write).written == Some(value);
                all == u32::from(carries) && !initial
            }
            None => all == 0,
        }
    }
}

fn push(lists: &mut ByThread, thread: ThreadId, position: u32) {
    match lists.iter().position(|(other, _)| *other == thread) {
        Some(place) => lists[place].1.push(position),
        // One too many is enough to know that there are too many.
        None if lists.len() > MOST_THREADS => {}
        None => lists.push((thread, vec![position])),
    }
}
