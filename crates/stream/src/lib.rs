//! Analyses that read a trace once and emit racy pairs.
//!
//! An event is *racy* under an analysis when it conflicts with an earlier event that the analysis leaves unordered with
//! it. Each analysis is a module that states its paper, what its races are worth and what it costs: [`hb`], [`shb`],
//! [`wcp`], [`wdc`], [`syncp`], [`edc`]; `docs/analyses.md` compares them. A [`Stream`] runs any of them over blocks of events,
//! in memory that does not grow with the events where the analysis allows that; [`races`] runs one over a whole trace.
//!
//! How the papers' traces of reads, writes, locks, forks and joins are extended, in every analysis: the outermost acquire
//! and release of a nest count; shared sections of a lock do not exclude each other; a try-lock is an acquire where it
//! succeeded, and where it failed a read of the lock's state, ordered after the acquire that made it fail; conflicting
//! atomic accesses are ordered as observed, and race only with plain ones; a wait follows the notification that woke it;
//! the birth and death of an object write all of it. Everything else is nothing.
//!
//! ```
//! use reweave_stream::{Analysis, races};
//! use reweave_testkit::trace;
//! use reweave_trace::EventId;
//!
//! // The order of the two sections hides the race on x, but they need not come in this order.
//! let trace = trace! {
//!     a: w(x); a: acq(l); a: w(y); a: rel(l);
//!     b: acq(l); b: r(z); b: rel(l); b: w(x);
//! };
//! assert!(races(&trace, Analysis::Hb, false)?.is_empty());
//! let race = races(&trace, Analysis::Wcp, false)?[0];
//! assert_eq!((race.earlier, race.later), (EventId(0), EventId(7)));
//! # Ok::<(), reweave_trace::Error>(())
//! ```
#![forbid(unsafe_code)]

mod analysis;
mod clock;
mod detector;
pub mod edc;
mod front;
mod frontier;
pub mod hb;
mod history;
mod run;
mod sections;
pub mod shb;
mod step;
pub mod syncp;
mod threads;
pub mod wcp;
pub mod wdc;

pub use analysis::{Analysis, ParseAnalysisError};
pub use run::{Race, Stream, races};
