//! Schedules after which nobody can go on, in the language of [`encode`](super::encode).
//!
//! Every thread that was made runs to its end or is *stuck*: at a lock that another holds, at a join of a thread that has
//! not ended, or asleep. First each is asked to run to its end; where the solver finds that it cannot, it is offered the
//! places where the thread can be stuck, a few at first and as many again when those do not do.

use reweave_trace::{EventId, Kind, Op, ThreadId};

use super::audit::Audit;
use super::encode::{Encoding, Point, Term};
use super::solver::{Lit, Solver};
use crate::prepare::Section;
use crate::verdict::Demand;

/// Where a thread may be stuck.
pub(super) struct Halts {
    /// The places that were offered so far.
    offered: Vec<EventId>,
    /// That it is at one that was not, and the position in the thread from which on there are more.
    rest: Option<(Lit, u32)>,
}

impl<S: Solver> Encoding<'_, S> {
    /// The literal that the thread of `event` is stuck there when the schedule ends.
    pub(super) fn stuck(&mut self, event: EventId) -> Lit {
        if let Some(&literal) = self.stucks.get(&event) {
            return literal;
        }
        let demand = Demand::AtRest(event);
        let literal = self.fresh();
        self.stucks.insert(event, literal);
        self.stands(literal, event, demand);
        match self.prepared.trace.op(event) {
            Op::Acquire(_) | Op::SharedAcquire(_) => {
                let mut clause = vec![Term::Lit(!literal)];
                for section in self.keep_out(event) {
                    clause.push(self.held_at(&section, Point::Stuck(event), demand).into());
                }
                self.rule(&clause, demand);
            }
            Op::Join(child) => {
                let ends = self.prepared.last(child).or(self.prepared.links.fork(child));
                let runs = ends.map(|last| self.runs(last));
                let not_ended = runs.map_or(Term::False, |runs| Term::Lit(!runs));
                self.rule(&[(!literal).into(), not_ended], demand);
            }
            // Notifications are looked at when they come.
            _ => {}
        }
        literal
    }

    /// The sections of other threads that keep out an acquire.
    fn keep_out(&self, acquire: EventId) -> Vec<Section> {
        let trace = self.prepared.trace;
        let (Op::Acquire(lock) | Op::SharedAcquire(lock)) = trace.op(acquire) else { return Vec::new() };
        let (thread, shared) = (trace.thread(acquire), trace.kind(acquire) == Kind::SharedAcquire);
        let sections = self.prepared.sections(lock);
        sections.filter(|section| section.thread != thread && !(shared && section.shared)).collect()
    }

    /// Whether a thread can be stuck at `event` at all.
    fn can_be_stuck(&self, event: EventId) -> bool {
        match self.prepared.trace.kind(event) {
            Kind::Acquire | Kind::SharedAcquire => !self.keep_out(event).is_empty(),
            Kind::Join => true,
            Kind::Wait => self.prepared.ends_only_when_notified(event),
            _ => false,
        }
    }

    /// Demands, where `rest` holds, that the thread runs to its end or is stuck; says whether that is new.
    fn settle(&mut self, rest: Lit, thread: ThreadId, ends: bool) -> bool {
        let events = self.prepared.order.of(thread);
        let (Some(&first), Some(&last)) = (events.first(), events.last()) else { return false };
        let known = self.size();
        let literal = match self.halts.get(&thread) {
            Some((literal, _)) => *literal,
            None => {
                let literal = self.fresh();
                let halts = Halts { offered: Vec::new(), rest: Some((literal, 0)) };
                self.halts.insert(thread, (literal, halts));
                literal
            }
        };
        let mut clause = vec![Term::Lit(!rest), literal.into()];
        if let Some(fork) = self.prepared.links.fork(thread) {
            clause.push((!self.runs(fork)).into());
        }
        if ends {
            clause.push(self.runs(last).into());
        }
        self.rule(&clause, Demand::AtRest(first));
        self.size() > known
    }

    /// The assignment found last has the thread stuck at a place that was not offered: offers more.
    fn offer_halts(&mut self, thread: ThreadId) {
        let Some((literal, mut halts)) = self.halts.remove(&thread) else { return };
        if let Some((rest, from)) = halts.rest.take() {
            let events = &self.prepared.order.of(thread)[from as usize..];
            let wanted = halts.offered.len().max(4);
            let mut places = events.iter().copied().filter(|&event| self.can_be_stuck(event));
            let new: Vec<EventId> = places.by_ref().take(wanted).collect();
            let more = places.next();
            let mut clause = vec![Term::Lit(!rest)];
            clause.extend(new.iter().map(|&event| Term::Lit(self.stuck(event))));
            let demand = Demand::AtRest(new.first().copied().unwrap_or(events[0]));
            if let (Some(&last), Some(more)) = (new.last(), more) {
                let further = self.fresh();
                clause.push(further.into());
                let runs = self.runs(last);
                self.rule(&[(!further).into(), runs.into()], demand);
                halts.rest = Some((further, self.prepared.position(more)));
            }
            self.rule(&clause, demand);
            halts.offered.extend(new);
        }
        self.halts.insert(thread, (literal, halts));
    }

    /// Whether the assignment found last has the thread stuck at an event that was offered.
    fn is_offered(&self, thread: ThreadId) -> bool {
        let chosen = |event: &EventId| self.stucks.get(event).is_some_and(|&lit| self.solver.value(lit));
        self.halts.get(&thread).is_some_and(|(_, halts)| halts.offered.iter().any(chosen))
    }
}

