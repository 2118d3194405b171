//! Interned names.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::{Error, Space};

/// The longest name, in bytes. Names come from untrusted files.
pub const MAX_NAME_BYTES: usize = 1 << 16;

/// One space of names, numbered from 0 in order of first appearance.
#[derive(Clone, Default, Debug)]
pub struct Table {
    text: String,
    /// Where each name ends in `text`; it starts where the one before ends.
    ends: Vec<usize>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Table {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of number `id`.
    ///
    /// # Panics
    /// When `id` was not given out by this table.
    pub fn get(&self, id: u32) -> &str {
        name(&self.text, &self.ends, id)
    }

    /// The number of `name`, if it has one.
    pub fn find(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name);
        self.ids.find(hash, |&id| self.get(id) == name).copied()
    }

    /// The number of `name`, a new one where it has none yet.
    pub fn intern(&mut self, name: &str) -> Result<u32, Error> {
        let Table { text, ends, ids, hasher } = self;
        let hash = hasher.hash_one(name);
        if let Some(&id) = ids.find(hash, |&id| self::name(text, ends, id) == name) {
            return Ok(id);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(Error::NameTooLong { bytes: name.len() });
        }
        if ends.len() >= u32::MAX as usize - 1 {
            return Err(Error::TooMany { what: "names" });
        }
        let id = ends.len() as u32;
        text.push_str(name);
        ends.push(text.len());
        ids.insert_unique(hash, id, |&id| hasher.hash_one(self::name(text, ends, id)));
        Ok(id)
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

fn name<'t>(text: &'t str, ends: &[usize], id: u32) -> &'t str {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &text[start..ends[id]]
}

/// All names of a trace, one table a space, and the sites.
#[derive(Clone, Default, Debug)]
pub struct Names {
    spaces: [Table; Space::ALL.len()],
    /// The sites.
    pub sites: Table,
}

impl Names {
    /// The names of one space.
    pub fn space(&self, space: Space) -> &Table {
        &self.spaces[space as usize]
    }

    /// The names of one space, to add to.
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
    fn a_name_beyond_the_limit_is_refused() {
        let mut table = Table::default();
        assert!(table.intern(&"x".repeat(MAX_NAME_BYTES)).is_ok());
        let error = table.intern(&"y".repeat(MAX_NAME_BYTES + 1)).unwrap_err();
        assert!(matches!(error, Error::NameTooLong { bytes } if bytes == MAX_NAME_BYTES + 1));
    }
}
