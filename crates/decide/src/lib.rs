//! Decides whether a schedule of a trace's events with a given property is feasible.
//!
//! A question is a [`Claim`](reweave_witness::Claim); the answer is a [`Verdict`]: a checked witness, a reason why there is none, or the limit
//! that was reached.
//!
//! ```
//! use reweave_decide::{Decider, Limits, Prepared, Verdict};
//! use reweave_trace::{Builder, Event, EventId, EventValues, Model, Op};
//! use reweave_witness::Claim;
//!
//! // Two threads write one variable; the first also takes a lock, which does not help.
//! let mut builder = Builder::new();
//! let (one, two) = (builder.thread("one")?, builder.thread("two")?);
//! let (x, m, site) = (builder.variable("x")?, builder.lock("m")?, builder.site("a.c:1")?);
//! for (thread, op) in [(one, Op::Acquire(m)), (one, Op::Write(x)), (one, Op::Release(m)), (two, Op::Write(x))] {
//!     builder.push(Event { thread, op, site }, EventValues::NONE)?;
//! }
//! let trace = builder.finish()?;
//!
//! let prepared = Prepared::new(&trace, trace.dependences());
//! let mut decider = Decider::new(&prepared, Model::Rf)?;
//! let race = Claim::CoEnabled(vec![EventId(1), EventId(3)]);
//! let Verdict::Feasible(checked) = decider.decide(&race, &Limits::none())? else { panic!("they race") };
//! assert_eq!(checked.claim(), &race);
//!
//! let backwards = Claim::Sequence { events: vec![EventId(1), EventId(0)], adjacent: Vec::new() };
//! assert!(matches!(decider.decide(&backwards, &Limits::none())?, Verdict::Infeasible(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod asked;
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
