//! Schedulable happens-before.
//!
//! Mathur, Kini and Viswanathan, "What happens-after the first race?" (OOPSLA 2018): happens-before, and each write
//! before the reads that observed it. A read is compared with earlier writes before its own observation is added, since
//! it need not have observed that write when it is next; an update as a read.
//!
//! **Guarantee:** every race is real, not only the first, but for those of updates: they run only when they observe
//! what they did.
//! **Misses:** what happens-before misses, and races that need a read to observe something else.
//! **Cost:** as happens-before, with O(threads) for a write, and for a read that observes news. Memory: a clock a
//! written variable besides.

use crate::clock::Stamp;
use crate::detector::Order;
use crate::hb::Hb;
use crate::step::{Cell, Cells, Touch};

/// The order.
#[derive(Default, Debug)]
pub(crate) struct Shb {
    hb: Hb,
    writes: Cells<LastWrite>,
}

#[derive(Default, Debug)]
struct LastWrite {
    event: u32,
    stamp: Stamp,
}

impl Order for Shb {
    #[inline]
    fn present(&mut self, thread: u32) -> (u32, &[u32]) {
        self.hb.present(thread)
    }

    #[inline]
    fn stamp(&mut self, thread: u32, stamp: &mut Stamp) {
        self.hb.stamp(thread, stamp);
    }

    #[inline]
    fn follow(&mut self, thread: u32, stamp: &Stamp) {
        self.hb.follow(thread, stamp);
    }

    fn acquire(&mut self, thread: u32, lock: u32, shared: bool) {
        self.hb.acquire(thread, lock, shared);
    }

    fn release(&mut self, thread: u32, lock: u32, shared: bool) {
        self.hb.release(thread, lock, shared);
    }

    #[inline]
    fn after_access(&mut self, thread: u32, cell: Cell, others: &[Cell], touch: Touch, event: u32) {
        if touch.reads {
            self.observe(thread, cell, others);
        }
        if touch.writes {
            let last = self.writes.get(cell);
            last.event = event;
            self.hb.stamp(thread, &mut last.stamp);
        }
    }
}

impl Shb {
    /// Orders the write that is observed before what `thread` does from now on: the last one of the variable itself or
    /// of an object around it.
    #[inline]
    fn observe(&mut self, thread: u32, mut cell: Cell, others: &[Cell]) {
        for &other in others {
            let (other_write, write) = (self.writes.get(other).event, self.writes.get(cell).event);
            if self.writes.get(other).stamp.time > 0
                && (other_write > write || self.writes.get(cell).stamp.time == 0)
            {
                cell = other;
            }
        }
        self.hb.follow(thread, &self.writes.get(cell).stamp);
    }
}
