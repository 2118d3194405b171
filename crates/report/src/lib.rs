//! Verdicts and findings for people and for programs.
//!
//! - [`event`] and [`claim`] spell out events and questions;
//! - [`schedule`] shows a witness in columns, a thread each;
//! - [`refutation`] tells why there is none;
//! - [`view`] has all that can be shown of a finding, made once from the trace;
//! - [`answer`] has what can be shown of an answer that is no finding;
//! - [`text`], [`json`], [`sarif`] and [`html`] are written from them;
//! - [`explain`] says in words why a schedule can run, and what terms mean;
//! - [`suppressions`] and [`baseline`] tell what the user has seen enough of.
//!
//! Everything here is a function of its arguments: no files, no clock, the same bytes for the same input.
#![forbid(unsafe_code)]

pub mod answer;
pub mod baseline;
pub mod claim;
pub mod event;
pub mod explain;
pub mod html;
pub mod json;
pub mod refutation;
pub mod sarif;
mod scene;
pub mod schedule;
mod stack;
pub mod suppressions;
pub mod text;
pub mod view;

pub use scene::{Hold, Scene};
