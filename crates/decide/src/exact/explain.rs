//! A short reason for a clash.

use super::solver::{DefaultSolver, Lit, Outcome, Solver};
use super::{Exact, Found, Goal};
use crate::verdict::Demand;
use crate::{Limits, Reason};

/// How many solver steps a shrinking may take; what is left then is a clash all the same.
const SHRINKING: u64 = 200_000;

impl Exact<'_> {
    /// The query is infeasible: says which demands clash.
    ///
    /// Solves once more with a literal that switches each rule, takes those that the refutation used, and drops one
    /// after another while the rest still clash.
    pub(super) fn explain(&mut self, goal: &Goal, limits: &Limits) -> Found {
        let mut solver = self.code.solver.without_clauses();
        for clause in &self.code.structure {
            solver.clause(clause);
        }
        let mut switches: Vec<(Lit, Demand)> = goal.assumptions.clone();
        switches.extend(goal.adjacent.iter().map(|&(a, b, literal)| (literal, Demand::AskedBefore(a, b))));
        for rule in &self.code.rules {
            let switch = solver.variable(true);
            let mut clause = rule.clause.clone();
            clause.push(!switch);
            solver.clause(&clause);
            switches.push((switch, rule.demand));
        }
        let assumptions: Vec<Lit> = switches.iter().map(|&(literal, _)| literal).collect();
        let unlimited = Limits { work: None, stop: limits.stop.clone() };
        let Outcome::Unsatisfiable(core) = solver.solve(&assumptions, &unlimited) else {
            return Found::Nothing(Reason::Stopped);
        };
        let core = shrink(&mut solver, core, &unlimited);
        let demands = switches.iter().filter(|(literal, _)| core.contains(literal));
        let mut demands: Vec<Demand> = demands.map(|&(_, demand)| demand).collect();
        demands.sort_unstable();
        demands.dedup();
        Found::Clash(demands)
    }
}

fn shrink(solver: &mut DefaultSolver, mut core: Vec<Lit>, limits: &Limits) -> Vec<Lit> {
    core.sort_unstable();
    let limits = Limits { work: Some(solver.work() + SHRINKING), stop: limits.stop.clone() };
    let mut tried = 0;
    while tried < core.len() {
        let mut rest = core.clone();
        rest.remove(tried);
        match solver.solve(&rest, &limits) {
            Outcome::Unsatisfiable(smaller) => {
                // Those that were needed before are needed still, and stay in front.
                core.retain(|literal| smaller.contains(literal));
            }
            Outcome::Satisfiable => tried += 1,
            Outcome::Stopped => break,
        }
    }
    core
}
