//! Satisfiability modulo a strict order: the solver's interface.
//!
//! batsat stands behind it or, with the feature `cadical`, CaDiCaL.

use crate::Limits;

/// The solver of this build.
#[cfg(not(feature = "cadical"))]
pub(crate) type DefaultSolver = super::batsat::BatsatSolver;
#[cfg(feature = "cadical")]
pub(crate) type DefaultSolver = super::cadical::CadicalSolver;

/// A literal: a boolean variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Lit(u32);

impl Lit {
    pub(super) fn new(variable: u32, positive: bool) -> Lit {
        Lit(variable * 2 + u32::from(!positive))
    }

    pub(super) fn variable(self) -> u32 {
        self.0 / 2
    }

    pub(super) fn positive(self) -> bool {
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
    /// There is none under these of the assumptions, each named once.
    Unsatisfiable(Vec<Lit>),
    /// A limit was reached.
    Stopped,
}

/// A solver for clauses in which some literals stand for edges of a graph that must stay acyclic.
pub(crate) trait Solver {
    /// A solver without variables, clauses or edges.
    fn new() -> Self;
    /// A solver with the same variables and graph, but no clauses.
    fn without_clauses(&self) -> Self;
    /// A new variable that the search first tries as `phase`.
    fn variable(&mut self, phase: bool) -> Lit;
    /// A new variable that, when true, puts an edge into the graph.
    fn edge(&mut self, from: u32, to: u32, phase: bool) -> Lit;
    /// A new node of the graph, at a place in the order that is expected and that no other has.
    fn node(&mut self, place: u32) -> u32;
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
