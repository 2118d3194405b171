//! What a type says of two calls: whether they commute, and what each touches.

use crate::parse::always;
use crate::run::{certain, evaluate, truth};
use crate::syntax::{Commute, Expr, Mode, Order};
use crate::{Type, Value};

/// An access point of one call.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Touched {
    /// The cell's name.
    pub cell: String,
    /// Its value, where there is one cell per value.
    pub at: Option<Value>,
    /// How the cell is touched.
    pub mode: Mode,
}

impl Type {
    /// The number of the method called `name`.
    pub fn method(&self, name: &str) -> Option<usize> {
        self.methods.iter().position(|method| method.name == name)
    }

    /// The condition for two methods, and whether it is written for the reversed pair.
    fn condition(&self, first: usize, second: usize) -> Option<(&Commute, bool)> {
        self.commutes.iter().find_map(|each| match each.methods {
            pair if pair == [first, second] => Some((each, false)),
            pair if pair == [second, first] => Some((each, true)),
            _ => None,
        })
    }

    /// Whether two calls, each a method with its arguments and its result, commute. Where the condition has no meaning
    /// for these values, it does not hold.
    pub fn commute(&self, first: (usize, &[Value]), second: (usize, &[Value])) -> bool {
        let Some((commute, reversed)) = self.condition(first.0, second.0) else { return false };
        let (left, right) = if reversed { (second, first) } else { (first, second) };
        truth(&commute.condition, &[left.1, right.1].concat()).unwrap_or(false)
    }

    /// Whether two calls, each a method with its arguments, commute whatever they return. False where that is not certain.
    pub fn commute_unseen(&self, first: (usize, &[Value]), second: (usize, &[Value])) -> bool {
        let Some((commute, reversed)) = self.condition(first.0, second.0) else { return false };
        let (left, right) = if reversed { (second, first) } else { (first, second) };
        let mut frame = Vec::new();
        for (method, arguments) in [left, right] {
            frame.extend(arguments.iter().cloned().map(Some));
            frame.extend(self.methods[method].result.as_ref().map(|_| None));
        }
        certain(&commute.condition, &frame) == Some(Value::Bool(true))
    }

    /// Whether calls of two methods commute whatever their arguments and results, in every state.
    pub fn always_commute(&self, first: usize, second: usize) -> bool {
        self.condition(first, second).is_some_and(|(commute, _)| always(&commute.condition))
    }

    /// The rule by which `first` must not come after `second`, if there is one.
    pub fn order(&self, first: (usize, &[Value]), second: (usize, &[Value])) -> Option<&Order> {
        let values = [first.1, second.1].concat();
        let holds = |condition: &Option<Expr>| {
            condition.as_ref().is_none_or(|condition| truth(condition, &values).unwrap_or(false))
        };
        self.orders.iter().find(|order| order.methods == [first.0, second.0] && holds(&order.condition))
    }

    /// Whether calls of this method have access points. Others are compared with each other call.
    pub fn has_points(&self, method: usize) -> bool {
        self.touches.iter().any(|touch| touch.method == method)
    }

    /// What a call touches. A call that no line is for touches everything.
    pub fn touched(&self, method: usize, values: &[Value]) -> Vec<Touched> {
        let lines = self.touches.iter().filter(|touch| touch.method == method);
        let holds = |condition: &Option<Expr>| {
            condition.as_ref().is_none_or(|condition| truth(condition, values).unwrap_or(false))
        };
        let everything = vec![Touched { cell: String::new(), at: None, mode: Mode::X }];
        let mut points = Vec::new();
        for touch in lines.filter(|touch| holds(&touch.condition)) {
            for point in &touch.points {
                let at = match &point.at {
                    Some(at) => match evaluate(at, values) {
                        Ok(value) => Some(value),
                        Err(_) => return everything,
                    },
                    None => None,
                };
                points.push(Touched { cell: point.cell.clone(), at, mode: point.mode });
            }
        }
        if points.is_empty() { everything } else { points }
    }
}

impl Touched {
    /// Whether the two touch one cell in modes that do not fit.
    pub fn conflicts(&self, other: &Touched) -> bool {
        self.cell == other.cell && self.at == other.at && !self.mode.fits(other.mode)
    }
}
