//! The writer: events in, blocks out, in bounded memory.
//!
//! It holds one block, an id for each name, the recent values that are not numbers, and eight bytes a block for the
//! index.

mod bulk;

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;

use reweave_trace::{
    Capabilities, ContextId, Dependences, Ending, Event, EventId, EventValues, Kind, Name, Names, Rows,
    SiteId, Space, Table, ThreadId, Trace, Value,
};
use reweave_wire::{Chunk, Claims, Closed, Encoder, End, FileHeader, FooterEncoder, Full, SPACES, VERSION};

use super::codes;
use super::contexts::Pending;
use super::places::{Found, Places};
use crate::{Error, TraceWriter};

const BUFFER_BYTES: usize = 1 << 20;

/// Beyond this, recent texts are forgotten: a text that comes again is defined again.
const MAX_TEXT_BYTES: usize = 1 << 24;

/// What claims are true only once the whole trace is written: a table of dependences is of the whole trace.
const TENTATIVE: Claims = Claims::DEPENDENCES;

const NONE: u32 = u32::MAX;

/// Writes a `.rw` file.
pub(crate) struct Writer<W: Write> {
    out: W,
    encoder: Box<Encoder<Vec<u8>>>,
    /// By space, the file's id of each of the trace's ids.
    ids: [FileIds; SPACES],
    texts: HashMap<String, u32>,
    text_bytes: usize,
    claims: Claims,
    contexts: Pending,
    places: Places,
    /// The blocks so far.
    index: Vec<Closed>,
    /// What is to be written at once.
    block: Vec<u8>,
    /// The table of dependences, which goes before the footer.
    dependences: Vec<u8>,
    /// The stable names of sites, which go after that.
    sites: Vec<u8>,
    /// How the run ended, which goes last.
    ending: Option<String>,
    part: bulk::Part,
    written: u64,
    finished: bool,
}

impl<W: Write> Writer<W> {
    /// A file that claims `capabilities`; nothing is written before the first block is full.
    pub(crate) fn new(out: W, capabilities: Capabilities) -> Writer<W> {
        let claims = codes::claims(capabilities);
        let tentative = claims.without(claims.without(TENTATIVE));
        let header = FileHeader { version: VERSION, claims, tentative };
        Writer {
            out,
            encoder: Box::new(Encoder::new(vec![0; BUFFER_BYTES])),
            ids: Default::default(),
            texts: HashMap::new(),
            text_bytes: 0,
            claims,
            contexts: Pending::default(),
            places: Places::default(),
            index: Vec::new(),
            block: header.encode().to_vec(),
            dependences: Vec::new(),
            sites: Vec::new(),
            ending: None,
            part: bulk::Part::default(),
            written: 0,
            finished: false,
        }
    }

    /// Stores events by `codec` whatever would be shorter.
    #[cfg(test)]
    pub(super) fn choose(&mut self, codec: reweave_wire::Codec) {
        self.encoder.choose(Some(codec));
    }

    /// The file's id of the trace's `id`, whose name is in `names`.
    #[inline]
    fn id(&mut self, space: reweave_wire::Space, id: u32, names: &Table) -> Result<u32, Error> {
        if let Some(known) = self.ids[space as usize].get(id) {
            return Ok(known);
        }
        // The rare case apart, so that ids pass in registers.
        match self.new_id(space, id, names) {
            Some(new) => Ok(new),
            None => self.new_id_in_next(space, id, names),
        }
    }

    /// A new id for a name, if the block has room for it.
    #[inline]
    fn new_id(&mut self, space: reweave_wire::Space, id: u32, names: &Table) -> Option<u32> {
        let new = match names.kept(id) {
            Name::Number(number) => self.encoder.define_number(space, number),
            Name::Text(text) => self.encoder.define(space, text.as_bytes()),
        };
        let new = new.ok()?;
        self.ids[space as usize].set(id, new, names.len());
        Some(new)
    }

    #[cold]
    fn new_id_in_next(&mut self, space: reweave_wire::Space, id: u32, names: &Table) -> Result<u32, Error> {
        self.close()?;
        self.new_id(space, id, names).ok_or_else(|| too_long(names.get(id)))
    }

    fn define(&mut self, space: reweave_wire::Space, name: &str) -> Result<u32, Error> {
        if let Ok(id) = self.encoder.define(space, name.as_bytes()) {
            return Ok(id);
        }
        self.close()?;
        self.encoder.define(space, name.as_bytes()).map_err(|Full| too_long(name))
    }

