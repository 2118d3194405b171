//! Specifications of data types: which calls commute, checked against an executable model.
//!
//! A specification is a text, one block a type. It has a model, an abstract state and what each method does to it, and
//! says under which conditions two calls commute ([`Type::commutes`]), which pairs of calls must not change places
//! ([`Type::orders`]), and what each call touches ([`Type::touches`]). Nothing of it is trusted: [`check()`] tries every
//! claim on all small states.

#![forbid(unsafe_code)]

mod builtin;
mod calls;

mod check;
mod error;
mod lex;
mod live;
mod parse;
mod relation;
mod run;
mod syntax;
mod value;

pub use builtin::{BUILTIN, builtin};
pub use calls::{Calls, Refused, Rule, links, read_checked};

pub use check::{Checked, Counterexample, Problem, check};
pub use error::SpecError;
pub use live::{LiveCalls, Resolved};
pub use relation::Touched;
pub use run::{Fault, Outcome};
pub use syntax::{
    Binary, Bind, Commute, Expr, Function, Method, Mode, Order, Parameter, Point, Spec, State, Statement,
    Tier, Touch, Type,
};
pub use value::Value;
