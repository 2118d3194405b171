//! How many accesses hooks may record by themselves, and how many they did.

use core::sync::atomic::Ordering::Relaxed;

use reweave_wire::ring::SLOT_BYTES;

use crate::record::recording::Inside;
use crate::sched::clock::{self, cost};
use crate::sched::free;

impl Inside {
    /// Whether no other thread may run now.
    #[inline]
    pub(crate) fn undisturbed(&mut self) -> bool {
        self.core().live_count <= 1 || self.me.pinned.load(Relaxed) != 0 || free::is_on()
    }

    /// How many accesses may follow of which nobody needs to hear before they are recorded.
    #[inline]
    pub(crate) fn budget(&mut self) -> u64 {
        if self.core().forced.is_some() {
            return 0;
        }
        let until_clock = self.core().looks.saturating_sub(self.core().steps + 1);
        if self.undisturbed() { until_clock } else { until_clock.min(self.core().policy.budget()) }
    }

    /// Counts the accesses that were recorded since [`Inside::budget`] was asked.
    #[inline]
    pub(crate) fn account(&mut self) {
        let missed = self.me.calls.take_missed();
        let core = self.core();
        let cursor = core.log.cursor();
        let passed = cursor.wrapping_sub(core.mark) / SLOT_BYTES as u64 + missed;
        core.mark = cursor;
        core.steps += passed;
        clock::pass(passed * cost::ACCESS);
        if !self.undisturbed() {
            self.core().policy.passed(passed);
        }
    }
}
