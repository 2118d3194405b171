//! Objects by specification: a call is one step of the model that the specification has, and calls commute where it says so
//! whatever they return.
//!
//! The claims are those that `spec check` tries on small states. Here each claim that the search relies on is tried
//! once more, on every state of the model that the search meets.

use std::cell::RefCell;

use hashbrown::HashMap;
use reweave_spec::{Outcome as Done, Type, Value};

use crate::objects::Objects;
use crate::op::{Outcome, tag};

/// The classes, states, calls and results of a program's objects, each with a number.
#[derive(Default)]
pub struct Specified {
    inner: RefCell<Inner>,
}

#[derive(Default)]
struct Inner {
    types: Vec<Type>,
    states: Interned<(u32, Vec<Value>)>,
    calls: Interned<(u32, usize, Vec<Value>)>,
    results: Interned<Value>,
    /// What calls do in states.
    steps: HashMap<(u64, u64), Option<(u64, Outcome)>>,
    answers: HashMap<(u64, u64), bool>,
    /// Pairs of calls that the search takes for commuting.
    relied: Vec<(u64, u64)>,
    refuted: Option<String>,
}

struct Interned<T> {
    all: Vec<T>,
    numbers: HashMap<T, u64>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Interned { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Interned<T> {
    /// The number of an item, and whether it is new.
    fn number(&mut self, item: T) -> (u64, bool) {
        if let Some(&known) = self.numbers.get(&item) {
            return (known, false);
        }
        let number = self.all.len() as u64;
        self.all.push(item.clone());
        self.numbers.insert(item, number);
        (number, true)
    }

    fn get(&self, number: u64) -> Option<&T> {
        self.all.get(usize::try_from(number).ok()?)
    }
}

/// Why a call is none of its object's type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoCall {
    /// No method has the name.
    #[error("`{0}` has no method `{1}`: expected one of {2}")]
    Method(String, String, String),
    /// Another number of arguments.
    #[error("`{0}.{1}` takes {2} arguments, not {3}")]
    Arguments(String, String, usize, usize),
}

impl Specified {
    /// Adds a type: its class, and the state in which its objects begin.
    pub fn add(&self, of: Type) -> (u32, u64) {
        let mut inner = self.inner.borrow_mut();
        let class = match inner.types.iter().position(|known| known.name == of.name) {
            Some(known) => known as u32,
            None => {
                inner.types.push(of);
                inner.types.len() as u32 - 1
            }
        };
        let first = inner.types[class as usize].initial_states().into_iter().next().unwrap_or_default();
        (class, inner.state(class, first))
    }

    /// The number of a call.
    pub fn number(&self, class: u32, method: &str, arguments: &[Value]) -> Result<u64, NoCall> {
        let mut inner = self.inner.borrow_mut();
        let of = &inner.types[class as usize];
        let Some(index) = of.method(method) else {
            let known: Vec<&str> = of.methods.iter().map(|method| method.name.as_str()).collect();
            return Err(NoCall::Method(of.name.clone(), method.to_owned(), known.join(", ")));
        };
        let wanted = of.methods[index].parameters.len();
        if wanted != arguments.len() {
            return Err(NoCall::Arguments(of.name.clone(), method.to_owned(), wanted, arguments.len()));
        }
        Ok(inner.calls.number((class, index, arguments.to_vec())).0)
    }

    /// What a call returned; none if it has no result, or did not return.
    pub fn result(&self, call: u64, outcome: Outcome) -> Option<Value> {
        let inner = self.inner.borrow();
        let (class, method, _) = inner.calls.get(call)?;
        inner.types[*class as usize].methods[*method].result.as_ref()?;
        if outcome.tag != 0 { None } else { inner.results.get(outcome.value).cloned() }
    }

    /// Whether no type was added.
    pub fn is_empty(&self) -> bool {
        self.inner.borrow().types.is_empty()
    }

    /// A call as text.
    pub fn show(&self, call: u64) -> String {
        self.inner.borrow().show(call)
    }

