//! The objects that calls touch.
//!
//! A call is a text such as `s.add(1)=true`: the object, a method, arguments, a result. It touches its object, and every object
//! of another call that an argument or the result names: `s.merge(t)` is a call on both. Calls without an object are all
//! on one that has no name.

use hashbrown::HashMap;

use crate::{CallId, Names, Space, Table};

/// What begins the text of a declaration: `#object s: set` says that `s` is a set. It stands among the calls of a trace, but no
/// event has it.
const DECLARATION: &str = "#object ";

/// Per call of a trace, the objects that it touches, numbered in order of their first call.
#[derive(Clone, Default, Debug)]
pub struct CallObjects {
    of: Vec<Vec<u32>>,
    count: usize,
}

impl CallObjects {
    /// The objects of the calls in `names`.
    pub fn new(names: &Names) -> CallObjects {
        let texts = names.space(Space::Call);
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut count = 0;
        for text in texts.iter().filter(|text| declaration(text).is_none()) {
            let parts = CallParts::of(text);
            let number = *numbers.entry(parts.object).or_insert_with(|| {
                count += 1;
                count - 1
            });
            numbers.insert(parts.whole_object, number);
        }
        let of = texts.iter().map(|text| {
            let mut objects: Vec<u32> =
                call_words(text).filter_map(|word| numbers.get(word).copied()).collect();
            objects.sort_unstable();
            objects.dedup();
            objects
        });
        CallObjects { of: of.collect(), count: count as usize }
    }

    /// How many objects there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The objects that `call` touches, in increasing order.
    pub fn of(&self, call: CallId) -> &[u32] {
        &self.of[call.index()]
    }

    /// Whether two calls touch an object in common.
    pub fn meet(&self, first: CallId, second: CallId) -> bool {
        self.of(first).iter().any(|object| self.of(second).contains(object))
    }
}

/// How two calls on one object stand to each other, the earlier of the trace first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// They may change places.
    Commute,
    /// They may not, but it is known what comes of it if they do: the later one can go ahead.
    Ordered,
    /// They may not.
    Conflict,
}

/// What is known of the calls of a trace.
pub trait CallRelation {
    /// How two calls that touch an object in common stand to each other.
    fn relation(&self, earlier: CallId, later: CallId) -> Relation;

    /// Whether a call conflicts with every other on its objects.
    fn stands_alone(&self, call: CallId) -> bool;

    /// Whether nothing in its thread can depend on what a call does.
    fn is_void(&self, call: CallId) -> bool;
}

/// Nothing is known: no two calls on one object may change places.
#[derive(Clone, Copy, Debug)]
pub struct NothingKnown;

impl CallRelation for NothingKnown {
    fn relation(&self, _: CallId, _: CallId) -> Relation {
        Relation::Conflict
    }

    fn stands_alone(&self, _: CallId) -> bool {
        true
    }

    fn is_void(&self, _: CallId) -> bool {
        false
    }
}

/// The text that declares the type of an object.
pub fn declare(object: &str, of: &str) -> String {
    format!("{DECLARATION}{object}: {of}")
}

/// The object and the type that a text among the calls declares, if it is a declaration.
pub fn declaration(text: &str) -> Option<(&str, &str)> {
    let (object, of) = text.strip_prefix(DECLARATION)?.rsplit_once(':')?;
    Some((object.trim_ascii(), of.trim_ascii()))
}

/// Puts the declared type of an object into the text of each call on it, so that it stays with the call whatever becomes of the
/// trace. Numbers of calls stay as they are.
pub(crate) fn apply_declarations(calls: &mut Table) {
    let mut types: HashMap<String, String> = HashMap::new();
    for text in calls.iter() {
        if let Some((object, of)) = declaration(text) {
            types.insert(object.to_owned(), of.to_owned());
        }
    }
    if types.is_empty() {
        return;
    }
    let mut typed = Table::default();
    for (number, text) in calls.iter().enumerate() {
        let parts = CallParts::of(text);
        let of = types.get(parts.whole_object).filter(|_| declaration(text).is_none());
        let renamed = of.map_or_else(|| text.to_owned(), |of| format!("{of} {text}"));
        // The trace may have the longer text, too, or one too long: then the declaration among the names has to do.
        match typed.intern(&renamed) {
            Ok(id) if id as usize == number => {}
            _ => return,
        }
    }
    *calls = typed;
}

