//! The exact set of states that were met.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::state::State;

/// States, each held once.
#[derive(Default)]
pub(crate) struct Store {
    words: Vec<u64>,
    /// Where each state ends.
    ends: Vec<usize>,
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Store {
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
        self.table.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a state; whether it is new.
    pub(crate) fn insert(&mut self, state: &State, extra: &[u64]) -> bool {
        let start = self.words.len();
        // The extra words come first: a state has no fixed length.
        self.words.extend_from_slice(extra);
        self.words.extend_from_slice(state.words());
        let hash = self.hasher.hash_one(&self.words[start..]);
        let (words, ends) = (&self.words, &self.ends);
        let at = |id: u32| {
            let id = id as usize;
            &words[if id == 0 { 0 } else { ends[id - 1] }..ends[id]]
        };
        if self.table.find(hash, |&id| at(id) == &words[start..]).is_some() {
            self.words.truncate(start);
            return false;
        }
        let hasher = &self.hasher;
        self.table.insert_unique(hash, ends.len() as u32, |&id| hasher.hash_one(at(id)));
        self.ends.push(self.words.len());
        true
    }
}
