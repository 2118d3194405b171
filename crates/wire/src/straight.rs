//! Events at places that are new, one after another: straight code, and traces in which each event has a site of its own.
//!
//! There nothing is predicted from the place: the site is the first unused one, the operation is the thread's last one, and
//! the target is unused, or one of the thread's. So events are decoded without waiting for the table, and without branches
//! where there is nothing to foresee. Whatever is not of this sort is left to the general way, and so is all that is wrong.

use core::hint::select_unpredictable;

use crate::control::{self, MANY_HITS};
use crate::cycle::Rows;
use crate::predict::{Mark, NONE, Place, Predictor, Thread, follower, key, slot};
use crate::streams::Streams;
use crate::varint::Input;
use crate::{Op, SPACES, Space};

impl Predictor {
    /// Whether nothing has followed where `thread` is.
    #[inline]
    pub(crate) fn is_at_end(&self, thread: &Thread) -> bool {
        let place = &self.places[slot(thread.key)];
        place.key == thread.key && place.next[0] == NONE
    }

    /// Fills `rows` from the start with events at new places: the same as the general way for each. `thread` must be at an
    /// end, and `hits` events are as predicted. Answers with how many there are.
    pub(crate) fn go_straight(
        &mut self,
        state: &mut Thread,
        streams: &mut Streams<'_>,
        rows: &mut Rows<'_>,
        hits: &mut usize,
    ) -> usize {
        // All that changes is at hand, and written back at the end.
        let (mut thread, mut input, mut left) = (*state, Controls::new(streams), *hits);
        let mut done = 0;
        let columns = rows.ops.iter_mut().zip(&mut *rows.targets).zip(&mut *rows.sites);
        for ((row_op, row_target), row_site) in columns {
            let missed = left == 0;
            let control = WAYS[usize::from(select_unpredictable(missed, input.byte(), 0))];
            let more = input.hits_after(missed);
            // Many hits are read elsewhere.
            if control == ELSEWHERE || missed & (more >= MANY_HITS as usize) {
                break;
            }
            let site = self.fresh(Space::Site);
            let key = key(thread.site, site);
            let Some(&op) = Op::ALL.get(usize::from(thread.op as u8 ^ control >> 2)) else { break };
            let Some(space) = op.space() else { break };
            if self.places[slot(key)].key == key {
                break;
            }
            let Some(target) = self.new_target(&thread, &mut input.targets, space as u8, control & 3) else {
                break;
            };
            self.pass_new(&mut thread, key, site, op, space as u8, target);
            (*row_op, *row_target, *row_site) = (op, target, site);
            input.at += usize::from(missed);
            left = select_unpredictable(missed, more, left.wrapping_sub(1));
            done += 1;
        }
        (*state, *hits) = (thread, left);
        (streams.at, streams.targets) = (input.at, input.targets);
        done
    }

    /// The target at a new place that is coded as `way`; nothing where it cannot be read here.
    #[inline]
    fn new_target(&self, thread: &Thread, targets: &mut Input<'_>, space: u8, way: u8) -> Option<u32> {
        let (last, fresh) = (thread.last(space), self.fresh[space as usize % SPACES]);
        let other = self.followers[follower(space, last)];
        let given = way == control::target::GIVEN;
        let (code, length) = targets.peek()?;
        targets.skip(select_unpredictable(given, length, 0))?;
        let target = select_unpredictable(given, fresh.wrapping_sub(code), fresh);
        let target = select_unpredictable(way == control::target::LAST, last, target);
        Some(select_unpredictable(way == control::target::OTHER, other, target))
    }

    /// Goes to a new place, if the next event is at one and nothing has to be said of its operation: whether that takes turns, how
    /// the target is found, and how far it is below the first unused one.
    #[inline]
    pub(crate) fn go_new(
        &mut self,
        thread: &mut Thread,
        op: Op,
        target: u32,
        site: u32,
    ) -> Option<(u8, u8, u32)> {
        let turns = op as u8 ^ thread.op as u8;
        if site != self.fresh(Space::Site) || turns > control::op::PARTNER || !self.is_at_end(thread) {
            return None;
        }
        let (key, space) = (key(thread.site, site), op.space()? as u8);
        if self.places[slot(key)].key == key {
            return None;
        }
        let (last, fresh) = (thread.last(space), self.fresh[space as usize % SPACES]);
        let other = self.followers[follower(space, last)];
        let way = select_unpredictable(target == other, control::target::OTHER, control::target::GIVEN);
        let way = select_unpredictable(target == last, control::target::LAST, way);
        let way = select_unpredictable(target == fresh, control::target::GUESSED, way);
        self.pass_new(thread, key, site, op, space, target);
        Some((turns, way, fresh.wrapping_sub(target)))
    }

