//! The way from a trace to a file.

use std::ffi::OsStr;
use std::io::{Cursor, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use reweave_trace::{Capabilities, ContextId, Dependences, Ending, Event, Names, ThreadId, Trace, Value};

use crate::output::Output;
use crate::{Error, Format, TraceWriter, rapidbin, rw, std_text};

/// Writes `trace` to a file, or to standard output if `path` is `-`; answers with the number of bytes.
///
/// The format is told by the name where it is not given; `.zst` at the end compresses text.
pub fn save(trace: &Trace, path: &Path, format: Option<Format>) -> Result<u64, Error> {
    let mut writer = FileWriter::create(path, format, trace.capabilities())?;
    write_trace(trace, &mut writer)?;
    writer.commit()
}

/// The content of a file with `trace` in it.
pub fn save_bytes(trace: &Trace, format: Format) -> Result<Vec<u8>, Error> {
    let mut bytes = Cursor::new(Vec::new());
    write_trace(trace, &mut *writer(&mut bytes, format, trace.capabilities())?)?;
    Ok(bytes.into_inner())
}

/// Starts a file to be written event by event. It gets its name when it is finished; dropped before, nothing is left.
pub fn create(
    path: &Path,
    format: Option<Format>,
    capabilities: Capabilities,
) -> Result<Box<dyn TraceWriter>, Error> {
    Ok(Box::new(FileWriter::create(path, format, capabilities)?))
}

/// Writes every event of `trace`, skipped positions included, and finishes.
pub fn write_trace(trace: &Trace, writer: &mut dyn TraceWriter) -> Result<(), Error> {
    let mut at = 0;
    for (event, thread, context) in trace.context_changes() {
        writer.events(trace, at..event.index())?;
        at = event.index();
        writer.context(trace.names(), thread, context)?;
    }
    writer.events(trace, at..trace.len())?;
    if let Some(table) = trace.dependences() {
        writer.dependences(trace.names(), table)?;
    }
    if !trace.names().stable.is_empty() {
        writer.stable_sites(trace.names())?;
    }
    if let Some(ending) = trace.ending() {
        writer.ending(ending)?;
    }
    writer.finish()
}

fn writer<'a>(
    out: impl Write + Seek + 'a,
    format: Format,
    capabilities: Capabilities,
) -> Result<Box<dyn TraceWriter + 'a>, Error> {
    Ok(match format {
        Format::Std => Box::new(std_text::Writer::new(out, capabilities)),
        Format::RapidBin => Box::new(rapidbin::Writer::new(out)),
        Format::Rw => Box::new(rw::Writer::new(out, capabilities)),
        Format::RoadRunner | Format::RapidCsv | Format::SpeedyGo => {
            return Err(Error::Unsupported { path: PathBuf::new(), format, what: "written" });
        }
    })
}

/// A writer with the file that it writes to.
struct FileWriter {
    writer: Box<dyn TraceWriter>,
    output: Output,
    path: PathBuf,
}

impl FileWriter {
    fn create(path: &Path, format: Option<Format>, capabilities: Capabilities) -> Result<FileWriter, Error> {
        let standard = path.as_os_str() == "-";
        let format = format
            .or_else(|| Format::from_path(path))
            .or(standard.then_some(Format::Std))
            .ok_or_else(|| Error::UnknownFormat { path: path.to_owned(), looked: false })?;
        let unsupported = |what| Err(Error::Unsupported { path: path.to_owned(), format, what });
        let compress = match path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase).as_deref()
        {
            Some("gz") => return unsupported("written with gzip"),
            Some("zst") if !format.is_text() => return unsupported("written compressed"),
            extension => extension == Some("zst"),
        };
        if !format.is_written() {
            return unsupported("written");
        }
        let output = Output::create(path, compress, format == Format::RapidBin)
            .map_err(|source| Error::Io { path: path.to_owned(), source })?;
        let writer = writer(output.clone(), format, capabilities)?;
        Ok(FileWriter { writer, output, path: path.to_owned() })
    }

    /// Gives the file its name; answers with its size.
    fn commit(&mut self) -> Result<u64, Error> {
        self.output.commit().map_err(|source| Error::Io { path: self.path.clone(), source })
    }
}

impl TraceWriter for FileWriter {
    fn event(
        &mut self,
        names: &Names,
        event: &Event,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        self.writer.event(names, event, read, written).map_err(|error| error.in_file(&self.path))
    }

    fn events(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error> {
        self.writer.events(trace, range).map_err(|error| error.in_file(&self.path))
    }

    fn context(&mut self, names: &Names, thread: ThreadId, context: ContextId) -> Result<(), Error> {
        self.writer.context(names, thread, context).map_err(|error| error.in_file(&self.path))
    }

    fn place(&mut self, place: u64) {
        self.writer.place(place);
    }

    fn dependences(&mut self, names: &Names, table: &Dependences) -> Result<(), Error> {
        self.writer.dependences(names, table).map_err(|error| error.in_file(&self.path))
    }

    fn stable_sites(&mut self, names: &Names) -> Result<(), Error> {
        self.writer.stable_sites(names).map_err(|error| error.in_file(&self.path))
    }

    fn ending(&mut self, ending: &Ending) -> Result<(), Error> {
        self.writer.ending(ending).map_err(|error| error.in_file(&self.path))
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.writer.finish().map_err(|error| error.in_file(&self.path))?;
        self.commit().map(drop)
    }
}
