//! The core of a trace: some of its events, as a trace of their own.

use fixedbitset::FixedBitSet;

use crate::build::Columns;
use crate::context::Calling;
use crate::{EventId, Kind, Space, Trace};

/// Some of a trace's events, renumbered, and where each of them was.
///
/// **Invariants:** events of the core keep their order; no event that was left out writes what an event of the core
/// reads, births and deaths of objects included. So a read of the core observes in it what it observed in the whole.
#[derive(Clone, Debug)]
pub struct Core {
    trace: Trace,
    /// Per event of the core, its position in the whole trace.
    originals: Vec<EventId>,
    /// Per event of the core, how many events its thread has before it in the whole trace.
    steps: Vec<u32>,
}

/// What is to be left out would be missed by what is to stay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a write that is left out is observed by a read that is kept")]
pub struct NotACore;

impl Core {
    /// The core of `trace` that has the positions in `keep`; skipped positions are never in it.
    ///
    /// Two passes; per event of the core 21 bytes, plus values where there are any.
    pub fn new(trace: &Trace, keep: &FixedBitSet) -> Result<Core, NotACore> {
        if !is_closed(trace, keep) {
            return Err(NotACore);
        }
        // Skipped positions are few, if there are any.
        let count = keep.count_ones(..);
        let mut core = Core {
            trace: Trace {
                columns: Columns::with_capacity(count),
                values: trace.values.empty_like(),
                names: trace.names.clone(),
                calling: Calling::default(),
                objects: trace.objects.clone(),
                capabilities: trace.capabilities,
                dependences: None,
                ending: None,
            },
            originals: Vec::with_capacity(count),
            steps: Vec::with_capacity(count),
        };
        let mut steps = vec![0; trace.count(Space::Thread)];
        for id in trace.ids().filter(|&id| trace.kind(id) != Kind::Skip) {
            let step = &mut steps[trace.thread(id).index()];
            if keep.contains(id.index()) {
                core.push(trace, id, *step);
            }
            *step += 1;
        }
        Ok(core)
    }

    fn push(&mut self, whole: &Trace, id: EventId, step: u32) {
        let columns = &mut self.trace.columns;
        let kind = whole.kind(id);
        self.trace.values.push(columns.kinds.len(), kind.has_two_values(), whole.values(id));
        columns.kinds.push(kind);
        columns.threads.push(whole.thread(id));
        columns.targets.push(whole.columns.targets[id.index()]);
        columns.sites.push(whole.site(id));
        self.originals.push(id);
        self.steps.push(step);
    }

    /// The same with the table of dependences of `whole`, which it is a core of. It must have every read of the table.
    #[must_use]
    pub fn with_dependences(mut self, whole: &Trace) -> Core {
        self.trace.dependences = whole.dependences().map(|table| std::sync::Arc::new(table.of_core(&self)));
        self
    }

    /// The events, as a trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Where an event of the core is in the whole trace.
    #[inline]
    pub fn original(&self, event: EventId) -> EventId {
        self.originals[event.index()]
    }

    /// The event of the core that is at `position` in the whole trace, if it is in the core.
    pub fn find(&self, position: EventId) -> Option<EventId> {
        self.originals.binary_search(&position).ok().map(EventId::from_index)
    }

    /// How many events its thread has before an event of the core, in the whole trace.
    #[inline]
    pub fn step(&self, event: EventId) -> u32 {
        self.steps[event.index()]
    }
}

/// Whether no write that is left out touches a variable that an event of the core reads.
fn is_closed(trace: &Trace, keep: &FixedBitSet) -> bool {
    let variables = trace.count(Space::Variable);
    let (mut read, mut written) =
        (FixedBitSet::with_capacity(variables), FixedBitSet::with_capacity(variables));
    let mut changed_objects = FixedBitSet::with_capacity(variables);
    for id in trace.ids() {
        let Some(access) = trace.op(id).access() else { continue };
        match keep.contains(id.index()) {
            true if access.reads => read.insert(access.variable.index()),
            false if access.lifetime => changed_objects.insert(access.variable.index()),
            false if access.writes => written.insert(access.variable.index()),
            _ => {}
        }
    }
    let lives = |variable: usize| {
        let variable = crate::VarId::from_index(variable);
        trace.objects.around(variable).any(|object| changed_objects.contains(object.index()))
    };
    read.ones().all(|variable| !written.contains(variable) && !lives(variable))
}
