//! The clocks of threads, and those that locks pass on: what happens-before is made of.

use crate::clock::{Clock, Merged, Stamp};
use crate::step::at;

/// The clock of each thread, with its own time apart.
#[derive(Default, Debug)]
pub(crate) struct Threads {
    threads: Vec<Thread>,
}

#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) now: u32,
    pub(crate) clock: Clock,
}

impl Default for Thread {
    fn default() -> Thread {
        // Time 0 stands for no event.
        Thread { now: 1, clock: Clock::new() }
    }
}

impl Threads {
    #[inline]
    pub(crate) fn of(&mut self, thread: u32) -> &mut Thread {
        at(&mut self.threads, thread)
    }

    #[inline]
    pub(crate) fn clock(&self, thread: u32) -> &[u32] {
        self.threads.get(thread as usize).map_or(&[], |thread| &thread.clock)
    }

    #[inline]
    pub(crate) fn present(&mut self, thread: u32) -> (u32, &[u32]) {
        let state = self.of(thread);
        (state.now, &state.clock)
    }

    #[inline]
    pub(crate) fn stamp(&mut self, thread: u32, stamp: &mut Stamp) {
        let state = self.of(thread);
        stamp.set(thread, state.now, &state.clock);
        state.now += 1;
    }

    #[inline]
    pub(crate) fn merge(&mut self, thread: u32, merged: &mut Merged) {
        let state = self.of(thread);
        merged.add(thread, state.now, &state.clock);
        state.now += 1;
    }

    #[inline]
    pub(crate) fn follow(&mut self, thread: u32, stamp: &Stamp) {
        stamp.join_into(thread, &mut self.of(thread).clock);
    }

    #[inline]
    pub(crate) fn follow_all(&mut self, thread: u32, merged: &Merged) {
        merged.join_into(&mut self.of(thread).clock);
    }
}

/// What the releases of each lock pass on to those who acquire it.
#[derive(Default, Debug)]
pub(crate) struct Releases {
    locks: Vec<Lock>,
}

#[derive(Default, Debug)]
struct Lock {
    exclusive: Stamp,
    /// The shared releases since the last exclusive one.
    shared: Merged,
}

impl Releases {
    /// Orders earlier releases of `lock` before its acquire: a shared one follows only exclusive ones.
    #[inline]
    pub(crate) fn acquire(&mut self, threads: &mut Threads, thread: u32, lock: u32, shared: bool) {
        let lock = at(&mut self.locks, lock);
        threads.follow(thread, &lock.exclusive);
        if !shared {
            threads.follow_all(thread, &lock.shared);
        }
    }

    #[inline]
    pub(crate) fn release(&mut self, threads: &mut Threads, thread: u32, lock: u32, shared: bool) {
        let lock = at(&mut self.locks, lock);
        if shared {
            threads.merge(thread, &mut lock.shared);
        } else {
            // Its acquire followed the shared releases, which are so passed on with it.
            threads.stamp(thread, &mut lock.exclusive);
            lock.shared.clear();
        }
    }
}
