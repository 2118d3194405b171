//! The writer of RAPID's binary format.

use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::PathBuf;

use reweave_trace::{Dependences, Event, Names, Space, Trace, Value};

use super::{HEADER_BYTES, KINDS, OPERATION_BITS, SITE_BITS, TARGET_BITS, THREAD_BITS};
use crate::{Error, Format, TraceWriter, one_by_one};

/// Writes events as they come, and the header over its placeholder in the end.
pub(crate) struct Writer<W: Write + Seek> {
    out: BufWriter<W>,
    started: bool,
    events: u64,
    /// Per space, one more than the highest number so far.
    counts: [u32; Space::ALL.len()],
}

impl<W: Write + Seek> Writer<W> {
    pub(crate) fn new(out: W) -> Writer<W> {
        Writer {
            out: BufWriter::with_capacity(1 << 16, out),
            started: false,
            events: 0,
            counts: [0; Space::ALL.len()],
        }
    }

    fn start(&mut self) -> Result<(), Error> {
        if !std::mem::replace(&mut self.started, true) {
            self.out.write_all(&[0; HEADER_BYTES]).map_err(Error::io)?;
        }
        Ok(())
    }

    fn count(&mut self, space: Space, number: u32) {
        let count = &mut self.counts[space as usize];
        *count = (*count).max(number + 1);
    }

    fn bits(&mut self, event: &Event) -> Result<u64, String> {
        let kind = event.op.kind();
        let Some(code) = KINDS.iter().position(|&known| known == kind) else {
            return Err(format!("it has no `{}`", crate::operation::word(kind)));
        };
        let child = (kind.space() == Some(Space::Thread)).then_some(event.op.target());
        if event.thread.0.max(child.unwrap_or(0)) >= 1 << THREAD_BITS {
            return Err(format!("it has {} threads at most", 1 << THREAD_BITS));
        }
        if event.site.0 >= 1 << SITE_BITS {
            return Err(format!("it has {} sites at most", 1 << SITE_BITS));
        }
        self.count(Space::Thread, event.thread.0);
        if let Some(space) = kind.space() {
            self.count(space, event.op.target());
        }
        if self.counts.iter().any(|&count| count > i32::MAX as u32) {
            return Err(format!("it has {} locks and as many variables at most", i32::MAX));
        }
        let mut start = 0;
        let mut bits = 0;
        for (field, width) in [
            (u64::from(event.thread.0), THREAD_BITS),
            (code as u64, OPERATION_BITS),
            (u64::from(event.op.target()), TARGET_BITS),
            (u64::from(event.site.0), SITE_BITS),
        ] {
            bits |= field << start;
            start += width;
        }
        Ok(bits)
    }

    fn header(&self) -> [u8; HEADER_BYTES] {
        let count = |space: Space| self.counts[space as usize];
        let mut header = [0; HEADER_BYTES];
        header[..2].copy_from_slice(&(count(Space::Thread) as i16).to_be_bytes());
        header[2..6].copy_from_slice(&(count(Space::Lock) as i32).to_be_bytes());
        header[6..10].copy_from_slice(&(count(Space::Variable) as i32).to_be_bytes());
        header[10..].copy_from_slice(&(self.events as i64).to_be_bytes());
        header
    }
}

impl<W: Write + Seek> TraceWriter for Writer<W> {
    fn event(
        &mut self,
        _: &Names,
        event: &Event,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        self.start()?;
        let refuse = |event: u64, message: String| {
            Err(Error::Unrepresentable { path: PathBuf::new(), format: Format::RapidBin, event, message })
        };
        if read.is_some() || written.is_some() {
            return refuse(self.events, "it has no values".to_owned());
        }
        let bits = match self.bits(event) {
            Ok(bits) => bits,
            Err(message) => return refuse(self.events, message),
        };
        self.out.write_all(&bits.to_be_bytes()).map_err(Error::io)?;
        self.events += 1;
        Ok(())
    }

    fn events(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error> {
        one_by_one(self, trace, range)
    }

    fn dependences(&mut self, _: &Names, _: &Dependences) -> Result<(), Error> {
        let message = "it has no room for a table of dependences".to_owned();
        Err(Error::Unrepresentable {
            path: PathBuf::new(),
            format: Format::RapidBin,
            event: self.events,
            message,
        })
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.start()?;
        let header = self.header();
        let mut over = || {
            self.out.seek(SeekFrom::Start(0))?;
            self.out.write_all(&header)?;
            self.out.flush()
        };
        over().map_err(Error::io)
    }
}