impl<S: Solver> Audit<'_, '_, S> {
    /// Looks whether nobody can go on, as `rest` asks for.
    pub(super) fn rest(&mut self, rest: Lit) {
        let order = &self.code.prepared.order;
        let threads = || (0..order.threads()).map(ThreadId::from_index);
        let recorded = threads().any(|thread| self.has_recorded_end(thread));
        for thread in threads() {
            let fork = self.code.prepared.links.fork(thread);
            if order.of(thread).is_empty() || fork.is_some_and(|fork| !self.has_run(fork)) {
                continue;
            }
            let certain = !recorded || self.has_recorded_end(thread);
            match order.of(thread).get(self.threads[thread.index()].ran as usize) {
                None if certain => self.ended_as_it_did(rest, thread),
                Some(&event) if self.is_stuck(event) => {}
                _ => {
                    self.broken = true;
                    let new = self.code.settle(rest, thread, certain);
                    if !new && !self.code.is_offered(thread) {
                        self.code.offer_halts(thread);
                    }
                }
            }
        }
    }

    fn has_recorded_end(&self, thread: ThreadId) -> bool {
        let prepared = self.code.prepared;
        prepared.last(thread).is_some_and(|last| prepared.trace.kind(last) == Kind::End)
    }

    /// A thread that has run all its events must have been clean at its end.
    fn ended_as_it_did(&mut self, rest: Lit, thread: ThreadId) {
        let Some(last) = self.code.prepared.last(thread) else { return };
        for read in self.unclean_at_end(thread) {
            self.broken = true;
            let (runs, clean) = (self.code.runs(last), self.code.clean(Point::Run(read)));
            let demand = Demand::Needs { event: last, read };
            self.code.rule(&[(!rest).into(), (!runs).into(), clean.into()], demand);
        }
    }

    /// Whether the thread of its next `event` cannot go on; says why not where the solver counts on it.
    fn is_stuck(&mut self, event: EventId) -> bool {
        let stuck = match self.code.prepared.trace.op(event) {
            Op::Acquire(lock) | Op::SharedAcquire(lock) => {
                let out = self.code.keep_out(event);
                let open = self.open.get(&lock).map_or(&[][..], Vec::as_slice);
                open.iter().any(|section| out.iter().any(|other| other.acquire == section.acquire))
            }
            Op::Join(child) => {
                let last = self.code.prepared.last(child).or(self.code.prepared.links.fork(child));
                last.is_some_and(|last| !self.has_run(last))
            }
            Op::Wait(_) => return self.sleeps(event),
            _ => false,
        };
        stuck && self.stands(event)
    }

    /// Whether nothing new that the thread has read keeps it from `event`.
    fn stands(&mut self, event: EventId) -> bool {
        let reads = self.unclean_for(event);
        let literal =
            self.code.stucks.get(&event).copied().filter(|&literal| self.code.solver.value(literal));
        if let Some(literal) = literal {
            for &read in &reads {
                let clean = self.code.clean(Point::Run(read));
                self.code.rule(&[(!literal).into(), clean.into()], Demand::Needs { event, read });
            }
        }
        reads.is_empty()
    }

    /// Whether the wait that is next in its thread sleeps; says why not where the solver counts on it.
    pub(super) fn sleeps(&mut self, wait: EventId) -> bool {
        let prepared = self.code.prepared;
        let Op::Wait(condition) = prepared.trace.op(wait) else { return false };
        let Some(link) = prepared.links.wait(wait).copied() else { return false };
        if !prepared.ends_only_when_notified(wait) || !self.stands(wait) {
            return false;
        }
        let started = self.threads[prepared.trace.thread(wait).index()].last_step;
        let heard = self.notifications_since(condition, link.start, started);
        let literal = self.code.stucks.get(&wait).copied().filter(|&literal| self.code.solver.value(literal));
        for &notification in literal.iter().flat_map(|_| &heard) {
            let literal = self.code.stuck(wait);
            let runs = self.code.runs(notification);
            let early = self.code.before(Point::Run(notification), Point::Run(link.start));
            let demand = Demand::NotNotified { wait, notification };
            self.code.rule(&[(!literal).into(), (!runs).into(), early], demand);
        }
        heard.is_empty()
    }
}
