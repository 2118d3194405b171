//! Closed sets of events, as clocks.

use std::rc::Rc;

use super::locks::{Locks, Section};
use crate::clock::{Clock, join, raise, time};

/// A set of events that is closed, or becomes so with [`Closed::close`]: of each thread the first so many.
#[derive(Clone, Default, Debug)]
pub(super) struct Closed {
    counts: Clock,
    /// The sections with their acquire in the set, but not their release.
    open: Vec<Section>,
    /// Whether it has an event that cannot be explained.
    spoilt: bool,
}

/// The closure of an event and all before it in its thread.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub(super) thread: u32,
    /// How many events of the thread that is.
    pub(super) count: u32,
    /// The rest of it. Of the thread's own events it may tell of fewer.
    pub(super) closed: Rc<Closed>,
}

impl Closed {
    /// How many events of `thread` are in the set.
    #[inline]
    pub(super) fn count(&self, thread: u32) -> u32 {
        time(&self.counts, thread)
    }

    #[inline]
    pub(super) fn raise(&mut self, thread: u32, count: u32) {
        raise(&mut self.counts, thread, count);
    }

    pub(super) fn open(&mut self, section: Section) {
        self.open.push(section);
    }

    /// The section's release is in the set now.
    pub(super) fn forget(&mut self, section: Section) {
        self.open.retain(|&open| open != section);
    }

    pub(super) fn spoil(&mut self) {
        self.spoilt = true;
    }

    pub(super) fn is_spoilt(&self) -> bool {
        self.spoilt
    }

    pub(super) fn opened(&self) -> &[Section] {
        &self.open
    }

    /// Becomes a copy of `other`, in the memory it has.
    pub(super) fn copy(&mut self, other: &Closed) {
        self.counts.clone_from(&other.counts);
        self.open.clone_from(&other.open);
        self.spoilt = other.spoilt;
    }

    /// Adds the events up to `point`.
    pub(super) fn add(&mut self, point: &Point, locks: &Locks) {
        self.unite(point.thread, point.count, &point.closed, locks);
    }

    /// Adds the events of `closed`, with `count` of `thread`.
    pub(super) fn unite(&mut self, thread: u32, count: u32, closed: &Closed, locks: &Locks) {
        join(&mut self.counts, &closed.counts);
        self.raise(thread, count);
        self.spoilt |= closed.spoilt;
        for &section in &closed.open {
            if !self.open.contains(&section) {
                self.open.push(section);
            }
        }
        let counts = &self.counts;
        self.open.retain(|&section| !locks.is_released(section, |thread| time(counts, thread)));
    }

    /// Adds what the sections in the set ask for, until they ask for no more.
    pub(super) fn close(&mut self, locks: &Locks) {
        loop {
            let counts = &self.counts;
            let count = |thread| time(counts, thread);
            let due = self.open.iter().copied().find(|&section| locks.must_end(section, count));
            let Some(end) = due.and_then(|section| locks.end(section)) else { return };
            self.add(&end, locks);
        }
    }
}
