//! Trace literals, generators and the brute-force oracle, for tests.
//!
//! - [`trace!`] and [`parse`] write traces down, [`show`] prints them;
//! - [`generate()`] makes small random well-formed ones, as a [`Shape`] asks;
//! - [`sleepers()`] runs small random programs whose threads wait for each other;
//! - [`Oracle`] knows by exhaustion what every feasible reordering of a small trace can do;
//! - [`Plain`] is the same law once more, without a state: slow enough to be obviously right;
//! - [`calls`] has what calls of the built-in types do, written by hand;
//! - [`litmus`] reads the traces whose verdicts were derived by hand;
//! - [`program`] makes random programs, with their sources;
//! - [`interleave`] makes small concurrent programs and knows by exhaustion what they can do;
//! - [`recorded()`] finds real traces, where there are some.
//!
//! Nothing here uses the observation, holding or memory code of `reweave-trace`: that is production code, and the
//! oracle is there to check it.
//!
//! ```
//! use reweave_testkit::{Oracle, trace};
//! use reweave_trace::{EventId, Model};
//!
//! let trace = trace! { main: w(x) = 5; worker: r(x) = 5; worker: br; };
//! let oracle = Oracle::new(&trace, Model::Rf, None)?;
//! assert_eq!(oracle.races(), [(EventId(0), EventId(1))]);
//! # Ok::<(), reweave_testkit::Refused>(())
//! ```
#![forbid(unsafe_code)]

pub mod calls;
mod dependences;
mod generate;
pub mod interleave;
mod literal;
pub mod litmus;
mod oracle;
mod plain;
pub mod program;
mod recorded;
mod rng;
mod sleepers;
mod text;

pub use dependences::dependences;
pub use generate::{Shape, ValueMode, Weights, generate};
pub use literal::from_tokens;
pub use oracle::{Machine, Oracle, Refused};
pub use plain::Plain;
pub use recorded::recorded;
pub use rng::Rng;
pub use sleepers::sleepers;
pub use text::{parse, parse_raw, show};
