//! Dependences: which reads decide about an event, and which reads the value that it writes is computed from.
//!
//! The law is in `docs/semantics.md`, "Dependences"; after "Reduce Dependence for Sound Concurrency Bug Prediction", whose
//! analysis follows executed instructions one by one. A recording does not name those: branches that nothing
//! separates are recorded as one. So this analysis is path-insensitive between two recorded events. [`Shape`] is what
//! can be said of a function before it runs: which loads, arguments and calls a value may be computed from, and what decides on
//! any path from one instruction to another. [`Analysis`] follows the recorded events of each thread with it.
//!
//! **Invariant.** A set may have too many reads, never too few: whatever is not understood depends on all reads of its thread
//! so far ([`Set::all_before`]).
//!
//! **Precision.** Between two events of a function, every path counts. A value that goes through a local variable in memory, or
//! through a phi, has the reads of all iterations. Code without a table, variadic functions, inline assembly, exceptions, `setjmp`,
//! calls through pointers, and code that was compiled from Rust depend on everything.
#![forbid(unsafe_code)]

mod analysis;
mod calls;
mod event;
mod flow;
mod frame;
mod rule;
mod set;
mod shape;
mod thread;

pub use analysis::Analysis;
pub use calls::{Callee, Known, is_followed};
pub use event::{Event, InTrace, Kind, Sets, Where};
pub use rule::Rule;
pub use set::Set;
pub use shape::Shape;
