//! The way from a file, in any format, to a trace.
//!
//! Text is cut into blocks at ends of lines. Whoever parses blocks has names of their own, which last from block to block,
//! and what was parsed is appended to what comes before it: so the trace is the same for any number of jobs. One job
//! parses straight into the trace.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use reweave_trace::{Builder, Renaming, Repairs, Trace};

use crate::error::Malformed;
use crate::huge;
use crate::in_order::in_order;
use crate::mapped::Mapped;
use crate::source::{Block, Cut, Source};
use crate::text::{self, LineParser, Tally};
use crate::{Error, Format, LineMap, rapid_csv, rapidbin, roadrunner, rw, speedygo, std_text};

/// How to load a trace.
#[derive(Clone, Copy, Default)]
pub struct LoadOptions<'a> {
    /// The format; told by name and content where there is none.
    pub format: Option<Format>,
    /// Whether to mend a trace that is not well formed instead of refusing it.
    pub repair: bool,
    /// How many threads parse; 0 for as many as there are cores. The trace does not depend on it.
    pub jobs: usize,
    /// Called now and then with how many bytes were read, and of how many where that is known.
    pub progress: Option<Progress<'a>>,
}

/// Takes how many bytes were read, and of how many where that is known.
pub type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Sync);

/// A trace with what is known of the file it came from.
#[derive(Debug)]
pub struct Loaded {
    /// The trace.
    pub trace: Trace,
    /// The format it was in.
    pub format: Format,
    /// What had to be mended; empty unless that was asked for.
    pub repairs: Repairs,
    /// What the user should know, a sentence each, without a full stop.
    pub notices: Vec<String>,
    /// The size of the input, compressed as it was.
    pub bytes: u64,
    /// What they go into, where the format has streams.
    pub streams: Vec<(&'static str, u64)>,
    /// The line of each event, where the format has lines.
    pub lines: Option<LineMap>,
}

/// Loads the trace in a file, or from standard input if `path` is `-`.
pub fn load(path: &Path, options: &LoadOptions<'_>) -> Result<Loaded, Error> {
    let io_error = |source: io::Error| Error::Io { path: path.to_owned(), source };
    if path.as_os_str() == "-" {
        let path = Path::new("standard input");
        let source = Source::from_reader(io::stdin(), BLOCK_BYTES).map_err(|e| Error::io(e).in_file(path))?;
        return Load { path, options, total: None, serial: SERIAL_BYTES }.run(source);
    }
    let file = File::open(path).map_err(io_error)?;
    let about = file.metadata().map_err(io_error)?;
    // Files of the system that are made when they are read have no size.
    if !about.is_file() || about.len() == 0 {
        let source = Source::from_reader(file, BLOCK_BYTES).map_err(io_error)?;
        return Load { path, options, total: None, serial: SERIAL_BYTES }.run(source);
    }
    let mapped = Mapped::new(&file, about.len()).map_err(io_error)?;
    let source = Source::from_bytes(&mapped, BLOCK_BYTES).map_err(io_error)?;
    Load { path, options, total: Some(about.len()), serial: SERIAL_BYTES }.run(source)
}

/// Loads the trace in `bytes` as if it were the content of a file called `name`.
pub fn load_bytes(name: &str, bytes: &[u8], options: &LoadOptions<'_>) -> Result<Loaded, Error> {
    let path = Path::new(name);
    let source = Source::from_bytes(bytes, BLOCK_BYTES).map_err(|e| Error::io(e).in_file(path))?;
    Load { path, options, total: Some(bytes.len() as u64), serial: SERIAL_BYTES }.run(source)
}

/// Decodes the events in `bytes` as [`load_bytes`] does, without the check that they make up a trace.
pub fn decode_bytes(name: &str, bytes: &[u8], options: &LoadOptions<'_>) -> Result<Builder, Error> {
    let path = Path::new(name);
    let mut source = Source::from_bytes(bytes, BLOCK_BYTES).map_err(|e| Error::io(e).in_file(path))?;
    let load = Load { path, options, total: Some(bytes.len() as u64), serial: SERIAL_BYTES };
    let format = load.format(&mut source)?;
    load.parse(format, source).map(|parsed| parsed.builder).map_err(|error| error.in_file(path))
}

/// As [`load_bytes`], with blocks of about `block_bytes`, in parallel from two of them on.
#[cfg(test)]
pub(crate) fn load_blocks(
    name: &str,
    bytes: &[u8],
    block_bytes: usize,
    options: &LoadOptions<'_>,
) -> Result<Loaded, Error> {
    let path = Path::new(name);
    let source = Source::from_bytes(bytes, block_bytes).map_err(|e| Error::io(e).in_file(path))?;
    Load { path, options, total: Some(bytes.len() as u64), serial: block_bytes }.run(source)
}

/// The format asked for; else what the content says beyond doubt, what the name says, and what the content looks like.
pub(crate) fn tell_format(
    path: &Path,
    asked: Option<Format>,
    source: &mut Source<'_>,
) -> Result<Format, Error> {
    if let Some(format) = asked {
        return Ok(format);
    }
    let head = source.head().map_err(|e| Error::io(e).in_file(path))?;
    if head.starts_with(rw::MAGIC) {
        return Ok(Format::Rw);
    }
    Format::from_path(path)
        .or_else(|| Format::sniff(head))
        .ok_or_else(|| Error::UnknownFormat { path: path.to_owned(), looked: true })
}

/// A notice about lines that were passed over.
pub(crate) fn unknown_lines(tally: &Tally) -> Option<String> {
    tally.unknown.map(|(count, first)| {
        format!("{count} lines have an operation that is not known and were passed over, the first on line {first}")
    })
}

/// A notice about waits that were taken to be logged when their thread went to sleep.
fn early_waits(count: u64) -> Option<String> {
    let (are, threads) = if count == 1 { ("wait is", "its thread") } else { ("waits are", "their threads") };
    (count > 0).then(|| {
        format!(
            "{count} {are} logged where {threads} went to sleep, and taken to end at the acquire that follows"
        )
    })
}

/// Large enough that starting on a block costs nothing, small enough that its events stay in cache and that no job is left
/// with much more than the others in the end.
const BLOCK_BYTES: usize = 1 << 19;

/// Up to here another job takes longer to start than it saves.
const SERIAL_BYTES: usize = 4 << 20;

struct Load<'a> {
    path: &'a Path,
    options: &'a LoadOptions<'a>,
    total: Option<u64>,
    /// An input of up to so many bytes that is in memory is parsed by one job.
    serial: usize,
}

