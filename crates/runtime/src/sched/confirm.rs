//! Whether what a finding is about has happened: all that a replay confirms is decided here.

use crate::record::note;
use crate::sched::forced::Forced;
use crate::sched::plan::{Claimed, Do, Item};

/// A thread that has passed so many points on its way to a step is taken to be spinning, unless it had more events on that
/// way when it was recorded, or the plan says otherwise.
pub(crate) const PATIENCE: u64 = 200_000;
/// How many points there may be for each event that the thread had on its way in the recorded run.
const SLACK: u64 = 4;

impl Forced {
    /// Looks whether the event is one that the finding is about.
    pub(crate) fn claim(&mut self, index: usize, site: u32, count: u64, code: usize) {
        let planned = self.planned.as_ref().get(index).copied().unwrap_or(0);
        let claims = self.plan.counts.claims;
        let is_it = |claim: &Claimed| {
            claim.thread + 1 == planned && claim.site == site && claim.occurrence == count && claim.when == 0
        };
        let found = self.plan.claims.as_ref().iter().take(claims).position(is_it);
        let Some(number) = found else { return };
        self.happened += 1;
        let when = self.happened;
        if let Some(claim) = self.plan.claims.as_mut().get_mut(number) {
            claim.when = when;
            // Told already, where it stood before it.
            if !claim.stands {
                note::stack(b"did", number, index, code);
            }
        }
        if let Some(happening) = self.happening.as_mut().get_mut(index) {
            *happening = number as u32 + 1;
        }
    }

    /// A block begins or ends: what an event of the finding touched there is another thing than what one that is still to come
    /// will touch.
    pub(crate) fn lifetime(&mut self, (start, end): (usize, usize)) {
        for place in 0..self.plan.counts.same {
            let Some(&(a, b)) = self.plan.same.as_ref().get(place) else { return };
            let claims = self.plan.claims.as_mut();
            let happened = |claim: u32| claims.get(claim as usize).is_some_and(|claim| claim.when != 0);
            let first = match (happened(a), happened(b)) {
                (true, false) => a,
                (false, true) => b,
                _ => continue,
            };
            if let Some(claim) = claims.get_mut(first as usize) {
                let touched = claim.touched.iter().take(claim.touches);
                claim.gone |= { touched }.any(|&(from, to)| from < end && start < to);
            }
        }
    }

    pub(crate) fn touch(&mut self, index: usize, touched: (usize, usize)) {
        let happening = self.happening.as_ref().get(index).copied().unwrap_or(0);
        let Some(claim) = (happening as usize).checked_sub(1) else { return };
        if let Some(claim) = self.plan.claims.as_mut().get_mut(claim)
            && touched.0 < touched.1
            && let Some(room) = claim.touched.get_mut(claim.touches)
        {
            *room = touched;
            claim.touches += 1;
        }
    }

    /// Whether what the finding is about happened in the right order, and to the same memory where that is known.
    pub(crate) fn holds_true(&self) -> bool {
        let claims = self.plan.claims.as_ref();
        let get = |number: u32| claims.get(number as usize);
        let ordered = self.plan.ordered.as_ref().iter().take(self.plan.counts.ordered);
        let in_order = { ordered }.all(|&(a, b)| {
            // One that its thread stands before is still to come, whether or not it then is what it was.
            let late = |claim: &Claimed| if claim.when == 0 && claim.stands { u32::MAX } else { claim.when };
            matches!((get(a), get(b)), (Some(a), Some(b)) if a.when != 0 && a.when < late(b))
        });
        let same = self.plan.same.as_ref().iter().take(self.plan.counts.same);
        let together = { same }.all(|&(a, b)| {
            let (Some(a), Some(b)) = (get(a), get(b)) else { return false };
            let mine = a.touched.iter().take(a.touches);
            let overlap = |&(from, to): &(usize, usize)| {
                b.touched.iter().take(b.touches).any(|&(start, end)| from < end && start < to)
            };
            // A block that was given out again in between is another one.
            !a.gone && !b.gone && (a.touches == 0 || b.touches == 0 || { mine }.any(overlap))
        });
        in_order && together && !self.spoilt
    }

