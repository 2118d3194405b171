//! The exact stage: a search that is complete for any number of threads.
//!
//! Satisfiability modulo a strict order, after the polygraphs of "Precisely Deciding Control State Reachability in
//! Concurrent Traces with Limited Observability", with two differences. How far each thread runs, and so which
//! critical sections stay open, is part of the search. And nothing is encoded in advance: the solver proposes how
//! far threads run and a few edges, the proposal is put into an order as close to the observed one as the edges
//! allow, and the [`audit`] adds clauses for what that schedule breaks. Most of a trace can run as it did, so most
//! of its constraints are never looked at.
//!
//! *Windows*: a query is first asked under the assumption that the trace's first events run as observed, as many as
//! possible. The assumption is a literal; when a refutation does not use it, it holds without the window too.
//!
//! *Sound*: a schedule that breaks nothing is given to the checker like any other. *Complete*: the clauses hold for
//! every feasible schedule, and each round excludes an assignment of finitely many.

mod audit;
#[cfg(not(feature = "cadical"))]
mod batsat;
#[cfg(feature = "cadical")]
mod cadical;
mod encode;
mod explain;
mod linear;
mod observe;
mod rest;
mod solver;

use reweave_trace::{EventId, Kind, Model, Op, ThreadId};
use reweave_witness::{Claim, Witness};

use audit::Audit;
use encode::{Encoding, Point, Term};
use linear::{Demands, linearise};
use solver::{DefaultSolver, Lit, Outcome, Solver};

use crate::asked;
use crate::prepare::{Prepared, Section};
use crate::verdict::Demand;
use crate::{Limits, Reason};

/// What the exact stage found.
pub(crate) enum Found {
    Schedule(Witness),
    Clash(Vec<Demand>),
    Nothing(Reason),
}

/// What the search in one window came to.
enum Searched {
    Schedule(Witness),
    /// There is none; whether that depends on the window.
    Clash {
        in_window: bool,
    },
    Nothing(Reason),
}

/// What a proposal of the solver came to.
enum Round {
    Schedule(Vec<EventId>),
    /// It breaks rules, which are clauses now.
    Broken,
    Stopped,
}

/// The exact stage for one trace and model; what it learns on one query helps with the next.
pub(crate) struct Exact<'p> {
    code: Encoding<'p, DefaultSolver>,
    audited: u64,
    /// The call that goes ahead in what was learnt so far.
    ahead: Option<EventId>,
}

/// A query in the terms of the encoding.
pub(crate) struct Goal {
    assumptions: Vec<(Lit, Demand)>,
    next: Vec<EventId>,
    /// Waits that are to sleep in the end.
    asleep: Vec<EventId>,
    /// That nobody can go on in the end.
    rest: Option<Lit>,
    /// A read that is to find what nobody wrote.
    unwritten: Option<(EventId, Lit)>,
    /// Pairs with nothing in between, and the literal that asks for it.
    adjacent: Vec<(EventId, EventId, Lit)>,
    /// The event observed first of those that the query names.
    earliest: EventId,
}