/// Everything in a call's text that may name an object that it touches: its object, the arguments, the result.
pub fn call_words(text: &str) -> impl Iterator<Item = &str> {
    let parts = CallParts::of(text);
    let mentioned = parts.arguments().chain(parts.result);
    let own = [parts.object, parts.whole_object];
    let none = declaration(text).is_some();
    own.into_iter().chain(mentioned.filter(|word| !matches!(*word, "" | "()"))).filter(move |_| !none)
}

/// A call's text, taken apart: `set s.add(1)=true`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallParts<'t> {
    /// The type of the object, where the text has it: a word before the object's name.
    pub of: Option<&'t str>,
    /// The object, which may have no name.
    pub object: &'t str,
    /// The object with the word before its name: it may be part of it.
    whole_object: &'t str,
    /// The method.
    pub method: &'t str,
    arguments: &'t str,
    /// The result: `()` where there is none, nothing where it is not known.
    pub result: Option<&'t str>,
}

impl<'t> CallParts<'t> {
    /// The parts of `text`.
    pub fn of(text: &'t str) -> CallParts<'t> {
        let head_end = text.find(['(', '=']).unwrap_or(text.len());
        let (head, rest) = text.split_at(head_end);
        let (whole_object, method) = head.rsplit_once('.').unwrap_or(("", head));
        let whole_object = whole_object.trim_ascii();
        let is_word = |word: &str| word.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        let (of, object) = match whole_object.split_once(' ') {
            Some((of, object)) if is_word(of) => (Some(of), object.trim_ascii()),
            _ => (None, whole_object),
        };
        let (arguments, result) = split(rest);
        CallParts { of, object, whole_object, method: method.trim_ascii(), arguments, result }
    }

    /// The arguments; what is inside of parentheses is one.
    pub fn arguments(&self) -> impl Iterator<Item = &'t str> + use<'t> {
        let mut depth = 0;
        let parts = self.arguments.split(move |letter: char| {
            match letter {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
            depth <= 0 && letter == ','
        });
        let none = self.arguments.trim_ascii().is_empty();
        parts.map(str::trim_ascii).filter(move |_| !none)
    }
}

/// The arguments and the result of a call, from what follows its method.
fn split(rest: &str) -> (&str, Option<&str>) {
    let Some(inside) = rest.strip_prefix('(') else {
        return ("", rest.strip_prefix('='));
    };
    let mut depth = 1;
    let close = inside.bytes().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    match close {
        Some(close) => {
            let result = inside[close + 1..].trim_ascii_start().strip_prefix('=');
            (&inside[..close], result.map(str::trim_ascii))
        }
        None => (inside, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_touches_its_object_and_those_that_it_names() {
        let mut names = Names::default();
        let texts =
            ["s.add(1)=true", "t.size()=2", "s.merge(t)=()", "a.b.get(k)=s", "f(3)", "g()", "s.len=2"];
        for text in texts {
            names.space_mut(Space::Call).intern(text).unwrap();
        }
        let objects = CallObjects::new(&names);
        let of = |call: u32| objects.of(CallId(call)).to_vec();
        assert_eq!([of(0), of(1), of(2), of(3)], [vec![0], vec![1], vec![0, 1], vec![0, 2]]);
        assert_eq!([of(4), of(5), of(6)], [vec![3], vec![3], vec![0]]);
        assert_eq!(objects.count(), 4);
    }

    #[test]
    fn a_call_may_say_of_what_type_its_object_is() {
        let mut names = Names::default();
        for text in ["set s.add(1)=true", "s.size()=2", "t.f(s)", "t.f(set s)", "#object s: map"] {
            names.space_mut(Space::Call).intern(text).unwrap();
        }
        let objects = CallObjects::new(&names);
        let of = |call: u32| objects.of(CallId(call)).to_vec();
        assert_eq!([of(0), of(1), of(2), of(3), of(4)], [vec![0], vec![0], vec![0, 1], vec![0, 1], vec![]]);
        let parts = CallParts::of("set s.add((1, 2), 3) = true");
        assert_eq!((parts.of, parts.object, parts.method), (Some("set"), "s", "add"));
        assert_eq!(parts.arguments().collect::<Vec<_>>(), ["(1, 2)", "3"]);
        assert_eq!(parts.result, Some("true"));
        assert_eq!(CallParts::of("s.size()").result, None);
        assert_eq!(CallParts::of("f()=()").arguments().count(), 0);
        assert_eq!(declaration(&declare("a.b", "set")), Some(("a.b", "set")));
    }
}
