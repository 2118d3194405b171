//! A column of threads: a byte an event while there are few threads, four bytes from then on.

use std::collections::TryReserveError;
use std::ops::Range;

use crate::ThreadId;

#[derive(Clone, Debug)]
pub(crate) enum ThreadColumn {
    /// Every thread so far is below 256.
    Narrow(Vec<u8>),
    Wide(Vec<u32>),
}

impl Default for ThreadColumn {
    fn default() -> ThreadColumn {
        ThreadColumn::Narrow(Vec::new())
    }
}

impl ThreadColumn {
    pub(crate) fn with_capacity(events: usize) -> ThreadColumn {
        ThreadColumn::Narrow(Vec::with_capacity(events))
    }

    #[inline]
    pub(crate) fn get(&self, event: usize) -> ThreadId {
        match self {
            ThreadColumn::Narrow(column) => ThreadId(u32::from(column[event])),
            ThreadColumn::Wide(column) => ThreadId(column[event]),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, thread: ThreadId) {
        match self {
            ThreadColumn::Narrow(column) if thread.0 < 256 => column.push(thread.0 as u8),
            _ => self.widen().push(thread.0),
        }
    }

    /// Appends the numbers of threads; answers with the largest.
    pub(crate) fn extend(&mut self, threads: &[u32]) -> u32 {
        let most = threads.iter().fold(0, |most, &thread| most.max(thread));
        match self {
            ThreadColumn::Narrow(column) if most < 256 => column.extend(threads.iter().map(|&t| t as u8)),
            _ => self.widen().extend_from_slice(threads),
        }
        most
    }

    pub(crate) fn truncate(&mut self, events: usize) {
        match self {
            ThreadColumn::Narrow(column) => column.truncate(events),
            ThreadColumn::Wide(column) => column.truncate(events),
        }
    }

    /// Appends `other`, whose threads have their numbers here in `ids`.
    pub(crate) fn append(&mut self, other: &ThreadColumn, ids: &[u32]) {
        match (&mut *self, other) {
            (ThreadColumn::Narrow(column), ThreadColumn::Narrow(other)) if ids.len() <= 256 => {
                if let Some(ids) = narrow(ids) {
                    column.extend(other.iter().map(|&thread| ids[usize::from(thread)]));
                    return;
                }
            }
            _ => {}
        }
        self.widen().extend(other.iter().map(|thread| ids[thread.index()]));
    }

    /// Makes room for exactly `events` more.
    pub(crate) fn try_reserve_exact(&mut self, events: usize) -> Result<(), TryReserveError> {
        match self {
            ThreadColumn::Narrow(column) => column.try_reserve_exact(events),
            ThreadColumn::Wide(column) => column.try_reserve_exact(events),
        }
    }

    /// Where its memory is, used or not.
    pub(crate) fn memory(&self) -> Range<usize> {
        let (start, bytes) = match self {
            ThreadColumn::Narrow(column) => (column.as_ptr().addr(), column.capacity()),
            ThreadColumn::Wide(column) => (column.as_ptr().addr(), column.capacity() * size_of::<u32>()),
        };
        start..start + bytes
    }

    pub(crate) fn clear(&mut self) {
        match self {
            ThreadColumn::Narrow(column) => column.clear(),
            ThreadColumn::Wide(column) => column.clear(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = ThreadId> {
        self.rows().iter()
    }

    pub(crate) fn rows(&self) -> ThreadRows<'_> {
        match self {
            ThreadColumn::Narrow(column) => ThreadRows::Narrow(column),
            ThreadColumn::Wide(column) => ThreadRows::Wide(column),
        }
    }

    /// The column with four bytes an event, with as much room as it had.
    fn widen(&mut self) -> &mut Vec<u32> {
        loop {
            match self {
                ThreadColumn::Wide(column) => return column,
                ThreadColumn::Narrow(column) => {
                    let mut wide = Vec::with_capacity(column.capacity());
                    wide.extend(column.iter().map(|&thread| u32::from(thread)));
                    *self = ThreadColumn::Wide(wide);
                }
            }
        }
    }
}

/// Up to 256 ids as bytes, if they are small enough.
fn narrow(ids: &[u32]) -> Option<[u8; 256]> {
    let mut narrow = [0; 256];
    for (narrow, &id) in narrow.iter_mut().zip(ids) {
        *narrow = u8::try_from(id).ok()?;
    }
    Some(narrow)
}

/// The threads of some events.
#[derive(Clone, Copy, Debug)]
pub enum ThreadRows<'r> {
    /// A byte each, where there are few threads.
    Narrow(&'r [u8]),
    /// Four bytes each.
    Wide(&'r [u32]),
}

impl Default for ThreadRows<'_> {
    fn default() -> Self {
        ThreadRows::Narrow(&[])
    }
}

impl<'r> ThreadRows<'r> {
    /// The thread of the event at `row`.
    #[inline]
    pub fn get(self, row: usize) -> ThreadId {
        match self {
            ThreadRows::Narrow(rows) => ThreadId(u32::from(rows[row])),
            ThreadRows::Wide(rows) => ThreadId(rows[row]),
        }
    }

    /// Some of the rows.
    pub fn part(self, range: Range<usize>) -> ThreadRows<'r> {
        match self {
            ThreadRows::Narrow(rows) => ThreadRows::Narrow(&rows[range]),
            ThreadRows::Wide(rows) => ThreadRows::Wide(&rows[range]),
        }
    }

    /// One after another.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = ThreadId> + use<'r> {
        let length = match self {
            ThreadRows::Narrow(rows) => rows.len(),
            ThreadRows::Wide(rows) => rows.len(),
        };
        (0..length).map(move |row| self.get(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_back_what_it_was_given_however_wide() {
        let given = [0, 3, 255, 7, 256, 1, 100_000, 255];
        let (mut pushed, mut extended) = (ThreadColumn::default(), ThreadColumn::with_capacity(3));
        for (place, &thread) in given.iter().enumerate() {
            pushed.push(ThreadId(thread));
            extended.extend(&given[place..=place]);
            for column in [&pushed, &extended] {
                let seen: Vec<u32> = column.iter().map(|thread| thread.0).collect();
                assert_eq!(seen, given[..=place]);
                assert_eq!(matches!(column, ThreadColumn::Narrow(_)), place < 4);
            }
        }
    }
}
