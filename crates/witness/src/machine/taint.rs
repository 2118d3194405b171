//! What reads observed, told of a machine.

use reweave_trace::{EventId, ThreadId};

use super::Machine;

impl Machine<'_> {
    /// The read that tainted a thread.
    pub fn taint(&self, thread: ThreadId) -> Option<EventId> {
        self.threads[thread.index()].tainted
    }

    /// Whether a read that has run observed something new, which need not be the recorded value.
    pub fn is_unclean(&self, read: EventId) -> bool {
        self.unclean.contains(&read)
    }
}
