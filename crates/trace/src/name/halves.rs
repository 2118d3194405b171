//! The ids of numbers by their lower halves.
//!
//! Where a name is an object together with a field, as two halves of 32 bits, one counter often numbers both. Then lower
//! halves are few and mostly new: a column of them, which is written in order, takes the place of a look at a large table.
//! Numbers that share their lower half with one that came before are known by their hash.
//!
//! **Invariant:** where an entry of the column is empty, a number with that lower half is new, unless it is small enough to be
//! in the column of small numbers, which is looked at before.

use std::hint::select_unpredictable;
use std::ops::Range;

use crate::id::NONE;

/// A column with an entry for each lower half up to some limit.
#[derive(Clone, Default, Debug)]
pub(super) struct Halves {
    /// The id of the first number that has its lower half here; at most a few times as long as there are numbers.
    ids: Vec<u32>,
    /// How many there will be, as far as is known.
    expected: usize,
}

/// What a column says of a number.
pub(super) enum Half {
    /// The number is new, and this is its place.
    Free(usize),
    /// It is this one, or elsewhere.
    Taken(u32),
    /// It is elsewhere, if it is known.
    Beyond,
}

impl Halves {
    /// There will be about `count` numbers.
    pub(super) fn expect(&mut self, count: usize) {
        self.expected = count;
    }

    #[inline]
    pub(super) fn find(&self, number: u64) -> Half {
        let at = number as u32 as usize;
        match self.ids.get(at) {
            None => Half::Beyond,
            Some(&NONE) => Half::Free(at),
            Some(&id) => Half::Taken(id),
        }
    }

    /// Whether the column is too short for `last`, but would not be too long for `count` numbers if it were not.
    #[inline]
    pub(super) fn should_grow(&self, last: u64, count: u64) -> bool {
        let at = u64::from(last as u32);
        at >= self.ids.len() as u64 && at < (self.likely() as u64).max(2 * count + 66)
    }

    /// Makes the column long enough for `last`; answers with the new places, in which known numbers have to be entered.
    #[cold]
    pub(super) fn grow(&mut self, last: u64) -> Range<usize> {
        let (length, at) = (self.ids.len(), last as u32 as usize);
        let room = if at < self.likely() { self.likely() } else { 2 * at + 64 };
        self.ids.resize(room, NONE);
        length..room
    }

    /// Enters a number that is elsewhere as well, if its place is among `new` and free.
    pub(super) fn enter(&mut self, number: u64, id: u32, new: &Range<usize>) {
        let at = number as u32 as usize;
        if new.contains(&at) && self.ids[at] == NONE {
            self.ids[at] = id;
        }
    }

    /// How many entries are enough for what is expected, if one counter numbers objects and fields.
    fn likely(&self) -> usize {
        self.expected + self.expected / 4
    }

    /// The number that `id` stands for is at this place, which is free.
    #[inline]
    pub(super) fn insert(&mut self, at: usize, id: u32) {
        self.ids[at] = id;
    }

    /// The ids from `id` on stand for `count` numbers from `first` on, if they are new for certain.
    #[inline]
    pub(super) fn insert_run(&mut self, first: u64, count: u32, id: u32) -> bool {
        let start = first as u32 as usize;
        let Some(run) = self.ids.get_mut(start..start + count as usize) else { return false };
        if !run.iter().fold(true, |free, &id| free & (id == NONE)) {
            return false;
        }
        run.iter_mut().zip(id..).for_each(|(entry, id)| *entry = id);
        true
    }

    /// Whether there is a place for the lower half of `number`.
    #[inline]
    pub(super) fn covers(&self, number: u64) -> bool {
        (number as u32 as usize) < self.ids.len()
    }

    /// The id of the first number that has the lower half of `number`.
    #[inline]
    pub(super) fn first(&self, number: u64) -> Option<u32> {
        self.ids.get(number as u32 as usize).copied().filter(|&id| id != NONE)
    }

    /// The ids from `id` on stand for `numbers`, which have their places here. Puts in `doubts` which of them found their place taken,
    /// and says how many they are: they may be known.
    #[inline]
    pub(super) fn insert_all(&mut self, numbers: &[u64], id: u32, doubts: &mut [u32]) -> usize {
        let mut count = 0;
        // Without a branch: which of them are doubtful is hard to foresee.
        for (&number, at) in numbers.iter().zip(0..) {
            let Some(entry) = self.ids.get_mut(number as u32 as usize) else { continue };
            let taken = *entry != NONE;
            *entry = select_unpredictable(taken, *entry, id + at);
            if let Some(doubt) = doubts.get_mut(count) {
                *doubt = at;
            }
            count += usize::from(taken);
        }
        count
    }

    /// Takes `numbers` back, which the ids from `id` on were to stand for.
    pub(super) fn remove_all(&mut self, numbers: &[u64], id: u32) {
        for (&number, id) in numbers.iter().zip(id..) {
            if let Some(entry) = self.ids.get_mut(number as u32 as usize).filter(|entry| **entry == id) {
                *entry = NONE;
            }
        }
    }
}
