//! Runs of events that are all as predicted, of which loops go round and round.
//!
//! While every prediction holds, no place learns a new follower or a new stride. So a thread that is back where it was
//! goes round the same places for the rest of the run, with targets that grow by the same steps: from then on each
//! column is its own continuation, which takes a fraction of the time of following the places one by one.
//!
//! The first round after something was not as predicted may still differ in its targets from those that follow. It is gone
//! along the sites of the last round: what is known in advance need not wait for the table, only be confirmed by it.

mod again;

use core::ops::Range;

use crate::predict::{Mark, NONE, Place, Predictor, Thread, key, slot};
use crate::{Op, SPACES, Space};

/// The events of a block, an entry an event.
pub(crate) struct Rows<'c> {
    pub(crate) ops: &'c mut [Op],
    pub(crate) targets: &'c mut [u32],
    pub(crate) sites: &'c mut [u32],
}

impl Rows<'_> {
    #[inline]
    pub(crate) fn part(&mut self, range: Range<usize>) -> Rows<'_> {
        Rows {
            ops: &mut self.ops[range.clone()],
            targets: &mut self.targets[range.clone()],
            sites: &mut self.sites[range],
        }
    }
}

/// The last round that a thread went, which it is likely to go again: where its sites are among the rows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Round {
    start: usize,
    /// How many sites there are; 0 where no round is known.
    period: usize,
    /// The place of the site that is next.
    next: usize,
    /// The mark of its places, if it was gone more than once and the thread has done nothing else since; else 0.
    mark: u8,
}

impl Round {
    /// The thread is at `site`, and no longer on its round if that is not the next one.
    #[inline]
    pub(crate) fn pass(&mut self, sites: &[u32], site: u32) {
        self.leave();
        if self.period > 0 && sites.get(self.start + self.next) == Some(&site) {
            self.next = if self.next + 1 == self.period { 0 } else { self.next + 1 };
        } else {
            *self = Round::default();
        }
    }

    /// The thread did something else.
    #[inline]
    pub(crate) fn leave(&mut self) {
        self.mark = 0;
    }
}

/// How many events are followed before the thread's way back is measured from a new place.
const FIRST_TRY: usize = 64;

/// The shortest run in which to look for a way back.
const SHORTEST: usize = 16;

/// How many numbers are worth being computed at once.
const STRETCH: usize = 64;

impl Predictor {
    /// Fills the rows in `range` with events that are all as expected: the same as [`Predictor::follow`] for each. `round` is the
    /// thread's last one, before and after; `mark` tells it from those of other threads, unless it is 0. Answers with how many events were copies of others.
    pub(crate) fn follow_all(
        &mut self,
        thread: &mut Thread,
        rows: &mut Rows<'_>,
        range: Range<usize>,
        round: &mut Round,
        mark: u8,
    ) -> usize {
        if round.mark != 0 && self.go_on(thread, rows, range.clone(), round) {
            return range.len();
        }
        round.leave();
        let Range { start: mut at, end } = range;
        while at < end {
            if round.period == 0 {
                at = self.look_for_round(thread, rows, at..end, round);
                continue;
            }
            let lap = self.walk(thread, rows, at..end, round);
            at = lap.end;
            if lap.repeats && end - at >= round.period {
                let copies = end - at;
                self.go_round(thread, &mut rows.part(lap.start..end), round.period, lap.unused, mark);
                *round = Round { start: end - round.period, next: 0, mark, ..*round };
                return copies;
            }
        }
        0
    }

    /// Follows events until the thread is back at a place, and notes the round; answers with where that ends.
    fn look_for_round(
        &mut self,
        thread: &mut Thread,
        rows: &mut Rows<'_>,
        range: Range<usize>,
        round: &mut Round,
    ) -> usize {
        let (mut start, mut from) = (range.start, thread.place());
        let mut tries = if range.len() < SHORTEST { range.len() } else { FIRST_TRY };
        for i in range.clone() {
            (rows.ops[i], rows.targets[i], rows.sites[i]) = self.follow(thread);
            let period = i + 1 - start;
            if thread.place() == from {
                *round = Round { start, period, next: 0, mark: 0 };
                return i + 1;
            }
            if period == tries {
                (start, from, tries) = (i + 1, thread.place(), 2 * tries);
            }
        }
        range.end
    }