    // Inlined, and the rare case apart, so that values pass in registers.
    #[inline(always)]
    fn value(&mut self, value: Option<Value<'_>>) -> Result<reweave_wire::Value, Error> {
        match value {
            None => Ok(reweave_wire::Value::Absent),
            Some(Value::Number(number)) => Ok(reweave_wire::Value::Number(number)),
            Some(Value::Text(text)) => self.text(text).map(reweave_wire::Value::Text),
        }
    }

    #[cold]
    fn text(&mut self, text: &str) -> Result<u32, Error> {
        match self.texts.get(text) {
            Some(&id) => Ok(id),
            None => self.define_text(text),
        }
    }

    fn define_text(&mut self, text: &str) -> Result<u32, Error> {
        let id = self.define(reweave_wire::Space::Text, text)?;
        self.text_bytes += text.len() + size_of::<(String, u32)>();
        if self.text_bytes > MAX_TEXT_BYTES {
            self.texts.clear();
            self.text_bytes = 0;
        }
        self.texts.insert(text.to_owned(), id);
        Ok(id)
    }

    /// Writes the block and begins the next.
    pub(super) fn close(&mut self) -> Result<(), Error> {
        let first = self.encoder.total_events() - self.encoder.events() as u64;
        self.contexts.write(first, &mut self.block);
        let closed = self.encoder.close(&mut |bytes| self.block.extend_from_slice(bytes));
        self.index.push(closed);
        self.flush()
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.out.write_all(&self.block).map_err(Error::io)?;
        self.written += self.block.len() as u64;
        self.block.clear();
        Ok(())
    }

    /// Makes sure that the file knows a context and all that it is in.
    fn define_context(&mut self, names: &Names, context: ContextId) -> Result<(), Error> {
        let mut unknown = Vec::new();
        let mut next = context;
        while self.contexts.id(next).is_none() {
            let Some((parent, site)) = names.contexts.call(next) else { break };
            unknown.push((next, parent, site));
            next = parent;
        }
        for (context, parent, site) in unknown.into_iter().rev() {
            let site = self.id(reweave_wire::Space::Site, site.0, &names.sites)?;
            let parent = self.contexts.id(parent).unwrap_or(0);
            self.contexts.define(context, parent, site);
        }
        if self.contexts.is_full() { self.close() } else { Ok(()) }
    }

    /// The file's id of a site where it is at `place`: one of its own for a place that is often come by.
    fn site_at(&mut self, place: u64, site: SiteId, names: &Names) -> Result<u32, Error> {
        match self.places.find(place, site) {
            Found::Id(id) => Ok(id),
            Found::Site => self.id(reweave_wire::Space::Site, site.0, &names.sites),
            Found::Often => {
                let id = self.define(reweave_wire::Space::Site, names.sites.get(site.0))?;
                self.places.set(place, site, id);
                Ok(id)
            }
        }
    }

    /// Writes an event: its kind, thread, target and site, and its values.
    #[inline]
    fn row(
        &mut self,
        names: &Names,
        (kind, thread, target, site): (Kind, ThreadId, u32, SiteId),
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        let thread_id = self.id(reweave_wire::Space::Thread, thread.0, names.space(Space::Thread))?;
        let mut event = reweave_wire::Event {
            thread: thread_id,
            op: codes::op(kind),
            target,
            site: 0,
            read: reweave_wire::Value::Absent,
            written: reweave_wire::Value::Absent,
        };
        if let Some(space) = event.op.space()
            && let Some(table) = codes::named(space).flatten()
        {
            event.target = self.id(space, target, names.space(table))?;
        }
        event.site = match self.places.next.take() {
            None => self.id(reweave_wire::Space::Site, site.0, &names.sites)?,
            Some(place) => self.site_at(place, site, names)?,
        };
        event.read = self.value(read)?;
        event.written = self.value(written)?;
        let due = if self.contexts.now.is_empty() { None } else { self.contexts.due(thread) };
        let Some(context) = due else { return self.put(&event) };
        self.define_context(names, context)?;
        self.put(&event)?;
        self.contexts.change(self.encoder.events() as u32 - 1, thread, thread_id, context);
        Ok(())
    }

    #[inline]
    fn put(&mut self, event: &reweave_wire::Event) -> Result<(), Error> {
        if self.encoder.event(event).is_ok() {
            return Ok(());
        }
        self.close()?;
        self.encoder.event(event).map_err(|Full| Error::io(io::ErrorKind::OutOfMemory.into()))
    }

