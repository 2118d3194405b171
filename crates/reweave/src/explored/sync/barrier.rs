//! Barriers.

use std::fmt;
use std::sync;

use reweave_explore::{Init, Op, tag};

use super::super::{host, spin};
use super::Id;

/// `std::sync::Barrier`, explored. The last one to come leads, as in std.
pub struct Barrier {
    id: Id,
    size: usize,
    real: sync::Barrier,
}

/// Whether the caller leads.
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it does.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl fmt::Debug for BarrierWaitResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BarrierWaitResult").field("is_leader", &self.0).finish()
    }
}

impl Barrier {
    /// A barrier for so many threads.
    pub fn new(size: usize) -> Barrier {
        Barrier { id: Id::new("barrier", Init::Barrier), size, real: sync::Barrier::new(size) }
    }

    /// Waits for the others.
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        match self.id.get() {
            Some(barrier) => {
                spin::stop();
                let outcome = host::step(Op::Barrier { barrier, size: self.size as u32 });
                BarrierWaitResult(outcome.tag & tag::CHOSEN != 0)
            }
            None => BarrierWaitResult(self.real.wait().is_leader()),
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
