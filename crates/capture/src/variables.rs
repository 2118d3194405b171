//! The ids of variables, by where they are.
//!
//! All variables of a word have their ids at once, one after another, so that one entry is enough for them; and words that
//! lie together lie together here, for memory is mostly gone through in order.

use hashbrown::HashMap;

/// How many words an entry has, and how many entries that were looked for last are found at once.
const WORDS: usize = 16;
const RECENT: usize = 1 << 10;

const NONE: u32 = u32::MAX;

/// The first id of each word.
pub(crate) struct Variables {
    /// Where in `firsts` the words of an object are, by its number and their place.
    places: HashMap<(u32, u64), u32>,
    recent: Vec<(u32, u64, u32)>,
    firsts: Vec<[u32; WORDS]>,
}

impl Variables {
    pub(crate) fn new() -> Variables {
        Variables { places: HashMap::new(), recent: vec![(NONE, 0, 0); RECENT], firsts: Vec::new() }
    }

    /// The first id of the word at `at` in an object, if it has one.
    #[inline]
    pub(crate) fn first(&mut self, object: u32, at: u64) -> Option<u32> {
        Some(*self.entry(object, at)).filter(|&first| first != NONE)
    }

    /// Gives a word its first id.
    pub(crate) fn set(&mut self, object: u32, at: u64, first: u32) {
        *self.entry(object, at) = first;
    }

    #[inline]
    fn entry(&mut self, object: u32, at: u64) -> &mut u32 {
        let words = at / (8 * WORDS as u64);
        let hash = (words ^ u64::from(object) << 4) as usize % RECENT;
        let recent = &mut self.recent[hash];
        if (recent.0, recent.1) != (object, words) {
            let next = self.firsts.len() as u32;
            let place = *self.places.entry((object, words)).or_insert(next);
            if place == next {
                self.firsts.push([NONE; WORDS]);
            }
            *recent = (object, words, place);
        }
        &mut self.firsts[recent.2 as usize][at as usize / 8 % WORDS]
    }
}