    fn footer(&mut self) -> Result<(), Error> {
        let start = self.written;
        let blocks = self.index.len() as u32;
        let (mut footer, mut payload) = (FooterEncoder::default(), Vec::new());
        let mut sink = |bytes: &[u8]| payload.extend_from_slice(bytes);
        footer.start(self.claims, self.encoder.defined(), blocks, &mut sink);
        for block in &self.index {
            footer.block(block.payload, block.events, &mut sink);
        }
        let head = footer.head(blocks, self.encoder.total_events());
        self.block.extend_from_slice(&Chunk { names: self.contexts.chunks, ..head }.encode());
        self.block.append(&mut payload);
        self.block.extend_from_slice(&End { footer: start }.encode());
        self.flush()
    }
}

/// The file's ids of a trace's ids in one space. Most often they are the same.
#[derive(Default)]
struct FileIds {
    /// Below this, they are the same.
    same: u32,
    /// From there on, what they are.
    others: Vec<u32>,
}

impl FileIds {
    /// Whether some are not the same.
    fn differ(&self) -> bool {
        !self.others.is_empty()
    }

    #[inline]
    fn get(&self, id: u32) -> Option<u32> {
        if id < self.same {
            return Some(id);
        }
        self.others.get(id as usize).copied().filter(|&known| known != NONE)
    }

    /// The file's id of `id`, one of `names`, is `new`.
    #[inline]
    fn set(&mut self, id: u32, new: u32, names: usize) {
        if id == new && id == self.same {
            self.same += 1;
        } else {
            self.set_other(id, new, names);
        }
    }

    fn set_other(&mut self, id: u32, new: u32, names: usize) {
        if self.others.len() <= id as usize {
            // All at once, where all names are known.
            self.others.resize(names.max(id as usize + 1), NONE);
        }
        self.others[id as usize] = new;
    }
}

fn too_long(name: &str) -> Error {
    let message = format!("a name of {} bytes does not fit a block", name.len());
    Error::io(io::Error::new(io::ErrorKind::InvalidInput, message))
}

impl<W: Write> TraceWriter for Writer<W> {
    #[inline]
    fn event(
        &mut self,
        names: &Names,
        event: &Event,
        read: Option<Value<'_>>,
        written: Option<Value<'_>>,
    ) -> Result<(), Error> {
        let Event { thread, op, site } = *event;
        self.row(names, (op.kind(), thread, op.target(), site), read, written)
    }

    fn events(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error> {
        if self.contexts.now.is_empty() {
            return self.all(trace, range);
        }
        let Rows { kinds, threads, targets, sites } = trace.rows();
        let (names, has_values) = (trace.names(), trace.has_values());
        for i in range {
            let row = (kinds[i], threads.get(i), targets[i], sites[i]);
            let values = if has_values { trace.values(EventId::from_index(i)) } else { EventValues::NONE };
            let value = |id| trace.value(id);
            self.row(names, row, values.read.map(value), values.written.map(value))?;
        }
        Ok(())
    }

    fn context(&mut self, _: &Names, thread: ThreadId, context: ContextId) -> Result<(), Error> {
        self.contexts.told(thread, context);
        Ok(())
    }

    fn place(&mut self, place: u64) {
        self.places.next = Some(place);
    }

    fn dependences(&mut self, _: &Names, table: &Dependences) -> Result<(), Error> {
        let threads = &self.ids[reweave_wire::Space::Thread as usize];
        let events = self.encoder.total_events();
        super::dependences::write(events, table, |thread| threads.get(thread), &mut self.dependences);
        Ok(())
    }

    fn stable_sites(&mut self, names: &Names) -> Result<(), Error> {
        let sites = &self.ids[reweave_wire::Space::Site as usize];
        let events = self.encoder.total_events();
        super::sites::write(events, names, |site| sites.get(site), &mut self.sites);
        Ok(())
    }

    fn ending(&mut self, ending: &Ending) -> Result<(), Error> {
        self.ending = Some(ending.to_text());
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Error> {
        if self.finished {
            return Ok(());
        }
        self.finished = true;
        if self.encoder.events() > 0 || self.encoder.names() > 0 {
            self.close()?;
        } else {
            self.flush()?;
        }
        self.block.append(&mut self.dependences);
        self.block.append(&mut self.sites);
        if let Some(text) = self.ending.take() {
            super::ending::write(&text, self.encoder.total_events(), &mut self.block);
        }
        self.flush()?;
        self.footer()?;
        self.out.flush().map_err(Error::io)
    }
}
