//! Runs of events that are all as predicted, of which loops go round and round.
//!
//! While every prediction holds, no place learns a new follower or a new stride. So a thread that is back where it was
//! goes round the same places for the rest of the run, with targets that grow by the same steps: from then on each
//! column is its own continuation, which takes a fraction of the time of following the places one by one.

use core::ops::Range;

use crate::predict::{Place, Predictor, Thread, key, slot};
use crate::{Op, SPACES, Space};

/// The events of a run, an entry an event.
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

/// Events of a thread that it is likely to repeat: the last round that it went, wherever it has been since.
#[derive(Clone, Copy, Default)]
pub(crate) struct Round<'c> {
    pub(crate) targets: &'c [u32],
    pub(crate) sites: &'c [u32],
}

impl Round<'_> {
    /// Whether `thread` is where it was at the end of the round.
    fn ends_at(&self, thread: &Thread) -> bool {
        let (Some(&site), Some(before)) = (self.sites.last(), self.sites.len().checked_sub(2)) else {
            return false;
        };
        thread.place() == (key(self.sites[before], site), site)
    }
}

/// How many events are followed before the thread's way back is measured from a new place.
const FIRST_TRY: usize = 64;

/// The shortest run in which to look for a way back.
const SHORTEST: usize = 16;

/// How many numbers are worth being computed at once.
const STRETCH: usize = 64;

impl Predictor {
    /// Fills `rows` with events that are all as expected: the same as [`Predictor::follow`] for each. Answers with the
    /// length of the round that it ends with, if it found one; `last` is the one that an earlier call found.
    pub(crate) fn follow_all(
        &mut self,
        thread: &mut Thread,
        rows: &mut Rows<'_>,
        last: Round<'_>,
    ) -> Option<usize> {
        let count = rows.ops.len();
        if count >= 2 * last.sites.len() && last.ends_at(thread) && self.goes_on(thread, rows, last).is_some()
        {
            return Some(last.sites.len());
        }
        let (mut start, mut from) = (0, thread.place());
        let mut tries = if count < SHORTEST { count } else { FIRST_TRY };
        for i in 0..count {
            (rows.ops[i], rows.targets[i], rows.sites[i]) = self.follow(thread);
            let (at, period) = (i + 1, i + 1 - start);
            if thread.place() == from {
                if count - at >= period && self.goes_round(thread, rows, start..at).is_some() {
                    self.go_round(thread, &mut rows.part(start..count), period, 2 * period);
                    return Some(period);
                }
                // Whatever is in the way is likely to be there in the next round as well.
                self.follow_each(thread, rows, at);
                return None;
            }
            if period == tries {
                (start, from, tries) = (at, thread.place(), 2 * tries);
            }
        }
        None
    }

    /// Fills `rows`, at least two rounds, with a round that starts where `last` ended, if that repeats.
    fn goes_on(&mut self, thread: &mut Thread, rows: &mut Rows<'_>, last: Round<'_>) -> Option<()> {
        let (period, turns) = (last.sites.len(), rows.ops.len().div_ceil(last.sites.len()));
        self.repeats(thread, last, rows.targets, turns)?;
        rows.sites[..period].copy_from_slice(last.sites);
        let mut before = thread.site;
        for (op, &site) in rows.ops.iter_mut().zip(last.sites) {
            *op = self.places[slot(key(before, site))].op;
            before = site;
        }
        let (targets, next) = rows.targets.split_at_mut(period);
        for ((next, &target), &older) in next.iter_mut().zip(&*targets).zip(last.targets) {
            *next = target.wrapping_add(target.wrapping_sub(older));
        }
        self.go_round(thread, rows, period, period);
        Some(())
    }

    fn follow_each(&mut self, thread: &mut Thread, rows: &mut Rows<'_>, start: usize) {
        for i in start..rows.ops.len() {
            (rows.ops[i], rows.targets[i], rows.sites[i]) = self.follow(thread);
        }
    }

