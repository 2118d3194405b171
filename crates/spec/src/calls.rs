//! The calls of a trace, each with its type: which commute, and which must not change places.
//!
//! An object has the type that a call on it names (`set s.add(1)=true`), that the trace declares (`#! object s: set`), or that
//! a pattern of a specification gives it. Where these differ, where the type is not known, where a method is not one of its type, or
//! where an argument or result is no value that the model knows, nothing is assumed: the call conflicts with every other on its
//! objects. So does a call that touches two objects, of whose connection no specification says anything.

use hashbrown::HashMap;
use reweave_trace::{
    CallId, CallObjects, CallParts, CallRelation, Links, Names, Relation, Space, Trace, declaration,
};

use crate::{BUILTIN, Order, Spec, SpecError, Tier, Type, Value};

/// What is known of the calls of a trace.
#[derive(Clone, Default, Debug)]
pub struct Calls {
    types: Vec<Known>,
    calls: Vec<Option<Call>>,
    objects: CallObjects,
    untyped: Vec<String>,
}

/// A type, and where it is from.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) of: Type,
    /// The file of a built-in type; a user's own has none.
    file: Option<&'static str>,
}

/// A call of a known method with known values.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Call {
    pub(crate) of: usize,
    pub(crate) method: usize,
    pub(crate) values: Vec<Value>,
}

/// The rule that two calls must not change places.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The type.
    pub of: String,
    /// What to call the reversal.
    pub message: String,
    /// What comes of it.
    pub tier: Tier,
    /// Where it is said, such as `mutex.rwspec:7`.
    pub place: String,
}

/// The links of a trace, with its calls related as the specifications say.
pub fn links(trace: &Trace) -> Links {
    Links::with_calls(trace, &Calls::new(trace))
}

impl Calls {
    /// The calls of `trace`. Its own specifications are taken as they are: who adds them to a trace has read and checked them.
    pub fn new(trace: &Trace) -> Calls {
        let names = trace.names();
        if names.space(Space::Call).iter().next().is_none() {
            return Calls::default();
        }
        let own = Spec::parse(trace.specifications()).unwrap_or_default();
        let mut calls = Calls { objects: CallObjects::new(names), ..Calls::default() };
        calls.bind(names, &own);
        calls
    }

    fn bind(&mut self, names: &Names, own: &Spec) {
        let texts: Vec<&str> = names.space(Space::Call).iter().collect();
        let mut types = Types::new(own.clone());
        let mut of: HashMap<&str, Option<usize>> = HashMap::new();
        for text in &texts {
            let (object, named) = match declaration(text) {
                Some((object, named)) => (object, Some(named)),
                None => {
                    let parts = CallParts::of(text);
                    (parts.object, parts.of.filter(|named| types.find(named).is_some()))
                }
            };
            if let Some(named) = named {
                let found = types.find(named);
                // An object of two types is of none.
                of.entry(object)
                    .and_modify(|known| *known = known.filter(|_| *known == found))
                    .or_insert(found);
            }
        }
        let mut untyped: Vec<String> = Vec::new();
        for (place, text) in texts.iter().enumerate() {
            if declaration(text).is_some() {
                self.calls.push(None);
                continue;
            }
            let parts = CallParts::of(text);
            let bound = own.binds.iter().find(|bind| matches(&bind.pattern, parts.object));
            let found = match of.get(parts.object) {
                Some(found) => *found,
                None => bound.and_then(|bind| types.find(&bind.of)),
            };
            let alone = self.objects.of(CallId(place as u32)).len() == 1;
            let call = found.and_then(|found| Call::read(&types.found[found].of, found, &parts));
            if found.is_none() {
                untyped.push(parts.object.to_owned());
            }
            self.calls.push(call.filter(|_| alone));
        }
        untyped.sort_unstable();
        untyped.dedup();
        self.untyped = untyped;
        self.types = types.found;
    }

    /// The objects whose type is not known: all calls on one conflict.
    pub fn untyped(&self) -> &[String] {
        &self.untyped
    }

