//! CaDiCaL as the solver, with acyclicity as its external propagator.
//!
//! The propagator keeps the edges of true literals in the order in which it heard of them, and puts them into the
//! graph when it is asked whether it has a clause to add: the first edge that closes a cycle makes one. Backtracking
//! takes edges back in reverse. CaDiCaL may backtrack chronologically and keep literals out of order; it then names
//! them again, and a complete assignment is looked at as a whole, so nothing depends on it.

use std::cell::RefCell;
use std::rc::Rc;

use cadical_sys::{CaDiCal, ExternalPropagator, Status, Terminator};
use reweave_order::acyclic::{ALWAYS, Acyclic, Cycle, Mark};

use super::solver::{Lit, Outcome, Solver};
use crate::Limits;

/// CaDiCaL, and the theory that it shares.
pub(crate) struct CadicalSolver {
    sat: CaDiCal,
    theory: Rc<RefCell<OrderTheory>>,
    /// Per variable, its value in the assignment found last.
    model: Vec<bool>,
}

impl Solver for CadicalSolver {
    fn new() -> CadicalSolver {
        CadicalSolver::with_theory(OrderTheory::default())
    }

    fn without_clauses(&self) -> CadicalSolver {
        let (edges, graph) = {
            let theory = self.theory.borrow();
            (theory.edges.clone(), theory.graph_alone())
        };
        let mut solver = CadicalSolver::with_theory(OrderTheory { graph, ..OrderTheory::default() });
        for edge in edges {
            solver.new_variable(edge, false);
        }
        solver
    }

    fn variable(&mut self, phase: bool) -> Lit {
        self.new_variable(None, phase)
    }

    fn edge(&mut self, from: u32, to: u32, phase: bool) -> Lit {
        self.new_variable(Some((from, to)), phase)
    }

    fn node(&mut self, place: u32) -> u32 {
        self.theory.borrow_mut().graph.add_node_at(place)
    }

    fn permanent_edge(&mut self, from: u32, to: u32) {
        let mut theory = self.theory.borrow_mut();
        theory.take_back(0);
        let added = theory.graph.add_edge(from, to, ALWAYS);
        debug_assert!(added.is_ok(), "permanent edges agree with the observed order");
    }

    fn clause(&mut self, literals: &[Lit]) {
        for &literal in literals {
            self.sat.add(to_cadical(literal));
        }
        self.sat.add(0);
    }

    fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Outcome {
        self.theory.borrow_mut().limits = limits.clone();
        for &literal in assumptions {
            self.sat.assume(to_cadical(literal));
        }
        match self.sat.solve() {
            Status::SATISFIABLE => {
                let variables = 1..=self.theory.borrow().edges.len() as i32;
                self.model = variables.map(|variable| self.sat.val(variable) > 0).collect();
                Outcome::Satisfiable
            }
            Status::UNSATISFIABLE => {
                let failed = assumptions.iter().filter(|&&literal| self.sat.failed(to_cadical(literal)));
                let mut core: Vec<Lit> = failed.copied().collect();
                // An assumption may have been made twice; whoever shrinks a core drops one literal at a time.
                core.sort_unstable();
                core.dedup();
                Outcome::Unsatisfiable(core)
            }
            Status::UNKNOWN => Outcome::Stopped,
        }
    }

    fn value(&self, literal: Lit) -> bool {
        // A variable that is newer than the assignment is not true in it.
        let value = self.model.get(literal.variable() as usize);
        value.is_some_and(|&value| value == literal.positive())
    }

    fn work(&self) -> u64 {
        self.theory.borrow().decisions
    }
}

impl CadicalSolver {
    fn with_theory(theory: OrderTheory) -> CadicalSolver {
        let theory = Rc::new(RefCell::new(theory));
        let mut sat = CaDiCal::new();
        sat.connect_external_propagator(Rc::clone(&theory));
        sat.connect_terminator(Rc::clone(&theory));
        CadicalSolver { sat, theory, model: Vec::new() }
    }

