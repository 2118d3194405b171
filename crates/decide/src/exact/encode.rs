//! The language in which the exact stage talks to the solver.
//!
//! | literal | means |
//! | --- | --- |
//! | *runs* e | the schedule has event e, and so all before it in its thread |
//! | *before* a b | a comes before b in the schedule: an edge of the solver's graph |
//! | *clean* r | the read r is clean; or, a failed attempt, observes what lets it run |
//! | *observes* r w | r observes w (in the value models, one of several that would do) |
//! | *otherwise* r | r observes something that has no such literal yet: see [`observe`](super::observe) |
//! | *next* c | after the schedule, c may run |
//! | *stuck* c | after the schedule, c is next in its thread, which cannot go on: see [`rest`](super::rest) |
//!
//! Every clause has a negated literal other than an edge, so that the empty schedule satisfies them all: clauses
//! say what follows, and only the assumptions of a query ask for something. They hold for every query on the trace,
//! so that the solver is kept from one to the next.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use reweave_trace::{EventId, LockId, Model, Op, ThreadId};

use super::observe::Offer;
use super::rest::Halts;
use super::solver::{Lit, Solver};
use crate::prepare::{Prepared, Section};
use crate::verdict::Demand;

/// A place in a schedule where an event's conditions are looked at: where it runs, or at the end, when it is next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Point {
    Run(EventId),
    Next(EventId),
    /// At the end, where its thread is stuck.
    Stuck(EventId),
}

impl Point {
    pub(super) fn event(self) -> EventId {
        match self {
            Point::Run(event) | Point::Next(event) | Point::Stuck(event) => event,
        }
    }
}

/// What a read, at a point, should observe: what makes it clean or, `failing`, what lets a failed attempt run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Wish {
    pub(super) point: Point,
    pub(super) failing: bool,
}

impl From<Point> for Wish {
    fn from(point: Point) -> Wish {
        Wish { point, failing: false }
    }
}

/// A literal or a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Term {
    True,
    False,
    Lit(Lit),
}

impl From<Lit> for Term {
    fn from(literal: Lit) -> Term {
        Term::Lit(literal)
    }
}

/// A clause that can be part of an explanation.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) clause: Vec<Lit>,
    pub(super) demand: Demand,
}

/// The literals and clauses so far.
pub(super) struct Encoding<'p, S> {
    pub(super) prepared: &'p Prepared<'p>,
    pub(super) model: Model,
    pub(super) solver: S,
    /// Per thread, the positions that have a *runs* literal.
    runs: Vec<BTreeMap<u32, Lit>>,
    /// Per thread, the positions that have a node in the graph.
    nodes: Vec<BTreeMap<u32, u32>>,
    edges: HashMap<(EventId, EventId), Lit>,
    /// Every edge literal, in order of creation.
    pub(super) edge_list: Vec<(EventId, EventId, Lit)>,
    /// Edges between threads that are always there: forks and joins.
    pub(super) permanent: Vec<(EventId, EventId)>,
    always: HashSet<(EventId, EventId)>,
    pub(super) cleans: HashMap<Wish, Lit>,
    pub(super) offers: HashMap<Wish, Offer>,
    nexts: HashMap<EventId, Lit>,
    pub(super) stucks: HashMap<EventId, Lit>,
    /// Per thread, that it is stuck, and where it may be.
    pub(super) halts: HashMap<ThreadId, (Lit, Halts)>,
    /// What holds by construction: program order.
    pub(super) structure: Vec<Vec<Lit>>,
    pub(super) rules: Vec<Rule>,
    known: HashSet<Vec<Lit>>,
}

