//! Races, deadlocks, atomicity and order violations: candidates to findings.
//!
//! [`predict`] makes candidates of every kind, cheaply and completely, and has each decided. A [`Finding`] is made from
//! a checked witness and from nothing else.
//!
//! ```
//! use reweave_detect::{Kind, Options, predict};
//! use reweave_trace::{Builder, Event, EventValues, Model, Op};
//!
//! let mut builder = Builder::new();
//! let (one, two) = (builder.thread("one")?, builder.thread("two")?);
//! let x = builder.variable("x")?;
//! for (thread, op, site) in [(one, Op::Write(x), "a.c:1"), (two, Op::Read(x), "a.c:2")] {
//!     let site = builder.site(site)?;
//!     builder.push(Event { thread, op, site }, EventValues::NONE)?;
//! }
//! let trace = builder.finish()?;
//!
//! let prediction = predict(&trace, Model::Rf, &Options::default())?;
//! let races: Vec<_> = prediction.findings.iter().filter(|finding| finding.kind() == Kind::Race).collect();
//! assert_eq!((races.len(), races[0].target(&trace).as_str()), (1, "x"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod atomicity;
mod calls;
mod classes;
mod deadlocks;
mod finding;
mod fold;
mod groups;
mod histories;
mod horizon;
mod identity;
mod ladder;
mod locksets;
mod news;
mod options;
mod orders;
mod races;
mod rounds;
mod run;
mod variables;

pub use calls::rule;
pub use finding::{
    Counts, Dropped, Finding, Kind, ParseKindError, Pattern, Prediction, Torn, Undecided, UndecidedReason,
};
pub use histories::Histories;
pub use ladder::ModelCount;
pub use news::{News, Novelty, news};
pub use options::{Atomicity, Options, Shard};
pub use reweave_spec::{Rule, Tier};

use reweave_decide::Error;
use reweave_trace::{Model, Trace};

/// Predicts bugs of `trace` in `model`, in the cheaper models first.
///
/// The search sees only the part of the trace that can matter, its core; findings are about the whole trace again.
pub fn predict(trace: &Trace, model: Model, options: &Options<'_>) -> Result<Prediction, Error> {
    ladder::predict(trace, model, options)
}
