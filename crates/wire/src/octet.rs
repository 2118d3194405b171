//! Eight slots against the eight that are expected, word by word.
//!
//! Of every word its base is taken off. What is left may be as large as is expected and no larger: nothing of a first word,
//! little of a target, anything of a value. Then only as many bytes of it are kept as can be other than zero. The
//! words lie as those of slots do, so a processor with wide registers treats eight at a time, without a decision
//! among them; elsewhere the same is done for one slot after another.
//!
//! **Invariant:** both ways leave the same bytes and the same expectations.

use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

/// How many slots there are.
pub const OCTET: usize = 8;
/// There must be so much room for what is kept of eight slots: bytes are written in large pieces.
pub const OCTET_ROOM: usize = WORDS * 8;

const WORDS: usize = 3 * OCTET;
/// The first word of no slot.
const NOBODY: u64 = (1 << 56) - 1;

/// What is expected of eight slots.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Octet {
    base: [u64; WORDS],
    /// What may be left of each word.
    most: [u64; WORDS],
    /// How far the next base is from the word; of targets, the others stay.
    step: [u64; WORDS],
    /// Which bytes are kept of each word, a bit each: from the lowest on.
    kept: [u8; WORDS],
}

/// What was expected of the slots that were offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// How many, up to the first that was not.
    pub slots: usize,
    /// How many bytes are kept of them.
    pub bytes: usize,
}

impl Octet {
    /// Expects nothing.
    pub const NOTHING: Octet = {
        let (mut base, mut place) = ([0; WORDS], 0);
        while place < WORDS {
            base[place] = NOBODY;
            place += 3;
        }
        Octet { base, most: [0; WORDS], step: [0; WORDS], kept: [0; WORDS] }
    };

    /// Expects the first word at a place, with a value of so many bytes, and a target that jumps about around `target` by
    /// so many bytes, at most 4, or none.
    pub fn expect(&mut self, place: usize, word: u64, target: u64, jump: u8, size: u8) {
        let Some(at) = self.words(place) else { return };
        (self.base[at], self.base[at + 2], self.most[at + 2]) = (word, 0, u64::MAX);
        self.kept[at + 2] = low_bits(size);
        self.jump(place, target, jump);
    }

    /// Expects other targets at a place from now on: around `target`, by so many bytes, at most 4.
    pub fn jump(&mut self, place: usize, target: u64, jump: u8) {
        let Some(at) = self.words(place) else { return };
        let (reach, before) = match u32::from(jump) {
            0 => (1, 0),
            bytes => (1u64 << (8 * bytes), 1 << (8 * bytes - 1)),
        };
        (self.most[at + 1], self.step[at + 1]) = (reach - 1, 0u64.wrapping_sub(before));
        self.base[at + 1] = target.wrapping_sub(before);
        self.kept[at + 1] = low_bits(jump);
    }

    /// Expects targets that jump about to be where they were the last time.
    pub fn rest(&mut self) {
        for place in 0..OCTET {
            if self.way(place).0 > 0 {
                self.jump(place, self.target(place), 0);
            }
        }
    }

    /// Expects targets at a place that lie so far from each other.
    pub fn stride(&mut self, place: usize, target: u64, stride: u64) {
        let Some(at) = self.words(place) else { return };
        (self.most[at + 1], self.step[at + 1], self.kept[at + 1]) = (0, stride, 0);
        self.base[at + 1] = target.wrapping_add(stride);
    }

    /// Expects from a place on what `other` expects from its first on.
    pub fn go_on(&mut self, place: usize, other: &Octet) {
        let at = (3 * place).min(WORDS);
        self.base[at..].copy_from_slice(&other.base[..WORDS - at]);
        self.most[at..].copy_from_slice(&other.most[..WORDS - at]);
        self.step[at..].copy_from_slice(&other.step[..WORDS - at]);
        self.kept[at..].copy_from_slice(&other.kept[..WORDS - at]);
    }

    /// The last target at a place.
    pub fn target(&self, place: usize) -> u64 {
        self.words(place).map_or(0, |at| self.base[at + 1].wrapping_sub(self.step[at + 1]))
    }

    /// How many bytes of a target are kept, and how far one is from the next where that is none.
    pub fn way(&self, place: usize) -> (u8, u64) {
        self.words(place).map_or((0, 0), |at| match self.kept[at + 1].count_ones() as u8 {
            0 => (0, self.step[at + 1]),
            jump => (jump, 0),
        })
    }

    /// Where the words of a place begin.
    fn words(&self, place: usize) -> Option<usize> {
        (place < OCTET).then_some(3 * place)
    }

    /// Keeps what is other than expected of the slots that are as expected, at the start of `room`: at most eight.
    pub fn take(&mut self, slots: &[[AtomicU64; 3]], room: &mut [u8; OCTET_ROOM]) -> Expected {
        #[cfg(target_arch = "x86_64")]
        if let Some(slots) = slots.first_chunk()
            && wide::is_there()
        {
            return wide::take(self, slots, room);
        }
        self.take_one_by_one(slots, room)
    }

    fn take_one_by_one(&mut self, slots: &[[AtomicU64; 3]], room: &mut [u8; OCTET_ROOM]) -> Expected {
        let mut expected = Expected { slots: 0, bytes: 0 };
        for (place, slot) in slots.iter().take(OCTET).enumerate() {
            let [word, target, value] = slot.each_ref().map(|word| word.load(Relaxed));
            let at = 3 * place;
            let left = target.wrapping_sub(self.base[at + 1]);
            if word != self.base[at] || left > self.most[at + 1] || value > self.most[at + 2] {
                break;
            }
            self.base[at + 1] = target.wrapping_add(self.step[at + 1]);
            for (number, kept) in [(left, self.kept[at + 1]), (value, self.kept[at + 2])] {
                if let Some(room) = room.get_mut(expected.bytes..expected.bytes + 8) {
                    room.copy_from_slice(&number.to_le_bytes());
                }
                expected.bytes += kept.count_ones() as usize;
            }
            expected.slots += 1;
        }
        expected
    }

    /// The slot at a place of which `bytes` begin with what was kept, and how many bytes that is; none where they are too few,
    /// or nothing was expected.
    pub fn give(&mut self, place: usize, bytes: &[u8]) -> Option<([u64; 3], usize)> {
        let at = self.words(place).filter(|&at| self.base[at] != NOBODY)?;
        let [jump, size] = [at + 1, at + 2].map(|at| self.kept[at].count_ones() as usize);
        let target = self.base[at + 1].wrapping_add(load(bytes, 0, jump)?);
        let value = load(bytes, jump, size)?;
        self.base[at + 1] = target.wrapping_add(self.step[at + 1]);
        Some(([self.base[at], target, value], jump + size))
    }
}

/// So many bits, from the lowest on.
fn low_bits(count: u8) -> u8 {
    ((1u16 << count.min(8)) - 1) as u8
}

/// The number of so many bytes, at most 8.
#[inline(always)]
fn load(bytes: &[u8], at: usize, count: usize) -> Option<u64> {
    if let Some(word) = bytes.get(at..at + 8).and_then(<[u8]>::first_chunk) {
        let all = u64::from_le_bytes(*word);
        return Some(if count < 8 { all & ((1 << (8 * count)) - 1) } else { all });
    }
    let bytes = bytes.get(at..at + count)?;
    Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

/// The same with registers of 64 bytes.
#[cfg(target_arch = "x86_64")]
mod wide;

#[cfg(test)]
mod tests;
