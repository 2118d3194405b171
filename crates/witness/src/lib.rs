//! Witnesses, and the machine that checks them: the trusted base.
//!
//! A [`Witness`] is a schedule of a trace's events, and a [`Claim`] says what it shows. [`Checker::check`] runs the
//! schedule, step by step, on the [`Machine`] of `docs/semantics.md` and then looks whether the claim holds. It
//! answers with a [`CheckedWitness`], which nothing else can make, or with the first step that fails and why.
//!
//! Whoever trusts this crate and `reweave-trace` need not trust any of the algorithms that search for witnesses.
#![forbid(unsafe_code)]

mod check;
mod claim;
mod expand;
mod machine;

pub use check::{CheckedWitness, Checker, Checkpoints, Rejection};
pub use claim::{Claim, Failure, Witness};
pub use expand::Expander;
pub use machine::{Machine, Refusal};
