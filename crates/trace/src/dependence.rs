//! Which reads an event needs, and which feed it.

use hashbrown::HashMap;

use crate::{EventId, ThreadId};

/// The dependence table of the `dep` models.
///
/// For each event it has two sets of earlier reads of the same thread: those that decide whether the event happens
/// and what it touches, and those that what it writes is computed from. An event without an entry needs and is fed
/// by nothing.
#[derive(Clone, Default, Debug)]
pub struct Dependences {
    needs: Sets<EventId>,
    feeds: Sets<EventId>,
    /// Per thread, what its end needs.
    end_needs: Sets<ThreadId>,
}

/// Sets of reads by key, in one list.
#[derive(Clone, Debug)]
struct Sets<K> {
    spans: HashMap<K, (usize, usize)>,
    reads: Vec<EventId>,
}

impl<K> Default for Sets<K> {
    fn default() -> Self {
        Sets { spans: HashMap::default(), reads: Vec::new() }
    }
}

impl<K: std::hash::Hash + Eq> Sets<K> {
    fn get(&self, key: &K) -> &[EventId] {
        self.spans.get(key).map_or(&[], |&(start, end)| &self.reads[start..end])
    }

    fn set(&mut self, key: K, reads: &[EventId]) {
        let start = self.reads.len();
        self.reads.extend_from_slice(reads);
        self.spans.insert(key, (start, self.reads.len()));
    }
}

impl Dependences {
    /// The reads that decide whether `event` happens and what it touches.
    pub fn needs(&self, event: EventId) -> &[EventId] {
        self.needs.get(&event)
    }

    /// The reads that what `event` writes is computed from.
    pub fn feeds(&self, event: EventId) -> &[EventId] {
        self.feeds.get(&event)
    }

    /// The reads that decide whether and how `thread` ends.
    pub fn end_needs(&self, thread: ThreadId) -> &[EventId] {
        self.end_needs.get(&thread)
    }
}

/// Makes a dependence table, entry by entry.
#[derive(Clone, Default, Debug)]
pub struct DependenceBuilder {
    table: Dependences,
}

impl DependenceBuilder {
    /// An empty table.
    pub fn new() -> DependenceBuilder {
        DependenceBuilder::default()
    }

    /// Says what `event` needs.
    pub fn needs(&mut self, event: EventId, reads: &[EventId]) -> &mut Self {
        self.table.needs.set(event, reads);
        self
    }

    /// Says what `event` is fed by.
    pub fn feeds(&mut self, event: EventId, reads: &[EventId]) -> &mut Self {
        self.table.feeds.set(event, reads);
        self
    }

    /// Says what the end of `thread` needs.
    pub fn end_needs(&mut self, thread: ThreadId, reads: &[EventId]) -> &mut Self {
        self.table.end_needs.set(thread, reads);
        self
    }

    /// The table.
    pub fn finish(self) -> Dependences {
        self.table
    }
}
