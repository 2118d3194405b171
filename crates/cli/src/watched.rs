//! A trace writer that shows progress and can be interrupted.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use reweave_format::{Error, Format, TraceWriter};
use reweave_session::interrupt;
use reweave_trace::{Capabilities, ContextId, Dependences, Ending, Event, Names, ThreadId, Trace, Value};

use crate::console::Console;
use crate::progress::{Progress, Unit};

/// How many events are written between two looks around, less one.
const MASK: u64 = (1 << 14) - 1;

/// A file that is being written; nothing stays of it unless it is finished.
pub(crate) struct Watched {
    writer: Box<dyn TraceWriter>,
    path: PathBuf,
    progress: Progress,
    written: u64,
    total: u64,
}

impl Watched {
    /// Starts a file of `total` events.
    pub(crate) fn create(
        path: &Path,
        format: Option<Format>,
        capabilities: Capabilities,
        total: u64,
        console: &Console,
    ) -> anyhow::Result<Watched> {
        interrupt::defer()?;
        let writer = reweave_format::create(path, format, capabilities)?;
        let progress = Progress::new("writing", Unit::Events, console);
        Ok(Watched { writer, path: path.to_owned(), progress, written: 0, total })
    }

    #[cold]
    fn look_around(&self) -> Result<(), Error> {
        if interrupt::requested() {
            return Err(Error::Io { path: self.path.clone(), source: io::ErrorKind::Interrupted.into() });
        }
        self.progress.update(self.written, Some(self.total));
        Ok(())
    }
}

impl TraceWriter for Watched {
    fn event(
        &mut self,
        names: &Names,
        event: &Event,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        if self.written & MASK == 0 {
            self.look_around()?;
        }
        self.written += 1;
        self.writer.event(names, event, read, written)
    }

    fn events(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error> {
        let mut from = range.start;
        while from < range.end {
            self.look_around()?;
            let to = range.end.min(from + MASK as usize + 1);
            self.writer.events(trace, from..to)?;
            self.written += (to - from) as u64;
            from = to;
        }
        Ok(())
    }

    fn context(&mut self, names: &Names, thread: ThreadId, context: ContextId) -> Result<(), Error> {
        self.writer.context(names, thread, context)
    }

    fn place(&mut self, place: u64) {
        self.writer.place(place);
    }

    fn dependences(&mut self, names: &Names, table: &Dependences) -> Result<(), Error> {
        self.writer.dependences(names, table)
    }

    fn stable_sites(&mut self, names: &Names) -> Result<(), Error> {
        self.writer.stable_sites(names)
    }

    fn ending(&mut self, ending: &Ending) -> Result<(), Error> {
        self.writer.ending(ending)
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.look_around()?;
        self.writer.finish()
    }
}

/// What was written, for the user: `1,000 events, 3,100 bytes, 3.1 bytes an event`.
pub(crate) fn summary(path: &Path, events: u64) -> String {
    let events_text = crate::plural::count(events, "event");
    // What went to a pipe has no size afterwards.
    match std::fs::metadata(path) {
        Ok(about) if about.is_file() && path.as_os_str() != "-" => {
            let bytes = about.len();
            let each = if events == 0 {
                String::new()
            } else {
                format!(", {:.1} bytes an event", bytes as f64 / events as f64)
            };
            format!("{events_text}, {}{each}", crate::plural::count(bytes, "byte"))
        }
        _ => events_text,
    }
}
