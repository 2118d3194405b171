//! Slots from the bytes that they became.

use reweave_wire::ring::Slot;
use reweave_wire::{STEPS, Surprise};

use super::{ANY, NEW, NOTHING, OTHER, SAME, Sites, size};
use crate::Damaged;

pub(super) fn unfolded(folded: u64) -> u64 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}

/// The number of the next bytes, at most 8, which are passed over.
fn load(bytes: &mut &[u8], length: usize) -> Result<u64, Damaged> {
    let (number, rest) = bytes.split_at_checked(length).filter(|_| length <= 8).ok_or(Damaged)?;
    *bytes = rest;
    Ok(number.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

impl Sites {
    /// Reads the slots of a block.
    pub(crate) fn decode(&mut self, mut bytes: &[u8], count: usize) -> Result<Vec<Slot>, Damaged> {
        let mut slots = Vec::with_capacity(count);
        while slots.len() < count {
            let first = load(&mut bytes, 1)? as u8;
            let (foreseen, what) = (usize::from(first & 15), first & !15);
            let path = self.paths.get_mut(usize::from(self.last)).ok_or(Damaged)?;
            let used = path.give(foreseen, bytes, |slot| slots.push(Slot(slot))).ok_or(Damaged)?;
            bytes = bytes.get(used..).ok_or(Damaged)?;
            if what == NOTHING {
                self.pass(foreseen);
            } else if foreseen < STEPS {
                slots.push(self.decode_in_full(foreseen, what, &mut bytes)?);
            } else {
                return Err(Damaged);
            }
        }
        self.end_block(count as u32);
        if slots.len() == count && bytes.is_empty() { Ok(slots) } else { Err(Damaged) }
    }

    /// Reads a slot that was not foreseen at this place of a path.
    fn decode_in_full(&mut self, place: usize, what: u8, bytes: &mut &[u8]) -> Result<Slot, Damaged> {
        let (site, word, target, value);
        if what == NEW {
            (site, word, target, value) = (0, load(bytes, 8)?, load(bytes, 8)?, load(bytes, 8)?);
        } else {
            let length = load(bytes, 1)? as usize;
            let path = self.paths.get(usize::from(self.last)).ok_or(Damaged)?;
            site = match what {
                ANY => load(bytes, 2)? as u16,
                SAME => path.site(place).0,
                OTHER => path.other(place),
                _ => return Err(Damaged),
            };
            word = self.sites.get(usize::from(site)).filter(|_| site != 0).ok_or(Damaged)?.word;
            target = self.before(what, place, site).wrapping_add(unfolded(load(bytes, length)?));
            value = load(bytes, usize::from(size(word)))?;
        }
        let size = size(word);
        self.learn(Surprise { place, site, word, target, size });
        // Of a value only as many bytes count as it has.
        let unused = 64 - 8 * u32::from(size);
        Ok(Slot([word, target, value << unused >> unused]))
    }
}
