//! The check of a specification: every claim tried on all small states, by both orders of two calls.
//!
//! The states are those that calls reach from the initial ones, up to a bound on the size of collections and numbers. Two
//! calls with their results commute when, in every state, *the first and then the second*, *the second and then the
//! first*, and *each alone* are possible with these results in all cases or in none, and both orders end alike. The last
//! of the three is the forward diamond, which is not implied: two takers of one element both get it alone. Waiting and
//! failing are outcomes like any other. What the bound leaves out is not checked: it grows with the numbers in the text.

mod cases;
mod orders;
mod states;
mod text;

use std::fmt;

use crate::{Spec, Type};
use cases::Cases;
use states::States;

/// What the check of one type found.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The type.
    pub name: String,
    /// How many states were tried.
    pub states: usize,
    /// Whether there were more, which the bound left out.
    pub bounded: bool,
    /// How many cases there are, two calls with arguments and results that some state allows.
    pub cases: usize,
    /// How many of them commute.
    pub commuting: usize,
    /// How many of those a condition covers.
    pub covered: usize,
    /// How many cases that no state allows a condition calls commuting.
    pub vacuous: usize,
    /// Methods that have no access points.
    pub pairwise: Vec<String>,
    /// How many commuting cases conflict in their access points, of those covered.
    pub coarse: usize,
    /// For each pair of methods with commuting calls that no condition covers, the first of them.
    pub uncovered: Vec<[String; 2]>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Something wrong with a specification.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// The condition holds for calls that do not commute.
    Unsound(Box<Counterexample>),
    /// The condition is said to be exact and does not hold for calls that commute.
    NotExact {
        /// Its line.
        line: u32,
        /// The two calls.
        calls: [String; 2],
    },
    /// The condition for two calls of one method depends on which is called the first.
    Asymmetric {
        /// Its line.
        line: u32,
        /// The two calls.
        calls: [String; 2],
    },
    /// Calls that do not commute, by the conditions, do not conflict in their access points.
    Points {
        /// The line of the first one's access points.
        line: u32,
        /// The two calls.
        calls: [String; 2],
    },
    /// A pair of calls that is said to fail or lose when reversed does not.
    Order {
        /// Its line.
        line: u32,
        /// What happens, or that it never does.
        calls: Option<Box<Counterexample>>,
    },
    /// The model asks for something that cannot be, such as the sum of a number and a set.
    Fault {
        /// The line of the method or condition.
        line: u32,
        /// What was called, and in which state.
        call: String,
    },
    /// A type without methods says nothing.
    Empty,
}

/// Two calls and what both orders give.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The line of the claim.
    pub line: u32,
    /// The state before.
    pub state: String,
    /// The calls with their results.
    pub calls: [String; 2],
    /// What the first and then the second gives.
    pub first: String,
    /// What the second and then the first gives.
    pub second: String,
    /// What each alone gives.
    pub alone: String,
}

/// Checks every type of `spec`.
pub fn check(spec: &Spec) -> Vec<Checked> {
    spec.types.iter().map(check_type).collect()
}

fn check_type(of: &Type) -> Checked {
    let mut checked = Checked {
        name: of.name.clone(),
        states: 0,
        bounded: false,
        cases: 0,
        commuting: 0,
        covered: 0,
        vacuous: 0,
        pairwise: Vec::new(),
        coarse: 0,
        uncovered: Vec::new(),
        problems: Vec::new(),
    };
    if of.methods.is_empty() {
        checked.problems.push(Problem::Empty);
        return checked;
    }
    let methods = of.methods.iter().enumerate();
    let without = methods.filter(|(method, _)| !of.has_points(*method));
    checked.pairwise = without.map(|(_, method)| method.name.clone()).collect();
    let states = match States::reach(of) {
        Ok(states) => states,
        Err(fault) => {
            checked.problems.push(fault);
            return checked;
        }
    };
    checked.states = states.all.len();
    checked.bounded = states.bounded;
    for first in 0..of.methods.len() {
        for second in first..of.methods.len() {
            let cases = Cases::of(of, &states, [first, second]);
            cases.judge(&mut checked);
        }
    }
    orders::judge(of, &states, &mut checked);
    checked
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.calls;
        writeln!(f, "  in the state {}", self.state)?;
        writeln!(f, "  {first} and {second}")?;
        writeln!(f, "  in this order: {}", self.first)?;
        writeln!(f, "  the other way: {}", self.second)?;
        write!(f, "  each alone:    {}", self.alone)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Unsound(example) => {
                write!(
                    f,
                    "line {}: these commute by the condition, but not by the model\n{example}",
                    example.line
                )
            }
            Problem::NotExact { line, calls: [first, second] } => write!(
                f,
                "line {line}: `iff` says that no other calls commute, but {first} and {second} always do; write `if`, or a weaker condition"
            ),
            Problem::Asymmetric { line, calls: [first, second] } => {
                write!(
                    f,
                    "line {line}: the condition differs for {first} and {second} when they change places"
                )
            }
            Problem::Points { line, calls: [first, second] } => {
                write!(
                    f,
                    "line {line}: {first} and {second} do not commute, but what they touch does not conflict"
                )
            }
            Problem::Order { line, calls: Some(example) } => {
                write!(f, "line {line}: this order does not matter as it says\n{example}")
            }
            Problem::Order { line, calls: None } => {
                write!(f, "line {line}: no state shows that this order matters as it says")
            }
            Problem::Fault { line, call } => {
                write!(f, "line {line}: the model cannot be executed: {call} mixes kinds of values")
            }
            Problem::Empty => write!(f, "the type has no methods"),
        }
    }
}
