//! Slots as few bytes, and back.
//!
//! A slot's first word, what it is and where in the code, is looked up in a table of such words. Nearly always it is the one
//! that followed the last one before; then it takes no byte. The address is told by its distance from that of the same
//! place in the code before; the value is left out where it is the same as there. The recorder must keep pace with the
//! program, so this is as little work as can be, and apart from what is foreseen it is arithmetic rather than decisions.
//!
//! **Invariant:** encoder and decoder change the tables in the same way, and nothing else does.

use reweave_wire::ring::{Slot, kind};

use crate::Damaged;

/// How many words of code the table has room for.
const SITES: usize = 1 << 12;
/// The most bytes of a slot.
pub(crate) const MAX_BYTES: usize = 1 + 3 * 8;
/// What must be free behind the last slot: bytes are written in words.
pub(crate) const SPARE: usize = 32;

// The first byte of a slot: a code of the distance's length, and these.
const SAME: u8 = 1 << 3;
const SMALL: u8 = 1 << 4;
const TOLD: u8 = 1 << 6;
const NEW: u8 = 1 << 7;

/// What encoder and decoder remember.
pub(crate) struct Sites {
    table: Box<[Site; SITES]>,
    last: usize,
}

/// A first word, and what came with it before. Half a line of the cache: some hundred are in use at a time.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Site {
    word: u64,
    target: u64,
    value: u64,
    /// The place of the word that followed.
    next: u16,
    /// How many bytes the values have.
    size: u8,
}

impl Default for Sites {
    fn default() -> Sites {
        // No recorder writes this word.
        let nobody = Site { word: u64::MAX, target: 0, value: 0, next: 0, size: 8 };
        Sites { table: Box::new([nobody; SITES]), last: 0 }
    }
}

#[inline(always)]
fn place_of(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - SITES.trailing_zeros())) as usize
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
fn length_code(number: u64) -> u8 {
    u8::from(number != 0) + u8::from(number > 0xFF) + u8::from(number > 0xFFFF) + u8::from(number >> 32 != 0)
}

/// The length of a code: 0, 1, 2, 4 or 8.
#[inline(always)]
fn length(code: u8) -> usize {
    (0x84210 >> (4 * u32::from(code & 7))) & 15
}

/// How many bytes the value of a slot can have.
fn size(word: u64) -> u8 {
    let kind = (word >> 56) as u8;
    if kind < kind::OTHERS { (kind & 15).clamp(1, 8) } else { 8 }
}

