//! The states that the check tries, and the calls that it makes in them.

use std::collections::{BTreeSet, VecDeque};

use super::Problem;
use super::text::call_text;
use crate::syntax::{Expr, Method, Statement};
use crate::{Outcome, Type, Value};

/// Collections have at most so many elements, numbers are at most so large, unless the text has larger numbers.
const BOUND: u64 = 4;

/// More states are not tried.
const MOST: usize = 2_000;

/// More arguments of one method are not tried.
const MOST_ARGUMENTS: usize = 100;

/// States in the order in which calls reach them, so that the smaller come first.
pub(super) struct States {
    pub(super) all: Vec<Vec<Value>>,
    pub(super) bounded: bool,
}

impl States {
    /// Every state that calls reach within the bound.
    pub(super) fn reach(of: &Type) -> Result<States, Problem> {
        let bound = bound(of);
        let mut seen: BTreeSet<Vec<Value>> = of.initial_states().into_iter().take(MOST).collect();
        let mut queue: VecDeque<Vec<Value>> = seen.iter().cloned().collect();
        let mut states = States { all: Vec::new(), bounded: leaves_out(of, bound) };
        while let Some(state) = queue.pop_front() {
            for method in 0..of.methods.len() {
                for arguments in arguments(of, method, bound) {
                    let Outcome::Done(_, after) = run(of, &state, method, &arguments)? else { continue };
                    if after.iter().any(|value| value.size() > bound) || seen.len() >= MOST {
                        states.bounded |= !seen.contains(&after);
                    } else if seen.insert(after.clone()) {
                        queue.push_back(after);
                    }
                }
            }
            states.all.push(state);
        }
        states.all.sort_by_key(|state| state.iter().map(Value::size).sum::<u64>());
        Ok(states)
    }
}

/// What a call gives, or the problem that it cannot be executed.
pub(super) fn run(
    of: &Type,
    state: &[Value],
    method: usize,
    arguments: &[Value],
) -> Result<Outcome, Problem> {
    of.call(state, method, arguments)
        .map_err(|_| Problem::Fault { line: of.methods[method].line, call: call_text(of, method, arguments) })
}

/// All arguments that are tried with a method. With a large bound there are so many states that fewer values have to do.
pub(super) fn arguments(of: &Type, method: usize, bound: u64) -> Vec<Vec<Value>> {
    let most = if bound > 5 { 2 } else { usize::MAX };
    let mut all = vec![Vec::new()];
    for parameter in &of.methods[method].parameters {
        all = all
            .iter()
            .flat_map(|before| {
                parameter
                    .tried
                    .iter()
                    .take(most)
                    .map(|value| [&before[..], std::slice::from_ref(value)].concat())
            })
            .take(MOST_ARGUMENTS)
            .collect();
    }
    all
}

/// Whether arguments of some method were left out.
fn leaves_out(of: &Type, bound: u64) -> bool {
    let all = |method: &Method| method.parameters.iter().map(|each| each.tried.len()).product::<usize>();
    let mut counts = of.methods.iter().enumerate().map(|(place, method)| (place, all(method)));
    counts.any(|(place, count)| arguments(of, place, bound).len() < count)
}

/// The bound on collections and numbers for a type.
pub(super) fn bound(of: &Type) -> u64 {
    BOUND.max(largest(of).saturating_add(1))
}

/// The largest number in the text of a model: a capacity must be reached.
fn largest(of: &Type) -> u64 {
    let in_methods = of.methods.iter().map(|method| {
        let conditions = method.when.iter().chain(&method.needs).map(in_expr).max().unwrap_or(0);
        conditions.max(in_block(&method.body))
    });
    let in_states = of.states.iter().flat_map(|state| state.initial.iter().map(Value::size));
    in_methods.chain(in_states).max().unwrap_or(0).min(12)
}

fn in_block(statements: &[Statement]) -> u64 {
    let each = statements.iter().map(|statement| match statement {
        Statement::Set(_, value) => in_expr(value),
        Statement::SetKey(_, key, value) => in_expr(key).max(in_expr(value)),
        Statement::Clear(_) => 0,
        Statement::If(condition, yes, no) => in_expr(condition).max(in_block(yes)).max(in_block(no)),
    });
    each.max().unwrap_or(0)
}

fn in_expr(expr: &Expr) -> u64 {
    match expr {
        Expr::Const(value) => value.size(),
        Expr::Slot(_) => 0,
        Expr::Not(inner) => in_expr(inner),
        Expr::Binary(_, left, right) | Expr::Index(left, right) => in_expr(left).max(in_expr(right)),
        Expr::Apply(_, arguments) => arguments.iter().map(in_expr).max().unwrap_or(0),
    }
}
