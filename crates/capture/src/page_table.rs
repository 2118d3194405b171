//! Where pages of memory are kept, by their numbers.

use std::cell::Cell;

use hashbrown::HashMap;

pub(crate) const PAGE_WORDS: usize = 512;
pub(crate) const PAGE_BYTES: u64 = 4096;

/// How many pages that were looked for last are found at once: most accesses are to few.
const RECENT_BITS: u32 = 12;
/// An entry has the place in its lower bits, and above what of the page's number its own index does not tell.
const PLACE_BITS: u32 = 24;
const NO_PLACE: u64 = (1 << PLACE_BITS) - 1;

/// Places by the numbers of pages.
#[derive(Clone)]
pub(crate) struct PageTable {
    places: HashMap<u64, u32>,
    recent: Vec<Cell<u64>>,
}

impl PageTable {
    pub(crate) fn new() -> PageTable {
        PageTable { places: HashMap::new(), recent: vec![Cell::new(NO_PLACE); 1 << RECENT_BITS] }
    }

    /// The place of the page of `at`, if it has one.
    #[inline]
    pub(crate) fn find(&self, at: u64) -> Option<usize> {
        let number = at / PAGE_BYTES;
        let recent = self.recent.get(number as usize % (1 << RECENT_BITS)).map_or(NO_PLACE, Cell::get);
        let place = recent & NO_PLACE;
        if recent >> PLACE_BITS == number >> RECENT_BITS && place != NO_PLACE {
            return Some(place as usize);
        }
        self.look_up(number)
    }

    fn look_up(&self, number: u64) -> Option<usize> {
        let place = *self.places.get(&number)?;
        if let Some(recent) = self.recent.get(number as usize % (1 << RECENT_BITS))
            && u64::from(place) < NO_PLACE
        {
            recent.set(number >> RECENT_BITS << PLACE_BITS | u64::from(place));
        }
        Some(place as usize)
    }

    pub(crate) fn insert(&mut self, at: u64, place: u32) {
        self.places.insert(at / PAGE_BYTES, place);
    }
}