impl<'p, S: Solver> Encoding<'p, S> {
    pub(super) fn new(prepared: &'p Prepared<'p>, model: Model, solver: S) -> Encoding<'p, S> {
        let threads = prepared.order.threads();
        Encoding {
            prepared,
            model,
            solver,
            runs: vec![BTreeMap::new(); threads],
            nodes: vec![BTreeMap::new(); threads],
            edges: HashMap::new(),
            edge_list: Vec::new(),
            permanent: Vec::new(),
            always: HashSet::new(),
            cleans: HashMap::new(),
            offers: HashMap::new(),
            nexts: HashMap::new(),
            stucks: HashMap::new(),
            halts: HashMap::new(),
            structure: Vec::new(),
            rules: Vec::new(),
            known: HashSet::new(),
        }
    }

    /// How much has been said so far; it only grows.
    pub(super) fn size(&self) -> usize {
        self.rules.len() + self.structure.len() + self.permanent.len()
    }

    /// Adds a clause that holds for the reason `demand`, unless it is there already.
    pub(super) fn rule(&mut self, terms: &[Term], demand: Demand) {
        let mut clause = Vec::with_capacity(terms.len());
        for &term in terms {
            match term {
                Term::True => return,
                Term::False => {}
                Term::Lit(literal) => clause.push(literal),
            }
        }
        if self.known.insert(clause.clone()) {
            self.solver.clause(&clause);
            self.rules.push(Rule { clause, demand });
        }
    }

    fn structural(&mut self, clause: [Lit; 2]) {
        self.solver.clause(&clause);
        self.structure.push(clause.to_vec());
    }

    /// The literal that `event` runs.
    pub(super) fn runs(&mut self, event: EventId) -> Lit {
        let literal = self.runs_here(event);
        // Up the chain of forks, without recursion: it may be as long as there are threads.
        let mut child = (event, literal);
        while let Some(fork) = self.prepared.links.fork(self.prepared.trace.thread(child.0)) {
            let known = self.runs_lookup(fork).is_some();
            let up = self.runs_here(fork);
            self.rule(&[(!child.1).into(), up.into()], Demand::Fork { event: child.0, fork });
            if known {
                break;
            }
            child = (fork, up);
        }
        literal
    }

    fn runs_lookup(&self, event: EventId) -> Option<Lit> {
        let thread = self.prepared.trace.thread(event);
        self.runs[thread.index()].get(&self.prepared.position(event)).copied()
    }

    fn runs_here(&mut self, event: EventId) -> Lit {
        if let Some(literal) = self.runs_lookup(event) {
            return literal;
        }
        let thread = self.prepared.trace.thread(event);
        let position = self.prepared.position(event);
        if self.runs[thread.index()].is_empty()
            && let Some(fork) = self.prepared.links.fork(thread)
        {
            self.always_before(fork, self.prepared.event_at(thread, 0));
        }
        let literal = self.solver.variable(false);
        let runs = &mut self.runs[thread.index()];
        let before = runs.range(..position).next_back().map(|(_, &lit)| lit);
        let after = runs.range(position..).next().map(|(_, &lit)| lit);
        runs.insert(position, literal);
        if let Some(before) = before {
            self.structural([!literal, before]);
        }
        if let Some(after) = after {
            self.structural([!after, literal]);
        }
        literal
    }

    /// How many events each thread runs in the assignment found last.
    pub(super) fn cut(&self, thread: ThreadId) -> u32 {
        let highest = self.runs[thread.index()].iter().rev().find(|(_, lit)| self.solver.value(**lit));
        highest.map_or(0, |(&position, _)| position + 1)
    }

    /// Whether `a` comes before `b`, given that both are there.
    pub(super) fn before(&mut self, a: Point, b: Point) -> Term {
        match (a, b) {
            (Point::Next(_) | Point::Stuck(_), _) => Term::False,
            (Point::Run(_), Point::Next(_) | Point::Stuck(_)) => Term::True,
            (Point::Run(a), Point::Run(b))
                if self.prepared.trace.thread(a) == self.prepared.trace.thread(b) =>
            {
                if a < b {
                    Term::True
                } else {
                    Term::False
                }
            }
            (Point::Run(a), Point::Run(b)) => Term::Lit(self.edge(a, b)),
        }
    }

    fn edge(&mut self, a: EventId, b: EventId) -> Lit {
        if let Some(&literal) = self.edges.get(&(a, b)) {
            return literal;
        }
        let (from, to) = (self.node(a), self.node(b));
        let literal = self.solver.edge(from, to, a < b);
        self.edges.insert((a, b), literal);
        self.edge_list.push((a, b, literal));
        literal
    }

    /// `a` comes before `b`, an event of another thread, in every schedule that has it.
    pub(super) fn always_before(&mut self, a: EventId, b: EventId) {
        if !self.always.insert((a, b)) {
            return;
        }
        let (from, to) = (self.node(a), self.node(b));
        self.solver.permanent_edge(from, to);
        self.permanent.push((a, b));
    }

    fn node(&mut self, event: EventId) -> u32 {
        let thread = self.prepared.trace.thread(event);
        let position = self.prepared.position(event);
        if let Some(&node) = self.nodes[thread.index()].get(&position) {
            return node;
        }
        // Most edges agree with the observed order.
        let node = self.solver.node(event.0);
        let nodes = &mut self.nodes[thread.index()];
        let before = nodes.range(..position).next_back().map(|(_, &node)| node);
        let after = nodes.range(position..).next().map(|(_, &node)| node);
        nodes.insert(position, node);
        if let Some(before) = before {
            self.solver.permanent_edge(before, node);
        }
        if let Some(after) = after {
            self.solver.permanent_edge(node, after);
        }
        node
    }

    /// The literal that the event of `point` happens there.
    pub(super) fn happens(&mut self, point: Point) -> Lit {
        match point {
            Point::Run(event) => self.runs(event),
            Point::Next(event) => self.next(event),
            Point::Stuck(event) => self.stuck(event),
        }
    }

    /// The literal that `event` is next, and may run, when the schedule ends.
    pub(super) fn next(&mut self, event: EventId) -> Lit {
        if let Some(&literal) = self.nexts.get(&event) {
            return literal;
        }
        let literal = self.solver.variable(false);
        self.nexts.insert(event, literal);
        self.stands(literal, event, Demand::AskedNext(event));
        literal
    }

    /// Where `literal` holds, `event` is next in its thread when the schedule ends.
    pub(super) fn stands(&mut self, literal: Lit, event: EventId, demand: Demand) {
        let runs = self.runs(event);
        self.rule(&[(!literal).into(), (!runs).into()], demand);
        let thread = self.prepared.trace.thread(event);
        if let Some(previous) = self.prepared.previous(event) {
            let runs = self.runs(previous);
            self.rule(&[(!literal).into(), runs.into()], demand);
        } else if let Some(fork) = self.prepared.links.fork(thread) {
            let runs = self.runs(fork);
            self.rule(&[(!literal).into(), runs.into()], Demand::Fork { event, fork });
        }
    }

    /// Two sections that exclude each other: if both are entered, one is left before the other is entered.
    pub(super) fn exclude(&mut self, a: &Section, b: &Section) {
        let mut clause = vec![Term::Lit(!self.runs(a.acquire)), Term::Lit(!self.runs(b.acquire))];
        let demand =
            Demand::Mutex { lock: a.lock, first: a.acquire.min(b.acquire), second: a.acquire.max(b.acquire) };
        for (first, second) in [(a, b), (b, a)] {
            let Some(release) = first.release else { continue };
            let before = self.before(Point::Run(release), Point::Run(second.acquire));
            let Term::Lit(edge) = before else { continue };
            let released = self.runs(release);
            self.rule(&[(!edge).into(), released.into()], demand);
            clause.push(before);
        }
        clause.sort_by_key(|term| if let Term::Lit(literal) = term { Some(*literal) } else { None });
        self.rule(&clause, demand);
    }

    /// The failed attempt at `point` happens while another thread holds the lock.
    pub(super) fn attempt_fails(&mut self, point: Point, lock: LockId) {
        let attempt = point.event();
        let demand = Demand::Busy { attempt };
        let thread = self.prepared.trace.thread(attempt);
        let mut clause = vec![Term::Lit(!self.happens(point))];
        let exclusively = self.prepared.links.failed_exclusively(attempt);
        let makes_it_fail = |section: &Section| section.thread != thread && !(exclusively && section.shared);
        let others: Vec<Section> = self.prepared.sections(lock).filter(makes_it_fail).collect();
        for section in others {
            let held = self.held_at(&section, point, demand);
            clause.push(held.into());
        }
        self.rule(&clause, demand);
    }

    /// A literal that implies that `section` is open at `point`.
    pub(super) fn held_at(&mut self, section: &Section, point: Point, demand: Demand) -> Lit {
        let held = self.solver.variable(false);
        let acquired = self.runs(section.acquire);
        self.rule(&[(!held).into(), acquired.into()], demand);
        let before = self.before(Point::Run(section.acquire), point);
        self.rule(&[(!held).into(), before], demand);
        if let Some(release) = section.release {
            let released = self.runs(release);
            let after = self.before(point, Point::Run(release));
            self.rule(&[(!held).into(), (!released).into(), after], demand);
        }
        held
    }

    /// A new literal for a query's own demands.
    pub(super) fn fresh(&mut self) -> Lit {
        self.solver.variable(false)
    }

    /// The literal that the first `prefix` positions of the trace run.
    pub(super) fn window(&mut self, prefix: u32) -> Lit {
        let literal = self.solver.variable(false);
        for thread in (0..self.prepared.order.threads()).map(ThreadId::from_index) {
            let events = self.prepared.order.of(thread);
            let inside = events.partition_point(|event| event.0 < prefix);
            if inside > 0 {
                let runs = self.runs(events[inside - 1]);
                self.structural([!literal, runs]);
            }
        }
        literal
    }

    /// Forbids an edge in a window.
    pub(super) fn not_in_window(&mut self, window: Lit, edge: Lit) {
        self.structural([!window, !edge]);
    }

    /// Whether an unclean read before it keeps the operation from running in thread-level models.
    pub(super) fn restricts(&self, op: Op) -> bool {
        match self.model {
            Model::Sync => false,
            Model::Branch | Model::BranchValue => !op.kind().is_transparent(),
            _ => true,
        }
    }
}
