//! Recording: the state of a recording under way, its slots in shared memory, its inputs, and its end.
//!
//! [`recording`] holds what the thread with the baton works on, [`log`] appends to the ring, [`config`] is what the host asked for and
//! [`note`] what the host is given back.

pub(crate) mod budget;
pub(crate) mod config;
pub(crate) mod driven;
pub(crate) mod end;
pub(crate) mod inputs;
pub(crate) mod log;
pub(crate) mod note;
pub(crate) mod numbers;
pub(crate) mod recording;
