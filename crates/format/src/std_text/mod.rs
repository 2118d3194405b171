//! STD text: `thread|op(target)|site[|value]`, one event a line.
//!
//! The operations are those of `docs/semantics.md`. Beyond the plain form, these are read as well: `rd` and `wr` for
//! `r` and `w`; `branch`; `notifyAll` and `broadcast`; any case; `op target` for `op(target)`, and `br()` for `br`;
//! white space around the thread, the operation and the target; blank lines, `#` comments, CRLF, and a last line
//! without an end. `request(l)` and `req(l)` are no events of ours and keep their positions as skipped ones.
//!
//! A site is any text without `|`; a missing field is the empty site, as is an empty one. A value is any text without
//! `|`, and an empty one is not known; an update has `old>new`, of which either may be missing. An operation that
//! neither reads nor writes takes no value. What the recorder promises is said before the first event:
//! `#! capabilities: branches values`. A table of dependences is of lines `#! needs 8: 5 3`, `#! feeds 16: 15` and
//! `#! end T1: 5`, anywhere, with events by their positions; it goes with the capability
//! `dependences`. One without an entry is the line `#! needs 0:`. The stable name of a site is in a
//! line `#! stable push /home/me/queue.c:17|push queue.c+4`, anywhere. How a run failed by itself
//! is in lines `#! ended status 134`, as [`reweave_trace::Ending`] has them; so are the functions
//! that kept their order because nobody knows what they depend on: `#! ended unlisted
//! getservbyname`.

mod quick;
mod read;
mod write;

pub(crate) use read::{Parser, intern_target};
pub(crate) use write::Writer;

#[cfg(test)]
mod tests;
