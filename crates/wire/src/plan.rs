//! The choice between predicting and packing, block by block.
//!
//! A block under prediction is watched for a while, once its tables know something: if packing its events would not
//! have taken much more than predicting them did, the block ends there, and the blocks after it are packed, which
//! is several times as fast to read and to write. Now and then prediction gets another chance; at once, where packed events
//! become longer than those that it was judged by: they are of another kind then.

use crate::chunk::Codec;
use crate::group::GROUP;

/// The events that are watched. Both are ends of groups.
const FROM: usize = 1 << 12;
const TO: usize = 1 << 13;

/// How many blocks are packed before prediction is tried again: few at first, and at most so many if it fails again and again.
const FEW_BLOCKS: u32 = 3;
const MANY_BLOCKS: u32 = 15;

/// How much longer packed events may be, in quarters.
const QUARTERS: usize = 5;

/// What is chosen, and what is known to choose by.
#[derive(Clone, Debug, Default)]
pub(crate) struct Plan {
    /// What is to be done whatever would be shorter.
    fixed: Option<Codec>,
    /// How many blocks are still to be packed, this one included.
    blocks: u32,
    /// How many there were the last time, if prediction has failed since the beginning or its last success.
    last_time: u32,
    watching: bool,
    /// Whether the block is to end here.
    cut: bool,
    /// The bytes when watching began, and what packing would have taken since.
    before: usize,
    packed: usize,
    /// The events of the packed block that ended last, and their bytes.
    last: (usize, usize),
}

impl Plan {
    /// Whether the block is packed.
    #[inline]
    pub(crate) fn packs(&self) -> bool {
        self.blocks > 0
    }

    /// Whether events are to be put in groups.
    #[inline]
    pub(crate) fn groups(&self) -> bool {
        self.watching || self.packs()
    }

    /// How many events may follow, after `events`, before this is asked again; the block has `bytes` so far, and
    /// `group` tells what packing the last group would have taken.
    pub(crate) fn room(&mut self, events: usize, bytes: usize, group: impl FnOnce() -> usize) -> usize {
        if self.cut {
            return 0;
        }
        if self.fixed.is_some() {
            return usize::MAX;
        }
        if events < FROM {
            return FROM - events;
        }
        if events == FROM {
            (self.watching, self.before, self.packed) = (true, bytes, 0);
        } else if self.watching && events.is_multiple_of(GROUP) {
            self.packed += group();
            if events == TO {
                self.watching = false;
                self.cut = self.packed * 4 <= (bytes - self.before) * QUARTERS;
                if !self.cut {
                    self.last_time = 0;
                }
            }
        }
        match (self.cut, self.watching) {
            (true, _) => 0,
            (_, true) => GROUP - events % GROUP,
            _ => usize::MAX,
        }
    }

    /// From the next block on, events are stored by `codec`, or as is shorter.
    pub(crate) fn fix(&mut self, codec: Option<Codec>) {
        self.fixed = codec;
    }

    /// How many blocks are packed from now on.
    fn again(&mut self) -> u32 {
        self.last_time = (2 * self.last_time + 1).clamp(FEW_BLOCKS, MANY_BLOCKS);
        self.last_time
    }

    /// A block of so many events ended, which took so many bytes.
    pub(crate) fn ended(&mut self, events: usize, bytes: usize) {
        self.last = (events, bytes);
    }

    /// Whether the packed events of the last block were longer than those that were watched.
    fn grew(&self) -> bool {
        let (events, bytes) = self.last;
        bytes * (TO - FROM) * 4 > self.packed * events * QUARTERS
    }

    /// A block begins.
    pub(crate) fn next(&mut self) {
        self.blocks = match self.fixed {
            Some(Codec::Packed) => 1,
            Some(Codec::Predicted) => 0,
            None if self.cut => self.again(),
            None if self.grew() => 0,
            None => self.blocks.saturating_sub(1),
        };
        (self.cut, self.watching) = (false, false);
    }
}
