//! What reads observe, in the language of [`encode`](super::encode).
//!
//! In the value models a read may observe any write of an equal value, and of zeros there can be very many. The one that it
//! observed and a few that are near are *offered*: each has a literal and clauses. One more literal says that something else
//! is observed, and is false while the solver can do without; where it is not, as many again are offered.

use reweave_trace::EventId;

use super::encode::{Encoding, Point, Term, Wish};
use super::solver::{Lit, Solver};
use crate::prepare::EqualWrites;
use crate::verdict::Demand;

/// What a read may observe.
pub(super) struct Offer {
    /// Writes, with the literals that they are observed.
    writes: Vec<(Option<EventId>, Lit)>,
    /// What else there is.
    rest: Option<Rest>,
}

/// What was not offered yet.
struct Rest {
    /// That it is observed.
    literal: Lit,
    next: Option<EventId>,
    others: EqualWrites,
}

impl<S: Solver> Encoding<'_, S> {
    /// Whether the assignment found last asks for the read to be clean.
    pub(super) fn must_be_clean(&self, wish: impl Into<Wish>) -> bool {
        self.cleans.get(&wish.into()).is_some_and(|&literal| self.solver.value(literal))
    }

    /// The literal that the read or update is clean.
    pub(super) fn clean(&mut self, wish: impl Into<Wish>) -> Lit {
        let wish = wish.into();
        let point = wish.point;
        if let Some(&literal) = self.cleans.get(&wish) {
            return literal;
        }
        let literal = self.solver.variable(false);
        self.cleans.insert(wish, literal);
        let read = point.event();
        let observed = self.prepared.links.observed(read);
        let others = self.model.by_value().then(|| self.prepared.equal_writes(read, wish.failing));
        let others = others.and_then(|mut others| Some((others.next(self.prepared)?, others)));
        let Some((next, others)) = others else {
            self.offers.insert(wish, Offer { writes: vec![(observed, literal)], rest: None });
            self.observed_comes_first(literal, point, observed);
            return literal;
        };
        let observes = self.solver.variable(true);
        self.observed_comes_first(observes, point, observed);
        let rest = Some(Rest { literal, next, others });
        self.offers.insert(wish, Offer { writes: vec![(observed, observes)], rest });
        self.offer(wish, vec![observes.into()]);
        literal
    }

    /// The assignment found last has the read observe something that was not offered: offers more.
    pub(super) fn offer_more(&mut self, wish: Wish) {
        self.offer(wish, Vec::new());
    }

    /// Offers as many writes again: where something else is observed, it is one of these, or `also`, or yet something else.
    fn offer(&mut self, wish: Wish, mut also: Vec<Term>) {
        let point = wish.point;
        let Some(mut offer) = self.offers.remove(&wish) else { return };
        if let Some(Rest { literal, next, mut others }) = offer.rest.take() {
            also.push(Term::Lit(!literal));
            let (mut next, mut left) = (Some(next), offer.writes.len());
            while let Some(write) = next.filter(|_| left > 0) {
                let observes = self.solver.variable(false);
                offer.writes.push((write, observes));
                self.observed_comes_first(observes, point, write);
                also.push(observes.into());
                (next, left) = (others.next(self.prepared), left - 1);
            }
            if let Some(next) = next {
                let literal = self.solver.variable(false);
                also.push(literal.into());
                offer.rest = Some(Rest { literal, next, others });
            }
            let read = point.event();
            self.rule(&also, Demand::Observes { read, write: self.prepared.links.observed(read) });
        }
        self.offers.insert(wish, offer);
    }

    fn observed_comes_first(&mut self, observes: Lit, point: Point, write: Option<EventId>) {
        let Some(event) = write else { return };
        let demand = Demand::Observes { read: point.event(), write };
        let runs = self.runs(event);
        self.rule(&[(!observes).into(), runs.into()], demand);
        let before = self.before(Point::Run(event), point);
        self.rule(&[(!observes).into(), before], demand);
    }

    /// The writes that the assignment found last has the read observe, with their literals; none where it asks for
    /// something that was not offered.
    pub(super) fn chosen_writes(&self, wish: Wish) -> Vec<(Option<EventId>, Lit)> {
        let offered = self.offers.get(&wish).map_or(&[][..], |offer| &offer.writes);
        offered.iter().copied().filter(|&(_, literal)| self.solver.value(literal)).collect()
    }
}
