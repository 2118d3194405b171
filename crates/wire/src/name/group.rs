//! Numbers of one space and stem in groups, as columns of the steps from half to half.
//!
//! What is written name by name is shorter, but takes a decision or two a name to read. Where there are many, that is what reading
//! a trace spends its time on.

use super::{State, tag};
use crate::column::{ColumnReader, ENTRIES, Frame};
use crate::lane::{Lane, Lanes};
use crate::varint::Input;

/// The fewest numbers that make a group; fewer are written name by name.
const FEWEST: usize = 64;

/// Numbers that are still to be written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    numbers: [u64; ENTRIES],
    count: usize,
}

impl Pending {
    pub(super) const NONE: Pending = Pending { numbers: [0; ENTRIES], count: 0 };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether one more makes the group full.
    #[inline]
    pub(super) fn is_last(&self) -> bool {
        self.count + 1 >= ENTRIES
    }

    /// Adds a number; answers whether the group is full.
    #[inline]
    pub(super) fn push(&mut self, number: u64) -> bool {
        self.numbers[self.count % ENTRIES] = number;
        self.count += 1;
        self.count >= ENTRIES
    }

    /// The numbers, which are no longer here, and whether they are enough for a group.
    pub(super) fn take(&mut self) -> ([u64; ENTRIES], usize, bool) {
        let count = core::mem::take(&mut self.count).min(ENTRIES);
        (self.numbers, count, count >= FEWEST)
    }

    pub(super) fn clear(&mut self) {
        self.count = 0;
    }
}

/// Writes a group that follows `state`.
pub(super) fn write<B>(numbers: &[u64], state: &mut State, lanes: &mut Lanes<B>)
where
    B: AsRef<[u8]> + AsMut<[u8]>,
{
    let (mut upper, mut lower) = ([0; ENTRIES], [0; ENTRIES]);
    let mut before = (state.recent[0], state.low);
    for ((&number, upper), lower) in numbers.iter().zip(&mut upper).zip(&mut lower) {
        let (high, low) = ((number >> 32) as u32, number as u32);
        *upper = zigzag(high.wrapping_sub(before.0));
        *lower = zigzag(low.wrapping_sub(before.1).wrapping_sub(1));
        before = (high, low);
    }
    lanes.byte(Lane::Names, tag::GROUP);
    lanes.byte(Lane::Names, (numbers.len() - 1) as u8);
    for column in [&upper, &lower] {
        let column = column.get(..numbers.len()).unwrap_or_default();
        Frame::of_small(column).write(column, 0, lanes, Lane::Names);
    }
    state.set_number(u64::from(before.0) << 32 | u64::from(before.1));
}

/// Room for reading groups.
#[derive(Clone, Debug)]
pub(super) struct GroupReader {
    columns: ColumnReader,
    upper: [u32; ENTRIES],
    lower: [u32; ENTRIES],
}

impl GroupReader {
    pub(super) fn new() -> GroupReader {
        GroupReader { columns: ColumnReader::new(), upper: [0; ENTRIES], lower: [0; ENTRIES] }
    }

    /// Reads a group that follows `state`, all but its first byte; answers with how many numbers it has. Nothing, and then anything may
    /// have been read, where it makes no sense or has more than `most`.
    pub(super) fn read(
        &mut self,
        input: &mut Input<'_>,
        state: &mut State,
        most: usize,
        out: &mut [u64; ENTRIES],
    ) -> Option<usize> {
        let count = usize::from(input.byte()?) + 1;
        if count > most || !state.whole {
            return None;
        }
        let (upper, lower) = (self.upper.get_mut(..count)?, self.lower.get_mut(..count)?);
        if self.columns.read(input, upper)? | self.columns.read(input, lower)? {
            return None;
        }
        let (mut high, mut low) = (state.recent[0], state.low);
        for ((out, &mut upper), &mut lower) in out.iter_mut().zip(upper).zip(lower) {
            high = high.wrapping_add(unzigzag(upper));
            low = low.wrapping_add(unzigzag(lower)).wrapping_add(1);
            *out = u64::from(high) << 32 | u64::from(low);
        }
        state.set_number(u64::from(high) << 32 | u64::from(low));
        Some(count)
    }
}

/// A step modulo 2^32 as a number that is small where the step is.
#[inline]
fn zigzag(step: u32) -> u32 {
    step << 1 ^ ((step as i32) >> 31) as u32
}

#[inline]
fn unzigzag(code: u32) -> u32 {
    code >> 1 ^ (code & 1).wrapping_neg()
}
