//! The model, executed: expressions, statements, and calls on an abstract state.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{Binary, Expr, Function, Method, Statement};
use crate::{Type, Value};

/// What an expression asks for that cannot be, such as the sum of a number and a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault;

/// What a call does in a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It returns this, and leaves that state.
    Done(Value, Vec<Value>),
    /// It waits.
    Waits,
    /// It fails.
    Fails,
}

impl Type {
    /// The states that an object can have at first.
    pub fn initial_states(&self) -> Vec<Vec<Value>> {
        let mut states = vec![Vec::new()];
        for variable in &self.states {
            states = states
                .iter()
                .flat_map(|state| {
                    variable.initial.iter().map(|value| [&state[..], std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        states
    }

    /// What a call of `method` does in `state`.
    pub fn call(&self, state: &[Value], method: usize, arguments: &[Value]) -> Result<Outcome, Fault> {
        let method = &self.methods[method];
        let mut frame = state.to_vec();
        frame.extend_from_slice(arguments);
        frame.resize(method.slots.max(frame.len()), Value::Nil);
        if !holds(method.needs.as_ref(), &frame)? {
            return Ok(Outcome::Fails);
        }
        if !holds(method.when.as_ref(), &frame)? {
            return Ok(Outcome::Waits);
        }
        run(&method.body, &mut frame)?;
        let result = self.result_of(method, state.len(), &frame);
        frame.truncate(state.len());
        Ok(Outcome::Done(result, frame))
    }

    fn result_of(&self, method: &Method, states: usize, frame: &[Value]) -> Value {
        match method.result {
            Some(_) => frame[states + method.parameters.len()].clone(),
            None => Value::Nil,
        }
    }
}

fn holds(condition: Option<&Expr>, frame: &[Value]) -> Result<bool, Fault> {
    condition.map_or(Ok(true), |condition| truth(condition, frame))
}

/// Whether a condition holds in a frame.
pub(crate) fn truth(condition: &Expr, frame: &[Value]) -> Result<bool, Fault> {
    match evaluate(condition, frame)? {
        Value::Bool(value) => Ok(value),
        _ => Err(Fault),
    }
}

fn run(statements: &[Statement], frame: &mut [Value]) -> Result<(), Fault> {
    for statement in statements {
        match statement {
            Statement::Set(slot, value) => frame[*slot] = evaluate(value, frame)?,
            Statement::SetKey(slot, key, value) => {
                let (key, value) = (evaluate(key, frame)?, evaluate(value, frame)?);
                let Value::Map(entries) = &mut frame[*slot] else { return Err(Fault) };
                if value == Value::Nil {
                    entries.remove(&key);
                } else {
                    entries.insert(key, value);
                }
            }
            Statement::Clear(slot) => {
                frame[*slot] = match frame[*slot] {
                    Value::Set(_) => Value::Set(BTreeSet::new()),
                    Value::Map(_) => Value::Map(BTreeMap::new()),
                    Value::Seq(_) => Value::Seq(Vec::new()),
                    _ => return Err(Fault),
                }
            }
            Statement::If(condition, yes, no) => {
                let chosen = if truth(condition, frame)? { yes } else { no };
                run(chosen, frame)?;
            }
        }
    }
    Ok(())
}

/// The value of an expression in a frame.
pub(crate) fn evaluate(expr: &Expr, frame: &[Value]) -> Result<Value, Fault> {
    Ok(match expr {
        Expr::Const(value) => value.clone(),
        Expr::Slot(slot) => frame.get(*slot).ok_or(Fault)?.clone(),
        Expr::Not(inner) => Value::Bool(!truth(inner, frame)?),
        Expr::Binary(Binary::And, left, right) => Value::Bool(truth(left, frame)? && truth(right, frame)?),
        Expr::Binary(Binary::Or, left, right) => Value::Bool(truth(left, frame)? || truth(right, frame)?),
        Expr::Binary(operator, left, right) => {
            binary(*operator, &evaluate(left, frame)?, &evaluate(right, frame)?)?
        }
        Expr::Index(from, key) => index(&evaluate(from, frame)?, &evaluate(key, frame)?)?,
        Expr::Apply(function, arguments) => {
            let values: Result<Vec<Value>, Fault> =
                arguments.iter().map(|each| evaluate(each, frame)).collect();
            apply(*function, values?)?
        }
    })
}

/// The value that an expression has whatever the slots hold of which nothing is known, if that is certain.
pub(crate) fn certain(expr: &Expr, frame: &[Option<Value>]) -> Option<Value> {
    match expr {
        Expr::Const(value) => Some(value.clone()),
        Expr::Slot(slot) => frame.get(*slot)?.clone(),
        Expr::Not(inner) => match certain(inner, frame)? {
            Value::Bool(value) => Some(Value::Bool(!value)),
            _ => None,
        },
        Expr::Binary(operator @ (Binary::And | Binary::Or), left, right) => {
            let decides = Value::Bool(*operator == Binary::Or);
            let both = [certain(left, frame), certain(right, frame)];
            // A side that cannot be evaluated makes the whole meaningless, so it has to be known, or to come after one that decides.
            if both[0].as_ref() == Some(&decides) {
                return Some(decides);
            }
            match both {
                [_, Some(right)] if right == decides && known_kind(left) => Some(decides),
                [Some(Value::Bool(_)), Some(right @ Value::Bool(_))] => Some(right),
                _ => None,
            }
        }
        Expr::Binary(operator, left, right) => {
            binary(*operator, &certain(left, frame)?, &certain(right, frame)?).ok()
        }
        Expr::Index(from, key) => index(&certain(from, frame)?, &certain(key, frame)?).ok(),
        Expr::Apply(function, arguments) => {
            let values: Option<Vec<Value>> = arguments.iter().map(|each| certain(each, frame)).collect();
            apply(*function, values?).ok()
        }
    }
}

/// Whether an expression is a truth value whatever its slots hold: comparisons of equality are, and what is made of them.
fn known_kind(expr: &Expr) -> bool {
    match expr {
        Expr::Const(value) => matches!(value, Value::Bool(_)),
        Expr::Binary(Binary::Equal | Binary::Unequal, ..) => true,
        Expr::Binary(Binary::And | Binary::Or, left, right) => known_kind(left) && known_kind(right),
        Expr::Not(inner) => known_kind(inner),
        _ => false,
    }
}

fn binary(operator: Binary, left: &Value, right: &Value) -> Result<Value, Fault> {
    match operator {
        Binary::Equal => return Ok(Value::Bool(left == right)),
        Binary::Unequal => return Ok(Value::Bool(left != right)),
        _ => {}
    }
    let (Value::Int(left), Value::Int(right)) = (left, right) else { return Err(Fault) };
    Ok(match operator {
        Binary::Less => Value::Bool(left < right),
        Binary::LessEqual => Value::Bool(left <= right),
        Binary::Greater => Value::Bool(left > right),
        Binary::GreaterEqual => Value::Bool(left >= right),
        Binary::Plus => Value::Int(left.checked_add(*right).ok_or(Fault)?),
        Binary::Minus => Value::Int(left.checked_sub(*right).ok_or(Fault)?),
        Binary::And | Binary::Or | Binary::Equal | Binary::Unequal => return Err(Fault),
    })
}

fn index(from: &Value, key: &Value) -> Result<Value, Fault> {
    match (from, key) {
        (Value::Map(entries), key) => Ok(entries.get(key).cloned().unwrap_or(Value::Nil)),
        (Value::Seq(items), Value::Int(place)) => {
            let place = usize::try_from(*place).map_err(|_| Fault)?;
            Ok(items.get(place).cloned().unwrap_or(Value::Nil))
        }
        _ => Err(Fault),
    }
}

fn apply(function: Function, values: Vec<Value>) -> Result<Value, Fault> {
    let mut values = values.into_iter();
    let mut next = || values.next().ok_or(Fault);
    Ok(match (function, next()?) {
        (Function::Len, Value::Set(items)) => Value::Int(items.len() as i64),
        (Function::Len, Value::Map(entries)) => Value::Int(entries.len() as i64),
        (Function::Len, Value::Seq(items)) => Value::Int(items.len() as i64),
        (Function::Has, Value::Set(items)) => Value::Bool(items.contains(&next()?)),
        (Function::Has, Value::Map(entries)) => Value::Bool(entries.contains_key(&next()?)),
        (Function::Has, Value::Seq(items)) => Value::Bool(items.contains(&next()?)),
        (Function::Insert, Value::Set(mut items)) => {
            items.insert(next()?);
            Value::Set(items)
        }
        (Function::Remove, Value::Set(mut items)) => {
            items.remove(&next()?);
            Value::Set(items)
        }
        (Function::Remove, Value::Map(mut entries)) => {
            entries.remove(&next()?);
            Value::Map(entries)
        }
        (Function::Push, Value::Seq(mut items)) => {
            items.push(next()?);
            Value::Seq(items)
        }
        (Function::First, Value::Seq(items)) => items.first().cloned().unwrap_or(Value::Nil),
        (Function::Last, Value::Seq(items)) => items.last().cloned().unwrap_or(Value::Nil),
        (Function::Rest, Value::Seq(items)) => Value::Seq(items.get(1..).unwrap_or_default().to_vec()),
        (Function::Front, Value::Seq(mut items)) => {
            items.pop();
            Value::Seq(items)
        }
        (Function::Replace, Value::Map(mut entries)) => {
            let (old, new) = (next()?, next()?);
            entries.values_mut().filter(|value| **value == old).for_each(|value| *value = new.clone());
            Value::Map(entries)
        }
        (Function::Min, Value::Int(left)) => int(next()?, |right| left.min(right))?,
        (Function::Max, Value::Int(left)) => int(next()?, |right| left.max(right))?,
        (Function::If, Value::Bool(yes)) => {
            let (first, second) = (next()?, next()?);
            if yes { first } else { second }
        }
        _ => return Err(Fault),
    })
}

fn int(value: Value, combine: impl Fn(i64) -> i64) -> Result<Value, Fault> {
    if let Value::Int(value) = value { Ok(Value::Int(combine(value))) } else { Err(Fault) }
}
