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
        let least = numbers.iter().fold(u32::MAX, |least, &number| least.min(number));
        let most = numbers.iter().fold(0, |most, &number| most.max(number));
        let base = least.min(most);
        let width = bits::width(u64::from(most - base));
        let plain =
            Frame { base, width, exceptions: 0, above: 0, bytes: 3 + bits::bytes(numbers.len(), width) };
        // Most often numbers are of about the same width, and that is soon seen.
        let wide = numbers.iter().map(|number| u32::from((number - base) >> (width / 2) > 0)).sum::<u32>();
        if width == 0 || wide as usize * 2 > numbers.len() { plain } else { plain.or_exceptions(numbers) }
    }

    fn or_exceptions(self, numbers: &[u32]) -> Frame {
        let mut widths = [0u16; WIDTHS];
        numbers.iter().for_each(|number| widths[bits::width(u64::from(number - self.base)) % WIDTHS] += 1);
        let (mut best, mut exceptions) = (self, 0);
        for width in (0..self.width).rev() {
            exceptions += usize::from(widths[width + 1]);
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
        let entries = numbers.iter().map(|&number| u64::from(number - base));
        let some = if exceptions > 0 { EXCEPTIONS } else { 0 };
        lanes.byte(lane, width as u8 | related | some);
        lanes.number(lane, u64::from(base));
        if exceptions == 0 {
            return lanes.packed(lane, entries, numbers.len(), width);
        }
        lanes.byte(lane, (exceptions - 1) as u8);
        lanes.byte(lane, above as u8);
        let mask = (1 << width) - 1;
        lanes.packed(lane, entries.clone().map(|entry| entry & mask), numbers.len(), width);
        let wide = entries.map(|entry| entry >> width);
        for (place, above) in wide.clone().enumerate() {
            lanes.byte_if(lane, above > 0, place as u8);
        }
        lanes.packed(lane, wide.filter(|&above| above > 0), exceptions, above);
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
