//! Numbers of one width side by side, the low bit first.
//!
//! Reading one takes a load of eight bytes, a shift and a mask, whatever the numbers are: no branch can be missed.

/// The widest numbers that are read with one load wherever they start, and the next width.
const ONE_LOAD: usize = 56;
const WHOLE: usize = 64;

/// How many bytes beyond the last number a reader may look at.
pub(crate) const PADDING: usize = 8;

/// How many bytes `count` numbers of `width` bits take.
#[inline]
pub(crate) fn bytes(count: usize, width: usize) -> usize {
    (count * width).div_ceil(8)
}

/// How many bits `number` takes.
#[inline]
pub(crate) fn width(number: u64) -> usize {
    WHOLE - number.leading_zeros() as usize
}

/// The least width from `width` on that can be read.
#[inline]
pub(crate) fn readable(width: usize) -> usize {
    if width > ONE_LOAD { WHOLE } else { width }
}

/// Writes what `of` makes of each of `numbers`, in `width` bits, to the start of `out`, which has room for them and [`PADDING`].
#[inline]
pub(crate) fn pack<T: Copy>(numbers: &[T], of: impl Fn(T) -> u64, width: usize, out: &mut [u8]) {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                0 => {}
                $($width => pack_width::<$width, T>(numbers, of, out),)*
                _ => pack_any(numbers, of, width, out),
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
}

/// Eight numbers take `W` bytes, so that all offsets and shifts are known.
#[inline(never)]
fn pack_width<const W: usize, T: Copy>(numbers: &[T], of: impl Fn(T) -> u64, out: &mut [u8]) {
    let (eights, rest) = numbers.as_chunks::<8>();
    let mut at = 0;
    for eight in eights {
        let Some(room) = out.get_mut(at..at + W + PADDING) else { return };
        // One byte more than eight of them, and the bits that do not fit: as if it were one long number.
        let mut words = [0u64; 5];
        for (i, &number) in eight.iter().enumerate() {
            let (number, word, shift) = (of(number), i * W / WHOLE, i * W % WHOLE);
            words[word] |= number << shift;
            if shift + W > WHOLE {
                words[word + 1] |= number >> (WHOLE - shift);
            }
        }
        for (room, word) in room.chunks_exact_mut(PADDING).zip(words) {
            room.copy_from_slice(&word.to_le_bytes());
        }
        at += W;
    }
    if let Some(out) = out.get_mut(at..) {
        pack_any(rest, of, W, out);
    }
}

fn pack_any<T: Copy>(numbers: &[T], of: impl Fn(T) -> u64, width: usize, out: &mut [u8]) {
    let (mut word, mut filled, mut at) = (0u64, 0, 0);
    let mut put = |at: usize, word: u64| {
        if let Some(room) = out.get_mut(at..at + PADDING) {
            room.copy_from_slice(&word.to_le_bytes());
        }
    };
    for &number in numbers {
        let number = of(number);
        word |= number << filled;
        filled += width;
        if filled >= WHOLE {
            put(at, word);
            at += PADDING;
            filled -= WHOLE;
            word = if filled == 0 { 0 } else { number >> (width - filled) };
        }
    }
    put(at, word);
}

/// Reads numbers from `packed`, which goes on for [`PADDING`] bytes; adds `base` to each, modulo 2^32. Nothing where
/// the width is no width or `packed` is too short.
#[inline]
pub(crate) fn unpack(packed: &[u8], width: usize, base: u32, out: &mut [u32]) -> Option<()> {
    if packed.len() < bytes(out.len(), width) + PADDING {
        return None;
    }
    by_width(packed, width, out, |number| base.wrapping_add(number as u32))
}

/// The same for 64-bit numbers, modulo 2^64.
#[inline]
pub(crate) fn unpack_long(packed: &[u8], width: usize, base: u64, out: &mut [u64]) -> Option<()> {
    if packed.len() < bytes(out.len(), width) + PADDING || readable(width) != width || width > WHOLE {
        return None;
    }
    if width <= 32 {
        return by_width(packed, width, out, |number| base.wrapping_add(number));
    }
    for (i, out) in out.iter_mut().enumerate() {
        *out = base.wrapping_add(number(packed, i * width, width)?);
    }
    Some(())
}

