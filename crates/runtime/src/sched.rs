//! Scheduling: which thread runs, and when it hands over.
//!
//! The [`baton`] is what a thread has while it runs; [`policy`] chooses the next one by a seed, [`free`] lets threads run at once, and
//! [`forced`] with [`steer`] follows the [`plan`] of a replay. Time is the scheduler's own ([`clock`], [`time`]).

pub(crate) mod affinity;
pub(crate) mod baton;
pub(crate) mod clock;
pub(crate) mod confirm;
pub(crate) mod forced;
pub(crate) mod free;
pub(crate) mod held;
pub(crate) mod plan;
pub(crate) mod policy;
pub(crate) mod spin;
pub(crate) mod steer;
pub(crate) mod strangers;
pub(crate) mod thread;
pub(crate) mod time;
pub(crate) mod wake;
pub(crate) mod watch;
