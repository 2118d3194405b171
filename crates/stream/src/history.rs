//! All earlier accesses of each cell, to find every partner of a racy event.
//!
//! Memory grows with the accesses; finding the partners takes time in their number, plus a logarithm for each thread.

use crate::frontier::Access;
use crate::step::{Cell, Cells, Touch};

#[derive(Default, Debug)]
struct Entry {
    /// The threads that accessed the cell, in order of their first access.
    threads: Vec<ByThread>,
}

#[derive(Debug)]
struct ByThread {
    thread: u32,
    /// Whether each writes, by time.
    accesses: Vec<(Access, bool)>,
}

/// All accesses.
#[derive(Default, Debug)]
pub(crate) struct History {
    cells: Cells<Entry>,
}

impl History {
    /// Finds every earlier access that races with this one, in order of events, and remembers it. A clock entry from
    /// `known` says up to which time of a thread its events are ordered before this one.
    pub(crate) fn access(
        &mut self,
        cell: Cell,
        others: &[Cell],
        access: Access,
        touch: Touch,
        known: impl Fn(u32) -> u32,
    ) -> Vec<Access> {
        let mut found = Vec::new();
        for &cell in std::iter::once(&cell).chain(others) {
            for list in &self.cells.get(cell).threads {
                if list.thread == access.thread() {
                    continue;
                }
                let up_to = known(list.thread);
                let first = list.accesses.partition_point(|(earlier, _)| earlier.time <= up_to);
                let conflicts = |(earlier, writes): &&(Access, bool)| {
                    (*writes || touch.writes) && !(earlier.is_atomic() && access.is_atomic())
                };
                found.extend(list.accesses[first..].iter().filter(conflicts).map(|&(earlier, _)| earlier));
            }
        }
        found.sort_unstable_by_key(|earlier| earlier.event);
        let entry = self.cells.get(cell);
        match entry.threads.iter_mut().find(|list| list.thread == access.thread()) {
            Some(list) => list.accesses.push((access, touch.writes)),
            None => {
                entry
                    .threads
                    .push(ByThread { thread: access.thread(), accesses: vec![(access, touch.writes)] });
            }
        }
        found
    }
}
