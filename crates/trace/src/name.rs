//! Interned names.

mod late;
mod number;

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::{Contexts, Error, Space};

use late::Late;
use number::{MAX_DIGITS, Numbers, SPREAD, decimal, number};

/// The longest name, in bytes. Names come from untrusted files.
pub const MAX_NAME_BYTES: usize = 1 << 16;

/// One space of names, numbered from 0 in order of first appearance.
#[derive(Clone, Default, Debug)]
pub struct Table {
    text: String,
    /// Where each name ends in `text`; it starts where the one before ends.
    ends: Vec<usize>,
    /// The names after those.
    late: Late,
    /// The names that are numbers, of which large traces are full.
    numbers: Numbers,
    /// The other names.
    words: HashTable<Word>,
    hasher: DefaultHashBuilder,
}

/// A name's id with its hash: most comparisons of names, and all rehashing, end here, without a look at the text,
/// which in a large table is a cache miss away.
#[derive(Clone, Copy, Debug)]
struct Word {
    hash: u32,
    id: u32,
}

impl Word {
    /// The hash that places it in the table, which looks at the upper bits as well as the lower ones.
    #[inline]
    fn place(hash: u32) -> u64 {
        u64::from(hash).wrapping_mul(SPREAD)
    }
}

impl Table {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len() + self.late.len()
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
        let id = id as usize;
        if id >= self.ends.len() {
            return self.late.get(id - self.ends.len());
        }
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.text[start..self.ends[id]]
    }

    /// The number of `name`, if it has one.
    pub fn find(&self, name: &str) -> Option<u32> {
        match number(name) {
            Some(number) => self.numbers.find(number),
            None => self.find_word(name, self.hash(name)),
        }
    }

    /// The number of `name`, a new one where it has none yet.
    #[inline]
    pub fn intern(&mut self, name: &str) -> Result<u32, Error> {
        if let Some(number) = number(name) {
            return match self.numbers.find(number) {
                Some(id) => Ok(id),
                None => self.add_number(number, name),
            };
        }
        let hash = self.hash(name);
        if let Some(id) = self.find_word(name, hash) {
            return Ok(id);
        }
        let id = self.add(name)?;
        self.words.insert_unique(Word::place(hash), Word { hash, id }, |word| Word::place(word.hash));
        Ok(id)
    }

    /// The number of the name that is `number` in decimal, a new one where it has none yet.
    #[inline]
    pub fn intern_number(&mut self, number: u64) -> Result<u32, Error> {
        if number >= TOO_LONG {
            return self.intern_long(number);
        }
        let id = self.next_id()?;
        let known = self.numbers.find_or_insert(number, id, || self.hasher.hash_one(0_u8));
        if known == id {
            if self.late.is_spelled() {
                self.spell();
            }
            self.late.push(number);
        }
        Ok(known)
    }

    #[cold]
    fn intern_long(&mut self, number: u64) -> Result<u32, Error> {
        let (digits, start) = decimal(number);
        // Digits are text.
        self.intern(std::str::from_utf8(&digits[start..]).unwrap_or_default())
    }

    /// Prepares for `names` names in all; a hint, which may be wrong.
    pub fn expect(&mut self, names: usize) {
        self.numbers.expect(names);
    }

    /// Puts the names that are not spelled yet with the others: each is then spelled once, whoever asks for them when.
    fn spell(&mut self) {
        let Table { text, ends, late, .. } = self;
        late.drain(|name| {
            text.push_str(name);
            ends.push(text.len());
        });
    }

    fn add_number(&mut self, number: u64, name: &str) -> Result<u32, Error> {
        let id = self.add(name)?;
        self.numbers.find_or_insert(number, id, || self.hasher.hash_one(0_u8));
        Ok(id)
    }

    #[inline]
    fn hash(&self, name: &str) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(name.as_bytes());
        let hash = hasher.finish();
        (hash ^ hash >> 32) as u32
    }

    #[inline]
    fn find_word(&self, name: &str, hash: u32) -> Option<u32> {
        let same = |word: &Word| word.hash == hash && self.get(word.id) == name;
        self.words.find(Word::place(hash), same).map(|word| word.id)
    }

    /// Adds a name that is not there yet.
    fn add(&mut self, name: &str) -> Result<u32, Error> {
        if name.len() > MAX_NAME_BYTES {
            return Err(Error::NameTooLong { bytes: name.len() });
        }
        let id = self.next_id()?;
        self.spell();
        self.text.push_str(name);
        self.ends.push(self.text.len());
        Ok(id)
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

    /// Adds every name of `other`; entry i of the answer is the number here of its i-th name.
    pub(crate) fn absorb(&mut self, other: &Table) -> Result<Vec<u32>, Error> {
        other.iter().map(|name| self.intern(name)).collect()
    }
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
    fn a_name_beyond_the_limit_is_refused() {
        let mut table = Table::default();
        assert!(table.intern(&"x".repeat(MAX_NAME_BYTES)).is_ok());
        let error = table.intern(&"y".repeat(MAX_NAME_BYTES + 1)).unwrap_err();
        assert!(matches!(error, Error::NameTooLong { bytes } if bytes == MAX_NAME_BYTES + 1));
    }
}