/// Blocks parsed apart from others, one after another: what is known by name stays known, and its memory is used again.
#[derive(Default)]
struct Part<P> {
    parser: P,
    builder: Builder,
    /// The ids of `builder` as those of the whole.
    ids: Renaming,
}

/// What a reader hands on.
struct Parsed {
    builder: Builder,
    lines: Option<LineMap>,
    notices: Vec<String>,
    streams: Vec<(&'static str, u64)>,
}

impl Load<'_> {
    fn run(&self, mut source: Source<'_>) -> Result<Loaded, Error> {
        let counter = source.counter();
        let format = self.format(&mut source)?;
        let Parsed { mut builder, lines, mut notices, streams } =
            self.parse(format, source).map_err(|error| error.in_file(self.path))?;
        // Our own recorder logs a wait when it ends.
        if format != Format::Rw {
            notices.extend(early_waits(builder.settle_waits()));
        }
        let (trace, repairs) = if self.options.repair {
            builder.repair()
        } else {
            builder.finish().map(|t| (t, Repairs::default()))
        }
        .map_err(|error| Error::from_trace(error, self.path, lines.as_ref()))?;
        let bytes = self.total.unwrap_or_else(|| counter.load(Ordering::Relaxed));
        Ok(Loaded { trace, format, repairs, notices, bytes, streams, lines })
    }

    fn format(&self, source: &mut Source<'_>) -> Result<Format, Error> {
        tell_format(self.path, self.options.format, source)
    }

    fn parse(&self, format: Format, source: Source<'_>) -> Result<Parsed, Error> {
        match format {
            Format::Std => self.text::<std_text::Parser>(source),
            Format::RoadRunner => self.text::<roadrunner::Parser>(source),
            Format::RapidCsv => self.text::<rapid_csv::Parser>(source),
            Format::SpeedyGo => self.text::<speedygo::Parser>(source),
            Format::RapidBin => self.rapidbin(source),
            Format::Rw => {
                let bytes: Cow<'_, [u8]> = source.rest().map_err(Error::io)?;
                let rw::Read { builder, notices } =
                    rw::read(&bytes, self.jobs()).map_err(|defect| defect.in_file(self.path))?;
                let streams = rw::sizes(&bytes).map_err(|defect| defect.in_file(self.path))?;
                Ok(Parsed { builder, lines: None, notices, streams })
            }
        }
    }