#[inline]
fn by_width<T: Copy>(packed: &[u8], width: usize, out: &mut [T], of: impl Fn(u64) -> T) -> Option<()> {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                0 => out.fill(of(0)),
                $($width => unpack_width::<$width, T>(packed, out, of)?,)*
                _ => return None,
            }
        };
    }
    by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32);
    Some(())
}

/// Eight numbers take `W` bytes, so that all offsets and shifts are known.
#[inline(never)]
fn unpack_width<const W: usize, T>(packed: &[u8], out: &mut [T], of: impl Fn(u64) -> T) -> Option<()> {
    let (eights, rest) = out.as_chunks_mut::<8>();
    let mut at = 0;
    for eight in eights {
        let window = packed.get(at..at + W + PADDING)?;
        for (i, out) in eight.iter_mut().enumerate() {
            *out = of(number(window, i * W, W)?);
        }
        at += W;
    }
    for (i, out) in rest.iter_mut().enumerate() {
        *out = of(number(packed.get(at..)?, i * W, W)?);
    }
    Some(())
}

/// The number of `width` bits from bit `at` on.
#[inline(always)]
fn number(packed: &[u8], at: usize, width: usize) -> Option<u64> {
    let word = u64::from_le_bytes(*packed.get(at / 8..)?.first_chunk()?) >> (at % 8);
    Some(if width == WHOLE { word } else { word & ((1 << width) - 1) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: usize = 261;

    /// The numbers, bit by bit.
    fn naive(packed: &[u8], width: usize, i: usize) -> u64 {
        (0..width).fold(0, |number, bit| {
            let at = i * width + bit;
            number | u64::from(packed[at / 8] >> (at % 8) & 1) << bit
        })
    }

    #[test]
    fn every_width_and_count_survives_and_is_what_the_bits_say() {
        for width in (0..=ONE_LOAD).chain([WHOLE]) {
            let mask = if width == WHOLE { u64::MAX } else { (1 << width) - 1 };
            let numbers: [u64; COUNT] =
                core::array::from_fn(|i| (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 3 & mask);
            for count in [0, 1, 7, 8, 9, 255, 256, COUNT] {
                let mut packed = [0xFF; COUNT * 8 + PADDING];
                pack(&numbers[..count], |number| number, width, &mut packed);
                let packed = &packed[..bytes(count, width) + PADDING];
                let mut long = [7; COUNT];
                unpack_long(packed, width, 3, &mut long[..count]).unwrap();
                for i in 0..count {
                    assert_eq!(long[i], numbers[i].wrapping_add(3));
                    assert_eq!(long[i], naive(packed, width, i).wrapping_add(3));
                }
                let mut short = [7; COUNT];
                let result = unpack(packed, width, 3, &mut short[..count]);
                assert_eq!(result.is_some(), width <= 32);
                for i in (0..count).filter(|_| width <= 32) {
                    assert_eq!(short[i], (numbers[i] as u32).wrapping_add(3));
                }
                let cut = &packed[..packed.len() - 1];
                assert_eq!(unpack(cut, width, 0, &mut short[..count]), None);
                assert_eq!(unpack_long(cut, width, 0, &mut long[..count]), None);
            }
        }
    }

    #[test]
    fn other_widths_are_refused() {
        for width in (57..64).chain([65, 255]) {
            assert_eq!(unpack_long(&[0; 4096], width, 0, &mut [0; 4]), None);
        }
        assert_eq!(unpack(&[0; 4096], 33, 0, &mut [0; 4]), None);
        assert_eq!([readable(0), readable(56), readable(57), readable(64)], [0, 56, 64, 64]);
        assert_eq!([width(0), width(1), width(255), width(u64::MAX)], [0, 1, 8, 64]);
    }
}
