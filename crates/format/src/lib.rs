//! Readers and writers of traces, one module per format.
//!
//! [`load()`] reads a file of any format, compressed or not, into a well-formed trace; [`Events`] reads one part by part,
//! in memory that does not grow with the events; [`save()`] and [`create`] write one.
//!
//! ```
//! use reweave_format::{Format, LoadOptions, load_bytes, save_bytes};
//!
//! let text = b"main|w(x)|a.c:1\nmain|fork(T)|a.c:2\nT|r(x)|a.c:9\n";
//! let loaded = load_bytes("run.std", text, &LoadOptions::default())?;
//! assert_eq!((loaded.format, loaded.trace.len()), (Format::Std, 3));
//!
//! let compact = save_bytes(&loaded.trace, Format::Rw)?;
//! let again = load_bytes("run.rw", &compact, &LoadOptions::default())?;
//! assert_eq!(save_bytes(&again.trace, Format::Std)?, text);
//!
//! // What is not a trace is refused with its place.
//! let wrong = load_bytes("wrong.std", b"T|rel(m)|a.c:1\n", &LoadOptions::default());
//! assert!(wrong.unwrap_err().to_string().starts_with("wrong.std:1: "));
//! # Ok::<(), reweave_format::Error>(())
//! ```
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod events;
mod huge;
mod in_order;
mod kind;
mod lines;
mod load;
mod mapped;
mod memory;
mod operation;
mod output;
mod rapid_csv;
mod rapidbin;
mod roadrunner;
mod rw;
mod save;
mod shared;
mod source;
mod speedygo;
mod std_text;
pub mod synthetic;
mod text;
mod writer;

#[cfg(test)]
mod testing;

pub use error::{Error, Place};
pub use events::Events;
pub use huge::large_buffer;
pub use kind::{Format, ParseFormatError};
pub use lines::LineMap;
pub use load::{LoadOptions, Loaded, Progress, decode_bytes, load, load_bytes};
pub use memory::Memory;
pub use save::{create, save, save_bytes, write_trace};
pub use shared::SharedWords;
pub use writer::{TraceWriter, one_by_one};
