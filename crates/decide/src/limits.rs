//! How much may be spent on an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Reason;

/// Limits of one decision.
#[derive(Clone, Default, Debug)]
pub struct Limits {
    /// How much work may be done, in steps that are the same on every machine; none is no limit.
    pub work: Option<u64>,
    /// Set by others to stop the decision: a clock, a user.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// No limit.
    pub fn none() -> Limits {
        Limits::default()
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// How many steps are done between two looks at the flag: others write to it, and a look is not free.
const LOOK: u64 = 1 << 10;

/// What the quick stages have spent of the limits of one decision.
///
/// A step is about one question to the order, or one event looked at. They are counted where the work is done, so the
/// count depends on nothing but the query; the flag is looked at every so many steps, and at the first.
pub(crate) struct Meter<'l> {
    limits: &'l Limits,
    spent: u64,
    /// When the flag is looked at next.
    look: u64,
    /// Whether somebody wants to know why not.
    pub(crate) tells: bool,
}

impl<'l> Meter<'l> {
    pub(crate) fn new(limits: &'l Limits) -> Meter<'l> {
        Meter { limits, spent: 0, look: 0, tells: true }
    }

    /// Counts what is about to be done, or says why it may not be.
    #[inline]
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Reason> {
        self.spent = self.spent.saturating_add(steps as u64);
        if self.limits.work.is_some_and(|work| self.spent > work) {
            return Err(Reason::Work);
        }
        if self.spent >= self.look {
            self.look = self.spent.saturating_add(LOOK);
            if self.limits.stopped() {
                return Err(Reason::Stopped);
            }
        }
        Ok(())
    }

    /// What `limits`, which began with the meter, leave for the other stages.
    pub(crate) fn rest(&self, limits: &Limits) -> Limits {
        Limits { work: limits.work.map(|work| work.saturating_sub(self.spent)), stop: limits.stop.clone() }
    }
}

/// How many events windows add before the earliest that a query names: few at first, in the end all.
pub(crate) fn windows() -> impl Iterator<Item = u32> {
    [0, 1 << 6, 1 << 10, 1 << 12, 1 << 14, 1 << 18, 1 << 22, u32::MAX].into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_meter_counts_to_its_limit() {
        let limits = Limits { work: Some(10), stop: None };
        let mut meter = Meter::new(&limits);
        assert_eq!(meter.spend(4), Ok(()));
        assert_eq!(meter.rest(&limits).work, Some(6));
        assert_eq!(meter.spend(6), Ok(()));
        assert_eq!(meter.spend(1), Err(Reason::Work));
        assert_eq!(meter.spend(usize::MAX), Err(Reason::Work));
        assert_eq!(meter.rest(&limits).work, Some(0));
    }

    #[test]
    fn a_meter_sees_the_flag_at_the_first_step_and_soon_after_it_is_set() {
        let flag = Arc::new(AtomicBool::new(true));
        let limits = Limits { work: None, stop: Some(flag.clone()) };
        assert_eq!(Meter::new(&limits).spend(0), Err(Reason::Stopped));
        flag.store(false, Ordering::Relaxed);
        for size in [1, 3, 1000, 5000] {
            let mut meter = Meter::new(&limits);
            for _ in 0..7 {
                assert_eq!(meter.spend(size), Ok(()));
            }
            flag.store(true, Ordering::Relaxed);
            let unnoticed = (0..).take_while(|_| meter.spend(size).is_ok()).count();
            assert!(unnoticed * size <= LOOK as usize, "{unnoticed} times {size}");
            flag.store(false, Ordering::Relaxed);
        }
    }
}