impl<'p> Exact<'p> {
    pub(crate) fn new(prepared: &'p Prepared<'p>, model: Model) -> Exact<'p> {
        Exact { code: Encoding::new(prepared, model, DefaultSolver::new()), audited: 0, ahead: None }
    }

    /// Searches for a schedule that shows what `goal` asks for, among those that run the trace as observed up to
    /// `size` events before the first event of the goal. None where there is no such schedule, but may be others.
    pub(crate) fn search(&mut self, goal: &Goal, size: u32, limits: &Limits, tells: bool) -> Option<Found> {
        let prefix = self.code.prepared.prefix(self.code.model, goal.earliest, size);
        let window = (prefix > 0).then(|| self.code.window(prefix));
        match self.search_window(goal, prefix, window, limits) {
            Searched::Schedule(witness) => Some(Found::Schedule(witness)),
            Searched::Clash { in_window: true } => None,
            Searched::Clash { in_window: false } if tells => Some(self.explain(goal, limits)),
            Searched::Clash { in_window: false } => Some(Found::Clash(Vec::new())),
            Searched::Nothing(reason) => Some(Found::Nothing(reason)),
        }
    }

    /// The limits of a decision that starts now.
    pub(crate) fn limits_from_now(&self, limits: &Limits) -> Limits {
        Limits { work: limits.work.map(|work| work.saturating_add(self.work())), stop: limits.stop.clone() }
    }

    pub(crate) fn work(&self) -> u64 {
        self.audited + self.code.solver.work()
    }

    /// Alternates search and audit until there is a schedule or a clash.
    fn search_window(&mut self, goal: &Goal, prefix: u32, window: Option<Lit>, limits: &Limits) -> Searched {
        let mut assumptions: Vec<Lit> = goal.assumptions.iter().map(|&(literal, _)| literal).collect();
        assumptions.extend(goal.adjacent.iter().map(|&(_, _, literal)| literal));
        assumptions.extend(window);
        loop {
            if limits.stopped() {
                return Searched::Nothing(Reason::Stopped);
            }
            if limits.work.is_some_and(|work| self.work() > work) {
                return Searched::Nothing(Reason::Work);
            }
            match self.code.solver.solve(&assumptions, limits) {
                Outcome::Satisfiable => {}
                Outcome::Unsatisfiable(core) => {
                    let in_window = window.is_some_and(|window| core.contains(&window));
                    return Searched::Clash { in_window };
                }
                Outcome::Stopped if limits.stopped() => return Searched::Nothing(Reason::Stopped),
                Outcome::Stopped => return Searched::Nothing(Reason::Work),
            }
            let known = self.code.size();
            match self.round(goal, prefix, window, limits) {
                Round::Schedule(tail) => return Searched::Schedule(Witness { prefix, tail }),
                Round::Stopped => return Searched::Nothing(Reason::Stopped),
                Round::Broken => {}
            }
            if self.code.size() == known {
                debug_assert!(
                    false,
                    "every round excludes an assignment: {:?} prefix {prefix} rules {:#?}",
                    goal.assumptions,
                    self.code.rules.iter().map(|r| r.demand).collect::<Vec<_>>()
                );
                return Searched::Nothing(Reason::Inconclusive);
            }
        }
    }

    /// One proposal of the solver: a schedule that breaks nothing, or new clauses.
    fn round(&mut self, goal: &Goal, prefix: u32, window: Option<Lit>, limits: &Limits) -> Round {
        let mut edges = self.code.permanent.clone();
        let chosen = self.code.edge_list.iter().filter(|&&(_, _, literal)| self.code.solver.value(literal));
        let chosen: Vec<(EventId, EventId, Lit)> = chosen.copied().collect();
        let threads = self.code.prepared.order.threads();
        let cuts: Vec<u32> =
            (0..threads).map(|thread| self.cut(ThreadId::from_index(thread), prefix)).collect();
        let mut fits = true;
        for (from, to, literal) in chosen {
            let backwards = to.0 < prefix && from > to;
            if let Some(window) = window.filter(|_| backwards && self.runs(&cuts, from)) {
                self.code.not_in_window(window, literal);
                fits = false;
            }
            edges.push((from, to));
        }
        if !fits {
            return Round::Broken;
        }
        let pairs: Vec<(EventId, EventId)> = goal.adjacent.iter().map(|&(a, b, _)| (a, b)).collect();
        let demands = Demands { prefix, cuts: &cuts, edges: &edges, adjacent: &pairs };
        let schedule = linearise(self.code.prepared, &demands);
        self.audited += schedule.len() as u64 + 1;
        let audit = Audit::new(&mut self.code, prefix, self.ahead);
        let Some(runs) = audit.run(&schedule, goal, limits) else { return Round::Stopped };
        let together = self.audit_adjacent(goal, &schedule);
        if runs && together { Round::Schedule(schedule) } else { Round::Broken }
    }

    fn cut(&self, thread: ThreadId, prefix: u32) -> u32 {
        let inside = self.code.prepared.order.of(thread).partition_point(|event| event.0 < prefix) as u32;
        self.code.cut(thread).max(inside)
    }

    fn runs(&self, cuts: &[u32], event: EventId) -> bool {
        self.code.prepared.position(event) < cuts[self.code.prepared.trace.thread(event).index()]
    }

    /// Adds clauses for what stands between two events that should be adjacent.
    fn audit_adjacent(&mut self, goal: &Goal, schedule: &[EventId]) -> bool {
        let mut together = true;
        for &(a, b, literal) in &goal.adjacent {
            let place = |event| schedule.iter().position(|&e| e == event);
            let (Some(from), Some(to)) = (place(a), place(b)) else { continue };
            for &other in schedule.get(from + 1..to).unwrap_or_default() {
                together = false;
                let runs = self.code.runs(other);
                let earlier = self.code.before(Point::Run(other), Point::Run(a));
                let later = self.code.before(Point::Run(b), Point::Run(other));
                let demand = Demand::AskedAdjacent(a, b, other);
                self.code.rule(&[(!literal).into(), (!runs).into(), earlier, later], demand);
            }
        }
        together
    }

    /// What `claim` asks for.
    pub(crate) fn goal(&mut self, claim: &Claim) -> Goal {
        if claim.ahead() != self.ahead {
            // What holds where calls keep their order does not hold where one goes ahead, and the other way round.
            self.audited += self.code.solver.work();
            self.code = Encoding::new(self.code.prepared, self.code.model, DefaultSolver::new());
            self.ahead = claim.ahead();
        }
        let mut goal = Goal {
            assumptions: Vec::new(),
            next: Vec::new(),
            asleep: Vec::new(),
            rest: None,
            unwritten: None,
            adjacent: Vec::new(),
            earliest: asked::earliest(self.code.prepared, claim).unwrap_or(EventId(u32::MAX)),
        };
        match claim {
            Claim::CoEnabled(events) => self.ask_next(&mut goal, events),
            Claim::Deadlock(acquires) => {
                let trace = self.code.prepared.trace;
                let (waits, acquires): (Vec<EventId>, Vec<EventId>) =
                    acquires.iter().partition(|&&event| trace.kind(event) == Kind::Wait);
                self.ask_next(&mut goal, &acquires);
                self.ask_asleep(&mut goal, &waits, false);
                if let ([acquire], []) = (&acquires[..], &waits[..]) {
                    self.ask_dead_holder(&mut goal, *acquire);
                }
            }
            Claim::Sequence { events, adjacent } => {
                if let [only] = events[..] {
                    self.ask_run(&mut goal, only);
                }
                let pairs: Vec<_> = events.windows(2).map(|pair| (pair[0], pair[1])).collect();
                self.ask_before(&mut goal, &pairs, adjacent);
            }
            Claim::Before { pairs, adjacent } => self.ask_before(&mut goal, pairs, adjacent),
            Claim::Asleep(wait) => self.ask_asleep(&mut goal, &[*wait], true),
            Claim::Ahead { first, then } => {
                self.ask_run(&mut goal, *first);
                self.ask_next(&mut goal, &[*then]);
            }
            Claim::Unwritten(read) => {
                self.ask_run(&mut goal, *read);
                let literal = self.code.fresh();
                goal.assumptions.push((literal, Demand::Asked(*read)));
                goal.unwritten = Some((*read, literal));
            }
        }
        goal
    }

    fn ask_next(&mut self, goal: &mut Goal, events: &[EventId]) {
        for &event in events {
            let next = self.code.next(event);
            goal.assumptions.push((next, Demand::AskedNext(event)));
            goal.next.push(event);
            goal.earliest = goal.earliest.min(event);
        }
    }

    /// The waits sleep for ever: what woke them came before they had started, or did not come.
    fn ask_asleep(&mut self, goal: &mut Goal, waits: &[EventId], too_early: bool) {
        for &wait in waits {
            let Some(link) = self.code.prepared.links.wait(wait).copied() else { continue };
            let Some(waker) = link.waker else { continue };
            let stuck = self.code.stuck(wait);
            goal.assumptions.push((stuck, Demand::AskedNext(wait)));
            goal.asleep.push(wait);
            if too_early {
                self.ask_before(goal, &[(waker, link.start)], &[]);
            } else {
                let runs = self.code.runs(waker);
                goal.assumptions.push((!runs, Demand::AtRest(waker)));
            }
        }
        if let Some(&wait) = waits.first() {
            let rest = self.code.fresh();
            goal.assumptions.push((rest, Demand::AtRest(wait)));
            goal.rest = Some(rest);
        }
    }

    fn ask_run(&mut self, goal: &mut Goal, event: EventId) {
        let runs = self.code.runs(event);
        goal.assumptions.push((runs, Demand::Asked(event)));
        goal.earliest = goal.earliest.min(event);
    }

    fn ask_before(&mut self, goal: &mut Goal, pairs: &[(EventId, EventId)], adjacent: &[usize]) {
        for (place, &(a, b)) in pairs.iter().enumerate() {
            self.ask_run(goal, a);
            self.ask_run(goal, b);
            // Pairs of one thread were looked at before the search.
            if let Term::Lit(before) = self.code.before(Point::Run(a), Point::Run(b)) {
                goal.assumptions.push((before, Demand::AskedBefore(a, b)));
            }
            if adjacent.contains(&place) {
                let literal = self.code.fresh();
                goal.adjacent.push((a, b, literal));
            }
        }
    }

    /// A deadlock of one: the lock is held by a thread that has ended.
    fn ask_dead_holder(&mut self, goal: &mut Goal, acquire: EventId) {
        let prepared = self.code.prepared;
        let (Op::Acquire(lock) | Op::SharedAcquire(lock)) = prepared.trace.op(acquire) else { return };
        let shared = prepared.trace.kind(acquire) == Kind::SharedAcquire;
        let thread = prepared.trace.thread(acquire);
        let blocks = |section: &Section| section.thread != thread && !(shared && section.shared);
        let holders: Vec<Section> = prepared.sections(lock).filter(blocks).collect();
        let literal = self.code.fresh();
        let demand = Demand::DeadHolder { acquire };
        let mut clause = vec![Term::Lit(!literal)];
        for section in holders {
            let ends =
                prepared.order.of(section.thread).iter().filter(|&&e| prepared.trace.kind(e) == Kind::End);
            let Some(&end) = ends.into_iter().next() else { continue };
            let held = self.code.held_at(&section, Point::Next(acquire), demand);
            let ended = self.code.runs(end);
            self.code.rule(&[(!held).into(), ended.into()], demand);
            clause.push(held.into());
        }
        self.code.rule(&clause, demand);
        goal.assumptions.push((literal, demand));
    }
}
