//! Interned names.

mod bulk;
mod entry;
mod halves;
mod index;
mod number;

use std::hash::{BuildHasher, Hasher};

use hashbrown::DefaultHashBuilder;

use crate::{Contexts, Error, Space, StableSites};

use entry::{Entry, Spelled};
use halves::{Half, Halves};
use index::Index;
use number::{Dense, MAX_DIGITS, decimal, number};

/// The longest name, in bytes. Names come from untrusted files.
pub const MAX_NAME_BYTES: usize = 1 << 16;

/// The most names that memory is set aside for in advance: how many there will be is told by untrusted files.
const MOST_EXPECTED: usize = 1 << 20;

/// How many numbers are looked up at once.
const AT_ONCE: usize = 32;

/// One space of names, numbered from 0 in order of first appearance.
#[derive(Clone, Default, Debug)]
pub struct Table {
    text: String,
    entries: Vec<Entry>,
    spelled: Spelled,
    /// The ids of small numbers.
    dense: Dense,
    /// The ids of numbers with a lower half of their own.
    halves: Halves,
    /// The ids of all other names.
    index: Index,
    hasher: DefaultHashBuilder,
    /// For the hashes of numbers; 0 until there is one.
    seed: u64,
}

/// A name as it is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name<'t> {
    /// A number, whose name is its decimal form.
    Number(u64),
    /// A text, which may be a number as well.
    Text(&'t str),
}

impl Table {
    /// How many names there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The name of number `id`.
    ///
    /// # Panics
    /// When `id` was not given out by this table.
    #[inline]
    pub fn get(&self, id: u32) -> &str {
        match self.entries[id as usize].get() {
            Ok(_) => self.spelled.get(&self.entries, id),
            Err(range) => &self.text[range],
        }
    }

