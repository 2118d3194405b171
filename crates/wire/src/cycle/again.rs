//! Rounds that are gone on with after other threads ran.
//!
//! While every prediction holds, a round goes on as it did. So it does after others ran, if nobody has changed what is known of its
//! places meanwhile: then it need not be walked again to know what comes. Each place has a mark, set by the thread that left it in its round
//! and taken away by whatever else changes it.

use core::ops::Range;

use super::{Round, Rows, progress, repeat};
use crate::SPACES;
use crate::Space;
use crate::predict::{Predictor, Thread, key, slot};

impl Predictor {
    /// Fills the rows in `range` with the same round again, if that is what comes; `thread` must have done nothing since.
    pub(super) fn go_on(
        &mut self,
        thread: &mut Thread,
        rows: &mut Rows<'_>,
        range: Range<usize>,
        round: &mut Round,
    ) -> bool {
        let Round { start, period, .. } = *round;
        if range.len() < 2 * period || start < period || !self.is_as_left(thread, rows, range.len(), round) {
            return false;
        }
        let (before, new) = rows.targets.split_at_mut(range.start);
        let (older, last) = before[start - period..start + period].split_at(period);
        let (next, after) = new[..2 * period].split_at_mut(period);
        for (((next, after), &last), &older) in next.iter_mut().zip(after).zip(last).zip(older) {
            let step = last.wrapping_sub(older);
            *next = last.wrapping_add(step);
            *after = next.wrapping_add(step);
        }
        rows.ops.copy_within(start..start + period, range.start);
        rows.sites.copy_within(start..start + period, range.start);
        let Rows { ops, targets, sites } = rows.part(range.clone());
        repeat(ops, period);
        repeat(sites, period);
        progress(targets, period);
        for i in sites.len() - period..sites.len() {
            let key = key(sites[i - 1], sites[i]);
            let place = &mut self.places[slot(key)];
            (place.target, place.stride) = (targets[i], place.step);
            thread.pass(key, sites[i], place);
        }
        round.start = range.end - period;
        true
    }

    /// Whether `count` more events along `round` are as those before: nobody has changed its places, and neither sites nor targets
    /// that change are used for the first time.
    fn is_as_left(&self, thread: &Thread, rows: &Rows<'_>, count: usize, round: &Round) -> bool {
        let Round { start, period, mark, .. } = *round;
        let turns = (count / period + 2) as i64;
        let (mut before, mut same) = (thread.site, true);
        let fresh_site = self.fresh[Space::Site as usize];
        for i in start..start + period {
            let (site, target) = (rows.sites[i], rows.targets[i]);
            let place = &self.places[slot(key(before, site))];
            same &= place.mark.0 == mark && site != fresh_site;
            before = site;
            let step = i64::from(target.wrapping_sub(rows.targets[i - period]) as i32);
            let (next, last) = (i64::from(target) + step, i64::from(target) + turns * step);
            let fresh = i64::from(self.fresh[place.space as usize % SPACES]);
            same &= step == 0 || last >= 0 && next.max(last) < fresh;
        }
        same
    }
}
