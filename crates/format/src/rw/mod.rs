//! The Reweave binary format.
//!
//! `docs/format.md` draws every byte; `reweave_wire` knows them, and this module puts them in files: [`scan`] finds
//! the blocks and tells a file that was cut off from one that is damaged, [`mod@read`] turns blocks into events on
//! several threads, [`mod@write`] is the way back.
//!
//! **Invariant:** no event comes from a block whose checksum fails, and no block is left out silently.

mod codes;
mod contexts;
mod dependences;
mod ending;
mod names;
mod places;
mod read;
mod scan;
mod sites;
mod sizes;
mod values;
mod write;

#[cfg(test)]
mod tests;

use crate::error::{Malformed, Place};

pub(crate) use read::parts::{Parts, Stopped};
pub(crate) use read::{Read, read};
pub(crate) use sizes::sizes;
pub(crate) use write::Writer;

/// The first bytes of every file of this format.
pub(crate) const MAGIC: &[u8] = &reweave_wire::MAGIC;

fn malformed(at: usize, message: impl Into<String>) -> Malformed {
    Malformed { at: Place::Byte(at as u64), message: message.into() }
}
