//! The table of dependences: which reads events need, which feed them, and what the ends of threads need.
//!
//! An entry is a number, `gap * 4 + which`, the number of its reads, and these. For events, the gap is that from the event of the entry
//! before (at first 0), and a read is its distance from the event; for the end of a thread, the gap is the thread, and a read is its
//! position.

use crate::varint::{self, Input};
use crate::{Chunk, ChunkKind, Crc, Damaged};

/// What an entry is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Entry {
    /// The reads that an event needs.
    Needs = 0,
    /// The reads that feed an event.
    Feeds = 1,
    /// The reads that the end of a thread needs.
    End = 2,
}

/// Writes a part of the table.
#[derive(Debug, Default)]
pub struct DependenceWriter {
    crc: Crc,
    bytes: u32,
    entries: u32,
    /// The event of the last entry.
    last: u32,
}

impl DependenceWriter {
    /// Adds an entry for an event or thread. Events must not go back, and their reads not come after them.
    pub fn entry(&mut self, entry: Entry, key: u32, reads: &[u32], sink: &mut impl FnMut(&[u8])) {
        let from = match entry {
            Entry::End => 0,
            Entry::Needs | Entry::Feeds => core::mem::replace(&mut self.last, key),
        };
        self.number(u64::from(key - from) << 2 | entry as u64, sink);
        self.number(reads.len() as u64, sink);
        for &read in reads {
            self.number(u64::from(if entry == Entry::End { read } else { key - read }), sink);
        }
        self.entries += 1;
    }

    /// How many entries there are, and how many bytes they take.
    pub fn len(&self) -> (u32, u32) {
        (self.entries, self.bytes)
    }

    fn number(&mut self, number: u64, sink: &mut impl FnMut(&[u8])) {
        let (bytes, count) = varint::encode(number);
        self.crc.add(&bytes[..count]);
        self.bytes += count as u32;
        sink(&bytes[..count]);
    }

    /// The head that goes before the payload, in a file of so many events.
    pub fn head(self, events: u64) -> Chunk {
        Chunk {
            kind: ChunkKind::Dependences,
            codec: 0,
            payload: self.bytes,
            events: self.entries,
            names: 0,
            first_event: events,
            payload_crc: self.crc.value(),
        }
    }
}

/// Reads a part of the table.
#[derive(Debug)]
pub struct DependenceReader<'b> {
    input: Input<'b>,
    left: u32,
    last: u32,
}

impl<'b> DependenceReader<'b> {
    /// The entries of a payload.
    pub fn new(head: &Chunk, payload: &'b [u8]) -> DependenceReader<'b> {
        DependenceReader { input: Input::new(payload), left: head.events, last: 0 }
    }

    /// The next entry, with its event or thread; `read` gets each of its reads. None at the end.
    pub fn next(&mut self, mut read: impl FnMut(u32)) -> Result<Option<(Entry, u32)>, Damaged> {
        const WRONG: Damaged = Damaged("an entry of the table of dependences makes no sense");
        if self.left == 0 {
            return if self.input.is_empty() { Ok(None) } else { Err(WRONG) };
        }
        self.left -= 1;
        let first = self.input.number().ok_or(WRONG)?;
        let gap = u32::try_from(first >> 2).map_err(|_| WRONG)?;
        let entry =
            [Entry::Needs, Entry::Feeds, Entry::End].get((first & 3) as usize).copied().ok_or(WRONG)?;
        let key = if entry == Entry::End { gap } else { self.last.checked_add(gap).ok_or(WRONG)? };
        for _ in 0..self.input.number().ok_or(WRONG)? {
            let number = self.input.number().and_then(|number| u32::try_from(number).ok()).ok_or(WRONG)?;
            read(if entry == Entry::End { number } else { key.checked_sub(number).ok_or(WRONG)? });
        }
        if entry != Entry::End {
            self.last = key;
        }
        Ok(Some((entry, key)))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    #[test]
    fn entries_come_back() {
        let entries: [(Entry, u32, &[u32]); 5] = [
            (Entry::Needs, 7, &[3, 5]),
            (Entry::Feeds, 7, &[7]),
            (Entry::Needs, 90_000, &[]),
            (Entry::End, 2, &[90_001, 4]),
            (Entry::Feeds, u32::MAX, &[0]),
        ];
        let (mut writer, mut bytes) = (DependenceWriter::default(), Vec::new());
        for (entry, key, reads) in entries {
            writer.entry(entry, key, reads, &mut |part| bytes.extend_from_slice(part));
        }
        let head = writer.head(8);
        assert_eq!((head.payload as usize, head.payload_crc), (bytes.len(), crate::crc(&bytes)));
        let mut reader = DependenceReader::new(&head, &bytes);
        for (entry, key, reads) in entries {
            let mut found = Vec::new();
            assert_eq!(reader.next(|read| found.push(read)).unwrap(), Some((entry, key)));
            assert_eq!(found, reads);
        }
        assert_eq!(reader.next(|_| {}).unwrap(), None);
    }

    #[test]
    fn nonsense_is_refused() {
        let head = DependenceWriter::default().head(0);
        for (entries, bytes) in [(1, &[0u8][..]), (1, &[3, 0]), (1, &[0, 1, 5]), (0, &[0]), (2, &[0, 0])] {
            let mut reader = DependenceReader::new(&Chunk { events: entries, ..head }, bytes);
            assert!((0..=entries).any(|_| reader.next(|_| {}).is_err()), "{bytes:?}");
        }
    }
}
