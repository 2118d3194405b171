//! Slots as few bytes, and back.
//!
//! A slot's first word, what it is and where in the code, is looked up in a table of such words. Most often it is the one
//! that followed the last one before; then it takes no byte. The address and the value are told by their distance
//! from those of the same place in the code before, in as many bytes as that takes. All of this is arithmetic rather than
//! decisions: which case comes next is hard to foresee, and the recorder must keep pace with the program.
//!
//! **Invariant:** encoder and decoder change the table by the same function, [`Sites::follow`], and nothing else does.

use reweave_wire::ring::{Slot, kind};

use crate::Damaged;

/// How many words of code the table has room for.
const SITES: usize = 1 << 12;
/// The most bytes of a slot.
pub(crate) const MAX_BYTES: usize = 1 + 8 + 2 + 8 + 8;

// The first byte of a slot: a length's code for the value, one for the target, and how its site is told. The lengths are
// from 0 to 6 and 8.
const FORESEEN: u8 = 1 << 6;
const NEW: u8 = 1 << 7;

/// What encoder and decoder remember, by the place of a slot's first word in the table. Each is a table of its own: read
/// together right after they were written one by one, they would make the processor wait.
pub(crate) struct Sites {
    words: Box<[u64; SITES]>,
    targets: Box<[u64; SITES]>,
    values: Box<[u64; SITES]>,
    /// The place that followed.
    next: Box<[u16; SITES]>,
    last: u16,
}

impl Default for Sites {
    fn default() -> Sites {
        Sites {
            words: Box::new([0; SITES]),
            targets: Box::new([0; SITES]),
            values: Box::new([0; SITES]),
            next: Box::new([0; SITES]),
            last: 0,
        }
    }
}

#[inline(always)]
fn place(word: u64) -> u16 {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SITES.trailing_zeros())) as u16
}

#[inline(always)]
fn folded(difference: u64) -> u64 {
    difference << 1 ^ ((difference as i64) >> 63) as u64
}

#[inline(always)]
fn unfolded(folded: u64) -> u64 {
    folded >> 1 ^ (folded & 1).wrapping_neg()
}

/// The code of the length that a number takes.
#[inline(always)]
fn length_code(number: u64) -> u64 {
    let bytes = u64::from(63 - (number | 1).leading_zeros()) / 8 + u64::from(number != 0);
    bytes - u64::from(bytes == 8)
}

/// The length of a code.
#[inline(always)]
fn length(code: u64) -> usize {
    (code + u64::from(code == 7)) as usize
}

#[inline(always)]
fn put(bytes: &mut [u8], at: usize, number: u128) {
    if let Some(room) = bytes.get_mut(at..at + 16).and_then(|room| room.first_chunk_mut()) {
        *room = number.to_le_bytes();
    }
}

#[inline(always)]
fn load(bytes: &[u8], at: usize, length: usize) -> Result<u64, Damaged> {
    if let Some(word) = bytes.get(at..at + 8).and_then(|word| word.first_chunk()) {
        let mask = if length >= 8 { u64::MAX } else { (1 << (8 * length)) - 1 };
        return Ok(u64::from_le_bytes(*word) & mask);
    }
    let mut word = [0; 8];
    let bytes = bytes.get(at..at + length).ok_or(Damaged)?;
    word.get_mut(..length).ok_or(Damaged)?.copy_from_slice(bytes);
    Ok(u64::from_le_bytes(word))
}

/// The same slot with a value that is its own: a hook's write comes with the whole word around it.
#[inline]
pub(crate) fn own_value(slot: Slot) -> Slot {
    Slot([slot.0[0], slot.0[1], slot.value()])
}

impl Sites {
    /// Notes a slot at its place in the table.
    #[inline(always)]
    fn follow(&mut self, place: u16, slot: Slot) {
        let [word, target, value] = slot.0;
        self.next[usize::from(self.last) % SITES] = place;
        let at = usize::from(place) % SITES;
        self.words[at] = word;
        self.targets[at] = target;
        self.values[at] = value;
        self.last = place;
    }

