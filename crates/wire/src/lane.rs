//! The streams of a block under way, side by side in one buffer.

use crate::bits::{self, PADDING};
use crate::column::COLUMN_BYTES;
use crate::group::VALUES_BYTES;
use crate::varint;

/// The streams of a block, in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum Lane {
    Names,
    Threads,
    Control,
    Hits,
    Ops,
    Sites,
    Targets,
    Values,
}

/// The number of streams.
pub const LANES: usize = 8;

/// Each stream's share of the buffer, in 32nds: what traces with unique names and with large values need.
const SHARES: [usize; LANES] = [12, 2, 2, 1, 1, 3, 3, 8];

/// The most bytes that one event adds to each stream; names are checked one by one.
const PER_EVENT: [usize; LANES] = [
    0,
    2 * varint::MAX_BYTES,
    1,
    varint::MAX_BYTES,
    1,
    varint::MAX_BYTES,
    varint::MAX_BYTES,
    4 * varint::MAX_BYTES,
];

/// What each stream keeps free for what the end of the block adds, and for writes of a whole number at a time.
const SLACK: usize = 4 * varint::MAX_BYTES;

/// The smallest buffer for an encoder: its share for names holds the longest one.
pub const MIN_BUFFER_BYTES: usize = 1 << 18;

/// The streams, in a buffer of the caller's.
#[derive(Debug)]
pub(crate) struct Lanes<B> {
    buffer: B,
    starts: [usize; LANES],
    at: [usize; LANES],
    ends: [usize; LANES],
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Lanes<B> {
    /// Empty streams, without room where `buffer` is too small.
    pub(crate) fn new(buffer: B) -> Lanes<B> {
        let length = match buffer.as_ref().len() {
            ..MIN_BUFFER_BYTES => 0,
            length => length,
        };
        let (mut starts, mut ends, mut start) = ([0; LANES], [0; LANES], 0);
        for lane in 0..LANES {
            starts[lane] = start;
            start += length / 32 * SHARES[lane];
            ends[lane] = start;
        }
        Lanes { buffer, starts, at: starts, ends }
    }

    pub(crate) fn clear(&mut self) {
        self.at = self.starts;
    }

    /// How many events fit for certain.
    pub(crate) fn room(&self) -> usize {
        let mut events = usize::MAX;
        for (lane, &bytes) in PER_EVENT.iter().enumerate() {
            events = events.min(self.free(lane).checked_div(bytes).unwrap_or(usize::MAX));
        }
        events
    }

    /// Whether one more packed group fits for certain.
    pub(crate) fn has_room_for_group(&self) -> bool {
        let columns = [Lane::Threads, Lane::Ops, Lane::Sites, Lane::Targets];
        columns.into_iter().all(|lane| self.free(lane as usize) >= COLUMN_BYTES)
            && self.free(Lane::Values as usize) >= VALUES_BYTES
    }

    /// How many bytes the events have.
    pub(crate) fn event_bytes(&self) -> usize {
        self.each()[1..].iter().map(|lane| lane.len()).sum()
    }

    /// How many more bytes of names fit.
    pub(crate) fn room_for_names(&self) -> usize {
        self.free(Lane::Names as usize)
    }

    fn free(&self, lane: usize) -> usize {
        self.ends[lane].saturating_sub(self.at[lane] + SLACK)
    }

    #[inline]
    pub(crate) fn number(&mut self, lane: Lane, value: u64) {
        let (bytes, length) = varint::encode(value);
        let at = &mut self.at[lane as usize];
        if let Some(room) = self.buffer.as_mut().get_mut(*at..*at + varint::MAX_BYTES) {
            room.copy_from_slice(&bytes);
            *at += length;
        }
    }

    #[inline]
    pub(crate) fn byte(&mut self, lane: Lane, byte: u8) {
        let at = &mut self.at[lane as usize];
        if let Some(room) = self.buffer.as_mut().get_mut(*at) {
            *room = byte;
            *at += 1;
        }
    }

    /// Adds a byte or nothing, without a branch to tell the two.
    #[inline]
    pub(crate) fn byte_if(&mut self, lane: Lane, there: bool, byte: u8) {
        let at = &mut self.at[lane as usize];
        if let Some(room) = self.buffer.as_mut().get_mut(*at) {
            *room = byte;
            *at += usize::from(there);
        }
    }

    pub(crate) fn bytes(&mut self, lane: Lane, bytes: &[u8]) {
        let at = &mut self.at[lane as usize];
        if let Some(room) = self.buffer.as_mut().get_mut(*at..*at + bytes.len()) {
            room.copy_from_slice(bytes);
            *at += bytes.len();
        }
    }

    /// Adds what `of` makes of each of `numbers`, in `width` bits.
    #[inline]
    pub(crate) fn packed<T: Copy>(&mut self, lane: Lane, numbers: &[T], of: impl Fn(T) -> u64, width: usize) {
        let at = &mut self.at[lane as usize];
        let bytes = bits::bytes(numbers.len(), width);
        if let Some(room) = self.buffer.as_mut().get_mut(*at..*at + bytes + PADDING) {
            bits::pack(numbers, of, width, room);
            *at += bytes;
        }
    }

    /// Forgets a stream.
    pub(crate) fn drop_lane(&mut self, lane: Lane) {
        self.at[lane as usize] = self.starts[lane as usize];
    }

    /// Each stream so far.
    pub(crate) fn each(&self) -> [&[u8]; LANES] {
        core::array::from_fn(|lane| {
            self.buffer.as_ref().get(self.starts[lane]..self.at[lane]).unwrap_or_default()
        })
    }
}
