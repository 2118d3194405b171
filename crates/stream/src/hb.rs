//! Happens-before.
//!
//! Lamport's order as used by FastTrack (Flanagan and Freund, PLDI 2009): the order of each thread, every release before
//! every later acquire of its lock, and the edges that all analyses have. A shared acquire follows exclusive releases
//! only. Clocks are joined only where that adds something, and accesses are epochs where that is exact.
//!
//! **Guarantee:** the first race is real: events up to it can be reordered so that both of its events are next at once.
//! Later ones may not be, as what was read in the first race may have decided that they happen.
//! **Misses:** races that need critical sections in another order.
//! **Cost:** constant time an access, O(threads) a lock operation that brings news. Memory: a clock a thread and a lock,
//! mostly two epochs a variable.

use crate::clock::Stamp;
use crate::detector::Order;
use crate::threads::{Releases, Threads};

/// The order.
#[derive(Default, Debug)]
pub(crate) struct Hb {
    pub(crate) threads: Threads,
    releases: Releases,
}

impl Order for Hb {
    #[inline]
    fn present(&mut self, thread: u32) -> (u32, &[u32]) {
        self.threads.present(thread)
    }

    #[inline]
    fn stamp(&mut self, thread: u32, stamp: &mut Stamp) {
        self.threads.stamp(thread, stamp);
    }

    #[inline]
    fn follow(&mut self, thread: u32, stamp: &Stamp) {
        self.threads.follow(thread, stamp);
    }

    fn acquire(&mut self, thread: u32, lock: u32, shared: bool) {
        self.releases.acquire(&mut self.threads, thread, lock, shared);
    }

    fn release(&mut self, thread: u32, lock: u32, shared: bool) {
        self.releases.release(&mut self.threads, thread, lock, shared);
    }
}
