//! The calling contexts of a block: calls that were not known before, and where threads went to another context.
//!
//! A context is a call and the context it was made in. They are numbered from 1 in the file; 0 is that of no call. A change
//! says that the thread of an event was in a context from that event on. It is predicted from the thread's last two
//! contexts: what followed them last.

use crate::varint::{self, Input};
use crate::{Chunk, ChunkKind, Crc, Damaged};

const ENTRIES: usize = 1 << 12;

/// What followed two contexts last; forgotten at the end of a block.
#[derive(Clone, Debug)]
pub struct ContextTable {
    next: [u32; ENTRIES],
}

impl Default for ContextTable {
    fn default() -> ContextTable {
        ContextTable { next: [0; ENTRIES] }
    }
}

impl ContextTable {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.next.fill(0);
    }

    /// Where the prediction for a thread is that was in the second of two contexts, and before in the first.
    #[inline]
    fn place(&mut self, last: [u32; 2]) -> &mut u32 {
        let hash = last[0].wrapping_mul(0x184B_AF46).wrapping_add(last[1].wrapping_mul(0x85EB_CA6B));
        &mut self.next[(hash >> 20) as usize % ENTRIES]
    }
}

/// Writes the contexts of a block: all calls first, then all changes.
#[derive(Debug)]
pub struct ContextWriter {
    crc: Crc,
    bytes: u32,
    calls: u32,
    changes: u32,
    /// The position after the last change.
    position: u32,
}

impl ContextWriter {
    /// Starts the payload; `defined` contexts were defined before.
    pub fn new(defined: u32, sink: &mut impl FnMut(&[u8])) -> ContextWriter {
        let mut writer = ContextWriter { crc: Crc::default(), bytes: 0, calls: 0, changes: 0, position: 0 };
        writer.number(u64::from(defined), sink);
        writer
    }

    fn number(&mut self, number: u64, sink: &mut impl FnMut(&[u8])) {
        let (bytes, count) = varint::encode(number);
        let bytes = &bytes[..count];
        self.crc.add(bytes);
        self.bytes += count as u32;
        sink(bytes);
    }

    /// The next context: a call at `site` in the context `parent`.
    pub fn call(&mut self, parent: u32, site: u32, sink: &mut impl FnMut(&[u8])) {
        self.calls += 1;
        self.number(u64::from(parent), sink);
        self.number(u64::from(site), sink);
    }

    /// The thread of the event at `position` of the block, whose `last` two contexts these were, is in `context`.
    ///
    /// Positions must grow.
    pub fn change(
        &mut self,
        table: &mut ContextTable,
        position: u32,
        last: [u32; 2],
        context: u32,
        sink: &mut impl FnMut(&[u8]),
    ) {
        let gap = u64::from(position.wrapping_sub(self.position));
        let place = table.place(last);
        let missed = *place != context;
        *place = context;
        self.changes += 1;
        self.position = position.wrapping_add(1);
        self.number(gap << 1 | u64::from(missed), sink);
        if missed {
            self.number(u64::from(context), sink);
        }
    }

    /// The head that goes before the payload.
    pub fn head(self, first_event: u64) -> Chunk {
        Chunk {
            kind: ChunkKind::Contexts,
            codec: 0,
            payload: self.bytes,
            events: self.changes,
            names: self.calls,
            first_event,
            payload_crc: self.crc.value(),
        }
    }
}

/// Reads the contexts of a block.
#[derive(Debug)]
pub struct ContextReader<'b> {
    input: Input<'b>,
    defined: u32,
    calls: u32,
    changes: u32,
    position: u32,
}

impl<'b> ContextReader<'b> {
    /// Opens a payload.
    pub fn new(head: &Chunk, payload: &'b [u8]) -> Result<ContextReader<'b>, Damaged> {
        let mut input = Input::new(payload);
        let defined = input.small().ok_or(CUT)?;
        Ok(ContextReader { input, defined, calls: head.names, changes: head.events, position: 0 })
    }

    /// How many contexts were defined before those still to be read.
    pub fn defined(&self) -> u32 {
        self.defined
    }

    /// The next context: the context of its call, and the call's site. All have to be read before the first change.
    pub fn call(&mut self) -> Result<Option<(u32, u32)>, Damaged> {
        let Some(calls) = self.calls.checked_sub(1) else { return Ok(None) };
        self.calls = calls;
        let parent = self.input.small().ok_or(CUT)?;
        let site = self.input.small().ok_or(CUT)?;
        if parent > self.defined {
            return Err(Damaged("a call is in a context that is not defined"));
        }
        self.defined = self.defined.checked_add(1).ok_or(Damaged("there are too many contexts"))?;
        Ok(Some((parent, site)))
    }

    /// The position of the next change, and the context where it is not as predicted.
    pub fn change(&mut self) -> Result<Option<(u32, Option<u32>)>, Damaged> {
        let Some(changes) = self.changes.checked_sub(1) else {
            let rest = Damaged("something follows the contexts of a block");
            return if self.input.is_empty() { Ok(None) } else { Err(rest) };
        };
        self.changes = changes;
        let number = self.input.number().ok_or(CUT)?;
        let beyond = Damaged("a context changes beyond the end of the block");
        let position =
            u64::from(self.position).checked_add(number >> 1).and_then(|sum| u32::try_from(sum).ok());
        let position = position.ok_or(beyond)?;
        self.position = position.checked_add(1).ok_or(beyond)?;
        let context = if number & 1 == 0 { None } else { Some(self.input.small().ok_or(CUT)?) };
        Ok(Some((position, context)))
    }

    /// The context of a change: what it says, or else what the thread's `last` two contexts predict.
    pub fn resolve(
        &self,
        table: &mut ContextTable,
        last: [u32; 2],
        said: Option<u32>,
    ) -> Result<u32, Damaged> {
        let place = table.place(last);
        let context = said.unwrap_or(*place);
        *place = context;
        if context > self.defined {
            return Err(Damaged("an event is in a context that is not defined"));
        }
        Ok(context)
    }
}

const CUT: Damaged = Damaged("the contexts of a block are cut short");