    /// Whether the events that follow repeat those of `round`. Leaves the targets of the next round behind it.
    fn goes_round(&self, thread: &Thread, rows: &mut Rows<'_>, round: Range<usize>) -> Option<()> {
        let turns = (rows.ops.len() - round.end).div_ceil(round.len());
        let sites = &rows.sites[round.clone()];
        let (targets, next) = rows.targets[round.start..].split_at_mut(round.len());
        self.repeats(thread, Round { targets, sites }, next, turns)
    }

    /// Whether the next `turns` repeat `round`, after which their thread is where it was before, with targets that grow by
    /// equal steps, so that nothing else changes. Puts the targets of the first turn in `next`.
    fn repeats(&self, thread: &Thread, round: Round<'_>, next: &mut [u32], turns: usize) -> Option<()> {
        let Round { targets, sites } = round;
        let mut before = *sites.last()?;
        // One ahead, so that each place is compared with the site that follows it.
        let followers = sites.iter().skip(1).chain(sites.first());
        let (mut last, mut repeats) = (LastTargets::new(thread), true);
        for (((&site, &target), next), &follower) in sites.iter().zip(targets).zip(next).zip(followers) {
            let key = key(before, site);
            let place = &self.places[slot(key)];
            before = site;
            repeats &= place.key == key && place.next[0] == follower && place.target == target;
            repeats &= site != self.fresh(Space::Site);
            *next = last.go_on(place);
            let step = next.wrapping_sub(target);
            repeats &= step == 0 || self.uses_nothing_fresh(place, step, turns as i64);
        }
        (repeats && last.repeats()).then_some(())
    }

    /// Whether no target of the next `turns` at `place` is the first unused id of its space.
    fn uses_nothing_fresh(&self, place: &Place, step: u32, turns: i64) -> bool {
        let (target, step) = (i64::from(place.target), i64::from(step as i32));
        let (next, last) = (target + step, target + turns * step);
        let (least, most) = (next.min(last), next.max(last));
        let fresh = i64::from(self.fresh_of(place));
        least >= 0 && most <= i64::from(u32::MAX) && (fresh < least || fresh > most)
    }

    /// Continues the first `period` events of `rows`, the targets of whose next round are there. Events from `settled` on have
    /// the step that the event a round before has.
    fn go_round(&mut self, thread: &mut Thread, rows: &mut Rows<'_>, period: usize, settled: usize) {
        let (sites, targets) = (&mut *rows.sites, &mut *rows.targets);
        repeat(rows.ops, period);
        repeat(sites, period);
        progress(targets, period);
        // The last round, in order of events, is what the tables remember.
        for i in sites.len() - period..sites.len() {
            let key = key(sites[i - 1], sites[i]);
            let place = &mut self.places[slot(key)];
            let step = targets[i].wrapping_sub(targets[i - period]);
            if step == place.step || i >= settled {
                place.stride = step;
            }
            (place.step, place.target) = (step, targets[i]);
            thread.pass(key, sites[i], place);
        }
    }
}

/// A thread's last target in each space, on the way round.
struct LastTargets<'t> {
    thread: &'t Thread,
    /// The last target and its step from the round before, once there is one.
    last: [Option<(u32, u32)>; SPACES],
    /// The step of the first target, where that repeats the last one of the round before.
    first: [Option<u32>; SPACES],
}

