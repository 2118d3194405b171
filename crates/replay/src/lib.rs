//! Making a predicted bug happen on the real program.
//!
//! A witness is a schedule of events of one trace. [`mod@build`] names its events by thread, place of code and occurrence, which
//! mean the same in another run, and spells out only where the running thread changes ([`coarse`] makes that rare). The
//! result is a [`Schedule`], a text that people can read ([`mod@text`]). [`run`] starts the program with the runtime's
//! scheduler following it ([`plan`] is what the runtime reads), and [`outcome`] is what the runtime says came of it.
//!
//! **Invariants.** A schedule is made from a checked witness only. A run leaves no process behind.
#![forbid(unsafe_code)]

pub mod build;
mod coarse;
pub mod harm;
mod inputs;
pub mod outcome;
mod plan;
pub mod run;
mod schedule;
pub mod text;

pub use build::build;
pub use harm::{Harm, Reference};
pub use outcome::{Outcome, Report};
pub use plan::{Order, Wish};
pub use run::{Ended, Recording, Run};
pub use schedule::{DEEPENED, Named, Schedule, Segment, Shape, Thread};

/// Why there is no schedule, or no run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The schedule's text is wrong.
    #[error("line {line}: {what}")]
    Text {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The program is not the one that the schedule is for.
    #[error("{0}")]
    OtherProgram(String),
    /// The steps of the trace do not name one that is needed.
    #[error("the schedule cannot be named: {0}")]
    Unnamed(String),
    /// This process was asked to end meanwhile.
    #[error("interrupted")]
    Interrupted,
    /// A file could not be read or written.
    #[error("a file could not be read or written: {0}")]
    Io(#[from] std::io::Error),
}
