//! Verdicts and findings for people and for programs.
//!
//! - [`event`] and [`claim`] spell out events and questions;
//! - [`schedule`] shows a witness in columns, a thread each;
//! - [`refutation`] tells why there is none;
//! - [`text`] reports findings, with their [`Scene`], and sums up;
//! - [`json`] has the documents for other programs, [`sarif`] one that many of them share;
//! - [`suppressions`] and [`baseline`] tell what the user has seen enough of.
//!
//! Everything here is a function of its arguments: no files, no clock, the same bytes for the same input.
#![forbid(unsafe_code)]

pub mod baseline;
pub mod claim;
pub mod event;
pub mod json;
pub mod refutation;
pub mod sarif;
mod scene;
pub mod schedule;
mod stack;
pub mod suppressions;
pub mod text;

pub use scene::{Hold, Scene};
