//! Barriers.

use std::fmt;
use std::sync;

use crate::told::{self, Mark};

/// `std::sync::Barrier`, told to the recorder.
pub struct Barrier {
    mark: Mark,
    inner: sync::Barrier,
    size: usize,
}

/// Whether a thread is the one of those that met.
pub struct BarrierWaitResult(bool);

impl Barrier {
    /// A barrier for so many threads.
    #[must_use]
    pub const fn new(n: usize) -> Barrier {
        Barrier { mark: Mark::new(), inner: sync::Barrier::new(n), size: n }
    }

    /// Waits until as many threads are here as the barrier is for.
    pub fn wait(&self) -> BarrierWaitResult {
        BarrierWaitResult(
            told::barrier(&self.mark, self.size).unwrap_or_else(|| self.inner.wait().is_leader()),
        )
    }
}

impl BarrierWaitResult {
    /// Whether it is.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.is_leader()).finish()
    }
}
