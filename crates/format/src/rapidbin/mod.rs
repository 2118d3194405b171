//! RAPID's binary format, `.data`: a header, then eight bytes an event, all big-endian.
//!
//! | part | bits | holds |
//! | --- | --- | --- |
//! | header | i16, i32, i32, i64 | how many threads, locks, variables and events |
//! | event | 0–9 | thread |
//! | | 10–13 | operation: 0 acq, 1 rel, 2 r, 3 w, 4 fork, 5 join, 6 begin, 7 end, 8 request, 9 branch |
//! | | 14–47 | target: a lock, variable or thread |
//! | | 48–62 | site |
//!
//! Names are numbers: they are read as `T0`, `L0`, `V0` and, for a site, `0`. Writing loses the names and the claims to
//! capabilities, and numbers everything in order of first appearance. It refuses what has no place: other operations, values,
//! more than 1,024 threads or 32,768 sites. A request is no event of ours and becomes a skipped position; skipped
//! positions are written as requests. The header's counts are often too high, and only a count of events that is
//! too low is an error.

mod read;
mod write;

use reweave_trace::Kind;

pub(crate) use read::{Header, looks_like, parse_block};
pub(crate) use write::Writer;

/// The size of the header.
pub(crate) const HEADER_BYTES: usize = 18;

/// The size of an event.
pub(crate) const EVENT_BYTES: usize = 8;

const THREAD_BITS: u32 = 10;
const OPERATION_BITS: u32 = 4;
const TARGET_BITS: u32 = 34;
const SITE_BITS: u32 = 15;

/// The kinds by their operation number.
const KINDS: [Kind; 10] = [
    Kind::Acquire,
    Kind::Release,
    Kind::Read,
    Kind::Write,
    Kind::Fork,
    Kind::Join,
    Kind::Begin,
    Kind::End,
    Kind::Skip,
    Kind::Branch,
];

#[cfg(test)]
mod tests;