    /// Takes note of what `thread` did at a new place.
    #[inline(always)]
    fn pass_new(&mut self, thread: &mut Thread, key: u32, site: u32, op: Op, space: u8, target: u32) {
        let (before, mark) = (&mut self.places[slot(thread.key)], Mark(0));
        (before.next[0], before.mark) = (site, mark);
        let last = thread.last(space);
        self.followers[follower(space, last)] = target;
        let same = target == last;
        self.places[slot(key)] =
            Place { key, next: [NONE; 2], target, stride: 0, step: 0, site, op, space, same, mark };
        self.fresh[Space::Site as usize] = site.wrapping_add(1);
        self.note(space, target);
        (thread.key, thread.site) = (key, site);
        thread.aim(op, space, target);
    }
}

/// What a control byte says of an event at a new place: whether the operation takes turns, and how the target is found.
const WAYS: [u8; 256] = {
    let mut ways = [ELSEWHERE; 256];
    let mut byte = 0;
    while byte < 240 {
        let (site, op) = (byte % 48 / 12, byte % 12 / 4);
        // The site is new whether it is the predicted one or said to be so.
        if (site == control::site::FIRST || site == control::site::FRESH) && op != control::op::GIVEN {
            ways[byte as usize] = (op << 2) | (byte % 4);
        }
        byte += 1;
    }
    ways
};

/// It says something else.
const ELSEWHERE: u8 = u8::MAX;

/// The control bytes and targets of events that are not as predicted.
struct Controls<'b> {
    bytes: &'b [u8],
    at: usize,
    targets: Input<'b>,
}

impl<'b> Controls<'b> {
    fn new(streams: &Streams<'b>) -> Controls<'b> {
        Controls { bytes: streams.controls, at: streams.at, targets: streams.targets }
    }

    /// The next byte, or one without a meaning.
    #[inline]
    fn byte(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(control::NONE)
    }

    /// The hits of the next byte or, `later`, of the one after it.
    #[inline]
    fn hits_after(&self, later: bool) -> usize {
        self.bytes.get(self.at + usize::from(later)).map_or(0, |&byte| usize::from(control::hits(byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::START;

    #[test]
    fn a_new_place_is_what_the_general_way_makes_of_it() {
        let (mut predictor, mut thread, mut draw) = (Predictor::new(), START, 7_u64);
        let mut below = |limit: u64| {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((draw >> 33) % limit) as u32
        };
        let (mut naive, mut naive_thread, mut new) = (predictor.clone(), thread, 0);
        for event in 0..2000 {
            let site = if below(9) == 0 { below(40) } else { naive.fresh(Space::Site) };
            let op = [Op::Read, Op::Write, Op::Read, Op::Acquire, Op::Branch][below(5) as usize];
            let target =
                [below(30), naive.fresh[op.space().map_or(0, |space| space as usize)]][below(2) as usize];
            let target = if op.space().is_some() { target } else { 0 };
            let went = predictor.go_new(&mut thread, op, target, site);
            let [first, _] = naive.sites(&naive_thread);
            let arrival = naive.arrive(&mut naive_thread, site);
            if let (Some((turns, way, code)), Some(space)) = (went, op.space()) {
                let targets = naive.targets(&naive_thread, arrival, op, space);
                let named = [targets.guess, targets.last, targets.other];
                assert_eq!((site, op as u8 ^ arrival.op as u8), (first, turns));
                assert_eq!(named.iter().position(|&named| named == target).unwrap_or(3), usize::from(way));
                assert_eq!(targets.code(target), u64::from(code));
                new += 1;
            } else {
                assert_eq!(went, None);
                let arrival = predictor.arrive(&mut thread, site);
                predictor.learn(&mut thread, arrival, op, target);
            }
            naive.learn(&mut naive_thread, arrival, op, target);
            assert_eq!(thread, naive_thread, "event {event}");
            assert!(predictor == naive, "event {event}: what was learned differs");
        }
        assert!(new > 300, "{new}");
    }
}
