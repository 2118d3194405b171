//! The binary event encoding shared by recorder and reader.
//!
//! A `.rw` file is a header, blocks of up to [`MAX_EVENTS`] events, a footer and an end mark; `docs/format.md` draws
//! every byte. This crate turns events into blocks ([`Encoder`]) and blocks into events ([`Block`], [`Decoder`]). It
//! also knows the memory that a recorded program shares with its recorder ([`ring`]), and how little has to be kept of
//! what lies there ([`follow`]). It is loaded into programs under test, so it has no dependencies, takes its memory from
//! the caller, and never allocates, panics or touches a file.
//!
//! **Invariant:** a block is decoded from its own bytes alone; everything that is predicted from earlier events is
//! forgotten at its end. Encoder and decoder keep that state in the same structure ([`predict`], [`name`],
//! [`value`]) and update it by the same functions, so that they cannot drift apart.
//!
//! Encoding and decoding are linear in events plus bytes.
#![no_std]

mod bits;
mod chunk;
mod column;
mod context;
mod control;
mod copies;
mod crc;
mod cycle;
mod decode;
mod dependence;
mod encode;
mod group;
mod lane;
mod life;
mod name;
mod op;
pub mod outside;
mod path;
mod plan;
mod predict;
pub mod ring;
mod straight;
mod streams;
mod value;
mod varint;

pub use chunk::{
    CHUNK_BYTES, Chunk, ChunkKind, Claims, Codec, END_BYTES, End, FileHeader, Footer, FooterEncoder,
    HEADER_BYTES, MAGIC, OLDEST_VERSION, VERSION,
};
pub use context::{ContextReader, ContextTable, ContextWriter};
pub use copies::{MAX_BETWEEN, may_have_stored, only_prepares};
pub use crc::{Crc, crc};
pub use decode::{Block, Columns, Decoder};
pub use dependence::{DependenceReader, DependenceWriter, Entry};
pub use encode::{Batch, Closed, Encoder, Event, Full};
pub use lane::{LANES, MIN_BUFFER_BYTES};
pub use life::Life;
pub use name::{Name, NameReader};
pub use op::{Op, SPACES, Space};
pub use path::{Followed, PATH_ROOM, Path, STEPS, Surprise, follow};
pub use value::{Value, ValueSink};

/// The most events in a block.
pub const MAX_EVENTS: usize = 1 << 16;

/// The most names in a block: a thread, a target, a site and two values for each event would be more, but never are.
pub const MAX_NAMES: usize = 1 << 18;

/// The most bytes of a block's payload.
pub const MAX_PAYLOAD: usize = 1 << 24;

/// The longest name in bytes.
pub const MAX_NAME_BYTES: usize = 1 << 16;

/// Bytes that their checksum vouches for but that do not mean anything: what is wrong with them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damaged(pub &'static str);
