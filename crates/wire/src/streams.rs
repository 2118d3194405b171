//! The streams that predicted events are read from.

use crate::control::{self, Control, MANY_HITS};
use crate::varint::Input;
use crate::{Damaged, lane::Lane};

/// What is left of the streams of a block.
pub(crate) struct Streams<'b> {
    threads: Input<'b>,
    pub(crate) controls: &'b [u8],
    /// The place of the control byte of the next event that is not as predicted.
    pub(crate) at: usize,
    hits: Input<'b>,
    pub(crate) ops: Input<'b>,
    pub(crate) sites: Input<'b>,
    pub(crate) targets: Input<'b>,
}

impl<'b> Streams<'b> {
    /// The streams that `lane` gives.
    pub(crate) fn new(lane: impl Fn(Lane) -> &'b [u8]) -> Streams<'b> {
        let input = |which| Input::new(lane(which));
        Streams {
            threads: input(Lane::Threads),
            controls: lane(Lane::Control),
            at: 0,
            hits: input(Lane::Hits),
            ops: input(Lane::Ops),
            sites: input(Lane::Sites),
            targets: input(Lane::Targets),
        }
    }

    /// Takes the next control byte.
    #[inline]
    pub(crate) fn control(&mut self) -> Option<Control> {
        let control = Control::from_byte(*self.controls.get(self.at)?)?;
        self.at += 1;
        Some(control)
    }

    /// How many events before the one of the next control byte are as predicted. After the last control byte, none is
    /// left, or the block ends before.
    #[inline]
    pub(crate) fn hits(&mut self) -> Result<usize, Damaged> {
        let hits = self.controls.get(self.at).map_or(0, |&byte| u32::from(control::hits(byte)));
        if hits < MANY_HITS { Ok(hits as usize) } else { self.many_hits() }
    }

    fn many_hits(&mut self) -> Result<usize, Damaged> {
        if self.controls.get(self.at).is_none_or(|&byte| Control::from_byte(byte).is_none()) {
            return Err(Damaged("a control byte has no meaning"));
        }
        let more = self.hits.length().ok_or(Damaged("a count of events is cut short"))?;
        more.checked_add(MANY_HITS as usize).ok_or(Damaged("a count of events is too large"))
    }

    /// The next run of events of one thread, and its length.
    pub(crate) fn run(&mut self) -> Option<(u32, usize)> {
        let first = self.threads.number()?;
        let short = (first & 7) as usize;
        let more = if short == 7 { self.threads.length()? } else { 0 };
        Some((u32::try_from(first >> 3).ok()?, short.checked_add(more)?.checked_add(1)?))
    }

    /// Whether nothing is left after `events` events. A last control byte may be that of an event after them.
    pub(crate) fn are_read(&self, events: usize) -> bool {
        [self.threads, self.hits, self.ops, self.sites, self.targets].iter().all(Input::is_empty)
            && self.controls.len() <= self.at + usize::from(events > 0)
    }
}
