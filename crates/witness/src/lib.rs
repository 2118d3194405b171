//! Witnesses, and the machine that checks them: the trusted base.
//!
//! A [`Witness`] is a schedule of a trace's events, and a [`Claim`] says what it shows. [`Checker::check`] runs the
//! schedule, step by step, on the [`Machine`] of `docs/semantics.md` and then looks whether the claim holds. It
//! answers with a [`CheckedWitness`], which nothing else can make, or with the first step that fails and why.
//!
//! Whoever trusts this crate and `reweave-trace` need not trust any of the algorithms that search for witnesses.
//!
//! ```
//! use reweave_trace::{Builder, Event, EventId, EventValues, Links, Model, Op, ProgramOrder};
//! use reweave_witness::{Checker, Claim, Witness};
//!
//! let mut builder = Builder::new();
//! let (one, two) = (builder.thread("one")?, builder.thread("two")?);
//! let (x, site) = (builder.variable("x")?, builder.site("a.c:1")?);
//! for (thread, op) in [(one, Op::Begin), (one, Op::Write(x)), (two, Op::Write(x))] {
//!     builder.push(Event { thread, op, site }, EventValues::NONE)?;
//! }
//! let trace = builder.finish()?;
//! let (links, order) = (Links::new(&trace), ProgramOrder::new(&trace));
//! let checker = Checker::new(&trace, &links, &order);
//!
//! let claim = Claim::CoEnabled(vec![EventId(1), EventId(2)]);
//! let enough = Witness { prefix: 1, tail: Vec::new() };
//! assert!(checker.check(Model::Rf, enough, claim.clone()).is_ok());
//!
//! // Before its first event, thread `one` has not come to its write.
//! let too_short = Witness { prefix: 0, tail: Vec::new() };
//! assert!(checker.check(Model::Rf, too_short, claim).is_err());
//! # Ok::<(), reweave_trace::Error>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod check;
mod claim;
mod expand;
mod machine;
mod refusal;
mod rest;

pub use check::{CheckedWitness, Checker, Checkpoints, Rejection};
pub use claim::{Claim, Failure, Witness};
pub use expand::Expander;
pub use machine::Machine;
pub use refusal::Refusal;
