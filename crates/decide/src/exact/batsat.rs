//! batsat as the solver, with acyclicity as its theory.

use std::sync::atomic::{AtomicU64, Ordering};

use batsat::theory::TheoryArg;
use batsat::{Callbacks, Solver as Batsat, SolverInterface, lbool};
use reweave_order::acyclic::{ALWAYS, Acyclic, Mark};

use super::solver::{Lit, Outcome, Solver};
use crate::Limits;

/// batsat, with acyclicity as its theory.
pub(crate) struct BatsatSolver {
    sat: Batsat<Stop>,
    theory: OrderTheory,
}

impl Solver for BatsatSolver {
    fn new() -> BatsatSolver {
        let sat = Batsat::new(Default::default(), Stop::default());
        BatsatSolver { sat, theory: OrderTheory::default() }
    }

    fn without_clauses(&self) -> BatsatSolver {
        let mut sat = Batsat::new(Default::default(), Stop::default());
        for _ in 0..self.sat.num_vars() {
            sat.new_var(lbool::FALSE, true);
        }
        let theory = OrderTheory {
            graph: self.theory.graph.clone(),
            edges: self.theory.edges.clone(),
            ..OrderTheory::default()
        };
        BatsatSolver { sat, theory }
    }

    fn variable(&mut self, phase: bool) -> Lit {
        let phase = if phase { lbool::TRUE } else { lbool::FALSE };
        let variable = self.sat.new_var(phase, true);
        self.theory.edges.push(None);
        Lit::new(variable.idx(), true)
    }

    fn edge(&mut self, from: u32, to: u32, phase: bool) -> Lit {
        let literal = self.variable(phase);
        self.theory.edges[literal.variable() as usize] = Some((from, to));
        literal
    }

    fn node(&mut self, place: u32) -> u32 {
        self.theory.graph.add_node_at(place)
    }

    fn permanent_edge(&mut self, from: u32, to: u32) {
        let added = self.theory.graph.add_edge(from, to, ALWAYS);
        debug_assert!(added.is_ok(), "permanent edges agree with the observed order");
    }

    fn clause(&mut self, literals: &[Lit]) {
        let mut literals: Vec<_> = literals.iter().map(|&literal| to_batsat(literal)).collect();
        self.sat.add_clause_reuse(&mut literals);
    }

    fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Outcome {
        let assumptions: Vec<_> = assumptions.iter().map(|&literal| to_batsat(literal)).collect();
        let stop = self.sat.cb_mut();
        stop.limits = limits.clone();
        let answer = self.sat.solve_limited_th(&mut self.theory, &assumptions);
        if answer == lbool::TRUE {
            Outcome::Satisfiable
        } else if answer == lbool::FALSE {
            Outcome::Unsatisfiable(
                self.sat.unsat_core().iter().map(|&literal| !from_batsat(literal)).collect(),
            )
        } else {
            Outcome::Stopped
        }
    }

    fn value(&self, literal: Lit) -> bool {
        self.sat.value_lit(to_batsat(literal)) == lbool::TRUE
    }

    fn work(&self) -> u64 {
        self.sat.cb().steps.load(Ordering::Relaxed)
    }
}

fn to_batsat(literal: Lit) -> batsat::Lit {
    batsat::Lit::new(batsat::Var::unsafe_from_idx(literal.variable()), literal.positive())
}

fn from_batsat(literal: batsat::Lit) -> Lit {
    Lit::new(literal.var().idx(), literal.sign())
}

/// Counts decisions, and stops the search when there were too many.
#[derive(Default)]
struct Stop {
    steps: AtomicU64,
    limits: Limits,
}

impl Callbacks for Stop {
    fn stop(&self) -> bool {
        let steps = self.steps.fetch_add(1, Ordering::Relaxed) + 1;
        self.limits.work.is_some_and(|work| steps > work) || self.limits.stopped()
    }
}

/// The theory: the edges of the true literals, with the permanent ones, form no cycle.
#[derive(Default)]
struct OrderTheory {
    graph: Acyclic,
    /// Per variable, the edge that it stands for.
    edges: Vec<Option<(u32, u32)>>,
    /// How much of the trail has been taken over, now and at the start of each level.
    seen: usize,
    levels: Vec<(usize, Mark)>,
    conflict: Vec<batsat::Lit>,
}

impl OrderTheory {
    fn take_over(&mut self, acts: &mut TheoryArg<'_>) {
        while self.seen < acts.model().len() {
            let literal = acts.model()[self.seen];
            self.seen += 1;
            let Some((from, to)) = self.edges[literal.var().idx() as usize].filter(|_| literal.sign()) else {
                continue;
            };
            if let Err(cycle) = self.graph.add_edge(from, to, literal.var().idx()) {
                self.conflict.clear();
                self.conflict.push(!literal);
                for edge in cycle.path.iter().filter(|edge| edge.tag != ALWAYS) {
                    let variable = batsat::Var::unsafe_from_idx(edge.tag);
                    self.conflict.push(batsat::Lit::new(variable, false));
                }
                acts.raise_conflict(&self.conflict, false);
                return;
            }
        }
    }
}

impl batsat::Theory for OrderTheory {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.take_over(acts);
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.take_over(acts);
    }

    fn create_level(&mut self) {
        self.levels.push((self.seen, self.graph.mark()));
    }

    fn pop_levels(&mut self, n: usize) {
        let kept = self.levels.len() - n;
        if let Some(&(seen, mark)) = self.levels.get(kept) {
            self.seen = seen;
            self.graph.undo_to(mark);
            self.levels.truncate(kept);
        }
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, _: batsat::Lit) -> &[batsat::Lit] {
        // Nothing is ever propagated, only refused.
        &[]
    }
}