    /// Whether each event of the finding has come, or its thread stands before it. Where no order is asked for, one that is to be
    /// stood before must not have come: then nothing is next at once.
    pub(crate) fn are_all_there(&self) -> bool {
        let items = self.plan.items.as_ref();
        let at_once = self.plan.counts.ordered == 0;
        let is_stood_before = |claim: &Claimed| {
            at_once
                && items.iter().take(self.plan.counts.items).any(|item| {
                    item.what == Do::Stand
                        && item.thread == claim.thread
                        && item.site == claim.site
                        && item.occurrence == claim.occurrence
                })
        };
        let claims = self.plan.claims.as_ref();
        claims.iter().take(self.plan.counts.claims).all(|claim| match is_stood_before(claim) {
            true => claim.stands && claim.when == 0,
            false => claim.stands || claim.when != 0,
        })
    }

    /// Whether nothing is left but the last of the finding's events, and its thread is about to do it.
    pub(crate) fn is_at_last_claim(&mut self) -> bool {
        let Some(item) = self.item().filter(|item| item.what == Do::Run) else { return false };
        let count = self.plan.counts.claims;
        let open = self.plan.claims.as_ref().iter().take(count).filter(|claim| claim.when == 0).count();
        let Some(index) = self.index_of(item.thread) else { return false };
        let last = self.last.as_ref().get(index).copied().unwrap_or(0);
        open == 1
            && self.plan.site_at(last) == Some(item.site)
            && self.count(index, item.site) + 1 == item.occurrence
    }

    /// How many points a thread may pass on its way to a step: what it took when it was recorded, with room for more.
    pub(crate) fn patience(&self, item: &Item) -> u64 {
        let way = item.own.saturating_sub(self.began);
        way.saturating_mul(SLACK).saturating_add(self.plan.patience)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::Array;
    use crate::sched::plan::Plan;

    fn array(bytes: &[u8]) -> Array<u8> {
        let mut array = Array::zeroed(bytes.len());
        array.as_mut().copy_from_slice(bytes);
        array
    }

    /// A plan of `pairs` pairs, each of two events that were in order and touched the same memory.
    fn forced(pairs: usize, kind: &str) -> Forced {
        let mut text = String::from("m program\n");
        for claim in 0..2 * pairs {
            text += &format!("c 0 0 {} 1\n", 16 * claim);
        }
        for pair in 0..pairs {
            text += &format!("{kind} {} {}\n", 2 * pair, 2 * pair + 1);
        }
        let mut forced = Forced::of(Plan::of(array(text.as_bytes())));
        let count = forced.plan.counts.claims;
        for (number, claim) in forced.plan.claims.as_mut().iter_mut().enumerate().take(count) {
            claim.when = number as u32 + 1;
            claim.touched[0] = (64 * (number / 2), 64 * (number / 2) + 8);
            claim.touches = 1;
        }
        forced
    }

    fn claim(forced: &mut Forced, number: usize) -> &mut Claimed {
        &mut forced.plan.claims.as_mut()[number]
    }

    #[test]
    fn each_pair_must_be_in_order() {
        for pairs in [1, 8, 9, 40] {
            let mut forced = forced(pairs, "y");
            assert!(forced.holds_true(), "{pairs}");
            // The first event of the last pair comes after its second.
            claim(&mut forced, 2 * pairs - 2).when = u32::MAX;
            assert!(!forced.holds_true(), "{pairs}");
        }
    }

    #[test]
    fn each_pair_must_touch_the_same_memory() {
        for pairs in [1, 8, 9, 40] {
            let mut forced = forced(pairs, "x");
            assert!(forced.holds_true(), "{pairs}");
            claim(&mut forced, 2 * pairs - 1).touched[0] = (1 << 40, (1 << 40) + 8);
            assert!(!forced.holds_true(), "{pairs}");
        }
    }
}
