//! What can go wrong between a file and a trace.

use std::io;
use std::path::PathBuf;

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// Input that is not what its format asks for; the file's name is added further up.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) at: Place,
    /// What is wrong and what was expected instead, without a full stop.
    pub(crate) message: String,
}

/// A position in an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// A line of text, counted from 1.
    Line(u64),
    /// A byte, counted from 0.
    Byte(u64),
}
