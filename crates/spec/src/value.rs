//! Values of the models: what arguments, results and abstract states are made of.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A value. Values of different kinds are never equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    /// Nothing: an absent key, an empty slot, no result.
    Nil,
    /// A truth value.
    Bool(bool),
    /// A number.
    Int(i64),
    /// Anything else that a trace may name: equal only to the same text.
    Text(Box<str>),
    /// A finite set.
    Set(BTreeSet<Value>),
    /// A finite map; a key that is not there maps to nil.
    Map(BTreeMap<Value, Value>),
    /// A sequence.
    Seq(Vec<Value>),
}

impl Value {
    /// The value that `text` writes. Not every text is one: `1`, `true`, `nil`, `None` and quoted strings are, and so
    /// is any other word that is not a number, as itself.
    pub fn parse(text: &str) -> Value {
        match text {
            "nil" | "None" | "null" | "NULL" => return Value::Nil,
            "true" => return Value::Bool(true),
            "false" => return Value::Bool(false),
            _ => {}
        }
        match text.parse::<i64>() {
            // `01` and `+1` are other texts than `1`, but the same number.
            Ok(number) => Value::Int(number),
            Err(_) => Value::Text(text.into()),
        }
    }

    /// The value that a printed argument or result stands for, where that is certain: `Some(1)` and `1` are the same, and what is printed of a
    /// structure, or a number with a point, is none.
    pub fn read(text: &str) -> Option<Value> {
        crate::calls::value(text)
    }

    /// How large it is: a counterexample with less is easier to read.
    pub fn size(&self) -> u64 {
        match self {
            Value::Nil | Value::Bool(_) | Value::Text(_) => 0,
            Value::Int(number) => number.unsigned_abs(),
            Value::Set(items) => items.len() as u64,
            Value::Map(entries) => entries.len() as u64,
            Value::Seq(items) => items.len() as u64,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => write!(f, "nil"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Text(text) => write!(f, "{text}"),
            Value::Set(items) => write!(f, "{{{}}}", Listed(items.iter().map(ToString::to_string))),
            Value::Map(entries) => {
                write!(f, "{{{}}}", Listed(entries.iter().map(|(key, value)| format!("{key}: {value}"))))
            }
            Value::Seq(items) => write!(f, "[{}]", Listed(items.iter().map(ToString::to_string))),
        }
    }
}

/// Items with commas between them.
struct Listed<I>(I);

impl<I: Iterator<Item = String> + Clone> fmt::Display for Listed<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, item) in self.0.clone().enumerate() {
            write!(f, "{}{item}", if place == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}
