//! Words of a range that were touched.

use std::ops::Range;

use super::{Memory, SharedWords, place_in_page};
use crate::given::Given;
use crate::page_table::PAGE_BYTES;
use crate::word::Word;

impl Memory {
    /// Calls `each` with threads that touched a range of an object or freed it: with all of them,
    /// or with two.
    pub(crate) fn touched_by(&self, object: u32, range: Range<u64>, mut each: impl FnMut(u32)) {
        let freed = self.objects.get(object as usize).and_then(|object| object.freed_by);
        freed.into_iter().for_each(&mut each);
        self.touched_words(range, |_, word| word.touched_by(&mut each));
    }

    /// Calls `each` with the words of a range that were touched, and where they are.
    fn touched_words(&self, range: Range<u64>, mut each: impl FnMut(u64, Word)) {
        let mut at = range.start / 8 * 8;
        while at < range.end {
            let start = at / PAGE_BYTES * PAGE_BYTES;
            let words = place_in_page(at)..(range.end - start).min(PAGE_BYTES).div_ceil(8) as usize;
            if let Some(all) = self.page(at).and_then(|page| page.words.as_ref()) {
                for place in words {
                    if all[place].is_touched() {
                        each(start + 8 * place as u64, all[place]);
                    }
                }
            }
            let Some(next) = start.checked_add(PAGE_BYTES) else { break };
            at = next;
        }
    }

    /// Marks the words of memory that was given away.
    pub(super) fn mark_given(&self, given: &Given, shared: &mut SharedWords) {
        for range in given.ranges() {
            self.touched_words(range, |at, _| {
                if let Some(bits) = self.table.find(at).and_then(|place| shared.bits.get_mut(place)) {
                    bits[place_in_page(at) / 64] |= 1 << (place_in_page(at) % 64);
                }
            });
        }
    }

    /// The pages around an address that follow each other and were touched.
    pub(crate) fn pages_around(&self, at: u64) -> (u64, u64) {
        let is_touched = |at: u64| self.table.find(at).is_some();
        let mut start = at / PAGE_BYTES * PAGE_BYTES;
        let mut end = start.saturating_add(PAGE_BYTES);
        while start >= PAGE_BYTES && is_touched(start - PAGE_BYTES) {
            start -= PAGE_BYTES;
        }
        while is_touched(end) && end < u64::MAX - PAGE_BYTES {
            end += PAGE_BYTES;
        }
        (start, end)
    }
}