    fn text<P: LineParser>(&self, source: Source<'_>) -> Result<Parsed, Error> {
        let (builder, tally) = self.blocks(source, Cut::Lines, |parser: &mut P, block, builder, tally| {
            text::parse_block(parser, &block.bytes, builder, tally)
        })?;
        let notices = unknown_lines(&tally).into_iter().collect();
        Ok(Parsed { builder, lines: Some(tally.map), notices, streams: Vec::new() })
    }

    fn rapidbin(&self, mut source: Source<'_>) -> Result<Parsed, Error> {
        let malformed = |defect: Malformed| defect.in_file(self.path);
        let header = rapidbin::Header::parse(source.head().map_err(Error::io)?).map_err(malformed)?;
        source.skip(rapidbin::HEADER_BYTES);
        let cut = Cut::Records(rapidbin::EVENT_BYTES);
        let rest = AtomicUsize::new(0);
        let (builder, _) = self.blocks(source, cut, |(): &mut (), block, builder, _| {
            let left = rapidbin::parse_block(&block.bytes, block.offset, builder)?;
            rest.fetch_max(left, Ordering::Relaxed);
            Ok(())
        })?;
        let notice = header.compare(builder.len() as u64, rest.into_inner()).map_err(malformed)?;
        Ok(Parsed { builder, lines: None, notices: notice.into_iter().collect(), streams: Vec::new() })
    }

    /// Parses block after block, in parallel where that is worth it.
    fn blocks<P: Default + Send>(
        &self,
        mut source: Source<'_>,
        cut: Cut,
        parse: impl Fn(&mut P, &Block<'_>, &mut Builder, &mut Tally) -> Result<(), Malformed> + Sync,
    ) -> Result<(Builder, Tally), Error> {
        let (mut builder, mut tally) = (Builder::new(), Tally::default());
        let counter = source.counter();
        let progress = || {
            if let Some(progress) = self.options.progress {
                progress(counter.load(Ordering::Relaxed), self.total);
            }
        };
        let jobs = self.jobs();
        if jobs == 1 || source.is_within(self.serial) {
            let mut parser = P::default();
            while let Some(block) = source.next(cut).map_err(Error::io)? {
                parse(&mut parser, &block, &mut builder, &mut tally).map_err(|d| d.in_file(self.path))?;
                self.make_room(block.extent(), &mut builder);
                progress();
            }
            return Ok((builder, tally));
        }
        let parts = Mutex::new(Vec::<Part<P>>::new());
        let parts = || parts.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |block: Block<'_>| {
            let (mut part, mut tally) = (parts().pop().unwrap_or_default(), Tally::default());
            part.builder.forget_events();
            let parsed = parse(&mut part.parser, &block, &mut part.builder, &mut tally);
            (parsed, block.extent(), part, tally)
        };
        let next = || source.next(cut).map_err(Error::io);
        in_order(jobs, next, work, |(parsed, extent, mut part, lines)| {
            parsed.map_err(|defect| tally.locate(defect).in_file(self.path))?;
            builder
                .append(&part.builder, &mut part.ids)
                .map_err(|source| Error::Limit { path: self.path.to_owned(), source })?;
            tally.append(&lines).map_err(|defect| defect.in_file(self.path))?;
            parts().push(part);
            self.make_room(extent, &mut builder);
            progress();
            Ok(())
        })?;
        Ok((builder, tally))
    }

    /// Once the first block is read, sets memory aside for as many events as there will be if all blocks are like it.
    fn make_room(&self, block: Range<u64>, builder: &mut Builder) {
        let (0, Some(total), 1..) = (block.start, self.total, block.end) else { return };
        let left = total.saturating_sub(block.end);
        let events = u128::from(left) * builder.len() as u128 / u128::from(block.end);
        // One in a hundred more, for lines that are shorter. Without the memory, columns grow as they are filled.
        if let Ok(events) = u32::try_from(events + events / 100)
            && builder.try_reserve(events as usize).is_ok()
        {
            builder.reserved().into_iter().for_each(huge::ask);
        }
    }

    fn jobs(&self) -> usize {
        match self.options.jobs {
            0 => thread::available_parallelism().map_or(1, usize::from),
            jobs => jobs,
        }
    }
}
