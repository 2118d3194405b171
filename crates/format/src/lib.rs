//! Readers and writers of traces, one module per format.
//!
//! [`load()`] reads a file of any format, compressed or not, into a well-formed trace; [`Events`] reads one part by part,
//! in memory that does not grow with the events; [`save()`] and [`create`] write one.
#![deny(unsafe_code)]

mod error;
mod events;
mod huge;
mod in_order;
mod kind;
mod lines;
mod load;
mod mapped;
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
pub use save::{create, save, save_bytes, write_trace};
pub use shared::SharedWords;
pub use writer::TraceWriter;
