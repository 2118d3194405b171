//! From a raw recording to a trace.
//!
//! The recorder inside a program appends what it sees to memory that it shares with us: bytes at addresses, and addresses
//! of code. While the program runs, that is taken out and written to a file ([`drain`]). Afterwards this crate
//! goes through that file twice. First it learns which memory each thread touched and how ([`memory`]); then it
//! writes the trace: each access as accesses to variables that no other access cuts, without the memory that one thread
//! keeps to itself, and with names from debug information ([`modules`]). Memory is bounded by the memory that the program
//! touched, not by the number of events.
#![forbid(unsafe_code)]

mod aliases;
mod binary;
mod block;
mod borders;
mod calls;
mod coder;
mod convert;
mod debug;
mod depend;
mod drain;
mod given;
mod identity;
mod kind;
mod last;
mod listing;
mod lives;
mod lookup;
mod memory;
mod modules;
mod names;
mod outside;
mod page_table;
mod place;
mod raw;
mod rewrite;
mod seen;
mod sieve;
mod spool;
mod steps;
mod told;
mod variables;
mod word;

use std::io;
use std::path::{Path, PathBuf};

pub use binary::{Binaries, Binary, BinaryError};
pub use block::write_raw;
pub use convert::{Recording, Summary, convert};
pub use depend::Found as FoundDependences;
pub use drain::{Drain, Stop, Taken, unpredictable};
pub use listing::{Listed, Listing, list};
pub use lookup::Lookup;
pub use reweave_depend::Rule as DependenceRule;
pub use steps::{
    About, CodePlace, Creation, ModuleFile, NO_BUILD, Step, StepsError, build_of, read_modules, read_steps,
};
pub use told::{Told, read_told};

/// Bytes that are not what a recorder writes.
#[derive(Debug)]
pub(crate) struct Damaged;

/// Why a recording gave no trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The recording is not one that a recorder wrote.
    #[error("{}: the recording is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The trace could not be written.
    #[error(transparent)]
    Format(#[from] reweave_format::Error),
    /// The recording has too many names.
    #[error(transparent)]
    Trace(#[from] reweave_trace::Error),
}

impl Error {
    fn damaged(path: &Path, what: &'static str) -> Error {
        Error::Damaged { path: path.to_owned(), what }
    }

    /// That no thread can be made, to read the file, is for want of memory.
    fn no_thread(path: &Path, source: &io::Error) -> Error {
        let what = format!("no memory for another thread: {source}");
        Error::Io { path: path.to_owned(), source: io::Error::new(io::ErrorKind::OutOfMemory, what) }
    }
}