    /// The rule by which `earlier` must come before `later`, if there is one.
    pub fn rule(&self, earlier: CallId, later: CallId) -> Option<Rule> {
        let (first, second) = self.pair(earlier, later)?;
        let known = &self.types[first.of];
        let order = known.of.order((first.method, &first.values), (second.method, &second.values))?;
        Some(known.rule(order))
    }

    /// The rule by which uses of its object have to come before a call that ends the object's life. A use is what locks and condition
    /// variables have instead of calls: the method `use` of their types.
    pub fn use_rule(&self, call: CallId) -> Option<Rule> {
        let call = self.call(call)?;
        self.types[call.of].use_rule(call)
    }

    /// Two calls of one type on one object, where both are known.
    fn pair(&self, earlier: CallId, later: CallId) -> Option<(&Call, &Call)> {
        let (first, second) = (self.call(earlier)?, self.call(later)?);
        (first.of == second.of && self.objects.meet(earlier, later)).then_some((first, second))
    }

    fn call(&self, call: CallId) -> Option<&Call> {
        self.calls.get(call.index())?.as_ref()
    }
}

impl Known {
    /// The rule by which uses come before `call`.
    pub(crate) fn use_rule(&self, call: &Call) -> Option<Rule> {
        let used = self.of.method("use")?;
        let order = self.of.order((used, &[]), (call.method, &call.values))?;
        Some(self.rule(order))
    }

    fn rule(&self, order: &Order) -> Rule {
        let file = self.file.map_or_else(|| "line ".to_owned(), |file| format!("{file}.rwspec:"));
        Rule {
            of: self.of.name.clone(),
            message: order.message.clone(),
            tier: order.tier,
            place: format!("{file}{}", order.line),
        }
    }
}

impl CallRelation for Calls {
    fn relation(&self, earlier: CallId, later: CallId) -> Relation {
        let Some((first, second)) = self.pair(earlier, later) else { return Relation::Conflict };
        relation(&self.types[first.of].of, first, second)
    }

    fn stands_alone(&self, call: CallId) -> bool {
        self.call(call).is_none()
    }

    fn is_void(&self, call: CallId) -> bool {
        self.call(call).is_some_and(|call| self.types[call.of].of.methods[call.method].result.is_none())
    }
}

/// How two calls of one type on one object stand to each other.
pub(crate) fn relation(of: &Type, first: &Call, second: &Call) -> Relation {
    let (first, second) = ((first.method, &first.values[..]), (second.method, &second.values[..]));
    let ahead = &of.methods[second.0];
    if of.commute(first, second) {
        Relation::Commute
    } else if of.order(first, second).is_some() && (ahead.result.is_none() || ahead.is_total()) {
        // With a result and a condition of its own, whether it can go ahead might depend on what it returns.
        Relation::Ordered
    } else {
        Relation::Conflict
    }
}

/// The types that calls name, each read once.
#[derive(Default, Debug)]
pub(crate) struct Types {
    pub(crate) own: Spec,
    known: HashMap<String, Option<usize>>,
    pub(crate) found: Vec<Known>,
}

impl Types {
    pub(crate) fn new(own: Spec) -> Types {
        Types { own, known: HashMap::new(), found: Vec::new() }
    }

    /// The number of the type called `name`; a user's own comes before one that is built in.
    pub(crate) fn find(&mut self, name: &str) -> Option<usize> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let own = self.own.types.iter().find(|of| of.name == name).cloned();
        let found = own.map(|of| Known { of, file: None }).or_else(|| {
            let (file, text) = BUILTIN.iter().find(|(known, _)| *known == name)?;
            let of = Spec::parse(text).ok()?.types.into_iter().next()?;
            Some(Known { of, file: Some(file) })
        });
        let number = found.map(|found| {
            self.found.push(found);
            self.found.len() - 1
        });
        self.known.insert(name.to_owned(), number);
        number
    }
}

