//! Weak-doesn't-commute.
//!
//! Genç, Roemer, Xu and Bond, "Dependence-aware, unbounded sound predictive race detection" (OOPSLA 2019), as defined
//! by its rules: the order of each thread, and the release of a critical section before each event of a later one of the
//! same lock that conflicts with an event of the first; with the edges that all analyses have. The lock by itself orders
//! nothing.
//!
//! **Guarantee:** none: a race may be false, and vindication tells (`reweave stream --vindicate`).
//! **Misses:** races that need critical sections with conflicting accesses in another order.
//! **Cost:** O(locks held) look-ups an access, and O(threads) where they bring news. Memory: mostly a clock for each lock
//! and variable accessed under it.

use crate::clock::Stamp;
use crate::detector::Order;
use crate::sections::Sections;
use crate::step::{Cell, Touch};
use crate::threads::Threads;

/// The order.
#[derive(Default, Debug)]
pub(crate) struct Wdc {
    pub(crate) threads: Threads,
    pub(crate) sections: Sections,
}

impl Order for Wdc {
    #[inline]
    fn present(&mut self, thread: u32) -> (u32, &[u32]) {
        self.threads.present(thread)
    }

    fn stamp(&mut self, thread: u32, stamp: &mut Stamp) {
        self.threads.stamp(thread, stamp);
    }

    fn follow(&mut self, thread: u32, stamp: &Stamp) {
        self.threads.follow(thread, stamp);
    }

    fn acquire(&mut self, thread: u32, lock: u32, shared: bool) {
        let now = self.threads.of(thread).now;
        self.sections.open(thread, lock, shared, now);
    }

    fn release(&mut self, thread: u32, lock: u32, shared: bool) {
        let state = self.threads.of(thread);
        let known = |other| crate::clock::time(&state.clock, other);
        self.sections.close(thread, lock, shared, state.now, &state.clock, known);
        state.now += 1;
    }

    #[inline]
    fn before_access(&mut self, thread: u32, cell: Cell, others: &[Cell], touch: Touch) {
        self.sections.access(thread, cell, others, touch, &mut self.threads.of(thread).clock);
    }
}
