//! A witness in columns, one per thread, with only the part that matters.
//!
//! The prefix that runs as observed is one line. Of the rest, stretches where one thread is on its own are one line
//! each. Below stands what the schedule was made for: the events that can run now, or that wait for each other;
//! a sequence's own events are marked where they are.
//!
//! ```text
//!         T1          T2
//!         ──────────  ──────────
//!      4              acq(l)  5
//!      5              w(y)  6
//!      6              rel(l)  7
//!   ▶ both can run now
//!   ▶  0  w(x)  1
//!   ▶  7              w(x)  8
//! ```

mod moment;
mod rows;
mod table;
mod touch;

pub(crate) use moment::End;
use reweave_trace::Trace;
use reweave_witness::CheckedWitness;
pub(crate) use rows::observed;

/// How a schedule is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// How many characters a line may have, 40 at least. Threads that do not fit share a last column.
    pub width: usize,
    /// How many lines of steps there may be; what is furthest from the end gives way.
    pub rows: usize,
    /// Whether to use colour.
    pub color: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { width: 100, rows: 200, color: false }
    }
}

/// The schedule as lines of text, each with its end.
pub fn text(trace: &Trace, checked: &CheckedWitness, options: Options) -> String {
    let mut rows = rows::steps(trace, checked, options.rows);
    rows.extend(moment::rows(trace, checked));
    table::draw(trace, &rows, options)
}
