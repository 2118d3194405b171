//! Races, deadlocks, atomicity and order violations: candidates to findings.
//!
//! [`predict`] makes candidates of every kind, cheaply and completely, and has each decided. A [`Finding`] is made from
//! a checked witness and from nothing else.
#![forbid(unsafe_code)]

mod atomicity;
mod classes;
mod deadlocks;
mod finding;
mod groups;
mod locksets;
mod options;
mod orders;
mod races;
mod run;
mod variables;

pub use finding::{
    Counts, Dropped, Finding, Kind, ParseKindError, Pattern, Prediction, Undecided, UndecidedReason,
};
pub use options::{Options, Shard};

use reweave_decide::{Decider, Error};

/// Predicts bugs of the decider's trace, in its model.
pub fn predict(decider: &Decider<'_>, options: &Options<'_>) -> Result<Prediction, Error> {
    run::predict(decider, options)
}
