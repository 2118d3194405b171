//! Files that are mapped into memory: two shared mappings of one part of a file are one memory.
//!
//! A thread that writes through one mapping is read through the other, at another address. So where a mapping shows what an earlier
//! one shows, `reweave record` is given the address there, and takes the later one for the earlier.

use reweave_wire::Op;
use reweave_wire::outside::State;

use crate::abi::export::export;
use crate::libc::real;
use crate::record::recording::{Inside, stands_for};
use crate::sched::forced::PART;
use crate::sched::policy::Step;
use crate::sys;

/// The most shared mappings that are known at a time.
const MOST: usize = 64;
const PAGE: usize = 4096;

/// A shared mapping of a part of a file.
#[derive(Clone, Copy, Default)]
struct Mapping {
    file: [u64; 2],
    offset: usize,
    start: usize,
    /// 0 where there is none.
    length: usize,
}

/// The shared mappings that are there.
#[derive(Clone, Copy)]
pub(crate) struct Mappings {
    list: [Mapping; MOST],
}

impl Mappings {
    pub(crate) const fn new() -> Mappings {
        Mappings { list: [Mapping { file: [0; 2], offset: 0, start: 0, length: 0 }; MOST] }
    }

    /// Notes a mapping, and calls `each` with every part of it that an earlier one shows: where it is, its length, and where
    /// the earlier one has it.
    fn add(&mut self, new: Mapping, mut each: impl FnMut(usize, usize, usize)) {
        for known in self.list.iter().filter(|known| known.length != 0 && known.file == new.file) {
            let from = known.offset.max(new.offset);
            let to = known.offset.saturating_add(known.length).min(new.offset.saturating_add(new.length));
            if from < to {
                each(new.start + (from - new.offset), to - from, known.start + (from - known.offset));
            }
        }
        if let Some(room) = self.list.iter_mut().find(|known| known.length == 0) {
            *room = new;
        }
    }

    /// Whether nothing is known of what is unmapped; else it is forgotten.
    fn is_unknown(&mut self, start: usize, length: usize) -> bool {
        let end = start.saturating_add(length);
        let touched = |known: &&mut Mapping| {
            known.length != 0 && known.start < end && start < known.start + known.length
        };
        let found = self.list.iter_mut().filter(touched).map(|known| known.length = 0).count();
        found == 0
    }
}

impl Inside {
    /// A part of memory is the same as an earlier one, or itself again.
    fn is_the_same(&mut self, start: usize, length: usize, as_at: usize, code: usize) {
        self.stand_in(Op::Update, start, stands_for::MAPPED, code | PART, (length as u64, as_at as u64));
    }

    /// The thread has mapped something.
    pub(crate) fn has_mapped(
        &mut self,
        start: usize,
        [length, flags, file, offset]: [usize; 4],
        code: usize,
    ) {
        const SHARED: usize = 1;
        const ANONYMOUS: usize = 0x20;
        if start > usize::MAX - PAGE {
            return;
        }
        let length = length.next_multiple_of(PAGE);
        self.has_unmapped(start, length, code);
        if flags & SHARED == 0 || flags & ANONYMOUS != 0 {
            return;
        }
        let Some(file) = sys::identity_of(file as i32) else { return };
        let mut mappings = self.core().mappings;
        mappings.add(Mapping { file, offset, start, length }, |start, length, as_at| {
            self.is_the_same(start, length, as_at, code);
        });
        self.core().mappings = mappings;
    }

    /// What was mapped there is gone.
    fn has_unmapped(&mut self, start: usize, length: usize, code: usize) {
        if !self.core().mappings.is_unknown(start, length) {
            self.is_the_same(start, length, start, code);
        }
    }
}

/// What was written last is read before it goes away.
pub(crate) extern "C" fn munmap(start: usize, length: usize, code: usize) -> usize {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.point(Step::Sync, code);
        inside.changes_state(State::Mappings.variable(0), code);
        inside.has_unmapped(start, length.next_multiple_of(PAGE), code);
    }
    real::munmap(start, length)
}

export! {
    munmap(2) => munmap;
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_part_that_an_earlier_mapping_shows_is_the_earlier_ones() {
        let mapping = |inode, offset, start| Mapping { file: [1, inode], offset, start, length: 2 * PAGE };
        let mut mappings = Mappings::new();
        let mut add = |mapping| {
            let mut found = Vec::new();
            mappings.add(mapping, |start, length, as_at| found.push((start, length, as_at)));
            found
        };
        assert_eq!(add(mapping(1, 0, 0x10000)), []);
        assert_eq!(add(mapping(2, 0, 0x20000)), []);
        assert_eq!(add(mapping(1, PAGE, 0x30000)), [(0x30000, PAGE, 0x10000 + PAGE)]);
        assert!(mappings.is_unknown(0x50000, PAGE) && !mappings.is_unknown(0x10000, PAGE));
        assert!(mappings.is_unknown(0x10000, PAGE));
    }
}
