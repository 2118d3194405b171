//! A trace read part by part, in memory that does not grow with its events.
//!
//! Nothing is held but a part of the input, its events, and the names so far. Whether the events make up a run that can
//! have been observed is for those who look at them to say: [`Events::locate`] then tells where.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reweave_trace::{Builder, Names, Rows};

use crate::error::Malformed;
use crate::load::{tell_format, unknown_lines};
use crate::rw::{Parts, Stopped};
use crate::source::{Cut, Source};
use crate::text::{LineParser, Tally, parse_block};
use crate::{Error, Format, rapid_csv, rapidbin, roadrunner, speedygo, std_text};

/// Text is cut into blocks of about this size: names are looked up once a line anyway, and what comes from a pipe should
/// not wait long.
const BLOCK_BYTES: usize = 1 << 20;

/// A trace under way.
pub struct Events<'a> {
    path: PathBuf,
    source: Source<'a>,
    format: Format,
    reader: Reader,
    read: Arc<AtomicU64>,
    total: Option<u64>,
    events: u64,
}

type ParseBlock = Box<dyn FnMut(&[u8], &mut Builder, &mut Tally) -> Result<(), Malformed>>;

enum Reader {
    Text { parse: ParseBlock, builder: Builder, tally: Tally },
    RapidBin { header: rapidbin::Header, builder: Builder, rest: usize, notice: Option<String> },
    Rw(Box<Parts>),
}

impl Events<'static> {
    /// Opens the trace in a file, or standard input if `path` is `-`; its format is told by name and content where none
    /// is given.
    pub fn open(path: &Path, format: Option<Format>) -> Result<Events<'static>, Error> {
        if path.as_os_str() == "-" {
            return Events::from_reader(Path::new("standard input"), io::stdin(), None, format);
        }
        let io_error = |source: io::Error| Error::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io_error)?;
        let about = file.metadata().map_err(io_error)?;
        // Not mapped: what the system keeps of a mapped file counts as memory of ours.
        Events::from_reader(path, file, about.is_file().then_some(about.len()), format)
    }

    fn from_reader(
        path: &Path,
        reader: impl Read + Send + 'static,
        total: Option<u64>,
        format: Option<Format>,
    ) -> Result<Events<'static>, Error> {
        let source = Source::from_reader(reader, BLOCK_BYTES).map_err(|e| Error::io(e).in_file(path))?;
        Events::new(path, source, total, format)
    }
}

impl<'a> Events<'a> {
    /// The trace in `bytes`, as if they were the content of a file called `name`.
    pub fn from_bytes(name: &str, bytes: &'a [u8], format: Option<Format>) -> Result<Events<'a>, Error> {
        Events::cut(name, bytes, BLOCK_BYTES, format)
    }

    /// As [`Events::from_bytes`], with blocks of about `block_bytes`.
    pub(crate) fn cut(
        name: &str,
        bytes: &'a [u8],
        block_bytes: usize,
        format: Option<Format>,
    ) -> Result<Events<'a>, Error> {
        let path = Path::new(name);
        let source = Source::from_bytes(bytes, block_bytes).map_err(|e| Error::io(e).in_file(path))?;
        Events::new(path, source, Some(bytes.len() as u64), format)
    }

    fn new(
        path: &Path,
        mut source: Source<'a>,
        total: Option<u64>,
        format: Option<Format>,
    ) -> Result<Events<'a>, Error> {
        let format = tell_format(path, format, &mut source)?;
        let reader = Reader::new(format, &mut source).map_err(|stopped| stopped.in_file(path))?;
        let read = source.counter();
        Ok(Events { path: path.to_owned(), source, format, reader, read, total, events: 0 })
    }

    /// Goes on to the next part; false at the end.
    pub fn advance(&mut self) -> Result<bool, Error> {
        self.events += self.builder().len() as u64;
        self.reader.next(&mut self.source, self.events).map_err(|stopped| stopped.in_file(&self.path))
    }

    /// The events of the present part. Their ids are those of the names so far.
    pub fn rows(&self) -> Rows<'_> {
        self.builder().rows()
    }

    /// The names so far.
    pub fn names(&self) -> &Names {
        self.builder().names()
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// How many bytes were read, and of how many where that is known.
    pub fn progress(&self) -> (u64, Option<u64>) {
        (self.read.load(Ordering::Relaxed), self.total)
    }

    /// What the user should know, a sentence each, without a full stop; complete at the end.
    pub fn notices(&self) -> Vec<String> {
        match &self.reader {
            Reader::Text { tally, .. } => unknown_lines(tally).into_iter().collect(),
            Reader::RapidBin { notice, .. } => notice.iter().cloned().collect(),
            Reader::Rw(parts) => parts.notices().to_vec(),
        }
    }

    /// What is wrong with an event, with its place in the file.
    pub fn locate(&self, error: reweave_trace::Error) -> Error {
        let lines = match &self.reader {
            Reader::Text { tally, .. } => Some(&tally.map),
            _ => None,
        };
        Error::from_trace(error, &self.path, lines)
    }

    fn builder(&self) -> &Builder {
        match &self.reader {
            Reader::Text { builder, .. } | Reader::RapidBin { builder, .. } => builder,
            Reader::Rw(parts) => parts.builder(),
        }
    }
}

impl Reader {
    fn new(format: Format, source: &mut Source<'_>) -> Result<Reader, Stopped> {
        Ok(match format {
            Format::Std => Reader::text::<std_text::Parser>(),
            Format::RoadRunner => Reader::text::<roadrunner::Parser>(),
            Format::RapidCsv => Reader::text::<rapid_csv::Parser>(),
            Format::SpeedyGo => Reader::text::<speedygo::Parser>(),
            Format::RapidBin => {
                let head = source.head().map_err(|error| Stopped::Io(Error::io(error)))?;
                let header = rapidbin::Header::parse(head)?;
                source.skip(rapidbin::HEADER_BYTES);
                Reader::RapidBin { header, builder: Builder::new(), rest: 0, notice: None }
            }
            Format::Rw => Reader::Rw(Box::new(Parts::new(source)?)),
        })
    }

    fn text<P: LineParser + 'static>() -> Reader {
        let mut parser = P::default();
        let parse: ParseBlock =
            Box::new(move |block, builder, tally| parse_block(&mut parser, block, builder, tally));
        Reader::Text { parse, builder: Builder::new(), tally: Tally::default() }
    }

    /// Goes on to the next part, after so many `events`.
    fn next(&mut self, source: &mut Source<'_>, events: u64) -> Result<bool, Stopped> {
        let io = |error| Stopped::Io(Error::io(error));
        match self {
            Reader::Text { parse, builder, tally } => {
                builder.forget_events();
                let Some(block) = source.next(Cut::Lines).map_err(io)? else { return Ok(false) };
                parse(&block.bytes, builder, tally)?;
                Ok(true)
            }
            Reader::RapidBin { header, builder, rest, notice } => {
                builder.forget_events();
                let Some(block) = source.next(Cut::Records(rapidbin::EVENT_BYTES)).map_err(io)? else {
                    *notice = header.compare(events, *rest)?;
                    return Ok(false);
                };
                *rest = rapidbin::parse_block(&block.bytes, block.offset, builder)?;
                Ok(true)
            }
            Reader::Rw(parts) => parts.next(source),
        }
    }
}

impl Stopped {
    fn in_file(self, path: &Path) -> Error {
        match self {
            Stopped::Malformed(defect) => defect.in_file(path),
            Stopped::Io(error) => error.in_file(path),
        }
    }
}

#[cfg(test)]
mod tests;
