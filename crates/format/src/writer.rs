//! What writers of every format have in common.

use std::ops::Range;

use reweave_trace::{ContextId, Dependences, Ending, Event, EventId, Names, ThreadId, Trace, Value};

use crate::Error;

/// Takes events one after another and writes them out in bounded memory.
pub trait TraceWriter {
    /// Writes one event, with the value it read and the value it wrote where they are known.
    ///
    /// `names` has the names of all ids in `event`; between calls it may only grow.
    fn event(
        &mut self,
        names: &Names,
        event: &Event,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error>;

    /// Writes events of `trace`, as by [`TraceWriter::event`] for each; [`one_by_one`] does just that. Without a default, so that a
    /// writer that stands before another one cannot forget to pass it on.
    fn events(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error>;

    /// The events of `thread` from now on are in `context`, which is among `names.contexts`. Formats that have no place for
    /// that pass over it.
    fn context(&mut self, _names: &Names, _thread: ThreadId, _context: ContextId) -> Result<(), Error> {
        Ok(())
    }

    /// The next event was at `place` in the code. A line may have several, and each goes its own way: a format that predicts
    /// does better to tell them apart. What is read again is the same.
    fn place(&mut self, _place: u64) {}

    /// Writes the table of dependences of a trace, all of whose events were written.
    fn dependences(&mut self, names: &Names, table: &Dependences) -> Result<(), Error>;

    /// Writes the stable names of sites, once all events were written. Formats that have no place for that pass over it.
    fn stable_sites(&mut self, _names: &Names) -> Result<(), Error> {
        Ok(())
    }

    /// How the run failed by itself; told at any time before the end. Formats that have no place for that pass over it.
    fn ending(&mut self, _ending: &Ending) -> Result<(), Error> {
        Ok(())
    }

    /// Writes what is still held back and closes the document.
    fn finish(&mut self) -> Result<(), Error>;
}

/// Writes events of `trace` with a call of [`TraceWriter::event`] for each.
pub fn one_by_one(
    writer: &mut (impl TraceWriter + ?Sized),
    trace: &Trace,
    range: Range<usize>,
) -> Result<(), Error> {
    for id in range.map(EventId::from_index) {
        let values = trace.values(id);
        let value = |id| trace.value(id);
        writer.event(trace.names(), &trace.event(id), values.read.map(value), values.written.map(value))?;
    }
    Ok(())
}
