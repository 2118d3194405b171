//! What reads observe in a schedule that is being audited.

use reweave_trace::{EventId, Model, ThreadId, ValueId};

use super::super::encode::{Point, Term, Wish};
use super::super::solver::Solver;
use super::Audit;
use crate::verdict::Demand;

impl<S: Solver> Audit<'_, '_, S> {
    /// The event runs only if it observes something that lets it.
    pub(super) fn should_observe(&mut self, point: Point, failing: bool) {
        let wish = Wish { point, failing };
        if self.code.must_be_clean(wish) {
            self.explain_unclean(wish);
        } else {
            let clean = self.code.clean(wish);
            let event = point.event();
            self.require(point, clean.into(), Demand::Needs { event, read: event });
        }
    }

    /// What a read of the variable of `event` would observe now.
    fn seen_by(&self, event: EventId) -> Option<EventId> {
        let prepared = self.code.prepared;
        let variable = prepared.trace.op(event).access()?.variable;
        let own = self.writes.get(&variable).copied();
        let around = prepared.trace.objects().around(variable);
        let lifetimes = around.filter_map(|object| self.lifetimes.get(&object).copied());
        match lifetimes.chain(own).max() {
            Some((_, write)) => Some(write),
            None => prepared.last_write_before(variable, EventId(self.prefix)),
        }
    }

    /// Whether a read in the place of `event` would be clean now.
    pub(super) fn is_clean(&self, event: EventId) -> bool {
        let prepared = self.code.prepared;
        if self.code.model == Model::Sync {
            return true;
        }
        let seen = self.seen_by(event);
        if seen.is_some_and(|write| self.taints.contains_key(&write)) {
            return false;
        }
        if seen == prepared.links.observed(event) {
            return true;
        }
        let value = self.value_of(event, seen);
        self.code.model.by_value() && value.is_some() && value == prepared.trace.values(event).read
    }

    /// The value that `event` observes where the last write is `seen`.
    fn value_of(&self, event: EventId, seen: Option<EventId>) -> Option<ValueId> {
        let prepared = self.code.prepared;
        match seen {
            Some(write) => prepared.trace.values(write).written,
            None => {
                let access = prepared.trace.op(event).access();
                access.and_then(|access| prepared.links.initial_value(access.variable))
            }
        }
    }

    /// Whether a failed attempt, one that can fail at other values, would fail at what is there now.
    pub(super) fn would_fail(&self, event: EventId) -> bool {
        let seen = self.seen_by(event);
        let tainted = seen.is_some_and(|write| self.taints.contains_key(&write));
        let value = self.value_of(event, seen);
        !tainted && value.is_some() && value != self.code.prepared.trace.values(event).written
    }

    pub(super) fn observed_new(&mut self, read: EventId, thread: ThreadId) {
        if self.code.must_be_clean(Point::Run(read)) {
            self.explain_unclean(Point::Run(read).into());
        } else {
            self.threads[thread.index()].unclean.push(read);
            self.unclean.insert(read);
        }
    }

    /// The read should be clean and is not: adds the rules that keep it from what it sees now.
    fn explain_unclean(&mut self, wish: Wish) {
        self.broken = true;
        let (point, read) = (wish.point, wish.point.event());
        let seen = self.seen_by(read);
        let chosen = self.code.chosen_writes(wish);
        if chosen.is_empty() {
            self.code.offer_more(wish);
        }
        for (write, observes) in chosen {
            match seen {
                Some(seen) if Some(seen) == write => {
                    for by in self.behind(seen) {
                        let clean = self.code.clean(Point::Run(by));
                        let demand = Demand::Untainted { read, write: seen, by };
                        self.code.rule(&[(!observes).into(), clean.into()], demand);
                    }
                }
                Some(other) => {
                    let runs = self.code.runs(other);
                    let earlier = match write {
                        Some(write) => self.code.before(Point::Run(other), Point::Run(write)),
                        None => Term::False,
                    };
                    let later = self.code.before(point, Point::Run(other));
                    let demand = Demand::NotBetween { read, write, other };
                    self.code.rule(&[(!observes).into(), (!runs).into(), earlier, later], demand);
                }
                // The initial value cannot be seen once the chosen write has run.
                None => {}
            }
        }
    }
}
