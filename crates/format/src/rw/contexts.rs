//! Calling contexts, written before the block that they belong to, and read again.
//!
//! Before it, so that no block of a file that was cut off lacks them.

use reweave_trace::{Builder, ContextId, EventId, SiteId, ThreadId};
use reweave_wire::{CHUNK_BYTES, Chunk, ContextReader, ContextTable, ContextWriter, Damaged};

/// More calls than this are not held back: the block is closed. A chunk may have twice as many.
const MANY_CALLS: usize = 1 << 17;

const NONE: u32 = u32::MAX;

/// What is to be written before the block under way.
#[derive(Default)]
pub(super) struct Pending {
    /// The file's id of each of the trace's contexts.
    ids: Vec<u32>,
    /// How many contexts were written.
    defined: u32,
    calls: Vec<(u32, u32)>,
    /// Position in the block, thread as the file numbers it, and context.
    changes: Vec<(u32, u32, u32)>,
    /// Per thread of the trace, the context that it is in, where it was told of.
    pub(super) now: Vec<ContextId>,
    /// Per thread of the trace, the context that the file says.
    said: Vec<ContextId>,
    last: LastTwo,
    table: Option<Box<ContextTable>>,
    /// How many blocks have contexts.
    pub(super) chunks: u32,
}

/// The last two contexts of each thread, by the file's ids.
#[derive(Default)]
struct LastTwo(Vec<[u32; 2]>);

impl LastTwo {
    fn of(&mut self, thread: u32) -> &mut [u32; 2] {
        let thread = thread as usize;
        if self.0.len() <= thread {
            self.0.resize(thread + 1, [0; 2]);
        }
        &mut self.0[thread]
    }
}

fn entry(column: &mut Vec<ContextId>, thread: ThreadId) -> &mut ContextId {
    if column.len() <= thread.index() {
        column.resize(thread.index() + 1, ContextId::NONE);
    }
    &mut column[thread.index()]
}

impl Pending {
    /// A thread is in another context from its next event on.
    pub(super) fn told(&mut self, thread: ThreadId, context: ContextId) {
        *entry(&mut self.now, thread) = context;
    }

    /// The context that has to be said before the thread's next event.
    pub(super) fn due(&mut self, thread: ThreadId) -> Option<ContextId> {
        let now = *self.now.get(thread.index())?;
        (*entry(&mut self.said, thread) != now).then_some(now)
    }

    /// The file's id of a context, if it has one.
    pub(super) fn id(&self, context: ContextId) -> Option<u32> {
        if context == ContextId::NONE {
            return Some(0);
        }
        self.ids.get(context.index()).copied().filter(|&id| id != NONE)
    }

    /// Gives a context an id: the call at `site` in the context `parent`, both as the file numbers them.
    pub(super) fn define(&mut self, context: ContextId, parent: u32, site: u32) {
        self.calls.push((parent, site));
        if self.ids.len() <= context.index() {
            self.ids.resize(context.index() + 1, NONE);
        }
        self.ids[context.index()] = self.defined + self.calls.len() as u32;
    }

    /// Whether the block should be closed on account of its contexts.
    pub(super) fn is_full(&self) -> bool {
        self.calls.len() >= MANY_CALLS
    }

    /// The event at `position` of the block is the first of its thread in a context.
    pub(super) fn change(&mut self, position: u32, thread: ThreadId, file_thread: u32, context: ContextId) {
        let Some(id) = self.id(context) else { return };
        *entry(&mut self.said, thread) = context;
        self.changes.push((position, file_thread, id));
    }

    /// Appends what there is; the bytes of the block, which starts with event `first`, follow.
    pub(super) fn write(&mut self, first: u64, out: &mut Vec<u8>) {
        if self.calls.is_empty() && self.changes.is_empty() {
            return;
        }
        self.chunks += 1;
        let table = self.table.get_or_insert_default();
        table.clear();
        let start = out.len();
        out.resize(start + CHUNK_BYTES, 0);
        let mut sink = |bytes: &[u8]| out.extend_from_slice(bytes);
        let mut writer = ContextWriter::new(self.defined, &mut sink);
        self.defined += self.calls.len() as u32;
        for (parent, site) in self.calls.drain(..) {
            writer.call(parent, site, &mut sink);
        }
        for (position, thread, context) in self.changes.drain(..) {
            let last = self.last.of(thread);
            writer.change(table, position, *last, context, &mut sink);
            *last = [last[1], context];
        }
        let head = writer.head(first).encode();
        out[start..start + CHUNK_BYTES].copy_from_slice(&head);
    }
}

/// The contexts read so far.
#[derive(Default)]
pub(super) struct Known {
    /// The builder's id of each of the file's contexts but 0.
    ids: Vec<ContextId>,
    last: LastTwo,
    table: Option<Box<ContextTable>>,
}

/// Why contexts were refused.
pub(super) enum Refused {
    Damaged(Damaged),
    Trace(reweave_trace::Error),
}

impl From<Damaged> for Refused {
    fn from(damage: Damaged) -> Refused {
        Refused::Damaged(damage)
    }
}

/// The block whose contexts these are: where it starts, and its events' threads as the file numbers them.
pub(super) struct Around<'a> {
    pub(super) first: usize,
    pub(super) threads: &'a [u32],
    /// What ids of threads and sites stand for, where they differ.
    pub(super) thread_table: Option<&'a [u32]>,
    pub(super) site_table: Option<&'a [u32]>,
}

fn renamed(table: Option<&[u32]>, id: u32) -> Option<u32> {
    table.map_or(Some(id), |table| table.get(id as usize).copied())
}

impl Known {
    /// Adds the contexts of a block to `builder`.
    pub(super) fn add(
        &mut self,
        head: &Chunk,
        payload: &[u8],
        around: &Around<'_>,
        builder: &mut Builder,
    ) -> Result<(), Refused> {
        let mut reader = ContextReader::new(head, payload)?;
        if reader.defined() as usize != self.ids.len() {
            return Err(Damaged("contexts are counted otherwise than those before them").into());
        }
        while let Some((parent, site)) = reader.call()? {
            let undefined = Damaged("a call is at a site that is not defined");
            let site = renamed(around.site_table, site).ok_or(undefined)?;
            let parent = self.id(parent).ok_or(undefined)?;
            self.ids.push(builder.context(parent, SiteId(site)).map_err(Refused::Trace)?);
        }
        let mut table = self.table.take().unwrap_or_default();
        table.clear();
        while let Some((position, said)) = reader.change()? {
            let beyond = Damaged("a context changes beyond the end of the block");
            let thread = *around.threads.get(position as usize).ok_or(beyond)?;
            let known = renamed(around.thread_table, thread)
                .filter(|&id| (id as usize) < builder.names().space(reweave_trace::Space::Thread).len());
            let known = known.ok_or(Damaged("an event refers to a name that is not defined"))?;
            let last = self.last.of(thread);
            let context = reader.resolve(&mut table, *last, said)?;
            *last = [last[1], context];
            let context = self.id(context).ok_or(beyond)?;
            let at = EventId::from_index(around.first + position as usize);
            builder.change_context_at(at, ThreadId(known), context);
        }
        self.table = Some(table);
        Ok(())
    }

    fn id(&self, context: u32) -> Option<ContextId> {
        match context.checked_sub(1) {
            None => Some(ContextId::NONE),
            Some(place) => self.ids.get(place as usize).copied(),
        }
    }
}