    /// Fills `rows` with events along `round`, once round or to the end of `range`; where the thread goes elsewhere, it stops and
    /// forgets the round. Leaves the targets of the next round behind it.
    fn walk(
        &mut self,
        thread: &mut Thread,
        rows: &mut Rows<'_>,
        range: Range<usize>,
        round: &mut Round,
    ) -> Lap {
        let Round { start, period, next, .. } = *round;
        let (from, mut lap) = (*thread, Lap::new(thread, &range, period));
        let before = &self.places[slot(thread.key)];
        let mut expected = if before.key == thread.key { before.next[0] } else { NONE };
        let mut ahead = start + next;
        let end = range.end.min(range.start + period);
        for i in range.start..end {
            let site = rows.sites[ahead];
            let key = key(thread.site, site);
            let place = &mut self.places[slot(key)];
            if site != expected
                || place.key != key
                || place.site != site
                || site == self.fresh[Space::Site as usize]
            {
                *round = Round::default();
                return lap;
            }
            expected = place.next[0];
            let target = place.guess(thread.last(place.space));
            let moved = place.step_to(target) != 0;
            let (op, space) = (place.op, place.space);
            let then = lap.pass(i, place, self.fresh[space as usize % SPACES]);
            if moved {
                self.note(space, target);
            }
            (thread.key, thread.site) = (key, site);
            thread.aim(op, space, target);
            (rows.ops[i], rows.targets[i], rows.sites[i]) = (op, target, site);
            if let Some(room) = rows.targets[..range.end].get_mut(i + period) {
                *room = then;
            }
            ahead = if ahead + 1 == start + period { start } else { ahead + 1 };
            lap.end = i + 1;
        }
        round.next = ahead - start;
        let back = lap.end == range.start + period && thread.place() == from.place();
        lap.repeats = back && expected == rows.sites[range.start] && lap.goes_on(&from, thread, &self.fresh);
        if lap.repeats && range.end - lap.end >= period {
            lap.correct_leading(&from, thread, rows, period);
        }
        lap
    }

    /// Continues the first `period` events of `rows`, the targets of whose next round are there. In each of the spaces `unused`, ids
    /// are used for the first time, one after another.
    fn go_round(&mut self, thread: &mut Thread, rows: &mut Rows<'_>, period: usize, unused: u8, mark: u8) {
        let (sites, targets) = (&mut *rows.sites, &mut *rows.targets);
        repeat(rows.ops, period);
        repeat(sites, period);
        progress(targets, period);
        // The last round, in order of events, is what the tables remember.
        for i in sites.len() - period..sites.len() {
            let key = key(sites[i - 1], sites[i]);
            let place = &mut self.places[slot(key)];
            let step = targets[i].wrapping_sub(targets[i - period]);
            // From the third round on, steps are those of the round before.
            if step == place.step || i >= 2 * period {
                place.stride = step;
            }
            (place.step, place.target, place.mark) = (step, targets[i], Mark(mark));
            thread.pass(key, sites[i], place);
            if unused != 0 && step != 0 {
                self.use_up_to(unused, slot(key));
            }
        }
    }

    /// The target at a place was used, and so were all before it, if its space is among `spaces`.
    fn use_up_to(&mut self, spaces: u8, slot: usize) {
        let Place { space, target, .. } = self.places[slot];
        let fresh = &mut self.fresh[space as usize % SPACES];
        if spaces >> (space as usize % SPACES) & 1 != 0 {
            *fresh = (*fresh).max(target.wrapping_add(1));
        }
    }
}

/// Once round, and what would come of going on so.
struct Lap {
    start: usize,
    end: usize,
    /// Whether all that follows is as this round was, but for targets that grow by equal steps.
    repeats: bool,
    /// The spaces, a bit each, in which that would use ids for the first time.
    unused: u8,
    /// At most so many rounds follow.
    turns: i64,
    /// The last target in each space, one round later.
    then: [u32; SPACES],
    /// The furthest of the targets, one round later, that are or will be used for the first time.
    first_unused: [u32; SPACES],
    /// The spaces in which there was a target of this round's own, and by space the end of those before it, which are the last
    /// one of the round before.
    own: u8,
    leading: [usize; SPACES],
    steady: bool,
}

