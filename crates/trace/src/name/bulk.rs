//! Many numbers, which are mostly new, added together.

use std::ops::Range;

use super::entry::Entry;
use super::{AT_ONCE, TOO_LONG, Table, number};
use crate::Error;

/// How many numbers that are likely to be new are added at once.
const MOST_NEW: usize = 1 << 8;

impl Table {
    /// As [`Table::intern_number`] for each of `numbers`, whose ids go to `each`, several at once where they follow each other.
    pub fn intern_numbers(
        &mut self,
        mut numbers: &[u64],
        mut each: impl FnMut(Range<u32>),
    ) -> Result<(), Error> {
        let (mut looks, mut most) = (1, MOST_NEW);
        while !numbers.is_empty() {
            let first = self.len() as u32;
            let new = self.intern_new_ones(&numbers[..numbers.len().min(most)]);
            if new > 0 {
                each(first..first + new as u32);
            }
            // Where one is known, so may be those after it; what was done for them in vain is bounded by what was not.
            most = if new < most { AT_ONCE.max(new) } else { MOST_NEW.min(2 * most) };
            // Where the next one has to be looked for, so may those after it.
            looks = if new > 0 { 1 } else { (2 * looks).min(AT_ONCE) };
            let some;
            (some, numbers) = numbers[new..].split_at(looks.min(numbers.len() - new));
            if looks > 1 {
                self.touch(some);
            }
            for &number in some {
                let id = self.intern_number(number)?;
                each(id..id + 1);
            }
        }
        Ok(())
    }

    /// Adds the numbers up to the first one that is known or needs a longer look; says how many they are.
    fn intern_new_ones(&mut self, numbers: &[u64]) -> usize {
        let numbers = &numbers[..self.fitting(numbers)];
        let Some(least) = least(numbers) else { return 0 };
        let start = self.len() as u32;
        let mut doubts = [0; MOST_NEW];
        let doubtful = self.halves.insert_all(numbers, start, &mut doubts);
        self.settle();
        self.entries.extend(numbers.iter().map(|&number| Entry::number(number)));
        // Those that share their lower half with another one are mostly new as well.
        let known =
            doubts[..doubtful].iter().position(|&at| !self.index_new(numbers[at as usize], start + at));
        let new = known.map_or(numbers.len(), |doubt| doubts[doubt] as usize);
        self.halves.remove_all(&numbers[new..], start + new as u32);
        self.entries.truncate(start as usize + new);
        if new > 0 {
            self.dense.note_others(least, new as u32);
        }
        new
    }

    /// How many of `numbers` from the first on belong with those that are known by their lower halves.
    fn fitting(&self, numbers: &[u64]) -> usize {
        let numbers = &numbers[..numbers.len().min((u32::MAX - 1) as usize - self.len())];
        let (start, span) = (self.dense.end(), TOO_LONG.saturating_sub(self.dense.end()));
        let fits = |number: u64| number.wrapping_sub(start) < span && self.halves.covers(number);
        // All of them, most often: that is told without a branch a number.
        if numbers.iter().fold(true, |all, &number| all & fits(number)) {
            return numbers.len();
        }
        numbers.iter().take_while(|&&number| fits(number)).count()
    }

    /// Adds `number`, whose entry is `id` and whose lower half another one has, to the index; says whether it is new.
    fn index_new(&mut self, number: u64, id: u32) -> bool {
        let first = self.halves.first(number);
        first.is_none_or(|first| !self.is_number(first, number)) && self.index_number(number, id) == id
    }

    /// Has the places of `numbers` at hand: in a large table each look waits for memory, and these can wait together.
    fn touch(&self, numbers: &[u64]) {
        let sparse = numbers.iter().filter(|&&number| !self.dense.takes(number));
        std::hint::black_box(
            sparse.fold(0, |all, &number| all ^ self.index.touch(number::hash(self.seed, number))),
        );
    }

    /// The number of the first of `count` names that are `first` and the numbers after it, where they are all new and known
    /// to be so without looking for them one by one. Else nothing changes.
    #[inline]
    pub fn intern_new(&mut self, first: u64, count: u32) -> Option<u32> {
        let last = first.checked_add(u64::from(count.checked_sub(1)?)).filter(|&last| last < TOO_LONG)?;
        let id = self.next_id().ok()?;
        id.checked_add(count).filter(|&end| end < u32::MAX)?;
        if !self.dense.insert_run(first, count, id) {
            if first < self.dense.end() {
                return None;
            }
            self.grow_halves(last, count);
            if !self.halves.insert_run(first, count, id) {
                return None;
            }
            self.dense.note_others(first, count);
        }
        self.settle();
        self.entries.extend((first..=last).map(Entry::number));
        Some(id)
    }
}

/// A number that is not above any of `numbers`, and their least where that is small.
fn least(numbers: &[u64]) -> Option<u64> {
    let upper = numbers.iter().fold(u32::MAX, |least, number| least.min((number >> 32) as u32));
    match upper {
        0 => numbers.iter().min().copied(),
        _ => (!numbers.is_empty()).then_some(u64::from(upper) << 32),
    }
}
