//! Decides whether a schedule of a trace's events with a given property is feasible.
#![forbid(unsafe_code)]

mod closure;
mod cone;
mod decider;
mod downset;
mod exact;
mod guess;
mod limits;
mod must;
mod prepare;
mod reduce;
mod verdict;

pub use decider::{Basis, Decider, Error, Stages};
pub use limits::Limits;
pub use must::Must;
pub use prepare::{Prepared, Section};
pub use reduce::{Reduction, Use};
pub use verdict::{Demand, Impossible, Reason, Refutation, Step, Unsound, Verdict, Why};
