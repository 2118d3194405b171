//! Slots from the bytes that they became.

use reweave_wire::ring::Slot;

use super::{END, KNOWN, MAX_FULL, NEW, SITES, SKIP, Sites, TOLD, mask, size};
use crate::Damaged;

#[inline(always)]
pub(super) fn unfolded(folded: u64) -> u64 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}

#[inline(always)]
fn load(bytes: &[u8], at: usize, length: usize) -> Result<u64, Damaged> {
    if let Some(word) = bytes.get(at..at + 8).and_then(|word| word.first_chunk()) {
        return Ok(u64::from_le_bytes(*word) & mask(length));
    }
    let mut word = [0; 8];
    let bytes = bytes.get(at..at + length).ok_or(Damaged)?;
    word.get_mut(..length).ok_or(Damaged)?.copy_from_slice(bytes);
    Ok(u64::from_le_bytes(word))
}

impl Sites {
    /// Reads the slots of a part that begins at `at`, at most so many; where it ends, and how many are left.
    pub(crate) fn decode(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        mut most: u32,
        slots: &mut Vec<Slot>,
    ) -> Result<(usize, u32), Damaged> {
        self.begin_part();
        let before = most;
        loop {
            let run = load(bytes, at, 2)? as u32;
            most = most.checked_sub(run).ok_or(Damaged)?;
            at = self.decode_run(bytes, at + 2, run, slots)?;
            let first = *bytes.get(at).ok_or(Damaged)?;
            at += 1;
            if first == END {
                self.since += (before - most) as usize;
                return Ok((at, most));
            }
            if first == SKIP {
                continue;
            }
            most = most.checked_sub(1).ok_or(Damaged)?;
            at = self.decode_in_full(bytes, at, first, slots)?;
        }
    }

    /// Reads slots that were foreseen.
    fn decode_run(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        run: u32,
        slots: &mut Vec<Slot>,
    ) -> Result<usize, Damaged> {
        for _ in 0..run {
            let number = self.sites.get(usize::from(self.last)).ok_or(Damaged)?.next;
            let site = self.sites.get_mut(usize::from(number)).ok_or(Damaged)?;
            if site.reach == 0 {
                return Err(Damaged);
            }
            let (jump, size) = (usize::from(site.jump), usize::from(site.size));
            let distance = load(bytes, at, jump)?;
            let value = load(bytes, at + jump, size)?;
            at += jump + size;
            site.target = site.expected().wrapping_add(unfolded(distance));
            slots.push(Slot([site.word, site.target, value]));
            self.last = number;
        }
        Ok(at)
    }

    /// Reads a slot that was not foreseen, after its first byte.
    fn decode_in_full(
        &mut self,
        bytes: &[u8],
        mut at: usize,
        first: u8,
        slots: &mut Vec<Slot>,
    ) -> Result<usize, Damaged> {
        if first & NEW != 0 {
            if self.count + 1 >= SITES {
                self.forget();
            }
            let (word, target) = (load(bytes, at, 8)?, load(bytes, at + 8, 8)?);
            let slot = Slot([word, target, load(bytes, at + 16, 8)? & mask(usize::from(size(word)))]);
            self.learn(slot);
            slots.push(slot);
            return Ok(at + MAX_FULL - 1);
        }
        let mut number = self.sites.get(usize::from(self.last)).ok_or(Damaged)?.next;
        if first & TOLD != 0 {
            number = load(bytes, at, 2)? as u16;
            at += 2;
        }
        let length = usize::from(first & 15).min(8);
        let distance = load(bytes, at, length)?;
        let site = self.follow(number).filter(|site| site.size != 0 && first & KNOWN != 0).ok_or(Damaged)?;
        let (word, size) = (site.word, usize::from(site.size));
        let target = site.expected().wrapping_add(unfolded(distance));
        let value = load(bytes, at + length, size)?;
        self.adapt(number, target);
        slots.push(Slot([word, target, value]));
        Ok(at + length + size)
    }
}
