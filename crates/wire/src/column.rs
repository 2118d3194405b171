//! A column of a packed group: numbers of one width, counted from a base.
//!
//! Where only a few are wide, the others need not be so as well: what is above the width is then listed behind, with its places.
//! All of it is read by loops without a decision in them.

use crate::bits::{self, PADDING};
use crate::lane::{Lane, Lanes};
use crate::varint::{Input, MAX_BYTES};

/// The most entries of a column.
pub(crate) const ENTRIES: usize = 1 << 8;

/// The most bytes that a column takes.
pub(crate) const COLUMN_BYTES: usize = 1 + MAX_BYTES + ENTRIES * 4 + 2 * PADDING;

/// The bits of a column's first byte beside its width: the entries are not the numbers, but what the numbers are in relation to
/// others; and some are wider.
pub(crate) const RELATED: u8 = 0x40;
const EXCEPTIONS: u8 = 0x80;

const WIDTHS: usize = 33;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame {
    base: u32,
    width: usize,
    /// How many are wider, and the width of what they have above.
    exceptions: usize,
    above: usize,
    /// About how many bytes that takes.
    pub(crate) bytes: usize,
}

impl Frame {
    /// A short way to write `numbers`, at most [`ENTRIES`] of them.
    pub(crate) fn of(numbers: &[u32]) -> Frame {
        let first = numbers.first().copied().unwrap_or_default();
        // Often they are all the same, which is soon seen.
        if numbers.iter().fold(0, |all, number| all | (number ^ first)) == 0 {
            return Frame::plain(first, 0, numbers.len());
        }
        let least = numbers.iter().fold(u32::MAX, |least, &number| least.min(number));
        let most = numbers.iter().fold(0, |most, &number| most.max(number));
        Frame::plain(least, bits::width(u64::from(most - least)), numbers.len()).or_exceptions(numbers)
    }

    /// A short way to write `numbers` that are 0 or small most often.
    pub(crate) fn of_small(numbers: &[u32]) -> Frame {
        let first = numbers.first().copied().unwrap_or_default();
        let fold = |(all, other), number: &u32| (all | number, other | (number ^ first));
        let (all, other) = numbers.iter().fold((0, 0), fold);
        if other == 0 {
            return Frame::plain(first, 0, numbers.len());
        }
        Frame::plain(0, bits::width(u64::from(all)), numbers.len()).or_exceptions(numbers)
    }

    fn plain(base: u32, width: usize, count: usize) -> Frame {
        Frame { base, width, exceptions: 0, above: 0, bytes: 3 + bits::bytes(count, width) }
    }

    /// Whether it is so short that looking for another way is not worth it.
    pub(crate) fn is_short(&self) -> bool {
        self.width <= 1
    }

    /// The same with exceptions, if that is shorter.
    fn or_exceptions(self, numbers: &[u32]) -> Frame {
        // Most often numbers are of about the same width, and that is soon seen, too.
        let (base, half) = (self.base, self.width / 2);
        let wide = numbers.iter().map(|number| u32::from((number - base) >> half > 0)).sum::<u32>();
        if self.width == 0 || wide as usize * 2 > numbers.len() {
            self
        } else {
            self.with_exceptions(numbers)
        }
    }

    fn with_exceptions(self, numbers: &[u32]) -> Frame {
        // Several counts, for a count that was just changed is waited for.
        let mut counts = [[0u8; WIDTHS]; 4];
        let (fours, rest) = numbers.as_chunks::<4>();
        let width_of = |number: &u32| (u32::BITS - (number - self.base).leading_zeros()) as usize % WIDTHS;
        for four in fours {
            counts.iter_mut().zip(four).for_each(|(widths, number)| widths[width_of(number)] += 1);
        }
        let mut widths = [0usize; WIDTHS];
        rest.iter().for_each(|number| widths[width_of(number)] += 1);
        counts.iter().for_each(|counts| {
            widths.iter_mut().zip(counts).for_each(|(width, &count)| *width += usize::from(count));
        });
        let (mut best, mut exceptions) = (self, 0);
        for width in (0..self.width).rev() {
            exceptions += widths[width + 1];
            let above = self.width - width;
            let bytes = 5 + bits::bytes(numbers.len(), width) + exceptions + bits::bytes(exceptions, above);
            if bytes < best.bytes {
                best = Frame { width, exceptions, above, bytes, ..self };
            }
        }
        best
    }

