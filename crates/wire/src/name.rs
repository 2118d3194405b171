//! Names, written as what they differ from the name before in their space.
//!
//! A name is a *stem* of bytes and, mostly, a number in decimal after it: `T151` is `T` and 151, `Cache.java:57` is
//! `Cache.java:` and 57, an address is a number with no stem. Numbers are halved into 32 bits above and below, for
//! they are addresses, or pairs of object and field, more often than not: the upper half is looked up among the
//! last eight, the lower half is often one more than the last, and either may be one more than the largest half so
//! far, which is how counters that name new objects behave. Names that each add one are one entry together.
//!
//! Entries of different spaces share the stream. Only the order within a space matters, so that a run of names in
//! one space goes on while names of another are written.

mod group;
mod quick;
mod read;

use crate::lane::{Lane, Lanes};
use crate::varint::{MAX_BYTES, zigzag};
use crate::{SPACES, Space};

use group::Pending;

pub use read::NameReader;

/// The longest stem that is remembered whole; of a longer one only so much can be shared.
const STEM_BYTES: usize = 255;
const RECENT: usize = 8;

/// First bytes of entries. Below 40 it is `upper * 4 + lower`, as in [`upper`] and [`lower`].
mod tag {
    pub(super) const RUN: u8 = 0x40;
    pub(super) const LONGEST_RUN: u32 = 0x40;
    pub(super) const LONG_RUN: u8 = 0x80;
    pub(super) const NUMBERED: u8 = 0x90;
    pub(super) const PLAIN: u8 = 0x91;
    pub(super) const GROUP: u8 = 0x92;
    pub(super) const SPACE: u8 = 0xA0;
}

/// How the upper half of a number is found; below 8, its place among the recent ones.
mod upper {
    pub(super) const LARGEST: u8 = 8;
    pub(super) const STEP: u8 = 9;
}

/// How the lower half is found.
mod lower {
    pub(super) const NEXT: u8 = 0;
    pub(super) const LARGEST: u8 = 1;
    pub(super) const WHOLE: u8 = 2;
    pub(super) const STEP: u8 = 3;
}

/// A name in parts: they follow each other, the number in decimal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name<'n> {
    /// What it shares with the name before.
    pub shared: &'n [u8],
    /// The rest of its stem.
    pub rest: &'n [u8],
    /// Its number.
    pub number: Option<u64>,
}

