//! Interned names.

mod entry;
mod index;
mod number;

use std::hash::{BuildHasher, Hasher};

use hashbrown::DefaultHashBuilder;

use crate::{Contexts, Error, Space};

use entry::{Entry, Spelled};
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
        self.index.find(number::hash(self.seed, number), |id| self.is_number(id, number))
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

    /// As [`Table::intern_number`] for each of `numbers`, whose ids go to `each`.
    pub fn intern_numbers(&mut self, numbers: &[u64], mut each: impl FnMut(u32)) -> Result<(), Error> {
        for numbers in numbers.chunks(AT_ONCE) {
            // In a large table each look waits for memory, and these can wait together.
            let sparse = numbers.iter().filter(|&&number| !self.dense.takes(number));
            std::hint::black_box(
                sparse.fold(0, |all, &number| all ^ self.index.touch(number::hash(self.seed, number))),
            );
            for &number in numbers {
                each(self.intern_number(number)?);
            }
        }
        Ok(())
    }

    /// The number of a name that is too large a number for a column of them.
    #[inline]
    fn intern_sparse(&mut self, number: u64, id: u32) -> u32 {
        if self.seed == 0 {
            self.seed = self.hasher.hash_one(0_u8) | 1;
        }
        let Table { text, entries, index, .. } = self;
        let hash = number::hash(self.seed, number);
        let known = index.find_or_insert(hash, id, |id| is_number(entries, text, id, number));
        if known == id {
            self.dense.note_other(number);
            self.push_number(number);
        }
        known
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
        self.index.expect(names);
    }

    #[inline]
    fn push_number(&mut self, number: u64) {
        if self.spelled.is_there() {
            self.spelled.settle(&mut self.entries, &mut self.text);
        }
        self.entries.push(Entry::number(number));
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
                self.intern_numbers(&numbers[..count], |id| ids.push(id))?;
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
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_in_order_of_first_appearance() {
        let mut table = Table::default();
        let ids: Vec<u32> =
            ["b", "a", "", "b", "", "c"].iter().map(|name| table.intern(name).unwrap()).collect();
        assert_eq!(ids, [0, 1, 2, 0, 2, 3]);
        assert_eq!(table.iter().collect::<Vec<_>>(), ["b", "a", "", "c"]);
        assert_eq!(table.find("c"), Some(3));
        assert_eq!(table.find("d"), None);
    }

    #[test]
    fn numbers_are_names_like_any_other() {
        // Dense, sparse, and sparse ones that become dense; not canonical; too long to be a number; not a number.
        let mut names: Vec<String> =
            ["00", "01", "+1", "", "1x", "9999999999999999999", "18446744073709551616"]
                .map(String::from)
                .to_vec();
        names.extend([u64::MAX, 1 << 40, 700, 300, 130, 65, 0].map(|number| number.to_string()));
        names.extend((0..1000_u64).map(|number| number.to_string()));
        names.extend((0..1000_u64).map(|number| (number * 12_345_678_901).to_string()));
        let (mut table, mut naive) = (Table::default(), Vec::<&str>::new());
        for (i, name) in names.iter().chain(&names).enumerate() {
            let expected = naive.iter().position(|known| known == name);
            assert_eq!(table.find(name), expected.map(|id| id as u32));
            let id = match name.parse::<u64>() {
                Ok(number) if number.to_string() == *name && i % 2 == 0 => table.intern_number(number),
                _ => table.intern(name),
            };
            assert_eq!(id.unwrap() as usize, expected.unwrap_or(naive.len()));
            if expected.is_none() {
                naive.push(name);
            }
            // Asking for names now and then must not change what comes later.
            if i % 7 == 0 {
                let asked = i * 31 % naive.len();
                assert_eq!(table.get(asked as u32), naive[asked]);
            }
        }
        assert!(table.iter().eq(naive));
    }

    #[test]
    fn numbers_together_are_numbers_one_by_one() {
        let spread = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (number % 40);
        let numbers: Vec<u64> = (0..500).map(spread).chain(0..300).chain((100..700).map(spread)).collect();
        let (mut one_by_one, mut together, mut absorbed) =
            (Table::default(), Table::default(), Table::default());
        together.expect(400);
        let mut ids = Vec::new();
        for numbers in numbers.chunks(77) {
            let expected: Vec<u32> = numbers.iter().map(|&n| one_by_one.intern_number(n).unwrap()).collect();
            let mut seen = Vec::new();
            together.intern_numbers(numbers, |id| seen.push(id)).unwrap();
            assert_eq!(seen, expected);
            // A text between them, in both tables.
            let text = format!("x{}", numbers[0]);
            assert_eq!(one_by_one.intern(&text).unwrap(), together.intern(&text).unwrap());
            absorbed.absorb(&one_by_one, &mut ids).unwrap();
        }
        assert!(together.iter().eq(one_by_one.iter()) && absorbed.iter().eq(one_by_one.iter()));
        assert!(ids.into_iter().eq(0..one_by_one.len() as u32));
        let mut texts = 0;
        for id in 0..together.len() as u32 {
            match together.clone().kept(id) {
                Name::Number(number) => assert_eq!(number.to_string(), together.get(id)),
                Name::Text(text) => {
                    texts += usize::from(text.starts_with('x'));
                    assert_eq!(text, together.get(id));
                }
            }
        }
        assert_eq!(texts, numbers.chunks(77).len());
    }

    #[test]
    fn a_name_beyond_the_limit_is_refused() {
        let mut table = Table::default();
        assert!(table.intern(&"x".repeat(MAX_NAME_BYTES)).is_ok());
        let error = table.intern(&"y".repeat(MAX_NAME_BYTES + 1)).unwrap_err();
        assert!(matches!(error, Error::NameTooLong { bytes } if bytes == MAX_NAME_BYTES + 1));
    }
}
