//! Slots from the bytes that they became.

use reweave_wire::OCTET;
use reweave_wire::ring::Slot;

use super::{NEW, NOTHING, OTHER, SAME, Sites, Surprise, size};
use crate::Damaged;

pub(super) fn unfolded(folded: u64) -> u64 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}

/// The number of the next bytes, at most 8, which are passed over.
fn load(bytes: &mut &[u8], length: usize) -> Result<u64, Damaged> {
    let (number, rest) = bytes.split_at_checked(length).ok_or(Damaged)?;
    *bytes = rest;
    Ok(number.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

impl Sites {
    /// Reads the slots of a block.
    pub(crate) fn decode(&mut self, mut bytes: &[u8], count: usize) -> Result<Vec<Slot>, Damaged> {
        let mut slots = Vec::with_capacity(count);
        while slots.len() < count {
            let first = load(&mut bytes, 1)? as u8;
            let foreseen = usize::from(first & 15);
            let path = self.paths.get_mut(usize::from(self.last)).ok_or(Damaged)?;
            for place in 0..foreseen {
                let (slot, used) = path.slots.give(place, bytes).ok_or(Damaged)?;
                slots.push(Slot(slot));
                bytes = bytes.get(used..).ok_or(Damaged)?;
            }
            let what = first & !15;
            if what == NOTHING {
                if let Some(last) = foreseen.checked_sub(1) {
                    self.last = *path.numbers.get(last).ok_or(Damaged)?;
                }
            } else if foreseen < OCTET {
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
        let (number, slot) = if what == NEW {
            let [word, target, value] = [load(bytes, 8)?, load(bytes, 8)?, load(bytes, 8)?];
            // Of a value only as many bytes count as it has.
            let unused = 64 - 8 * u32::from(size(word));
            (0, Slot([word, target, value << unused >> unused]))
        } else {
            let length = load(bytes, 1)? as usize;
            let number = match what {
                OTHER => load(bytes, 2)? as u16,
                SAME => {
                    let path = self.paths.get(usize::from(self.last)).ok_or(Damaged)?;
                    *path.numbers.get(place).ok_or(Damaged)?
                }
                _ => return Err(Damaged),
            };
            let site = self.sites.get(usize::from(number)).filter(|_| number != 0 && length <= 8).ok_or(Damaged)?;
            let word = site.word;
            let (_, before) = self.before(&Surprise { place, number, slot: Slot([word, 0, 0]) });
            let target = before.wrapping_add(unfolded(load(bytes, length)?));
            (number, Slot([word, target, load(bytes, usize::from(size(word)))?]))
        };
        self.learn(Surprise { place, number, slot });
        Ok(slot)
    }
}