    /// The name of number `id` as it is kept, which takes no spelling.
    ///
    /// # Panics
    /// When `id` was not given out by this table.
    #[inline]
    pub fn kept(&self, id: u32) -> Name<'_> {
        match self.entries[id as usize].get() {
            Ok(number) => Name::Number(number),
            Err(range) => Name::Text(&self.text[range]),
        }
    }

    /// The number of `name`, if it has one.
    pub fn find(&self, name: &str) -> Option<u32> {
        match number(name) {
            Some(number) => self.find_number(number),
            None => self.index.find(self.hash(name), |id| self.is_text(id, name)),
        }
    }

    fn find_number(&self, number: u64) -> Option<u32> {
        if let Some(id) = self.dense.find(number) {
            return Some(id);
        }
        if !self.dense.is_doubtful(number) {
            return None;
        }
        match self.halves.find(number) {
            Half::Free(_) => None,
            Half::Taken(id) if self.is_number(id, number) => Some(id),
            Half::Taken(_) | Half::Beyond => {
                self.index.find(number::hash(self.seed, number), |id| self.is_number(id, number))
            }
        }
    }

    /// The number of `name`, a new one where it has none yet.
    #[inline]
    pub fn intern(&mut self, name: &str) -> Result<u32, Error> {
        if let Some(number) = number(name) {
            return self.intern_number(number);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(Error::NameTooLong { bytes: name.len() });
        }
        let (hash, id) = (self.hash(name), self.next_id()?);
        let Table { text, entries, index, .. } = self;
        let known = index.find_or_insert(hash, id, |id| is_text(entries, text, id, name));
        if known == id {
            entries.push(Entry::next(text, name.len()));
            text.push_str(name);
        }
        Ok(known)
    }

    /// The number of the name that is `number` in decimal, a new one where it has none yet.
    #[inline]
    pub fn intern_number(&mut self, number: u64) -> Result<u32, Error> {
        if let Some(id) = self.dense.find(number) {
            return Ok(id);
        }
        if number >= TOO_LONG {
            return self.intern_long(number);
        }
        let id = self.next_id()?;
        if !self.dense.takes(number) {
            return Ok(self.intern_sparse(number, id));
        }
        if self.dense.is_doubtful(number)
            && let Some(known) = self.find_number(number)
        {
            return Ok(known);
        }
        self.dense.insert(number, id);
        self.push_number(number);
        Ok(id)
    }

    /// Makes the column of lower halves longer, if it should be for `count` more numbers up to `last`.
    #[inline]
    fn grow_halves(&mut self, last: u64, count: u32) {
        if self.halves.should_grow(last, self.dense.count() + u64::from(count)) {
            self.enter_halves(last);
        }
    }

    #[cold]
    fn enter_halves(&mut self, last: u64) {
        let new = self.halves.grow(last);
        for (entry, id) in self.entries.iter().zip(0..) {
            if let Some(number) = entry.get().map_or_else(|range| number(&self.text[range]), Some) {
                self.halves.enter(number, id, &new);
            }
        }
    }

    /// The number of a name that is too large a number for a column of them.
    #[inline]
    fn intern_sparse(&mut self, number: u64, id: u32) -> u32 {
        self.grow_halves(number, 1);
        match self.halves.find(number) {
            Half::Free(at) => {
                self.halves.insert(at, id);
                self.dense.note_others(number, 1);
                self.push_number(number);
                id
            }
            Half::Taken(known) if self.is_number(known, number) => known,
            Half::Taken(_) | Half::Beyond => self.intern_by_hash(number, id),
        }
    }

    fn intern_by_hash(&mut self, number: u64, id: u32) -> u32 {
        let known = self.index_number(number, id);
        if known == id {
            self.dense.note_others(number, 1);
            self.push_number(number);
        }
        known
    }

    /// The id of `number` in the index; where there is none, it is `id` from now on.
    #[inline]
    fn index_number(&mut self, number: u64, id: u32) -> u32 {
        if self.seed == 0 {
            self.seed = self.hasher.hash_one(0_u8) | 1;
        }
        let Table { text, entries, index, .. } = self;
        let hash = number::hash(self.seed, number);
        index.find_or_insert(hash, id, |id| is_number(entries, text, id, number))
    }

    #[cold]
    fn intern_long(&mut self, number: u64) -> Result<u32, Error> {
        let (digits, start) = decimal(number);
        // Digits are text.
        self.intern(std::str::from_utf8(&digits[start..]).unwrap_or_default())
    }

    /// Prepares for `names` names in all; a hint, which may be wrong.
    pub fn expect(&mut self, names: usize) {
        let names = names.min(MOST_EXPECTED);
        self.entries.reserve_exact(names.saturating_sub(self.len()));
        self.dense.expect(names);
        self.halves.expect(names);
        self.index.expect(names);
    }

    #[inline]
    fn push_number(&mut self, number: u64) {
        self.settle();
        self.entries.push(Entry::number(number));
    }

    #[inline]
    fn settle(&mut self) {
        if self.spelled.is_there() {
            self.spelled.settle(&mut self.entries, &mut self.text);
        }
    }

    #[inline]
    fn hash(&self, name: &str) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(name.as_bytes());
        let hash = hasher.finish();
        (hash ^ hash >> 32) as u32
    }

    fn is_text(&self, id: u32, name: &str) -> bool {
        is_text(&self.entries, &self.text, id, name)
    }

    fn is_number(&self, id: u32, number: u64) -> bool {
        is_number(&self.entries, &self.text, id, number)
    }

    #[inline]
    fn next_id(&self) -> Result<u32, Error> {
        let id = self.len();
        if id >= u32::MAX as usize - 1 { Err(Error::TooMany { what: "names" }) } else { Ok(id as u32) }
    }

    /// Every name, in order of its number.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.len() as u32).map(|id| self.get(id))
    }

    /// Adds the names of `other` that `ids` lacks, which has the number here of each of its names.
    pub(crate) fn absorb(&mut self, other: &Table, ids: &mut Vec<u32>) -> Result<(), Error> {
        let mut numbers = [0; AT_ONCE];
        while ids.len() < other.len() {
            // Numbers, of which there may be many, are looked up together.
            let new = other.entries[ids.len()..].iter().map_while(|entry| entry.get().ok());
            let mut count = 0;
            for (room, number) in numbers.iter_mut().zip(new) {
                (*room, count) = (number, count + 1);
            }
            if count > 0 {
                self.intern_numbers(&numbers[..count], |new| ids.extend(new))?;
            } else {
                ids.push(self.intern(other.get(ids.len() as u32))?);
            }
        }
        Ok(())
    }
}

/// Whether `id` stands for `name`, which is no number.
#[inline]
fn is_text(entries: &[Entry], text: &str, id: u32, name: &str) -> bool {
    entries[id as usize].get().is_err_and(|range| range.len() == name.len() && &text[range] == name)
}

/// Whether `id` stands for the number `wanted`, spelled or not.
#[inline]
fn is_number(entries: &[Entry], text: &str, id: u32, wanted: u64) -> bool {
    entries[id as usize]
        .get()
        .map_or_else(|range| number(&text[range]) == Some(wanted), |number| number == wanted)
}

/// The least number with more digits than names that count as numbers have.
const TOO_LONG: u64 = 10_u64.pow(MAX_DIGITS as u32);

/// All names of a trace, one table a space, and the sites.
#[derive(Clone, Default, Debug)]
pub struct Names {
    spaces: [Table; Space::ALL.len()],
    /// The sites.
    pub sites: Table,
    /// The calling contexts, where they are known.
    pub contexts: Contexts,
    /// What sites are called whatever else their files hold, where that is known.
    pub stable: StableSites,
    /// The specifications that calls follow besides those that are built in, as text.
    pub(crate) specifications: String,
}

impl Names {
    /// The names of one space.
    #[inline]
    pub fn space(&self, space: Space) -> &Table {
        &self.spaces[space as usize]
    }

    /// The names of one space, to add to.
    #[inline]
    pub fn space_mut(&mut self, space: Space) -> &mut Table {
        &mut self.spaces[space as usize]
    }
}

#[cfg(test)]
mod tests;
