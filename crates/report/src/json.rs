//! The documents for other programs; `docs/json.md` describes them.
//!
//! Core types know nothing of serde: these mirror them, so that a change inside does not change the form of a
//! document. Keys come in the order of the fields.

mod bug;
mod claim;
pub mod predict;
mod query;
mod refutation;
mod schedule;
mod verify;
mod witness_file;

use reweave_trace::{Model, Space, Trace};
use serde::{Deserialize, Serialize};

pub use bug::Bug;
pub use claim::{Asked, Claim};
pub use query::{Answer, Query, Race, Undecided, VerdictName};
pub use refutation::{Contradiction, Demand, Reason, Refutation, Step};
pub use schedule::{Runs, Schedule};
pub use verify::{Verified, VerifiedBug, VerifiedClaim};
pub use witness_file::Question;

/// The version of the form of the documents.
pub const SCHEMA: u32 = 1;

/// The program that writes them.
pub const TOOL: &str = concat!("reweave ", env!("CARGO_PKG_VERSION"));

/// What every document about one trace starts with.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: u32,
    /// [`TOOL`].
    pub tool: String,
    /// The trace.
    pub trace: TraceShape,
    /// The model, by its name.
    pub model: String,
}

impl Head {
    /// The head of a document about `trace`, which the user calls `path`.
    pub fn new(trace: &Trace, path: &str, model: Model) -> Head {
        let trace = TraceShape::new(trace, path);
        Head { schema: SCHEMA, tool: TOOL.to_owned(), trace, model: model.name().to_owned() }
    }
}

/// A trace in a few figures.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct TraceShape {
    /// The path as the user gave it.
    pub path: String,
    /// How many events ran.
    pub events: u64,
    /// How many threads have a name.
    pub threads: u64,
    /// How many variables have a name.
    pub variables: u64,
    /// How many locks have a name.
    pub locks: u64,
    /// What the trace says that it carries.
    pub capabilities: Vec<String>,
}

impl TraceShape {
    /// The figures of `trace`, which the user calls `path`.
    pub fn new(trace: &Trace, path: &str) -> TraceShape {
        let count = |space| trace.count(space) as u64;
        TraceShape {
            path: path.to_owned(),
            events: trace.events().count() as u64,
            threads: count(Space::Thread),
            variables: count(Space::Variable),
            locks: count(Space::Lock),
            capabilities: trace.capabilities().names().map(str::to_owned).collect(),
        }
    }
}

/// How many candidates came to what.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// All of them.
    pub candidates: u64,
    /// Those with a witness.
    pub feasible: u64,
    /// Those that no schedule shows.
    pub infeasible: u64,
    /// Those that were not decided.
    pub unknown: u64,
}

/// A time as documents give it: to the microsecond.
pub fn seconds(time: f64) -> f64 {
    (time * 1e6).round() / 1e6
}
