//! Whether a fix is enough.
//!
//! A program before a fix and the same program after it are two builds, whose code lies at different addresses. [`code`] is
//! what a build consists of: the operations of its source; [`diff`] is the patch between the two, where it is known. [`map`] says which operation of one build is which of the
//! other, and which are new. [`port`] takes a schedule of the old build over to the new one. [`relation`] says what
//! a finding of the new build has to do with the bug, [`held`] which locks were held, [`seen`] what came in a run, and [`verdict`] what follows from all
//! that was seen. The procedure is SWAN's (Shi, Huang et al., "Verifying synchronization of concurrency bug fixes"), with
//! prediction on the traces of the patched program in place of its candidates.
//!
//! **Invariants.** No process, no file, no clock: the same runs give the same verdict. *Sufficient* needs every condition that
//! [`verdict::decide`] lists; whatever is not known makes it *undecided*.
#![forbid(unsafe_code)]

mod align;
pub mod code;
pub mod diff;
pub mod held;
pub mod map;
pub mod port;
pub mod relation;
pub mod seen;
pub mod verdict;

pub use code::{Code, Operation};
pub use diff::Diff;
pub use map::Map;
pub use relation::{About, Relation};
pub use verdict::{Claim, Ran, State, Verdict};