    /// The types of which some pair of calls was taken for commuting.
    pub fn relied_on(&self) -> Vec<String> {
        let inner = self.inner.borrow();
        let classes = inner.relied.iter().filter_map(|&(call, _)| inner.calls.get(call));
        let mut names: Vec<String> =
            classes.map(|(class, ..)| inner.types[*class as usize].name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Inner {
    fn show(&self, call: u64) -> String {
        let Some((class, method, arguments)) = self.calls.get(call) else { return format!("call {call}") };
        let of = &self.types[*class as usize];
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        format!("{}.{}({})", of.name, of.methods[*method].name, arguments.join(", "))
    }

    fn state(&mut self, class: u32, values: Vec<Value>) -> u64 {
        let (number, new) = self.states.number((class, values));
        if new {
            for index in 0..self.relied.len() {
                let pair = self.relied[index];
                self.try_claim(pair, number);
            }
        }
        number
    }

    /// What a call does in a state; the state is not numbered yet. None where the model cannot say.
    fn done(&self, state: &(u32, Vec<Value>), call: u64) -> Option<Done> {
        let (class, method, arguments) = self.calls.get(call)?;
        if *class != state.0 {
            return None;
        }
        self.types[*class as usize].call(&state.1, *method, arguments).ok()
    }

    /// The state after a call, and what the caller gets; none where it waits.
    fn step(&mut self, class: u32, state: u64, call: u64) -> Option<(u64, Outcome)> {
        let done = self.states.get(state).and_then(|at| self.done(at, call));
        match done {
            None => Some((state, Outcome { tag: tag::FAILED | tag::CHOSEN, value: 0 })),
            Some(Done::Waits) => None,
            Some(Done::Fails) => Some((state, Outcome { tag: tag::FAILED, value: 0 })),
            Some(Done::Done(result, next)) => {
                let value = self.results.number(result).0;
                Some((self.state(class, next), Outcome { tag: 0, value }))
            }
        }
    }

    fn answer(&self, left: u64, right: u64) -> bool {
        let (Some((class, first, one)), Some((other, second, two))) =
            (self.calls.get(left), self.calls.get(right))
        else {
            return false;
        };
        let of = &self.types[*class as usize];
        class == other
            && of.commute_unseen((*first, one), (*second, two))
            && of.commute_unseen((*second, two), (*first, one))
    }

    /// Tries in one state whether two calls commute as they are said to: neither changes what the other returns or whether it can
    /// go on, and both orders end alike.
    fn try_claim(&mut self, (left, right): (u64, u64), state: u64) {
        let Some(at) = self.states.get(state) else { return };
        if self.refuted.is_some() || self.calls.get(left).is_none_or(|call| call.0 != at.0) {
            return;
        }
        let after = |first: u64, second: u64| {
            let first = self.done(at, first)?;
            let Done::Done(_, next) = &first else { return Some((first, None)) };
            let second = self.done(&(at.0, next.clone()), second)?;
            Some((first, Some(second)))
        };
        let result = |done: &Done| match done {
            Done::Done(value, _) => Some(value.clone()),
            _ => None,
        };
        let holds = (|| {
            let (one, two) = (after(left, right)?, after(right, left)?);
            Some(match (&one, &two) {
                ((first, Some(then)), (second, Some(last))) => {
                    let same = match (then, last) {
                        (Done::Done(_, here), Done::Done(_, there)) => here == there,
                        _ => false,
                    };
                    same && result(first) == result(last) && result(then) == result(second)
                }
                // One of them cannot go on: the other must not change that.
                ((first, None), (_, Some(last))) => first == last,
                ((_, Some(then)), (second, None)) => then == second,
                ((_, None), (_, None)) => true,
            })
        })();
        if holds != Some(true) {
            let values: Vec<String> = at.1.iter().map(ToString::to_string).collect();
            self.refuted = Some(format!(
                "the specification says that {} and {} commute, and in the state {} they do not: `reweave spec check` \
                 says more",
                self.show(left),
                self.show(right),
                values.join(", ")
            ));
        }
    }
}

impl Objects for Specified {
    fn call(&self, class: u32, state: u64, call: u64) -> Vec<(u64, Outcome)> {
        let mut inner = self.inner.borrow_mut();
        if let Some(known) = inner.steps.get(&(state, call)) {
            return known.iter().copied().collect();
        }
        let step = inner.step(class, state, call);
        inner.steps.insert((state, call), step);
        step.into_iter().collect()
    }

    fn commute(&self, _: u32, left: u64, right: u64) -> bool {
        let key = (left.min(right), left.max(right));
        let mut inner = self.inner.borrow_mut();
        if let Some(&known) = inner.answers.get(&key) {
            return known;
        }
        let answer = inner.answer(left, right);
        inner.answers.insert(key, answer);
        if answer {
            inner.relied.push(key);
            for state in 0..inner.states.all.len() as u64 {
                inner.try_claim(key, state);
            }
        }
        answer
    }

    fn refuted(&self) -> Option<String> {
        self.inner.borrow().refuted.clone()
    }
}
