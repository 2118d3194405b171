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
mod horizon;
mod locksets;
mod models;
mod options;
mod orders;
mod races;
mod run;
mod variables;

pub use finding::{
    Counts, Dropped, Finding, Kind, ParseKindError, Pattern, Prediction, Undecided, UndecidedReason,
};
pub use models::ModelCount;
pub use options::{Options, Shard};

use reweave_decide::Error;
use reweave_trace::{Model, Trace};

/// Predicts bugs of `trace` in `model`.
///
/// The search sees only the part of the trace that can matter, its core; findings are about the whole trace again.
pub fn predict(trace: &Trace, model: Model, options: &Options<'_>) -> Result<Prediction, Error> {
    run::predict(trace, model, options, None)
}

/// How many of the `findings` that `trace` has in `model` each stricter model gives, too; `model` itself comes last.
///
/// Each stricter model is searched for the findings that no model stricter than it has given already.
pub fn count_by_model(
    trace: &Trace,
    model: Model,
    findings: &[Finding],
    options: &Options<'_>,
) -> Result<Vec<ModelCount>, Error> {
    models::count(trace, model, findings, options)
}
