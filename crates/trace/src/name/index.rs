//! Ids by hash.
//!
//! A name's id stands with 32 bits of its hash: most comparisons of names, and all moving when the table grows, end
//! there, without a look at the name, which in a large table is a cache miss away. A name that is new costs one look at
//! the table, which is what reading a trace with many names spends its time on.

/// A table of ids, at most five eighths full; entries that collide follow each other.
#[derive(Clone, Default, Debug)]
pub(super) struct Index {
    /// The hash above and the id plus one below; 0 where there is none.
    slots: Vec<u64>,
    count: usize,
    /// How many there will be, as far as is known.
    expected: usize,
}

const FIRST_SLOTS: usize = 16;

/// How many slots hashes choose from with their lowest bits.
pub(super) const GROUP: usize = 8;

impl Index {
    /// There will be about `count` ids.
    pub(super) fn expect(&mut self, count: usize) {
        self.expected = count;
    }

    /// The id with this hash that is the `same`.
    #[inline]
    pub(super) fn find(&self, hash: u32, same: impl Fn(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.probe(hash, same).ok()
    }

    /// The id with this hash that is the `same`; where there is none, `id` takes its place.
    #[inline]
    pub(super) fn find_or_insert(&mut self, hash: u32, id: u32, same: impl Fn(u32) -> bool) -> u32 {
        if self.count >= most(self.slots.len()) {
            self.grow();
        }
        match self.probe(hash, same) {
            Ok(known) => known,
            Err(free) => {
                self.slots[free] = u64::from(hash) << 32 | u64::from(id + 1);
                self.count += 1;
                id
            }
        }
    }

    /// What is where this hash belongs: for those who want it to be at hand soon.
    #[inline]
    pub(super) fn touch(&self, hash: u32) -> u64 {
        self.slots.get(place(hash, self.slots.len())).copied().unwrap_or_default()
    }

    /// The id, or the free slot where it belongs. There is one, as the table is never full.
    #[inline]
    fn probe(&self, hash: u32, same: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = place(hash, self.slots.len());
        loop {
            let slot = self.slots[at & mask];
            if slot == 0 {
                return Err(at & mask);
            }
            let id = slot as u32 - 1;
            if (slot >> 32) as u32 == hash && same(id) {
                return Ok(id);
            }
            at += 1;
        }
    }

    #[cold]
    fn grow(&mut self) {
        let mut room = (2 * self.slots.len()).max(FIRST_SLOTS);
        // Not before it is clear that what is expected belongs here.
        while self.count >= self.expected / 8 && most(room) < self.expected {
            room *= 2;
        }
        // Zeros are written, not asked for: pages that are read before they are written cost twice.
        let mut old = Vec::with_capacity(room);
        old.extend(std::iter::repeat_n(0, room));
        std::mem::swap(&mut self.slots, &mut old);
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            if let Err(free) = self.probe((slot >> 32) as u32, |_| false) {
                self.slots[free] = slot;
            }
        }
    }
}

/// How many ids a table of so many slots takes.
#[inline]
fn most(slots: usize) -> usize {
    slots / 8 * 5
}

/// Where a hash belongs among `slots`, a power of 2: its upper bits choose a group, which is a cache line, so that a table
/// that grows is read and written in order; its lowest bits choose a place in the group.
#[inline]
fn place(hash: u32, slots: usize) -> usize {
    let groups = slots / GROUP;
    ((u64::from(hash) * groups as u64) >> 32) as usize * GROUP + hash as usize % GROUP
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_with_equal_hashes_are_told_apart_however_many() {
        for hash_of in [|_: u32| 0, |_| u32::MAX, |key| key % 7, |key: u32| key.wrapping_mul(0x9e37_79b9)] {
            let (mut index, mut keys) = (Index::default(), Vec::<u32>::new());
            for key in (0..300).chain(100..400) {
                let known = keys.iter().position(|&other| other == key);
                let same = |id: u32| keys[id as usize] == key;
                assert_eq!(index.find(hash_of(key), same), known.map(|id| id as u32));
                let id = index.find_or_insert(hash_of(key), keys.len() as u32, same);
                assert_eq!(id as usize, known.unwrap_or(keys.len()));
                if known.is_none() {
                    keys.push(key);
                }
            }
        }
    }

    #[test]
    fn what_is_expected_finds_room_once_some_of_it_is_there() {
        let mut index = Index::default();
        index.expect(1000);
        (0..170_u32).for_each(|id| _ = index.find_or_insert(id.wrapping_mul(0x9e37_79b9), id, |_| false));
        let room = index.slots.len();
        (170..1000_u32).for_each(|id| _ = index.find_or_insert(id.wrapping_mul(0x9e37_79b9), id, |_| false));
        assert_eq!(index.slots.len(), room);
        assert_eq!(room, 2048);
    }
}
