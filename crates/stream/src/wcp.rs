//! Weak-causally-precedes.
//!
//! Kini, Mathur and Viswanathan, "Dynamic race prediction in linear time" (PLDI 2017). The least relation with
//! (a) the release of a critical section before each event of a later section of the same lock that conflicts with an
//! event of the first; (b) the release of one section before that of a later one of the same lock when an event of the
//! first is before an event of the second; (c) closed under composition with happens-before on either side. As in RAPID,
//! forks and joins, and so the other edges that all analyses have, are in the relation. With the order of each thread it
//! orders events.
//!
//! Two clocks a thread, one for happens-before and one for what precedes. Rule (b) in the paper keeps each section in a
//! queue for each thread. Here a section is kept only where some event of it could be known elsewhere while its release
//! is not, that is, when its thread's time advanced inside; and of the sections of a thread the only one that can be
//! meant is found by the time that is known. Rule (b) for sections that share a lock is for those which exclude each
//! other.
//!
//! **Guarantee:** where critical sections are well nested, the first racy event is in a real race, or there is a real
//! deadlock; later races may be false.
//! **Misses:** races that need sections with conflicting accesses in another order.
//! **Cost:** as weak-doesn't-commute, with two clocks. Memory: a clock for each section with a lock operation inside,
//! besides.

use crate::clock::{Clock, Shared, Stamp, join, time};
use crate::detector::Order;
use crate::sections::Sections;
use crate::step::{Cell, Touch, at};
use crate::threads::{Releases, Threads};

/// The order.
#[derive(Default, Debug)]
pub(crate) struct Wcp {
    hb: Threads,
    releases: Releases,
    /// Per thread, what precedes.
    precedes: Vec<Clock>,
    locks: Vec<Lock>,
    sections: Sections,
}

#[derive(Default, Debug)]
struct Lock {
    /// What precedes the last exclusive release, and by whom and when that was.
    exclusive: Clock,
    by: (u32, u32),
    /// What precedes the shared releases since.
    shared: Clock,
    /// The sections whose acquire may be known where their release is not, by thread and side, in order of time.
    history: Vec<Kept>,
}

#[derive(Debug)]
struct Kept {
    thread: u32,
    shared: bool,
    /// The time of the acquire, and the release.
    sections: Vec<(u32, Shared)>,
}

impl Order for Wcp {
    #[inline]
    fn present(&mut self, thread: u32) -> (u32, &[u32]) {
        (self.hb.of(thread).now, at(&mut self.precedes, thread))
    }

    fn stamp(&mut self, thread: u32, stamp: &mut Stamp) {
        self.hb.stamp(thread, stamp);
    }

    fn follow(&mut self, thread: u32, stamp: &Stamp) {
        self.hb.follow(thread, stamp);
        stamp.join_into(thread, at(&mut self.precedes, thread));
    }

    fn acquire(&mut self, thread: u32, lock: u32, shared: bool) {
        let precedes = at(&mut self.precedes, thread);
        let state = at(&mut self.locks, lock);
        let (by, when) = state.by;
        // What precedes something that happens before, precedes: so it is known already where that is.
        if by != thread && time(self.hb.clock(thread), by) < when {
            join(precedes, &state.exclusive);
        }
        if !shared {
            join(precedes, &state.shared);
        }
        self.releases.acquire(&mut self.hb, thread, lock, shared);
        let now = self.hb.of(thread).now;
        self.sections.open(thread, lock, shared, now);
    }

    fn release(&mut self, thread: u32, lock: u32, shared: bool) {
        let precedes = at(&mut self.precedes, thread);
        let state = at(&mut self.locks, lock);
        state.follow(thread, shared, precedes);
        let hb = self.hb.of(thread);
        let known = |other| time(precedes, other);
        let closed = self.sections.close(thread, lock, shared, hb.now, &hb.clock, known);
        // The time of an acquire is its own: others know it only where it was observed.
        if let Some((section, stamp)) = closed
            && (section.observed || hb.now > section.acquired + 1)
        {
            let stamp = stamp.unwrap_or_else(|| Shared::new(thread, hb.now, &hb.clock));
            state.keep(shared, section.acquired, stamp);
        }
        if shared {
            join(&mut state.shared, precedes);
        } else {
            state.exclusive.clone_from(precedes);
            state.by = (thread, hb.now);
            state.shared.clear();
        }
        self.releases.release(&mut self.hb, thread, lock, shared);
    }

    fn observed(&mut self, thread: u32, lock: u32, shared: bool) {
        self.sections.observe(thread, lock, shared);
    }

    #[inline]
    fn before_access(&mut self, thread: u32, cell: Cell, others: &[Cell], touch: Touch) {
        self.sections.access(thread, cell, others, touch, at(&mut self.precedes, thread));
    }
}

impl Lock {
    /// Rule (b): joins the releases of sections of which an event precedes the present release.
    fn follow(&self, thread: u32, shared: bool, precedes: &mut Clock) {
        let mut news = !self.history.is_empty();
        while news {
            news = false;
            for kept in self.history.iter().filter(|kept| kept.thread != thread) {
                let known = time(precedes, kept.thread);
                let after = kept.sections.partition_point(|(acquired, _)| *acquired <= known);
                if kept.shared && shared || after == 0 {
                    continue;
                }
                news |= kept.sections[after - 1].1.join_into(thread, precedes);
            }
        }
    }

    fn keep(&mut self, shared: bool, acquired: u32, stamp: Shared) {
        let thread = stamp.thread;
        let place = self.history.iter().position(|kept| kept.thread == thread && kept.shared == shared);
        let place = place.unwrap_or_else(|| {
            self.history.push(Kept { thread, shared, sections: Vec::new() });
            self.history.len() - 1
        });
        self.history[place].sections.push((acquired, stamp));
    }
}
