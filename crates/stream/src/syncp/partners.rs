//! Earlier accesses of a cell, and the search for those that race with an event.

use std::rc::Rc;

use reweave_trace::{EventId, SiteId};

use super::SyncP;
use super::closed::{Closed, Point};
use crate::detector::meets;
use crate::front::Objects;
use crate::run::{Race, Sink};
use crate::step::{Cell, Step, Touch, at};

/// The accesses of a cell, by thread.
#[derive(Default, Debug)]
pub(super) struct Entry {
    threads: Vec<ByThread>,
    /// Whether there was an update or a failed attempt: then every write counts.
    updated: bool,
}

#[derive(Debug)]
struct ByThread {
    thread: u32,
    /// The counts of the last read and the last write.
    last: [u32; 2],
    /// By the thread of a later event: up to which of this thread's events all reads, and all writes, fail.
    failed: Vec<[u32; 2]>,
    /// The reads and the writes.
    lists: [Vec<Kept>; 2],
}

impl ByThread {
    /// Where in a list the accesses beyond `count` start: mostly near its end.
    #[inline]
    fn beyond(list: &[Kept], count: u32) -> usize {
        let near = list.len().saturating_sub(8);
        match list.get(near) {
            Some(kept) if kept.count <= count => {
                near + list[near..].partition_point(|kept| kept.count <= count)
            }
            _ => list[..near].partition_point(|kept| kept.count <= count),
        }
    }
}

/// An access that is remembered.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) event: u32,
    pub(super) site: u32,
    /// Which of its thread's events it is, from 1.
    pub(super) count: u32,
    pub(super) atomic: bool,
    pub(super) update: bool,
    /// The closure of what comes before it.
    pub(super) before: Rc<Closed>,
}

impl Entry {
    /// Remembers an access; unless `all` are wanted, in place of one before it that can race only where it can.
    pub(super) fn add(&mut self, thread: u32, writes: bool, kept: Kept, all: bool) {
        let place = self.threads.iter().position(|list| list.thread == thread).unwrap_or_else(|| {
            self.threads.push(ByThread {
                thread,
                last: [0; 2],
                failed: Vec::new(),
                lists: Default::default(),
            });
            self.threads.len() - 1
        });
        self.updated |= kept.update;
        let every = all || self.updated && writes;
        let list = &mut self.threads[place];
        list.last[usize::from(writes)] = kept.count;
        let list = &mut list.lists[usize::from(writes)];
        match list.last_mut() {
            // A step that runs only when it is clean cannot stand for one that always runs.
            Some(last)
                if !every
                    && Rc::ptr_eq(&last.before, &kept.before)
                    && last.atomic == kept.atomic
                    && last.update >= kept.update =>
            {
                *last = kept;
            }
            _ => list.push(kept),
        }
    }
}

/// The search for partners of one event.
pub(super) struct Search<'s> {
    pub(super) touch: Touch,
    /// What the event has behind it.
    pub(super) before: &'s Point,
    pub(super) objects: &'s Objects,
    /// A closure under way; what it is worth is known to those who use it.
    pub(super) scratch: Closed,
    /// The partners found, with their sites.
    pub(super) found: Vec<(u32, u32)>,
}

