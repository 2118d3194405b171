//! A hash map in memory of our own.

use core::marker::PhantomData;

use crate::sys;

/// Spreads the bits of a key.
#[inline]
pub(crate) fn hash(key: u64) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as usize
}

/// An array in memory of our own, zeroed.
pub(crate) struct Array<T> {
    at: *mut T,
    length: usize,
}

impl<T: Copy> Array<T> {
    /// `length` times zero, which must be a `T`; empty where there is no memory.
    pub(crate) fn zeroed(length: usize) -> Array<T> {
        let at = sys::map(length * size_of::<T>());
        Array { at: at as *mut T, length: if at == 0 { 0 } else { length } }
    }

    /// Its first elements.
    pub(crate) fn cut(self, length: usize) -> Array<T> {
        Array { at: self.at, length: length.min(self.length) }
    }

    #[inline]
    pub(crate) fn as_ref(&self) -> &[T] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: as for `as_mut`, which cannot be borrowed from at the same time.
        unsafe { core::slice::from_raw_parts(self.at, self.length) }
    }

    #[inline]
    pub(crate) fn as_mut(&mut self) -> &mut [T] {
        if self.length == 0 {
            return &mut [];
        }
        // SAFETY: `zeroed` mapped so many of them, only this array refers to them, and nothing unmaps them.
        unsafe { core::slice::from_raw_parts_mut(self.at, self.length) }
    }
}

/// A map from numbers other than 0; it doubles where it gets full, and forgets nothing.
pub(crate) struct Map<V> {
    slots: Array<(u64, V)>,
    used: usize,
    values: PhantomData<V>,
}

impl<V: Copy + Default> Map<V> {
    /// An empty map. Zeroed memory must be a `V`.
    pub(crate) fn new() -> Map<V> {
        Map { slots: Array::zeroed(1 << 10), used: 0, values: PhantomData }
    }

    /// The value of `key`, made where there is none; none only where there is no memory.
    pub(crate) fn entry(&mut self, key: u64) -> Option<&mut V> {
        if self.used * 2 >= self.slots.length {
            self.grow();
        }
        let place = find(self.slots.as_mut(), key)?;
        let slot = self.slots.as_mut().get_mut(place)?;
        if slot.0 != key {
            *slot = (key, V::default());
            self.used += 1;
        }
        Some(&mut slot.1)
    }

    /// The value of `key`, where there is one.
    pub(crate) fn get(&mut self, key: u64) -> Option<&mut V> {
        let place = find(self.slots.as_mut(), key)?;
        let slot = self.slots.as_mut().get_mut(place)?;
        (slot.0 == key).then_some(&mut slot.1)
    }

    /// The key of a value that is as wanted, if there is one.
    pub(crate) fn find(&self, wanted: impl Fn(&V) -> bool) -> Option<u64> {
        self.slots.as_ref().iter().find(|(key, value)| *key != 0 && wanted(value)).map(|(key, _)| *key)
    }

    fn grow(&mut self) {
        let mut larger: Array<(u64, V)> = Array::zeroed(self.slots.length * 2);
        for &(key, value) in self.slots.as_mut().iter().filter(|slot| slot.0 != 0) {
            if let Some(place) = find(larger.as_mut(), key)
                && let Some(slot) = larger.as_mut().get_mut(place)
            {
                *slot = (key, value);
            }
        }
        if larger.length > 0 {
            self.slots = larger;
        }
    }
}

/// Where `key` is or could be; none where the map is full of others.
fn find<V>(slots: &[(u64, V)], key: u64) -> Option<usize> {
    let start = hash(key);
    (0..slots.len()).map(|step| (start + step) % slots.len()).find(|&place| {
        let there = slots.get(place).map_or(0, |slot| slot.0);
        there == key || there == 0
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn a_map_holds_what_the_standard_one_does() {
        let (mut ours, mut theirs) = (Map::<u64>::new(), HashMap::new());
        let mut random = 1u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let key = (random >> 50) * 8 + 8;
            let ours_there = ours.entry(key).unwrap();
            *ours_there = ours_there.wrapping_add(random);
            let theirs = theirs.entry(key).or_insert(0u64);
            *theirs = theirs.wrapping_add(random);
            assert_eq!(ours.get(key).copied(), Some(*theirs));
        }
        for (&key, &value) in &theirs {
            assert_eq!(ours.get(key).copied(), Some(value));
        }
        assert_eq!(ours.get(3), None);
    }
}