#[inline(always)]
fn put(room: &mut [u8; SPARE], at: usize, number: u64) {
    if let Some(room) = room.get_mut(at..at + 8) {
        room.copy_from_slice(&number.to_le_bytes());
    }
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

/// The lowest bytes of a number.
#[inline(always)]
fn mask(bytes: usize) -> u64 {
    const MASKS: [u64; 16] = {
        let mut masks = [u64::MAX; 16];
        let mut bytes = 0;
        while bytes < 8 {
            masks[bytes] = (1 << (8 * bytes)) - 1;
            bytes += 1;
        }
        masks
    };
    MASKS[bytes & 15]
}

impl Sites {
    /// Writes slots, of whose values only the bytes of their size count, to `bytes` from `at` on, where there must be room for
    /// [`MAX_BYTES`] each and [`SPARE`] more; where they end, and how many there are. Those that no recorder writes are
    /// left out, and `other` gets those that are no accesses.
    #[inline]
    pub(crate) fn encode<T>(
        &mut self,
        slots: &[[T; 3]],
        read: impl Fn(&T) -> u64,
        bytes: &mut [u8],
        mut at: usize,
        mut other: impl FnMut(Slot),
    ) -> (usize, u32) {
        let (table, mut last, mut left_out) = (&mut *self.table, self.last, 0);
        for [word, target, value] in slots {
            let (word, target, value) = (read(word), read(target), read(value));
            let Some(room) = bytes.get_mut(at..at + SPARE).and_then(|room| room.first_chunk_mut()) else {
                break;
            };
            let used;
            (used, last) = encode(table, word, target, value, last, room);
            at += used;
            if word >> 63 != 0 || used == 0 {
                left_out += u32::from(used == 0);
                other(Slot([word, target, value]));
            }
        }
        self.last = last;
        (at, slots.len() as u32 - left_out)
    }

    /// Reads the slot at `at`; where it ends.
    #[inline(always)]
    pub(crate) fn decode(&mut self, bytes: &[u8], mut at: usize) -> Result<(Slot, usize), Damaged> {
        let control = *bytes.get(at).ok_or(Damaged)?;
        at += 1;
        let table = &mut *self.table;
        if control & NEW != 0 {
            let [word, target, value] = [0, 8, 16].map(|from| load(bytes, at + from, 8));
            let slot = Slot([word?, target?, value?]);
            let (slot, place) = learn(table, slot, self.last);
            self.last = place;
            return Ok((slot, at + 24));
        }
        let mut place = usize::from(table[self.last % SITES].next) % SITES;
        if control & TOLD != 0 {
            place = load(bytes, at, 2)? as usize % SITES;
            table[self.last % SITES].next = place as u16;
            at += 2;
        }
        self.last = place;
        let site = &mut table[place];
        let length = length(control);
        let target = site.target.wrapping_add(unfolded(load(bytes, at, length)?));
        at += length;
        let mut value = site.value;
        if control & SAME == 0 {
            let size = if control & SMALL != 0 { 1 } else { usize::from(site.size) };
            value = load(bytes, at, size)?;
            at += size;
        }
        if at > bytes.len() {
            return Err(Damaged);
        }
        (site.target, site.value) = (target, value);
        Ok((Slot([site.word, target, value]), at))
    }
}

/// Writes a slot that comes after the place `last`; how many bytes it takes, and its own place. What the next slot waits
/// for is passed on in registers: through memory it would take twice as long.
#[inline(always)]
fn encode(
    table: &mut [Site; SITES],
    word: u64,
    target: u64,
    value: u64,
    last: usize,
    room: &mut [u8; SPARE],
) -> (usize, usize) {
    let mut place = usize::from(table[last % SITES].next) % SITES;
    let (mut control, mut used) = (0, 1);
    if table[place].word != word {
        place = place_of(word) % SITES;
        if table[place].word != word {
            return encode_new(table, Slot([word, target, value]), last, room);
        }
        table[last % SITES].next = place as u16;
        (control, used) = (u32::from(TOLD) | (place as u32) << 8, 3);
    }
    let site = &mut table[place];
    let size = usize::from(site.size);
    let value = value & mask(size);
    let distance = folded(target.wrapping_sub(site.target));
    let code = length_code(distance);
    let (same, small) = (value == site.value, value < 256);
    site.target = target;
    site.value = value;
    let flags = (u32::from(same) * u32::from(SAME)) | (u32::from(small) * u32::from(SMALL));
    control |= u32::from(code) | flags;
    room[..4].copy_from_slice(&control.to_le_bytes());
    put(room, used, distance);
    used += length(code);
    put(room, used & 15, value);
    let bytes_of_value = if small { 1 } else { size };
    (used + if same { 0 } else { bytes_of_value }, place)
}

/// Writes a slot whose first word is not in the table, in full.
#[cold]
#[inline(never)]
fn encode_new(table: &mut [Site; SITES], slot: Slot, last: usize, room: &mut [u8; SPARE]) -> (usize, usize) {
    if !is_sound(slot) {
        return (0, last);
    }
    let (Slot([word, target, value]), place) = learn(table, slot, last);
    room[0] = NEW;
    for (at, number) in [(1, word), (9, target), (17, value)] {
        put(room, at, number);
    }
    (MAX_BYTES, place)
}

fn learn(table: &mut [Site; SITES], slot: Slot, last: usize) -> (Slot, usize) {
    let [word, target, value] = slot.0;
    let (place, size) = (place_of(word) % SITES, size(word));
    let value = value & mask(usize::from(size));
    table[last % SITES].next = place as u16;
    let next = table[place].next;
    table[place] = Site { word, target, value, next, size };
    (Slot([word, target, value]), place)
}

/// Whether a slot is one that a recorder can write.
fn is_sound(slot: Slot) -> bool {
    let (kind, size) = (slot.kind(), slot.kind() & 15);
    if kind < kind::OTHERS { kind < kind::UPDATE + 16 && (1..=8).contains(&size) } else { true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encode_one(encoder: &mut Sites, slot: Slot, bytes: &mut [u8], at: usize) -> (usize, u32) {
        encoder.encode(&[slot.0], |word| *word, bytes, at, |_| ())
    }

    fn slots(count: usize) -> Vec<Slot> {
        let mut random = 5u64;
        let mut draw = |bits: u32| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            random >> (64 - bits)
        };
        (0..count)
            .map(|_| {
                let bits = 1 + draw(6) as u32 % 63;
                let kind = [1, 2, 4, 8, 0x11, 0x14, 0x28, 0x85, 0xF1][draw(8) as usize % 9];
                let code = if draw(3) == 0 { draw(40) } else { draw(4) };
                let value = if draw(2) == 0 { 0 } else { draw(64 - bits) };
                Slot([kind << 56 | code, draw(bits), value & mask(usize::from(size(kind << 56)))])
            })
            .collect()
    }

    #[test]
    fn what_is_decoded_is_what_was_encoded() {
        let slots = slots(20_000);
        let (mut encoder, mut at) = (Sites::default(), 0);
        let mut bytes = vec![0; slots.len() * MAX_BYTES + SPARE];
        for &slot in &slots {
            let before = at;
            (at, _) = encode_one(&mut encoder, slot, &mut bytes, at);
            assert!(at > before && at - before <= MAX_BYTES);
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
    fn of_a_value_only_its_own_bytes_count_and_what_nobody_writes_is_left_out() {
        let mut bytes = vec![0; 4 * MAX_BYTES + SPARE];
        let (mut encoder, mut at) = (Sites::default(), 0);
        for value in [0xAABB_CCDD_EEFF_1122, 0x9900_0000_0000_1122, 0x1_0002] {
            let slot = Slot([0x0200_0000_0000_0040, 64, value]);
            (at, _) = encode_one(&mut encoder, slot, &mut bytes, at);
        }
        for kind in [0x00, 0x09, 0x60, 0x7F] {
            let slot = Slot([kind << 56, 1, 1]);
            assert_eq!(encode_one(&mut encoder, slot, &mut bytes, at), (at, 0), "{kind:#x}");
        }
        let (mut decoder, mut at) = (Sites::default(), 0);
        for value in [0x1122, 0x1122, 2] {
            let (slot, next) = decoder.decode(&bytes, at).unwrap();
            assert_eq!(slot, Slot([0x0200_0000_0000_0040, 64, value]));
            at = next;
        }
    }

    #[test]
    fn numbers_take_as_many_bytes_as_they_need() {
        for bits in 0..64 {
            for number in [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits] {
                let length = length(length_code(number));
                assert_eq!(number & mask(length), number, "{number:#x}");
                assert_eq!(unfolded(folded(number)), number);
            }
        }
        assert_eq!([0, 255, 256, 65_536, 1 << 32].map(|number| length(length_code(number))), [0, 1, 2, 4, 8]);
    }
}
