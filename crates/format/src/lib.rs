//! Readers and writers of traces, one module per format.

mod error;
mod rw;
mod writer;

pub use error::Error;
pub use writer::TraceWriter;