impl SyncP {
    /// Tells `sink` of earlier accesses that race with `step`.
    pub(super) fn compare(&mut self, step: &Step, cell: Cell, search: &mut Search<'_>, sink: &mut Sink<'_>) {
        if search.before.closed.is_spoilt() {
            return;
        }
        let others = std::mem::take(&mut self.others);
        'found: for &cell in std::iter::once(&cell).chain(&others) {
            for place in 0..self.cells.get(cell).threads.len() {
                for writes in [true, false] {
                    if writes || search.touch.writes {
                        self.search(cell, place, writes, search);
                    }
                    if !search.found.is_empty() && !self.all {
                        break 'found;
                    }
                }
            }
        }
        self.others = others;
        search.found.sort_unstable();
        for &(event, site) in &search.found {
            sink(Race {
                earlier: EventId(event),
                earlier_site: SiteId(site),
                later: EventId(step.event),
                later_site: SiteId(step.site),
                order: false,
                lock: None,
            });
        }
    }

    /// Looks for partners among the reads or the writes of one thread.
    fn search(&mut self, cell: Cell, place: usize, writes: bool, search: &mut Search<'_>) {
        let (before, which) = (search.before, usize::from(writes));
        let list = &self.cells.get(cell).threads[place];
        let thread = list.thread;
        let needed = before.closed.count(thread);
        if thread == before.thread || list.last[which] <= needed {
            return;
        }
        let known = list.failed.get(before.thread as usize).map_or(0, |failed| failed[which]);
        let mut failed = needed.max(known);
        if list.last[which] <= failed {
            return;
        }
        // Only what failed without a gap may be passed over from now on.
        let (mut sure, mut gap) = (failed, false);
        let mut entry = std::mem::take(self.cells.get(cell));
        let list = &entry.threads[place].lists[which];
        let first = ByThread::beyond(list, failed);
        let mut united = false;
        for kept in &list[first..] {
            if kept.count <= failed {
                continue;
            }
            if kept.atomic && search.touch.atomic {
                gap = true;
                continue;
            }
            match self.co_enabled(kept, cell, &entry, thread, &mut united, search) {
                Ok(()) => {
                    search.found.push((kept.event, kept.site));
                    if !self.all {
                        break;
                    }
                    gap = true;
                }
                Err(up_to) => {
                    failed = failed.max(up_to);
                    gap |= up_to < kept.count;
                    if !gap {
                        sure = failed;
                    }
                }
            }
        }
        if sure > needed.max(known) && !self.all {
            at(&mut entry.threads[place].failed, before.thread)[which] = sure;
        }
        *self.cells.get(cell) = entry;
    }

    /// Whether `kept` and the event that is searched for can be next at once. If not, up to which of its thread's events
    /// the closure goes: no access up to there can be.
    fn co_enabled(
        &mut self,
        kept: &Kept,
        cell: Cell,
        entry: &Entry,
        thread: u32,
        united: &mut bool,
        search: &mut Search<'_>,
    ) -> Result<(), u32> {
        let Search { before, objects, scratch, .. } = search;
        if kept.before.is_spoilt() {
            return Err(0);
        }
        if !*united {
            let count = |other: u32| {
                let own = if other == before.thread { before.count } else { 0 };
                let kept_own = if other == thread { kept.count - 1 } else { 0 };
                before.closed.count(other).max(kept.before.count(other)).max(own).max(kept_own)
            };
            let mut opened = before.closed.opened().iter().chain(kept.before.opened());
            let closes = opened.any(|&section| {
                !self.locks.is_released(section, count) && self.locks.must_end(section, count)
            });
            if !closes && !kept.update {
                return Ok(());
            }
            scratch.copy(&before.closed);
            scratch.raise(before.thread, before.count);
            *united = true;
        }
        scratch.unite(thread, kept.count - 1, &kept.before, &self.locks);
        scratch.close(&self.locks);
        let up_to = scratch.count(thread);
        if up_to >= kept.count || scratch.is_spoilt() {
            return Err(up_to);
        }
        if kept.update && self.overwritten(kept, cell, entry, objects, scratch) {
            return Err(0);
        }
        Ok(())
    }

    /// Whether `closed` has a write to `cell` after the update `kept`, which could not observe what it did then.
    fn overwritten(
        &mut self,
        kept: &Kept,
        cell: Cell,
        entry: &Entry,
        objects: &Objects,
        closed: &Closed,
    ) -> bool {
        let mut cells = Vec::new();
        if !objects.is_empty() {
            meets(cell, objects, &mut cells);
        }
        let after = |entry: &Entry| {
            entry.threads.iter().any(|list| {
                let [_, writes] = &list.lists;
                let in_set = ByThread::beyond(writes, closed.count(list.thread));
                writes[..in_set].last().is_some_and(|write| write.event > kept.event)
            })
        };
        after(entry) || cells.into_iter().any(|cell| after(self.cells.get(cell)))
    }
}