    /// Writes a slot to `bytes` from `at` on, where there must be room for [`MAX_BYTES`]; where it ends.
    #[inline(always)]
    pub(crate) fn encode(&mut self, slot: Slot, bytes: &mut [u8], mut at: usize) -> usize {
        let [word, target, value] = slot.0;
        let place = place(word);
        let foreseen = self.next[usize::from(self.last) % SITES] == place;
        let site = usize::from(place) % SITES;
        let target_by = folded(target.wrapping_sub(self.targets[site]));
        let value_by = folded(value.wrapping_sub(self.values[site]));
        let (target_code, value_code) = (length_code(target_by), length_code(value_by));
        let codes = target_code << 3 | value_code;
        if self.words[site] != word {
            // Rare: the word in full.
            put(bytes, at, u128::from(codes | u64::from(NEW)) | u128::from(word) << 8);
            at += 9;
            put(bytes, at, u128::from(target_by));
        } else {
            let bits = 8 + 16 * u32::from(!foreseen);
            let control = codes | u64::from(foreseen) << 6 | u64::from(place) << 8;
            // Where the place is foreseen, the target overwrites it.
            let mask = (1u128 << bits) - 1;
            put(bytes, at, u128::from(control) & mask | u128::from(target_by) << bits);
            at += (bits / 8) as usize;
        }
        at += length(target_code);
        put(bytes, at, u128::from(value_by));
        at += length(value_code);
        self.follow(place, slot);
        at
    }

    /// Reads the slot at `at`; where it ends.
    #[inline(always)]
    pub(crate) fn decode(&mut self, bytes: &[u8], mut at: usize) -> Result<(Slot, usize), Damaged> {
        let control = *bytes.get(at).ok_or(Damaged)?;
        at += 1;
        let (place, word) = if control & NEW != 0 {
            let word = load(bytes, at, 8)?;
            at += 8;
            (place(word), word)
        } else {
            let place = if control & FORESEEN != 0 {
                self.next[usize::from(self.last) % SITES]
            } else {
                at += 2;
                load(bytes, at - 2, 2)? as u16
            };
            (place, self.words[usize::from(place) % SITES])
        };
        let site = usize::from(place) % SITES;
        let bytes_of_target = length(u64::from(control >> 3 & 7));
        let target = self.targets[site].wrapping_add(unfolded(load(bytes, at, bytes_of_target)?));
        at += bytes_of_target;
        let bytes_of_value = length(u64::from(control & 7));
        let value = self.values[site].wrapping_add(unfolded(load(bytes, at, bytes_of_value)?));
        at += bytes_of_value;
        if at > bytes.len() {
            return Err(Damaged);
        }
        let slot = Slot([word, target, value]);
        self.follow(place, slot);
        Ok((slot, at))
    }
}

/// Whether a slot is one that a recorder can write.
#[inline(always)]
pub(crate) fn is_sound(slot: Slot) -> bool {
    let (kind, size) = (slot.kind(), slot.kind() & 15);
    if kind < kind::OTHERS { kind < kind::UPDATE + 16 && (1..=8).contains(&size) } else { true }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_decoded_is_what_was_encoded() {
        let mut random = 5u64;
        let mut draw = |bits: u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            random >> (64 - bits)
        };
        let slots: Vec<Slot> = (0..20_000)
            .map(|_| {
                let bits = 1 + draw(6) as u32 % 63;
                let word = if draw(3) == 0 { draw(63) } else { draw(4) << 56 | draw(6) };
                Slot([word, draw(bits), if draw(2) == 0 { 0 } else { draw(64 - bits) }])
            })
            .collect();
        let (mut encoder, mut bytes, mut at) = (Sites::default(), vec![0; slots.len() * MAX_BYTES + 16], 0);
        for &slot in &slots {
            let before = at;
            at = encoder.encode(slot, &mut bytes, at);
            assert!(at - before <= MAX_BYTES);
        }
        bytes.truncate(at);
        let (mut decoder, mut at) = (Sites::default(), 0);
        for &slot in &slots {
            let (found, next) = decoder.decode(&bytes, at).unwrap();
            assert_eq!(found, slot);
            at = next;
        }
        assert_eq!(at, bytes.len());
        assert!(decoder.decode(&bytes, at).is_err());
        // Cut off anywhere, the last slot is missing or whole.
        let mut decoder = Sites::default();
        let (mut at, mut count) = (0, 0);
        while let Ok((_, next)) = decoder.decode(&bytes[..bytes.len() - 1], at) {
            (at, count) = (next, count + 1);
        }
        assert_eq!(count, slots.len() - 1);
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        for bits in 0..64 {
            for number in [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits] {
                let length = length(length_code(number));
                assert!(length == 8 || number >> (8 * length) == 0, "{number:#x}");
                assert_eq!(unfolded(folded(number)), number);
            }
        }
        assert_eq!((length_code(0), length_code(255), length_code(256)), (0, 1, 2));
    }
}
