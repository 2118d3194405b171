//! The events of each thread, in order.

use crate::{EventId, Kind, Space, ThreadId, Trace};

/// Program order: 4 bytes an event.
#[derive(Clone, Debug)]
pub struct ProgramOrder {
    /// The events, grouped by thread.
    events: Vec<EventId>,
    /// Where each thread's group starts in `events`; one more entry at the end.
    starts: Vec<usize>,
}

impl ProgramOrder {
    /// The program order of `trace`.
    pub fn new(trace: &Trace) -> ProgramOrder {
        let runs = |&id: &EventId| trace.kind(id) != Kind::Skip;
        let mut starts = vec![0; trace.count(Space::Thread) + 1];
        for id in trace.ids().filter(runs) {
            starts[trace.thread(id).index() + 1] += 1;
        }
        for thread in 1..starts.len() {
            starts[thread] += starts[thread - 1];
        }
        let mut next = starts.clone();
        let mut events = vec![EventId(0); starts.last().copied().unwrap_or(0)];
        for id in trace.ids().filter(runs) {
            let place = &mut next[trace.thread(id).index()];
            events[*place] = id;
            *place += 1;
        }
        ProgramOrder { events, starts }
    }

    /// The events of `thread`, in order.
    #[inline]
    pub fn of(&self, thread: ThreadId) -> &[EventId] {
        &self.events[self.starts[thread.index()]..self.starts[thread.index() + 1]]
    }

    /// How many threads there are, those without events included.
    pub fn threads(&self) -> usize {
        self.starts.len() - 1
    }
}