    fn new_variable(&mut self, edge: Option<(u32, u32)>, phase: bool) -> Lit {
        let variable = self.sat.declare_one_more_variable();
        let place = self.theory.borrow().edges.len() as u32;
        debug_assert_eq!(variable, place as i32 + 1, "CaDiCaL numbers variables as we do");
        self.theory.borrow_mut().edges.push(edge);
        if edge.is_some() {
            self.sat.add_observed_var(variable);
        }
        self.sat.phase(if phase { variable } else { -variable });
        Lit::new(place, true)
    }
}

fn to_cadical(literal: Lit) -> i32 {
    let variable = literal.variable() as i32 + 1;
    if literal.positive() { variable } else { -variable }
}

/// The theory: the edges of the true literals, with the permanent ones, form no cycle.
#[derive(Default)]
struct OrderTheory {
    graph: Acyclic,
    /// Per variable, the edge that it stands for.
    edges: Vec<Option<(u32, u32)>>,
    /// The variables of edges that are true, in the order in which they were named.
    trail: Vec<u32>,
    /// How long the trail was when each level began.
    levels: Vec<usize>,
    /// For each edge of the trail that is in the graph, the graph before it.
    taken: Vec<Mark>,
    /// The rest of the clause that is being handed over, last literal first.
    clause: Vec<i32>,
    decisions: u64,
    limits: Limits,
}

impl OrderTheory {
    /// The graph with nothing but its permanent edges.
    fn graph_alone(&self) -> Acyclic {
        let mut graph = self.graph.clone();
        if let Some(&mark) = self.taken.first() {
            graph.undo_to(mark);
        }
        graph
    }

    /// Takes edges out of the graph until only the first `kept` of the trail are in it.
    fn take_back(&mut self, kept: usize) {
        if let Some(&mark) = self.taken.get(kept) {
            self.graph.undo_to(mark);
            self.taken.truncate(kept);
        }
    }

    /// Puts the trail into the graph; a cycle becomes the clause to hand over.
    fn take_over(&mut self) -> bool {
        while let Some(&variable) = self.trail.get(self.taken.len()) {
            let mark = self.graph.mark();
            if !self.insert(variable) {
                return false;
            }
            self.taken.push(mark);
        }
        true
    }

    fn insert(&mut self, variable: u32) -> bool {
        let Some((from, to)) = self.edges[variable as usize] else { return true };
        let Err(Cycle { path }) = self.graph.add_edge(from, to, variable) else { return true };
        let others = path.iter().map(|edge| edge.tag).filter(|&tag| tag != ALWAYS);
        let false_together = std::iter::once(variable).chain(others);
        self.clause = std::iter::once(0).chain(false_together.map(|v| -(v as i32 + 1))).collect();
        false
    }
}

impl ExternalPropagator for OrderTheory {
    fn notify_assignment(&mut self, literals: &[i32]) {
        self.trail.extend(literals.iter().filter(|&&literal| literal > 0).map(|&literal| literal as u32 - 1));
    }

    fn notify_new_decision_level(&mut self) {
        self.decisions += 1;
        self.levels.push(self.trail.len());
    }

    fn notify_backtrack(&mut self, level: usize) {
        if let Some(&length) = self.levels.get(level) {
            self.take_back(length);
            self.trail.truncate(length);
            self.levels.truncate(level);
            self.clause.clear();
        }
    }

    fn cb_check_found_model(&mut self, model: &[i32]) -> bool {
        let before = self.trail.len();
        self.notify_assignment(model);
        let sound = self.take_over();
        self.take_back(before);
        self.trail.truncate(before);
        sound
    }

    fn cb_has_external_clause(&mut self, forgettable: &mut bool) -> bool {
        *forgettable = false;
        !self.clause.is_empty() || !self.take_over()
    }

    fn cb_add_external_clause_lit(&mut self) -> i32 {
        self.clause.pop().unwrap_or(0)
    }
}

impl Terminator for OrderTheory {
    fn terminated(&mut self) -> bool {
        self.limits.work.is_some_and(|work| self.decisions > work) || self.limits.stopped()
    }
}