    /// Writes `numbers`, whose way this is; `related` is [`RELATED`] or 0.
    pub(crate) fn write<B>(&self, numbers: &[u32], related: u8, lanes: &mut Lanes<B>, lane: Lane)
    where
        B: AsRef<[u8]> + AsMut<[u8]>,
    {
        let Frame { base, width, exceptions, above, .. } = *self;
        let some = if exceptions > 0 { EXCEPTIONS } else { 0 };
        lanes.byte(lane, width as u8 | related | some);
        lanes.number(lane, u64::from(base));
        if exceptions == 0 {
            return lanes.packed(lane, numbers, |number| u64::from(number - base), width);
        }
        lanes.byte(lane, (exceptions - 1) as u8);
        lanes.byte(lane, above as u8);
        let mask = (1 << width) - 1;
        lanes.packed(lane, numbers, |number| u64::from((number - base) & mask), width);
        // Without a branch: which of them are wide is hard to foresee.
        let (mut places, mut wide, mut count) = ([0; ENTRIES], [0; ENTRIES], 0);
        for (&number, place) in numbers.iter().zip(0..) {
            let more = (number - base) >> width;
            (places[count % ENTRIES], wide[count % ENTRIES]) = (place as u8, more);
            count += usize::from(more > 0);
        }
        lanes.bytes(lane, places.get(..exceptions).unwrap_or_default());
        lanes.packed(lane, wide.get(..exceptions).unwrap_or_default(), u64::from, above);
    }
}

/// Room for reading columns, as clearing it for each would take longer than reading.
#[derive(Clone, Debug)]
pub(crate) struct ColumnReader {
    scratch: [u8; ENTRIES * 4 + PADDING],
    above: [u32; ENTRIES],
}

impl ColumnReader {
    pub(crate) fn new() -> ColumnReader {
        ColumnReader { scratch: [0; ENTRIES * 4 + PADDING], above: [0; ENTRIES] }
    }

    /// Reads a column of at most [`ENTRIES`]; answers whether its numbers are in relation to others.
    pub(crate) fn read(&mut self, input: &mut Input<'_>, out: &mut [u32]) -> Option<bool> {
        let first = input.byte()?;
        let (width, base) = (usize::from(first & (RELATED - 1)), input.small()?);
        let exceptions = if first & EXCEPTIONS == 0 { None } else { Some((input.byte()?, input.byte()?)) };
        let packed = input.padded(bits::bytes(out.len(), width), &mut self.scratch)?;
        bits::unpack(packed, width, base, out)?;
        if let Some((last, above)) = exceptions {
            self.add(input, usize::from(last) + 1, usize::from(above), width, out)?;
        }
        Some(first & RELATED != 0)
    }

    /// Adds what `count` entries have above `width`.
    fn add(
        &mut self,
        input: &mut Input<'_>,
        count: usize,
        above: usize,
        width: usize,
        out: &mut [u32],
    ) -> Option<()> {
        if width + above > 32 {
            return None;
        }
        let places = input.take(count)?;
        let packed = input.padded(bits::bytes(count, above), &mut self.scratch)?;
        let numbers = self.above.get_mut(..count)?;
        bits::unpack(packed, above, 0, numbers)?;
        let mut known = true;
        for (&place, number) in places.iter().zip(numbers) {
            match out.get_mut(usize::from(place)) {
                // Where nothing is above, nothing is lost by a shift too far.
                Some(entry) => *entry = entry.wrapping_add(number.wrapping_shl(width as u32)),
                None => known = false,
            }
        }
        known.then_some(())
    }
}

#[cfg(test)]
mod tests;
