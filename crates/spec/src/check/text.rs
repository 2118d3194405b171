//! States, calls and outcomes as text.

use crate::{Outcome, Type, Value};

/// A call without its result.
pub(super) fn call_text(of: &Type, method: usize, arguments: &[Value]) -> String {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    format!("{}({})", of.methods[method].name, arguments.join(", "))
}

/// A call with its result, if it has one. The result is the last of `values` then.
pub(super) fn completed(of: &Type, method: usize, values: &[Value]) -> String {
    let (arguments, result) = values.split_at(of.methods[method].parameters.len());
    let text = call_text(of, method, arguments);
    result.first().map_or(text.clone(), |result| format!("{text}={result}"))
}

/// An abstract state.
pub(super) fn state_text(of: &Type, state: &[Value]) -> String {
    let parts: Vec<String> =
        of.states.iter().zip(state).map(|(variable, value)| format!("{} = {value}", variable.name)).collect();
    if parts.is_empty() { "()".to_owned() } else { parts.join(", ") }
}

/// What two calls give, one after the other; the second is not made where the first is not done.
pub(super) fn both_text(of: &Type, outcomes: &[Outcome]) -> String {
    let mut text: Vec<String> = outcomes.iter().map(outcome_text).collect();
    if let Some(Outcome::Done(_, state)) = outcomes.last() {
        text.push(format!("then {}", state_text(of, state)));
    }
    text.join(", ")
}

/// What a call gives, its state aside.
pub(super) fn outcome_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done(Value::Nil, _) => "done".to_owned(),
        Outcome::Done(value, _) => value.to_string(),
        Outcome::Waits => "waits".to_owned(),
        Outcome::Fails => "fails".to_owned(),
    }
}