impl Call {
    /// A call's text in the terms of a type, unless it does not fit.
    pub(crate) fn read(of: &Type, number: usize, parts: &CallParts<'_>) -> Option<Call> {
        let place = of.method(parts.method)?;
        let method = &of.methods[place];
        let mut values = Vec::new();
        let mut arguments = parts.arguments();
        for parameter in &method.parameters {
            let value = value(arguments.next()?)?;
            // What a model does with nil is known only where the check has tried it.
            if value == Value::Nil && !parameter.tried.contains(&Value::Nil) {
                return None;
            }
            values.push(value);
        }
        if arguments.next().is_some() {
            return None;
        }
        match (&method.result, parts.result) {
            (Some(_), Some(result)) => values.push(value(result)?),
            (None, None | Some("()" | "")) => {}
            _ => return None,
        }
        Some(Call { of: number, method: place, values })
    }
}

/// The value that a text of a trace stands for. Two texts of which it is not known whether they are the same value, such as
/// numbers with a point or printed structures, are none.
pub(crate) fn value(text: &str) -> Option<Value> {
    let inner = text.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')'));
    let wrapped = inner.is_some();
    let text = inner.unwrap_or(text).trim_ascii();
    let is_word = |text: &str| {
        let mut letters = text.bytes();
        letters.next().is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
            && letters.all(|letter| letter == b'_' || letter == b':' || letter.is_ascii_alphanumeric())
    };
    let is_quoted = |text: &str| text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
    match Value::parse(text) {
        Value::Text(_) if !is_word(text) && !is_quoted(text) => None,
        // Nothing inside of something is not nothing.
        Value::Nil if wrapped => None,
        value => Some(value),
    }
}

/// Whether `name` is as `pattern` says, in which `*` stands for any text.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Reads specifications that are to be added to a trace, and refuses those that do not hold.
pub fn read_checked(text: &str) -> Result<Spec, Refused> {
    let spec = Spec::parse(text).map_err(Refused::Mistake)?;
    let wrong = crate::check(&spec).into_iter().find(|checked| !checked.problems.is_empty());
    if let Some(checked) = wrong {
        let problem = checked.problems.first().map(ToString::to_string).unwrap_or_default();
        return Err(Refused::Unsound { of: checked.name, problem });
    }
    let known =
        |name: &str| spec.types.iter().any(|of| of.name == name) || BUILTIN.iter().any(|(of, _)| *of == name);
    match spec.binds.iter().find(|bind| !known(&bind.of)) {
        Some(bind) => Err(Refused::NoType(bind.of.clone())),
        None => Ok(spec),
    }
}

/// Why specifications cannot be added to a trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The text has a mistake.
    #[error("{0}")]
    Mistake(SpecError),
    /// A claim does not hold.
    #[error("the specification of {of} does not hold: {problem}")]
    Unsound {
        /// The type.
        of: String,
        /// The first thing that is wrong.
        problem: String,
    },
    /// Objects are bound to a type that there is not.
    #[error("there is no type `{0}` to bind objects to")]
    NoType(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, fits) in [
            ("s", "s", true),
            ("s", "st", false),
            ("*", "", true),
            ("a*b", "ab", true),
            ("a*b", "axb", true),
            ("a*b", "axbc", false),
            ("heap block*from Cache::*", "heap block of 8 bytes from Cache::new c.rs:3", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }

    #[test]
    fn a_text_that_may_be_written_in_two_ways_is_no_value() {
        assert_eq!(value("1"), Some(Value::Int(1)));
        assert_eq!(value("Some(1)"), Some(Value::Int(1)));
        assert_eq!(value("Red::Dark"), Some(Value::Text("Red::Dark".into())));
        assert_eq!(value("\"a b\""), Some(Value::Text("\"a b\"".into())));
        for text in
            ["1.0", "Point { x: 1 }", "[1]", "", "0x10", "(unknown result)", "Some(None)", "Some(Some(1))"]
        {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
