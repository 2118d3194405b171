//! Numbers in one to nine bytes.
//!
//! The first byte is the number itself below 192; from 192 it starts a two-byte form; from 240 it counts the bytes
//! that follow, low byte first. Eight first bytes remain: each stream may use them as escapes.

use core::hint::select_unpredictable;

use crate::bits::PADDING;

/// The most bytes a number takes.
pub(crate) const MAX_BYTES: usize = 9;

/// The first byte that starts no number.
pub(crate) const ESCAPE: u8 = 0xF8;

const TWO: u64 = 0xC0;
const COUNTED: u64 = 0xF0;
const TWO_END: u64 = TWO + ((COUNTED - TWO) << 8);

/// The bytes of `value`, and how many of them count.
#[inline]
pub(crate) fn encode(value: u64) -> ([u8; MAX_BYTES], usize) {
    let mut bytes = [0; MAX_BYTES];
    if value < TWO_END {
        // One or two bytes: which of them is hard to foresee.
        let (long, rest) = (value >= TWO, value.wrapping_sub(TWO));
        let two = (TWO + (rest >> 8)) & 0xFF | (rest & 0xFF) << 8;
        bytes[..8].copy_from_slice(&select_unpredictable(long, two, value).to_le_bytes());
        return (bytes, 1 + usize::from(long));
    }
    let count = (71 - value.leading_zeros() as usize) / 8;
    bytes[0] = (COUNTED as usize + count - 1) as u8;
    bytes[1..].copy_from_slice(&value.to_le_bytes());
    (bytes, 1 + count)
}

/// Signed numbers as unsigned ones, small where the distance to 0 is.
#[inline]
pub(crate) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The signed number of `value`.
#[inline]
pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Bytes being read from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'b> {
    bytes: &'b [u8],
}

impl<'b> Input<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Input<'b> {
        Input { bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next byte, which is not taken.
    #[inline]
    pub(crate) fn first(&self) -> Option<u8> {
        self.bytes.first().copied()
    }

    #[inline]
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(byte)
    }

    /// The next byte, if it is an escape.
    #[inline]
    pub(crate) fn escape(&mut self) -> Option<u8> {
        let (&byte, rest) = self.bytes.split_first().filter(|(byte, _)| **byte >= ESCAPE)?;
        self.bytes = rest;
        Some(byte)
    }

    pub(crate) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    /// The next `count` bytes and at least [`PADDING`] more, whatever they are; at the end of the input, in `scratch`.
    #[inline]
    pub(crate) fn padded<'s>(&mut self, count: usize, scratch: &'s mut [u8]) -> Option<&'s [u8]>
    where
        'b: 's,
    {
        let window = self.bytes;
        let taken = self.take(count)?;
        if let Some(padded) = window.get(..count + PADDING) {
            return Some(padded);
        }
        scratch.get_mut(..count)?.copy_from_slice(taken);
        scratch.get(..count + PADDING)
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Option<u64> {
        let first = u64::from(self.byte()?);
        if first < TWO {
            return Some(first);
        }
        if first < COUNTED {
            return Some(TWO + ((first - TWO) << 8 | u64::from(self.byte()?)));
        }
        if first >= u64::from(ESCAPE) {
            return None;
        }
        let mut bytes = [0; 8];
        let counted = self.take((first - COUNTED) as usize + 1)?;
        bytes.get_mut(..counted.len())?.copy_from_slice(counted);
        Some(u64::from_le_bytes(bytes))
    }

    /// What the next number is if it is one, and how many bytes it takes; nothing where it does not fit 32 bits for certain.
    /// Where the input ends before, it says that it takes more bytes than there are.
    #[inline]
    pub(crate) fn peek(&self) -> Option<(u32, usize)> {
        let word = match self.bytes.first_chunk() {
            Some(&bytes) => u64::from_le_bytes(bytes),
            None => self.last_word(),
        };
        let (first, rest) = (word & 0xFF, word >> 8);
        if first >= COUNTED {
            let count = first - COUNTED + 1;
            return (count <= 4).then(|| ((rest & ((1 << (8 * count)) - 1)) as u32, 1 + count as usize));
        }
        let two = TWO.wrapping_add(first.wrapping_sub(TWO) << 8 | rest & 0xFF) as u32;
        let long = first >= TWO;
        Some((select_unpredictable(long, two, first as u32), 1 + usize::from(long)))
    }

    #[cold]
    fn last_word(&self) -> u64 {
        let mut word = [0; 8];
        word.iter_mut().zip(self.bytes).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(word)
    }

    /// Passes over `count` bytes, if there are so many.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) -> Option<()> {
        self.bytes = self.bytes.get(count..)?;
        Some(())
    }

    /// A number that must fit 32 bits.
    #[inline]
    pub(crate) fn small(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// A number that must fit a length in memory.
    pub(crate) fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// A signed step.
    #[inline]
    pub(crate) fn step(&mut self) -> Option<i64> {
        self.number().map(unzigzag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, read off the module's text.
    fn naive(value: u64, out: &mut [u8; MAX_BYTES]) -> usize {
        match value {
            0..192 => {
                out[0] = value as u8;
                1
            }
            192..12480 => {
                out[0] = 192 + ((value - 192) / 256) as u8;
                out[1] = ((value - 192) % 256) as u8;
                2
            }
            _ => {
                let (mut rest, mut count) = (value, 0);
                while rest > 0 {
                    count += 1;
                    out[count] = (rest % 256) as u8;
                    rest /= 256;
                }
                out[0] = 240 + count as u8 - 1;
                count + 1
            }
        }
    }

    fn check(value: u64) {
        let (bytes, length) = encode(value);
        let mut expected = [0; MAX_BYTES];
        assert_eq!(length, naive(value, &mut expected));
        assert_eq!(bytes[..length], expected[..length]);
        let mut input = Input::new(&bytes[..length]);
        assert_eq!(input.number(), Some(value));
        assert!(input.is_empty());
        for more in 0..9 {
            let mut longer = [7; MAX_BYTES + 9];
            longer[..length].copy_from_slice(&bytes[..length]);
            let input = Input::new(&longer[..length + more]);
            assert_eq!(input.peek(), u32::try_from(value).ok().map(|value| (value, length)));
        }
        for cut in 0..length {
            let mut input = Input::new(&bytes[..cut]);
            assert_eq!(input.peek().and_then(|(_, length)| input.skip(length)), None);
            assert_eq!(Input::new(&bytes[..cut]).number(), None);
        }
        assert_eq!(zigzag(unzigzag(value)), value);
    }

    #[test]
    fn numbers_survive() {
        (0..70_000).for_each(check);
        for shift in 0..64 {
            let power = 1u64 << shift;
            [power - 1, power, power + 1, !power].into_iter().for_each(check);
        }
    }

    #[test]
    fn steps_near_zero_are_short() {
        for (step, code) in [(0, 0), (-1, 1), (1, 2), (-2, 3), (i64::MAX, u64::MAX - 1), (i64::MIN, u64::MAX)]
        {
            assert_eq!(zigzag(step), code);
            assert_eq!(unzigzag(code), step);
        }
    }

    #[test]
    fn escapes_are_no_numbers() {
        for byte in ESCAPE..=u8::MAX {
            assert_eq!(Input::new(&[byte, 1, 2, 3, 4, 5, 6, 7, 8, 9]).number(), None);
            assert_eq!(Input::new(&[byte]).escape(), Some(byte));
        }
        assert_eq!(Input::new(&[ESCAPE - 1]).escape(), None);
    }
}
