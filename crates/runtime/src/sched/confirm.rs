//! Whether what a finding is about has happened: all that a replay confirms is decided here.

use crate::map::Array;
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
        let pairs = |list: &Array<(u32, u32)>, count| {
            let mut pairs = [(0, 0); 8];
            let length = list.as_ref().len().min(count).min(8);
            for (room, pair) in pairs.iter_mut().zip(list.as_ref()).take(length) {
                *room = *pair;
            }
            (pairs, length)
        };
        let (same, same_count) = pairs(&self.plan.same, self.plan.counts.same);
        let (ordered, ordered_count) = pairs(&self.plan.ordered, self.plan.counts.ordered);
        let in_order = ordered.iter().take(ordered_count).all(|&(a, b)| {
            // One that its thread stands before is still to come, whether or not it then is what it was.
            let late = |claim: &Claimed| if claim.when == 0 && claim.stands { u32::MAX } else { claim.when };
            matches!((get(a), get(b)), (Some(a), Some(b)) if a.when != 0 && a.when < late(b))
        });
        let together = same.iter().take(same_count).all(|&(a, b)| {
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
