//! The law for Z3: an encoding of its own, large instances, and the executable.
//!
//! The benchmark `z3` of `crates/bench` takes in this folder by its path, so that what is measured is what is tested.

mod facts;
mod large;
mod law;
mod solver;

pub(crate) use large::{claims, trace};
pub(crate) use law::Law;
pub(crate) use solver::Z3;

use reweave_trace::EventId;

fn id(event: usize) -> EventId {
    EventId::from_index(event)
}
