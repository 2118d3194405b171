//! An order of events, cut into those that are shown and the stretches between them.

use std::collections::BTreeSet;
use std::ops::Range;

use reweave_trace::{EventId, Kind, Trace};

/// Shorter stretches are shown: a line that stands for them would save little.
const LONG: u64 = 3;

/// The trace's first positions, then other events.
#[derive(Clone, Copy)]
pub(super) struct Order<'o> {
    pub(super) trace: &'o Trace,
    /// The positions that have no event.
    pub(super) skips: &'o [u32],
    pub(super) prefix: u32,
    pub(super) tail: &'o [EventId],
}

/// A piece of an order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    /// An event that is shown.
    Shown(EventId),
    /// A stretch that is folded.
    Folded(Stretch),
}

/// Positions of the prefix, then places in the tail.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Stretch {
    pub(super) positions: Range<u32>,
    pub(super) places: Range<usize>,
}

impl Order<'_> {
    /// All pieces, one after the other.
    pub(super) fn pieces(&self, kept: &BTreeSet<EventId>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut open = Stretch { positions: 0..0, places: 0..0 };
        for &id in kept.range(..EventId(self.prefix)) {
            open.positions.end = id.0;
            self.close(&mut pieces, &open);
            pieces.push(Piece::Shown(id));
            open.positions = id.0 + 1..id.0 + 1;
        }
        open.positions.end = self.prefix.max(open.positions.start);
        for (place, id) in self.tail.iter().enumerate().filter(|(_, id)| kept.contains(id)) {
            open.places.end = place;
            self.close(&mut pieces, &open);
            pieces.push(Piece::Shown(*id));
            open = Stretch { positions: self.prefix..self.prefix, places: place + 1..place + 1 };
        }
        open.places.end = self.tail.len();
        self.close(&mut pieces, &open);
        pieces
    }

    fn close(&self, pieces: &mut Vec<Piece>, stretch: &Stretch) {
        match self.count(stretch) {
            0 => {}
            count if count < LONG => pieces.extend(self.events(stretch).map(Piece::Shown)),
            _ => pieces.push(Piece::Folded(stretch.clone())),
        }
    }

    /// How many events a stretch has.
    pub(super) fn count(&self, stretch: &Stretch) -> u64 {
        let Range { start, end } = stretch.positions;
        let before = |position: u32| self.skips.partition_point(|&skip| skip < position);
        let skipped = before(end).saturating_sub(before(start));
        u64::from(end.saturating_sub(start)) - skipped as u64 + stretch.places.len() as u64
    }

    /// The events of a stretch.
    pub(super) fn events(&self, stretch: &Stretch) -> impl Iterator<Item = EventId> {
        let positions = stretch.positions.clone().map(EventId);
        let tail = self.tail.get(stretch.places.clone()).unwrap_or_default();
        positions.filter(|&id| self.trace.kind(id) != Kind::Skip).chain(tail.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use reweave_testkit::trace;

    use super::*;

    #[test]
    fn stretches_are_folded_and_short_ones_shown() {
        let trace = trace! { a: w(x); a: w(x); a: w(x); a: w(x); b: w(x); b: w(x); b: w(x); };
        let tail = [4, 5, 6].map(EventId);
        let order = Order { trace: &trace, skips: &[], prefix: 4, tail: &tail };
        let shown = |ids: &[u32]| ids.iter().map(|&id| Piece::Shown(EventId(id))).collect::<Vec<_>>();
        assert_eq!(order.pieces(&BTreeSet::from([EventId(2)]))[..3], shown(&[0, 1, 2]));
        let pieces = order.pieces(&BTreeSet::from([EventId(5)]));
        let Piece::Folded(first) = &pieces[0] else { panic!("{pieces:?}") };
        assert_eq!((order.count(first), pieces[1..].to_vec()), (5, shown(&[5, 6])));
        assert_eq!(order.events(first).collect::<Vec<_>>(), [0, 1, 2, 3, 4].map(EventId));
    }
}
