//! Satisfiability modulo a strict order: the solver's interface, and batsat behind it.

use std::cell::Cell;

use batsat::theory::TheoryArg;
use batsat::{Callbacks, Solver as Batsat, SolverInterface, lbool};
use reweave_order::acyclic::{ALWAYS, Acyclic, Mark};

use crate::Limits;

/// A literal: a boolean variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Lit(u32);

impl Lit {
    fn new(variable: u32, positive: bool) -> Lit {
        Lit(variable * 2 + u32::from(!positive))
    }

    fn variable(self) -> u32 {
        self.0 / 2
    }

    fn positive(self) -> bool {
        self.0.is_multiple_of(2)
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What a search came to.
pub(crate) enum Outcome {
    /// There is an assignment; ask for its values.
    Satisfiable,
    /// There is none under these of the assumptions.
    Unsatisfiable(Vec<Lit>),
    /// A limit was reached.
    Stopped,
}

/// A solver for clauses in which some literals stand for edges of a graph that must stay acyclic.
pub(crate) trait Solver {
    /// A new variable that the search first tries as `phase`.
    fn variable(&mut self, phase: bool) -> Lit;
    /// A new variable that, when true, puts an edge into the graph.
    fn edge(&mut self, from: u32, to: u32, phase: bool) -> Lit;
    /// A new node of the graph.
    fn node(&mut self) -> u32;
    /// An edge that is always there. It must not close a cycle with the others of its kind.
    fn permanent_edge(&mut self, from: u32, to: u32);
    /// One of these literals must be true.
    fn clause(&mut self, literals: &[Lit]);
    /// Searches for an assignment in which all assumptions hold.
    fn solve(&mut self, assumptions: &[Lit], limits: &Limits) -> Outcome;
    /// The value of a literal in the assignment found last.
    fn value(&self, literal: Lit) -> bool;
    /// How much work has been done so far, in a unit that is the same on every machine.
    fn work(&self) -> u64;
}

/// batsat, with acyclicity as its theory.
pub(crate) struct BatsatSolver {
    sat: Batsat<Stop>,
    theory: OrderTheory,
}

impl BatsatSolver {
    pub(crate) fn new() -> BatsatSolver {
        let sat = Batsat::new(Default::default(), Stop::default());
        BatsatSolver { sat, theory: OrderTheory::default() }
    }

    /// A solver with the same variables and graph, but no clauses.
    pub(crate) fn without_clauses(&self) -> BatsatSolver {
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
}

impl Solver for BatsatSolver {
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

    fn node(&mut self) -> u32 {
        self.theory.graph.add_node()
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
        self.sat.cb().steps.get()
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
    steps: Cell<u64>,
    limits: Limits,
}

impl Callbacks for Stop {
    fn stop(&self) -> bool {
        self.steps.set(self.steps.get() + 1);
        self.limits.work.is_some_and(|work| self.steps.get() > work) || self.limits.stopped()
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
