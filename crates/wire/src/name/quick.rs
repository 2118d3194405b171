//! Numbers without a stem, read without branches where there is nothing to foresee.
//!
//! The last upper halves stay where they are, and their order is a number with a digit for each: so bringing one to the front
//! takes a few shifts, however far back it is.

use core::hint::select_unpredictable;

use super::{RECENT, State, lower, tag, upper};
use crate::varint::{Input, unzigzag};

/// The most names that are told at once: one, and a run that follows it.
const AT_MOST: usize = 1 + tag::LONGEST_RUN as usize;

/// How many numbers are written at a time.
const WIDE: usize = 8;

/// The state of a space whose stem is empty, and what is still to be read.
pub(super) struct Quick<'b> {
    pub(super) input: Input<'b>,
    /// How many names are left.
    pub(super) left: usize,
    halves: [u32; RECENT],
    /// The places of the halves, four bits each, the latest one lowest.
    order: u32,
    low: u32,
    largest: u32,
}

impl<'b> Quick<'b> {
    pub(super) fn new(state: &State, input: Input<'b>, left: usize) -> Quick<'b> {
        let State { recent, low, largest, .. } = *state;
        Quick { input, left, halves: recent, order: 0x7654_3210, low, largest }
    }

    pub(super) fn write_back(&self, state: &mut State) {
        state.recent = core::array::from_fn(|place| self.halves[self.half(place as u32)]);
        (state.low, state.largest) = (self.low, self.largest);
    }

    /// Where the half is that is at `place` in order.
    #[inline]
    fn half(&self, place: u32) -> usize {
        (self.order >> (4 * place)) as usize % RECENT
    }

    /// Fills `room` with the next names as far as they are of this sort, and says how many they are.
    #[inline]
    pub(super) fn all(&mut self, room: &mut [u64]) -> usize {
        let mut done = 0;
        while let Some(room) = room.get_mut(done..).and_then(|room| room.first_chunk_mut::<AT_MOST>())
            && let Some(count) = self.next(room)
        {
            done += count;
        }
        done
    }

    /// Puts the next names in `room` and says how many they are; nothing, and nothing is read, where they are of another sort.
    #[inline]
    fn next(&mut self, room: &mut [u64; AT_MOST]) -> Option<usize> {
        let mut input = self.input;
        let first = input.first().filter(|&tag| tag < tag::LONG_RUN)?;
        if first >= tag::RUN {
            return self.run(room);
        }
        let (above, below) = (first / 4, first % 4);
        input.skip(1)?;
        let mut far = self.largest.wrapping_add(1);
        if above >= upper::STEP {
            let step = input.step().filter(|_| above == upper::STEP)?;
            far = u32::try_from(i64::from(self.halves[self.half(0)]).checked_add(step)?).ok()?;
        }
        let (code, length) = input.peek()?;
        input.skip(select_unpredictable(below >= lower::WHOLE, length, 0))?;

        let new = above >= upper::LARGEST;
        let place = u32::from(select_unpredictable(new, RECENT as u8 - 1, above));
        let half = self.half(place);
        let high = select_unpredictable(new, far, self.halves[half]);
        let largest = self.largest.max(high);
        let stepped = i64::from(self.low) + unzigzag(u64::from(code));
        let low = select_unpredictable(below == lower::LARGEST, largest, self.low).wrapping_add(1);
        let low = select_unpredictable(below == lower::WHOLE, code, low);
        let low = select_unpredictable(below == lower::STEP, stepped as u32, low);
        // The run that follows is told at once.
        let run = input.first().unwrap_or_default().wrapping_sub(tag::RUN);
        let follows = run < tag::LONG_RUN - tag::RUN;
        let more = select_unpredictable(follows, u32::from(run) + 1, 0);
        let last = low.checked_add(more)?;
        let count = 1 + more as usize;
        if below == lower::STEP && u32::try_from(stepped).is_err() || count > self.left {
            return None;
        }
        input.skip(usize::from(follows))?;

        self.halves[half] = high;
        self.bring_forward(place);
        (self.low, self.largest) = (last, largest.max(last));
        (self.input, self.left) = (input, self.left - count);
        count_up(u64::from(high) << 32 | u64::from(low), count, room);
        Some(count)
    }

    /// A run that follows what was told before.
    fn run(&mut self, room: &mut [u64; AT_MOST]) -> Option<usize> {
        let mut input = self.input;
        let more = u32::from(input.byte()?.checked_sub(tag::RUN)?) + 1;
        let last = self.low.checked_add(more)?;
        let left = self.left.checked_sub(more as usize)?;
        let first = u64::from(self.halves[self.half(0)]) << 32 | u64::from(self.low + 1);
        (self.low, self.largest) = (last, self.largest.max(last));
        (self.input, self.left) = (input, left);
        count_up(first, more as usize, room);
        Some(more as usize)
    }

    #[inline]
    fn bring_forward(&mut self, place: u32) {
        let at = 4 * place;
        let before = self.order & ((1 << at) - 1);
        let behind = self.order & (!0xF << at);
        self.order = behind | before << 4 | self.order >> at & 0xF;
    }
}

/// Puts `count` numbers from `first` on in `room`. Most often they are few: then all that is there to foresee is that.
#[inline]
fn count_up(first: u64, count: usize, room: &mut [u64; AT_MOST]) {
    let (few, more) = room.split_at_mut(WIDE);
    let put = |(room, after): (&mut u64, u64)| *room = first.wrapping_add(after);
    few.iter_mut().zip(0..).for_each(put);
    if count > WIDE {
        more.iter_mut().take(count - WIDE).zip(WIDE as u64..).for_each(put);
    }
}
