//! How much may be spent on an answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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

/// How many events windows add before the earliest that a query names: few at first, in the end all.
pub(crate) fn windows() -> impl Iterator<Item = u32> {
    [0, 1 << 6, 1 << 10, 1 << 14, 1 << 18, 1 << 22, u32::MAX].into_iter()
}
