//! The table of dependences, written after the last block, and read again.

use reweave_trace::{Builder, Dependences, Dependent, EventId, Space, ThreadId};
use reweave_wire::{CHUNK_BYTES, Damaged, DependenceReader, DependenceWriter, Entry, MAX_EVENTS};

use super::scan::Located;

/// A part of the table ends after so many bytes.
const PART_BYTES: u32 = 1 << 20;

/// Appends the table of a trace of so many events in parts, each with its head. Threads get the ids that `thread` gives them.
pub(super) fn write(
    events: u64,
    table: &Dependences,
    thread: impl Fn(u32) -> Option<u32>,
    out: &mut Vec<u8>,
) {
    let mut part = Part { writer: DependenceWriter::default(), start: out.len(), events };
    out.resize(part.start + CHUNK_BYTES, 0);
    let mut put = |entry, key: u32, reads: &[EventId]| {
        if !reads.is_empty() {
            let reads: Vec<u32> = reads.iter().map(|read| read.0).collect();
            part.writer.entry(entry, key, &reads, &mut |bytes| out.extend_from_slice(bytes));
            part.close_if_full(out);
        }
    };
    for (who, reads) in table.entries() {
        match who {
            Dependent::Needs(event) => put(Entry::Needs, event.0, reads),
            Dependent::Feeds(event) => put(Entry::Feeds, event.0, reads),
            Dependent::End(id) => {
                if let Some(file) = thread(id.0) {
                    put(Entry::End, file, reads);
                }
            }
        }
    }
    part.close(out);
}

/// A part under way, whose head is at `start`.
struct Part {
    writer: DependenceWriter,
    start: usize,
    events: u64,
}

impl Part {
    fn close_if_full(&mut self, out: &mut Vec<u8>) {
        let (entries, bytes) = self.writer.len();
        if entries as usize >= MAX_EVENTS || bytes >= PART_BYTES {
            self.close(out);
            self.start = out.len();
            out.resize(self.start + CHUNK_BYTES, 0);
        }
    }

    fn close(&mut self, out: &mut [u8]) {
        let head = std::mem::take(&mut self.writer).head(self.events).encode();
        out[self.start..self.start + CHUNK_BYTES].copy_from_slice(&head);
    }
}

/// Adds a part of the table to a builder. `threads` has the builder's ids of the file's threads, where they differ.
pub(super) fn read(
    part: &Located,
    payload: &[u8],
    threads: Option<&[u32]>,
    builder: &mut Builder,
) -> Result<(), Damaged> {
    builder.has_table_of_dependences();
    let mut entries = DependenceReader::new(&part.head, payload);
    let mut reads = Vec::new();
    while let Some((entry, key)) = entries.next(|read| reads.push(EventId(read)))? {
        let who = match entry {
            Entry::Needs => Dependent::Needs(EventId(key)),
            Entry::Feeds => Dependent::Feeds(EventId(key)),
            Entry::End => {
                let known = builder.names().space(Space::Thread).len();
                let thread = threads.map_or(Some(key), |table| table.get(key as usize).copied());
                let thread = thread.filter(|&thread| (thread as usize) < known);
                Dependent::End(ThreadId(
                    thread.ok_or(Damaged("the table of dependences names an unknown thread"))?,
                ))
            }
        };
        builder.depends(who, std::mem::take(&mut reads));
    }
    Ok(())
}