impl<'n> Name<'n> {
    /// A name that is a number.
    pub fn number(number: u64) -> Name<'n> {
        Name { shared: &[], rest: &[], number: Some(number) }
    }

    /// Takes `text` apart: a number is what looks exactly like one at its end.
    pub fn text(text: &'n [u8]) -> Name<'n> {
        let digits = text.iter().rev().take(20).take_while(|byte| byte.is_ascii_digit()).count();
        let mut start = text.len() - digits;
        while start < text.len() {
            let (stem, tail) = text.split_at(start);
            let canonical = tail.len() == 1 || !tail.starts_with(b"0");
            if let (true, Some(number)) = (canonical, decimal(tail)) {
                return Name { shared: &[], rest: stem, number: Some(number) };
            }
            start += 1;
        }
        Name { shared: &[], rest: text, number: None }
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    // Nineteen digits always fit.
    if digits.len() < 20 {
        return Some(digits.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')));
    }
    digits.iter().try_fold(0u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// The last name of a space.
#[derive(Clone, Copy, Debug)]
struct State {
    stem: [u8; STEM_BYTES],
    /// How many bytes of the stem are kept.
    kept: u8,
    /// Whether they are all of it.
    whole: bool,
    recent: [u32; RECENT],
    low: u32,
    largest: u32,
}

impl State {
    const START: State =
        State { stem: [0; STEM_BYTES], kept: 0, whole: true, recent: [0; RECENT], low: u32::MAX, largest: 0 };

    fn stem(&self) -> &[u8] {
        self.stem.get(..usize::from(self.kept)).unwrap_or_default()
    }

    /// Whether what is kept is `stem`; most often both are empty, which takes no comparison.
    #[inline]
    fn has_stem(&self, stem: &[u8]) -> bool {
        usize::from(self.kept) == stem.len() && (stem.is_empty() || self.stem() == stem)
    }

    /// Replaces all but the first `shared` bytes of the stem.
    fn set_stem(&mut self, shared: usize, rest: &[u8]) {
        let room = self.stem.get_mut(shared..).unwrap_or_default();
        let kept = room.len().min(rest.len());
        for (byte, new) in room.iter_mut().zip(rest) {
            *byte = *new;
        }
        self.kept = (shared + kept) as u8;
        self.whole = kept == rest.len();
    }

    #[inline]
    fn set_upper(&mut self, place: usize, half: u32) {
        // One by one: a wider read would have to wait for the narrower writes of the name before.
        let mut moved = half;
        for recent in self.recent.iter_mut().take(place + 1) {
            moved = core::mem::replace(recent, moved);
        }
        self.largest = self.largest.max(half);
    }

    #[inline]
    fn set_lower(&mut self, half: u32) {
        self.low = half;
        self.largest = self.largest.max(half);
    }

    /// Whether `number` goes on with the run.
    #[inline]
    fn is_next(&self, number: u64) -> bool {
        (number >> 32) as u32 == self.recent[0] && number as u32 == self.low.wrapping_add(1)
    }

    fn value(&self) -> u64 {
        u64::from(self.recent[0]) << 32 | u64::from(self.low)
    }

    fn set_number(&mut self, number: u64) {
        self.set_upper(RECENT - 1, (number >> 32) as u32);
        self.set_lower(number as u32);
    }
}

/// Writes names.
#[derive(Clone, Debug)]
pub(crate) struct NameEncoder {
    states: [State; SPACES],
    runs: [u32; SPACES],
    space: u8,
    /// By space, numbers that go on with its stem and follow its run, and how many there are in all.
    pending: [Pending; SPACES],
    waiting: usize,
    /// How many more numbers may wait before somebody has to look whether there is room for them.
    room: usize,
}

/// The most bytes that a number takes, in a group or alone.
const NUMBER_BYTES: usize = 1 + 2 * MAX_BYTES;

/// As many numbers take more than the ends of all runs and one more name without a stem.
const ROOM_FOR_ENDS: usize = 1 << 4;

impl NameEncoder {
    pub(crate) fn new() -> NameEncoder {
        NameEncoder {
            states: [State::START; SPACES],
            runs: [0; SPACES],
            space: 0,
            pending: [Pending::NONE; SPACES],
            waiting: 0,
            room: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        (self.states, self.runs, self.space) = ([State::START; SPACES], [0; SPACES], 0);
        self.pending.iter_mut().for_each(Pending::clear);
        (self.waiting, self.room) = (0, 0);
    }

    /// The most bytes that `name` takes, with all that is still to be written.
    #[inline]
    pub(crate) fn bound(&self, name: &Name<'_>) -> usize {
        name.rest.len() + SPACES * (2 + MAX_BYTES) + 4 * MAX_BYTES + self.waiting * NUMBER_BYTES
    }

    /// Writes a name whose stem is all in `rest`.
    #[inline]
    pub(crate) fn put<B>(&mut self, lanes: &mut Lanes<B>, space: Space, name: &Name<'_>)
    where
        B: AsRef<[u8]> + AsMut<[u8]>,
    {
        let state = &self.states[space as usize];
        match name.number {
            Some(number) if state.whole && state.has_stem(name.rest) => {
                let at = space as usize;
                if self.pending[at].is_empty() && state.is_next(number) {
                    self.runs[at] += 1;
                    self.states[at].set_lower(number as u32);
                    return;
                }
                self.waiting += 1;
                if self.pending[at].push(number) {
                    self.put_pending(lanes, space);
                }
            }
            number => {
                self.put_pending(lanes, space);
                self.enter(lanes, space);
                let state = &mut self.states[space as usize];
                lanes.byte(Lane::Names, if number.is_some() { tag::NUMBERED } else { tag::PLAIN });
                let shared = state.stem().iter().zip(name.rest).take_while(|(a, b)| a == b).count();
                let rest = name.rest.get(shared..).unwrap_or_default();
                lanes.number(Lane::Names, shared as u64);
                lanes.number(Lane::Names, rest.len() as u64);
                lanes.bytes(Lane::Names, rest);
                state.set_stem(shared, rest);
                if let Some(number) = number {
                    lanes.number(Lane::Names, number);
                    state.set_number(number);
                }
            }
        }
    }

    /// Adds a number to the run or group of its space, if it goes on with it and that takes no look at the room there is. A run that
    /// has begun has room for its end: that of the name before was for the ends of all.
    #[inline]
    pub(crate) fn put_next(&mut self, space: Space, number: u64) -> bool {
        let (state, pending) = (&mut self.states[space as usize], &mut self.pending[space as usize]);
        if !state.whole || state.kept > 0 {
            return false;
        }
        if !pending.is_empty() {
            let fits = self.room > 0 && !pending.is_last();
            if fits {
                pending.push(number);
                (self.waiting, self.room) = (self.waiting + 1, self.room - 1);
            }
            return fits;
        }
        let run = &mut self.runs[space as usize];
        let next = *run > 0 && state.is_next(number);
        if next {
            *run += 1;
            state.set_lower(number as u32);
        }
        next
    }

    /// There is room for `bytes` more bytes, whatever is still to be written included.
    pub(crate) fn set_room(&mut self, bytes: usize) {
        self.room = (bytes / NUMBER_BYTES).saturating_sub(self.waiting + ROOM_FOR_ENDS);
    }

    #[inline]
    fn put_number<B>(&mut self, lanes: &mut Lanes<B>, space: Space, number: u64)
    where
        B: AsRef<[u8]> + AsMut<[u8]>,
    {
        let state = &mut self.states[space as usize];
        let (high, low) = ((number >> 32) as u32, number as u32);
        if state.is_next(number) {
            self.runs[space as usize] += 1;
            state.set_lower(low);
            return;
        }
        self.enter(lanes, space);
        let state = &mut self.states[space as usize];
        let high_before = state.recent[0];
        let found = state.recent.iter().position(|&recent| recent == high);
        let above = match found {
            Some(place) => place as u8,
            None if high == state.largest.wrapping_add(1) => upper::LARGEST,
            None => upper::STEP,
        };
        state.set_upper(found.unwrap_or(RECENT - 1), high);
        let step = zigzag(i64::from(low) - i64::from(state.low));
        let below = if low == state.low.wrapping_add(1) {
            lower::NEXT
        } else if low == state.largest.wrapping_add(1) {
            lower::LARGEST
        } else if u64::from(low) <= step {
            lower::WHOLE
        } else {
            lower::STEP
        };
        state.set_lower(low);
        lanes.byte(Lane::Names, above * 4 + below);
        if above == upper::STEP {
            lanes.number(Lane::Names, zigzag(i64::from(high) - i64::from(high_before)));
        }
        match below {
            lower::WHOLE => lanes.number(Lane::Names, u64::from(low)),
            lower::STEP => lanes.number(Lane::Names, step),
            _ => {}
        }
    }

    /// Writes the numbers of a space that are still to be written.
    fn put_pending<B: AsRef<[u8]> + AsMut<[u8]>>(&mut self, lanes: &mut Lanes<B>, space: Space) {
        if self.pending[space as usize].is_empty() {
            return;
        }
        let (numbers, count, enough) = self.pending[space as usize].take();
        let numbers = numbers.get(..count).unwrap_or_default();
        self.waiting = self.waiting.saturating_sub(count);
        if enough {
            self.enter(lanes, space);
            group::write(numbers, &mut self.states[space as usize], lanes);
        } else {
            numbers.iter().for_each(|&number| self.put_number(lanes, space, number));
        }
    }

    /// Writes the numbers that are still to be written, and the runs that are still open.
    pub(crate) fn flush<B: AsRef<[u8]> + AsMut<[u8]>>(&mut self, lanes: &mut Lanes<B>) {
        for &space in Space::ALL {
            self.put_pending(lanes, space);
            if self.runs[space as usize] > 0 {
                self.enter(lanes, space);
            }
        }
    }

    /// Turns to `space` and ends its run.
    fn enter<B: AsRef<[u8]> + AsMut<[u8]>>(&mut self, lanes: &mut Lanes<B>, space: Space) {
        if self.space != space as u8 {
            self.space = space as u8;
            lanes.byte(Lane::Names, tag::SPACE + space as u8);
        }
        match core::mem::take(&mut self.runs[space as usize]) {
            0 => {}
            run @ 1..=tag::LONGEST_RUN => lanes.byte(Lane::Names, tag::RUN + (run - 1) as u8),
            run => {
                lanes.byte(Lane::Names, tag::LONG_RUN);
                lanes.number(Lane::Names, u64::from(run));
            }
        }
    }
}

#[cfg(test)]
mod tests;
