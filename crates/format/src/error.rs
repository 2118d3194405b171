//! What can go wrong between a file and a trace.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use reweave_trace::{Defect, EventId};

use crate::{Format, LineMap};

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused, or a compressed stream is damaged.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The input is not what its format asks for.
    #[error("{}{place}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: Place,
        /// What is wrong and what was expected instead.
        message: String,
    },
    /// The events do not make up a run that can have been observed.
    #[error("{}{place}: {message}{}", path.display(), Clash(*other_place))]
    IllFormed {
        /// The file.
        path: PathBuf,
        /// Where in it.
        place: Place,
        /// The event.
        event: EventId,
        /// The rule it breaks.
        defect: Defect,
        /// One sentence with the names of what is involved.
        message: String,
        /// Another event that it clashes with.
        other: Option<EventId>,
        /// Where that one is.
        other_place: Option<Place>,
    },
    /// The trace is beyond a limit of ours.
    #[error("{}: {source}", path.display())]
    Limit {
        /// The file.
        path: PathBuf,
        /// The limit.
        source: reweave_trace::Error,
    },
    /// Neither the name nor the content of a file tells its format.
    #[error("{}: the format is not known from the name{}", path.display(), if *looked { " nor the content" } else { "" })]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// Whether the content was looked at as well.
        looked: bool,
    },
    /// The format cannot be written, or not in this way.
    #[error("{}: {format} cannot be {what}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The format.
        format: Format,
        /// What was asked for.
        what: &'static str,
    },
    /// Something in the trace has no place in the format that it is to be written in.
    #[error("{}: {format} cannot hold event {event}: {message}", path.display())]
    Unrepresentable {
        /// The file.
        path: PathBuf,
        /// The format.
        format: Format,
        /// The position of the event among those written.
        event: u64,
        /// What does not fit.
        message: String,
    },
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Error::IllFormed { .. } => "run again with --repair to drop or rename what is ill formed",
            Error::UnknownFormat { .. } => {
                "give --format, one of std, rapidbin, roadrunner, csv, speedygo and rw"
            }
            Error::Malformed { place: Place::Line(_), .. } => {
                "if the file has another format than its name says, give --format"
            }
            Error::Unsupported { .. } => "write .std, .std.zst, .data or .rw instead",
            Error::Unrepresentable { .. } => "write .rw instead: it holds every trace",
            _ => return None,
        })
    }

    /// The same error, with `path` where it has none: writers do not know what they write to.
    pub(crate) fn in_file(mut self, file: &Path) -> Error {
        match &mut self {
            Error::Io { path, .. }
            | Error::Malformed { path, .. }
            | Error::IllFormed { path, .. }
            | Error::Limit { path, .. }
            | Error::UnknownFormat { path, .. }
            | Error::Unsupported { path, .. }
            | Error::Unrepresentable { path, .. } => {
                if path.as_os_str().is_empty() {
                    *path = file.to_owned();
                }
            }
        }
        self
    }

    /// An error of the operating system; the file's name is added further up.
    pub(crate) fn io(source: io::Error) -> Error {
        Error::Io { path: PathBuf::new(), source }
    }

    /// What a builder says of the trace in `path`, whose events are on these lines.
    pub(crate) fn from_trace(error: reweave_trace::Error, path: &Path, lines: Option<&LineMap>) -> Error {
        let place = |event: EventId| match lines.and_then(|lines| lines.line(event)) {
            Some(line) => Place::Line(line),
            None => Place::Event(event),
        };
        match error {
            reweave_trace::Error::IllFormed(ill) => Error::IllFormed {
                path: path.to_owned(),
                place: place(ill.event),
                event: ill.event,
                defect: ill.defect,
                message: ill.message,
                other: ill.other,
                other_place: ill.other.map(place),
            },
            source => Error::Limit { path: path.to_owned(), source },
        }
    }
}

/// Input that is not what its format asks for; the file's name is added further up.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) at: Place,
    /// What is wrong and what was expected instead, without a full stop.
    pub(crate) message: String,
}

impl Malformed {
    pub(crate) fn in_file(self, path: &Path) -> Error {
        Error::Malformed { path: path.to_owned(), place: self.at, message: self.message }
    }
}

/// A position in an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// A line of text, counted from 1.
    Line(u64),
    /// A byte, counted from 0.
    Byte(u64),
    /// An event, where the format has no lines.
    Event(EventId),
}

/// What is put after a file's name.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, ":{line}"),
            Place::Byte(byte) => write!(f, ": at byte {byte}"),
            Place::Event(event) => write!(f, ": event {}", event.0),
        }
    }
}

/// The end of a message about two events.
struct Clash(Option<Place>);

impl fmt::Display for Clash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Place::Line(line)) => write!(f, " (the other event is on line {line})"),
            Some(Place::Event(event)) => write!(f, " (the other event is number {})", event.0),
            _ => Ok(()),
        }
    }
}
