//! Files that are mapped into memory: two shared mappings of one part of a file are one memory, and
//! so is the file.
//!
//! A thread that writes through one mapping is read through the other, at another address. So where a mapping shows what an earlier
//! one shows, `reweave record` is given the address there, and takes the later one for the earlier.
//! A segment of System V is mapped so, too. What is written to a file otherwise is read through its
//! mappings, and the reverse: each such call counts as one that memory is given to.

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

    /// Where the mappings of a file are, and how long.
    fn of(&self, file: [u64; 2]) -> impl Iterator<Item = (usize, usize)> {
        let known = self.list.into_iter().filter(move |known| known.length != 0 && known.file == file);
        known.map(|known| (known.start, known.length))
    }

    /// How long the mapping is that begins at `start`.
    fn length_at(&self, start: usize) -> Option<usize> {
        let found = self.list.iter().find(|known| known.length != 0 && known.start == start)?;
        Some(found.length)
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
        if let Some(file) = sys::identity_of(file as i32) {
            self.shows(Mapping { file, offset, start, length }, code);
        }
    }

    fn shows(&mut self, mapping: Mapping, code: usize) {
        let mut mappings = self.core().mappings;
        mappings.add(mapping, |start, length, as_at| self.is_the_same(start, length, as_at, code));
        self.core().mappings = mappings;
    }

    /// The thread uses a file otherwise than through its mappings.
    pub(crate) fn uses_mapped_file(&mut self, file: usize, code: usize) {
        if self.core().mappings.list.iter().all(|known| known.length == 0) {
            return;
        }
        let Some(file) = sys::identity_of(file as i32) else { return };
        let mappings = self.core().mappings;
        mappings.of(file).for_each(|(start, length)| self.gives_away(start, length, code | PART));
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
    if let Some(mut inside) = begin(code) {
        inside.has_unmapped(start, length.next_multiple_of(PAGE), code);
    }
    real::munmap(start, length)
}

/// What stands for the device of a segment of System V, which is in no file.
const SEGMENT: u64 = u64::MAX;
/// The bytes of `struct shmid_ds`, and where in it the length is.
const ABOUT_SEGMENT: usize = 112;
const LENGTH_OF_SEGMENT: usize = 48;
const STAT: usize = 2;

fn length_of_segment(segment: usize) -> usize {
    let mut about = [0u64; ABOUT_SEGMENT / 8];
    if real::shmctl(segment, STAT, &raw mut about as usize) as i32 != 0 {
        return 0;
    }
    about.get(LENGTH_OF_SEGMENT / 8).map_or(0, |&length| length as usize)
}

extern "C" fn shmat(segment: usize, at: usize, flags: usize, code: usize) -> usize {
    let inside = begin(code);
    let start = real::shmat(segment, at, flags);
    if let Some(mut inside) = inside
        && start <= usize::MAX - PAGE
    {
        let length = length_of_segment(segment).next_multiple_of(PAGE);
        inside.has_unmapped(start, length, code);
        let file = [SEGMENT, segment as u32 as u64];
        inside.shows(Mapping { file, offset: 0, start, length }, code);
    }
    start
}

extern "C" fn shmdt(start: usize, code: usize) -> usize {
    if let Some(mut inside) = begin(code)
        && let Some(length) = inside.core().mappings.length_at(start)
    {
        inside.has_unmapped(start, length, code);
    }
    real::shmdt(start)
}

fn begin(code: usize) -> Option<Inside> {
    let mut inside = Inside::enter()?;
    inside.settle();
    inside.point(Step::Sync, code);
    inside.changes_state(State::Mappings.variable(0), code);
    Some(inside)
}

export! {
    munmap(2) => munmap;
    shmat(3) => shmat;
    shmdt(1) => shmdt;
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
        let of = |mappings: &Mappings, inode| mappings.of([1, inode]).collect::<Vec<_>>();
        assert_eq!(of(&mappings, 1), [(0x10000, 2 * PAGE), (0x30000, 2 * PAGE)]);
        assert_eq!((of(&mappings, 3).len(), mappings.length_at(0x20000)), (0, Some(2 * PAGE)));
        assert!(mappings.is_unknown(0x50000, PAGE) && !mappings.is_unknown(0x10000, PAGE));
        assert!(mappings.is_unknown(0x10000, PAGE));
    }
}
