//! Pairs of calls that must not change places: whether the reversal really fails or loses something.

use super::cases::{Both, example};
use super::states::{States, arguments, bound};
use super::text::completed;
use super::{Checked, Problem};
use crate::syntax::{Order, Tier};
use crate::{Outcome, Type, Value};

/// Tries every such pair.
pub(super) fn judge(of: &Type, states: &States, checked: &mut Checked) {
    for order in &of.orders {
        match try_order(of, states, order) {
            Ok(true) => {}
            Ok(false) => checked.problems.push(Problem::Order { line: order.line, calls: None }),
            Err(problem) => checked.problems.push(problem),
        }
    }
}

/// Whether the reversal does what the order says in some state; an error where it has to in all and does not.
fn try_order(of: &Type, states: &States, order: &Order) -> Result<bool, Problem> {
    let [first, second] = order.methods;
    let bound = bound(of);
    let mut possible = false;
    for state in &states.all {
        for left in &arguments(of, first, bound) {
            for right in &arguments(of, second, bound) {
                let both = Both::of(of, state, order.methods, [left, right])?;
                let [Some(results), ..] = both.all_results() else { continue };
                let values =
                    [with_result(of, first, left, &results[0]), with_result(of, second, right, &results[1])];
                let rule = of.order((first, &values[0]), (second, &values[1]));
                if rule.is_none_or(|rule| rule.line != order.line) {
                    continue;
                }
                let matters = reversal_matters(order.tier, &both, &results);
                possible |= matters;
                // What is lost may be lost in some states only; what fails has to fail in all. Whatever comes of it, the call
                // that goes ahead must be possible: that is what predictions rely on.
                let ahead = matches!(both.alone[1], Outcome::Done(..));
                if order.tier == Tier::Fails && !matters || !ahead {
                    let calls = [completed(of, first, &values[0]), completed(of, second, &values[1])];
                    let example = example(of, order.line, state, calls, &both);
                    return Err(Problem::Order { line: order.line, calls: Some(Box::new(example)) });
                }
            }
        }
    }
    Ok(possible)
}

fn with_result(of: &Type, method: usize, arguments: &[Value], result: &Value) -> Vec<Value> {
    let mut values = arguments.to_vec();
    if of.methods[method].result.is_some() {
        values.push(result.clone());
    }
    values
}

fn reversal_matters(tier: Tier, both: &Both, results: &[Value; 2]) -> bool {
    let ends = [0, 1].map(|order| match both.orders[order].last() {
        Some(Outcome::Done(_, state)) => Some(state),
        _ => None,
    });
    match tier {
        Tier::Fails => both.orders[1].last() == Some(&Outcome::Fails),
        Tier::Lost => both.all_results()[1].as_ref() != Some(results) || ends[0] != ends[1],
    }
}