impl LastTargets<'_> {
    fn new(thread: &Thread) -> LastTargets<'_> {
        LastTargets { thread, last: [None; SPACES], first: [None; SPACES] }
    }

    /// The next target at `place`.
    #[inline]
    fn go_on(&mut self, place: &Place) -> u32 {
        let space = place.space as usize % SPACES;
        let last = self.last[space].map_or(self.thread.last(place.space), |(target, _)| target);
        let target = place.guess(last);
        let step = target.wrapping_sub(place.target);
        if self.last[space].is_none() && place.same {
            self.first[space] = Some(step);
        }
        self.last[space] = Some((target, step));
        target
    }

    /// Whether steps are the same in every round: what repeats a target of the round before must grow as that does.
    fn repeats(&self) -> bool {
        let mut spaces = self.first.iter().zip(&self.last);
        spaces.all(|(first, last)| first.is_none_or(|first| last.is_some_and(|(_, step)| step == first)))
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
mod tests {
    extern crate std;

    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::predict::START;

    /// Draws numbers that are the same in every run.
    struct Draw(u64);

    impl Draw {
        fn below(&mut self, limit: u64) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % limit) as u32
        }
    }

    /// A predictor that has seen a loop of `body` sites with some disorder, and the thread that ran it.
    fn trained(draw: &mut Draw, body: u32, noise: u64) -> (Predictor, Thread) {
        let mut predictor = Predictor::new();
        predictor.reset([3; crate::SPACES]);
        let (mut thread, ops) = (START, [Op::Read, Op::Write, Op::Acquire, Op::Branch]);
        let strides: [u32; 64] = core::array::from_fn(|_| [0, 0, 1, 8, u32::MAX][draw.below(5) as usize]);
        let base = [0, 2, 100, u32::MAX - 20][draw.below(4) as usize];
        for event in 0..body * (3 + draw.below(4)) {
            let (mut site, turn) = (event % body, event / body);
            let target = base.wrapping_add(turn.wrapping_mul(strides[site as usize % 64]));
            if noise > 0 && draw.below(noise) == 0 {
                site = draw.below(u64::from(body));
            }
            let arrival = predictor.arrive(&mut thread, site);
            let op = ops[site as usize % 4];
            predictor.learn(&mut thread, arrival, op, if op.space().is_some() { target } else { 0 });
        }
        (predictor, thread)
    }

    #[test]
    fn a_run_is_its_events_one_by_one() {
        let mut draw = Draw(7);
        let (mut rounds, mut goes_on) = (0, 0);
        for case in 0..600 {
            let (body, noise) = (1 + draw.below(70), [0, 0, 9, 40][draw.below(4) as usize]);
            let (mut predictor, mut thread) = trained(&mut draw, body, noise);
            let (mut naive, mut naive_thread) = (predictor.clone(), thread);
            let mut last: (Vec<u32>, Vec<u32>) = Default::default();
            for turn in 0..4 {
                let count = draw.below(900) as usize;
                let mut ops = vec![Op::Skip; count];
                let (mut targets, mut sites) = (vec![0; count], vec![0; count]);
                let mut rows = Rows { ops: &mut ops, targets: &mut targets, sites: &mut sites };
                let round = Round { targets: &last.0, sites: &last.1 };
                let period = predictor.follow_all(&mut thread, &mut rows, round);
                goes_on += usize::from(period.is_some() && !last.0.is_empty());
                for i in 0..count {
                    let expected = naive.follow(&mut naive_thread);
                    assert_eq!((ops[i], targets[i], sites[i]), expected, "case {case}, event {i} of {count}");
                }
                assert_eq!(thread, naive_thread, "case {case}");
                assert!(predictor == naive, "case {case}: what was learned differs");
                rounds += count / body as usize;
                if let Some(period) = period {
                    last = (targets[count - period..].to_vec(), sites[count - period..].to_vec());
                }
                // Another thread, on the same places or others, may change what is repeated.
                if turn > 0 && draw.below(2) == 0 {
                    let (site, op) =
                        (draw.below(u64::from(body)), [Op::Read, Op::Write][draw.below(2) as usize]);
                    for (predictor, mut other) in [(&mut predictor, thread), (&mut naive, naive_thread)] {
                        let arrival = predictor.arrive(&mut other, site);
                        predictor.learn(&mut other, arrival, op, 2 + site % 3);
                    }
                }
            }
        }
        assert!(rounds > 1000 && goes_on > 100, "{rounds} {goes_on}");
    }

    #[test]
    fn columns_go_on_as_they_began() {
        for period in 1..20 {
            for length in 2 * period..200 {
                let entry = |i: usize| (i % period * 7) as u32 + (i / period) as u32 * (i % period) as u32;
                let mut column: Vec<u32> =
                    (0..length).map(|i| if i < 2 * period { entry(i) } else { 0 }).collect();
                progress(&mut column, period);
                assert!((0..length).all(|i| column[i] == entry(i)));
                repeat(&mut column, period);
                assert!((0..length).all(|i| column[i] == entry(i % period)));
            }
        }
    }
}