impl Lap {
    fn new(thread: &Thread, range: &Range<usize>, period: usize) -> Lap {
        Lap {
            start: range.start,
            end: range.start,
            repeats: false,
            unused: 0,
            turns: (range.len() / period + 1) as i64,
            then: thread.targets,
            first_unused: [0; SPACES],
            own: 0,
            leading: [0; SPACES],
            steady: true,
        }
    }

    /// The target at `place`, where the thread is at event `i`, one round later, but for leading ones; `fresh` is the first
    /// unused id in its space.
    #[inline]
    fn pass(&mut self, i: usize, place: &Place, fresh: u32) -> u32 {
        let space = place.space as usize % SPACES;
        let target = place.guess(self.then[space]);
        self.own |= u8::from(!place.same) << space;
        if self.own >> space & 1 == 0 {
            self.leading[space] = i + 1;
        }
        self.then[space] = target;
        let step = target.wrapping_sub(place.target);
        if step != 0 {
            self.step(space, target, step, fresh);
        }
        target
    }

    /// Takes note of targets from `target` on that grow by `step`. All is well below what is unused; else they have to use that
    /// one by one.
    #[inline]
    fn step(&mut self, space: usize, target: u32, step: u32, fresh: u32) {
        let last = i64::from(target) + self.turns * i64::from(step as i32);
        if last >= 0 && i64::from(target).max(last) < i64::from(fresh) {
            return;
        }
        self.steady &= step == 1 && last <= i64::from(u32::MAX);
        self.unused |= 1 << space;
        self.first_unused[space] = self.first_unused[space].max(target);
    }

    /// Whether all goes on by equal steps, after a round in which a thread got from one state to another.
    fn goes_on(&mut self, from: &Thread, to: &Thread, fresh: &[u32; SPACES]) -> bool {
        for (space, &fresh) in fresh.iter().enumerate() {
            let (before, last) = (from.targets[space], to.targets[space]);
            // What repeats the last target of the round before must grow as that does.
            let step = last.wrapping_sub(before);
            if self.leading[space] > 0 && step != 0 {
                self.steady &= self.then[space].wrapping_sub(last) == step;
                self.step(space, last, step, fresh);
            }
            // Those that are furthest use up one id after another, and the others find theirs used; but not after a gap.
            self.steady &= self.first_unused[space] <= fresh;
        }
        self.steady
    }

    /// Puts the targets in their places, one round later, that are the last ones of this round.
    fn correct_leading(&self, from: &Thread, to: &Thread, rows: &mut Rows<'_>, period: usize) {
        for space in 0..SPACES {
            let last = to.targets[space];
            if last == from.targets[space] {
                continue;
            }
            for i in self.start..self.leading[space] {
                if rows.ops[i].space().is_some_and(|it| it as usize == space) {
                    rows.targets[i + period] = last;
                }
            }
        }
    }
}

/// Fills `column` with copies of its first `period` entries.
fn repeat<T: Copy>(column: &mut [T], period: usize) {
    let mut done = period;
    while done < column.len() {
        let more = done.min(column.len() - done);
        column.copy_within(..more, done);
        done += more;
    }
}

/// Fills `column` so that entries which are `period` apart grow by equal steps, as those of the first two periods do.
fn progress(column: &mut [u32], mut period: usize) {
    let mut done = 2 * period;
    while done < column.len() {
        // What grows by equal steps does so over twice the distance, too.
        if period < STRETCH && done >= 4 * period {
            period *= 2;
        }
        let (known, new) = column.split_at_mut(done);
        let known = &known[done - 2 * period..];
        let (older, old) = known.split_at(period);
        for ((new, &old), &older) in new.iter_mut().zip(old).zip(older) {
            *new = old.wrapping_add(old.wrapping_sub(older));
        }
        done += period.min(column.len() - done);
    }
}

#[cfg(test)]
mod tests;
