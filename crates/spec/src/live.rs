//! Calls as they come: what each touches, by what is known of its objects when it is made.
//!
//! A whole trace tells the type of an object wherever a call on it names that, and that an argument is an object wherever
//! there is a call on it ([`Calls`](crate::Calls)). Here only what came before counts: an object has the type that it was first given, and
//! none any more once another is; an argument is an object once a call on it was made. A word that is a value is no object.
//!
//! Each distinct text is taken apart once, and again only where something new was learnt that may matter to it.

use hashbrown::HashMap;
use reweave_trace::{CallId, CallParts, Names, Relation, Space, call_words, declaration};

use crate::calls::{Call, Known, Types, matches, relation, value};
use crate::{Mode, Spec, Value};

/// Kinds of calls from here on are those of one text.
const KINDS: u32 = 1 << 16;

/// What is known of the calls so far.
#[derive(Default, Debug)]
pub struct LiveCalls {
    types: Types,
    /// By name, with the word before it and without.
    names: HashMap<Box<str>, u32>,
    objects: Vec<Object>,
    resolved: Vec<Resolved>,
    /// Per call of the trace, the last of these.
    current: Vec<Option<u32>>,
    /// How many names were looked at for declarations.
    seen: usize,
    declared: HashMap<Box<str>, Option<usize>>,
    cells: HashMap<(u32, Box<str>, Option<Value>), u32>,
    /// Counts what was learnt that may change what a call touches.
    learnt: u32,
    /// Per type, whether its access points tell of every pair of calls.
    pointed: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Object {
    /// Unless it was given two, or none.
    of: Option<usize>,
    typed: bool,
}

/// What a call touches.
#[derive(Clone, Default, Debug)]
pub struct Resolved {
    /// Its objects, by number.
    pub objects: Vec<u32>,
    /// Its access points: cells by number, with modes. A call of which nothing is known touches the whole of each object; one
    /// that is compared with each other call has none.
    pub points: Vec<(u32, Mode)>,
    /// Whether it ends the life of a lock or condition variable of its object's name.
    pub ends: bool,
    /// That lock, and that condition variable, if there are such.
    pub lock: Option<u32>,
    /// The condition variable.
    pub condition: Option<u32>,
    /// Whether a rule puts it before other calls.
    pub overtaken: bool,
    /// Whether a rule puts other calls before it.
    pub overtakes: bool,
    /// Calls of one kind are alike to all rules.
    pub kind: u32,
    call: Option<Call>,
    /// The number of things learnt when this was found out; nothing changes it where there is none.
    at: Option<u32>,
    there: bool,
}

impl Resolved {
    /// Whether it conflicts with every other call on its objects.
    pub fn stands_alone(&self) -> bool {
        self.call.is_none()
    }

    /// Whether it touches the same in the same way.
    fn is_like(&self, other: &Resolved) -> bool {
        self.objects == other.objects && self.points == other.points && self.call == other.call
    }

    /// Whether it has to be compared with each other call on its object.
    pub fn is_compared(&self) -> bool {
        self.points.is_empty()
    }
}

impl LiveCalls {
    /// No calls yet; they follow these specifications besides those that are built in.
    pub fn new(own: Spec) -> LiveCalls {
        LiveCalls { types: Types::new(own), ..LiveCalls::default() }
    }

    /// Takes a call that is made now, and answers the number of what is known of it. Calls of one text have the same number as long as
    /// nothing changes for them.
    pub fn make(&mut self, names: &Names, call: CallId) -> u32 {
        let texts = names.space(Space::Call);
        if self.seen < texts.len() {
            self.declare(names);
        }
        let index = call.index();
        if index >= self.current.len() {
            self.current.resize((index + 1).max(2 * self.current.len()), None);
        }
        let known = self.current[index];
        if known.is_none_or(|known| self.is_old(known)) {
            let mut found = self.resolve(texts.get(call.0));
            found.kind = found.kind.min(KINDS + call.0);
            match known.filter(|&known| self.resolved[known as usize].is_like(&found)) {
                Some(known) => self.resolved[known as usize] = found,
                None => {
                    self.current[index] = Some(self.resolved.len() as u32);
                    self.resolved.push(found);
                }
            }
        }
        let number = self.current[index].unwrap_or_default();
        let known = &mut self.resolved[number as usize];
        if known.ends {
            let object = CallParts::of(texts.get(call.0)).object;
            known.lock = names.space(Space::Lock).find(object);
            known.condition = names.space(Space::Condition).find(object);
        }
        number
    }

    fn is_old(&self, number: u32) -> bool {
        let known = &self.resolved[number as usize];
        !known.there || known.at.is_some_and(|at| at != self.learnt)
    }

    /// What is known of calls of this number.
    pub fn of(&self, number: u32) -> &Resolved {
        &self.resolved[number as usize]
    }

    /// How two calls that touch an object in common stand to each other.
    pub fn relation(&self, earlier: u32, later: u32) -> Relation {
        match (&self.of(earlier).call, &self.of(later).call) {
            (Some(first), Some(second)) if first.of == second.of => {
                relation(&self.types.found[first.of].of, first, second)
            }
            _ => Relation::Conflict,
        }
    }

    /// Takes in what the names declare.
    fn declare(&mut self, names: &Names) {
        let texts = names.space(Space::Call);
        for id in self.seen..texts.len() {
            let Some((object, of)) = declaration(texts.get(id as u32)) else { continue };
            let of = self.types.find(of);
            self.declared
                .entry(object.into())
                .and_modify(|known| *known = known.filter(|_| *known == of))
                .or_insert(of);
        }
        self.seen = texts.len();
    }

    fn resolve(&mut self, text: &str) -> Resolved {
        let parts = CallParts::of(text);
        let own = self.own_object(text, &parts);
        let mut firm = true;
        let mut objects = vec![own];
        for word in call_words(text).skip(2) {
            match self.names.get(word) {
                Some(&object) => objects.push(object),
                None => firm &= value(word).is_some_and(|value| !matches!(value, Value::Text(_))),
            }
        }
        objects.sort_unstable();
        objects.dedup();
        let object = self.objects[own as usize];
        let call = match object.of {
            Some(of) if objects.len() == 1 => Call::read(&self.types.found[of].of, of, &parts),
            _ => None,
        };
        let points = match &call {
            Some(call) if self.is_pointed(call.of) => self.points(own, call),
            Some(_) => Vec::new(),
            None => objects.iter().map(|&object| (self.cell(object, "", None), Mode::X)).collect(),
        };
        let ends = call.as_ref().is_some_and(|call| self.types.found[call.of].use_rule(call).is_some());
        // Whatever is learnt of other objects, what is known of this call stays so unless its object gets another type.
        let at = (!firm || call.is_none()).then_some(self.learnt);
        let (overtaken, overtakes, kind) = call.as_ref().map_or((false, false, 0), |call| self.rules(call));
        Resolved {
            objects,
            points,
            ends,
            overtaken,
            overtakes,
            kind,
            call,
            at,
            there: true,
            ..Resolved::default()
        }
    }

    /// The number of a call's own object, whose type it may tell.
    fn own_object(&mut self, text: &str, parts: &CallParts<'_>) -> u32 {
        let named = parts.of.and_then(|of| self.types.find(of));
        let whole = call_words(text).nth(1).unwrap_or(parts.object);
        let known = self.names.get(parts.object).or_else(|| self.names.get(whole)).copied();
        let number = known.unwrap_or_else(|| {
            let declared = [parts.object, whole].iter().find_map(|name| self.declared.get(*name)).copied();
            let bound = || {
                let mut binds = self.types.own.binds.iter();
                binds.find(|bind| matches(&bind.pattern, parts.object)).map(|bind| bind.of.clone())
            };
            let of = match declared {
                Some(declared) => declared,
                None if named.is_none() => bound().and_then(|of| self.types.find(&of)),
                None => None,
            };
            self.objects.push(Object { of, typed: declared.is_some() });
            self.learnt += 1;
            (self.objects.len() - 1) as u32
        });
        for name in [parts.object, whole] {
            if !self.names.contains_key(name) {
                self.names.insert(name.into(), number);
                self.learnt += 1;
            }
        }
        if let Some(named) = named {
            let object = &mut self.objects[number as usize];
            match (object.typed, object.of) {
                (false, of) if of != Some(named) => {
                    *object = Object { of: Some(named), typed: true };
                    self.learnt += 1;
                }
                (false, _) => object.typed = true,
                (true, Some(of)) if of != named => {
                    object.of = None;
                    // Also what seemed to stay is to be looked at again.
                    self.learnt += 1;
                    self.resolved.iter_mut().for_each(|each| each.there = false);
                }
                _ => {}
            }
        }
        number
    }

    /// Whether the access points of a type tell of all its calls: each has some, the whole of the object among them, and no two
    /// calls may overtake each other.
    fn is_pointed(&mut self, of: usize) -> bool {
        let types = &self.types.found;
        for known in &types[self.pointed.len()..] {
            self.pointed.push(is_pointed(known));
        }
        self.pointed[of]
    }

    /// Whether a rule puts a call before others, or others before it; and its kind: that of its method, where the rules look at no
    /// values.
    fn rules(&self, call: &Call) -> (bool, bool, u32) {
        let of = &self.types.found[call.of].of;
        let mut before = of.orders.iter().filter(|order| order.methods[0] == call.method).peekable();
        let overtakes = of.orders.iter().any(|order| order.methods[1] == call.method);
        let overtaken = before.peek().is_some();
        let alike = before.all(|order| {
            let [first, second] = order.methods;
            let has = |pair: [usize; 2]| of.commutes.iter().any(|each| each.methods == pair);
            order.condition.is_none() && !has([first, second]) && !has([second, first])
        });
        (overtaken, overtakes, if alike { call.method as u32 } else { u32::MAX })
    }

    fn points(&mut self, object: u32, call: &Call) -> Vec<(u32, Mode)> {
        let touched = self.types.found[call.of].of.touched(call.method, &call.values);
        let mut points: Vec<(u32, Mode)> = Vec::new();
        for touch in touched {
            let cell = self.cell(object, &touch.cell, touch.at);
            points.push((cell, touch.mode));
        }
        points
    }

    fn cell(&mut self, object: u32, name: &str, at: Option<Value>) -> u32 {
        let next = self.cells.len() as u32;
        *self.cells.entry((object, name.into(), at)).or_insert(next)
    }
}

fn is_pointed(known: &Known) -> bool {
    let of = &known.of;
    let rooted = |method: usize| {
        let mut lines = of.touches.iter().filter(|touch| touch.method == method).peekable();
        lines.peek().is_some()
            && lines.all(|touch| touch.points.iter().any(|point| point.cell.is_empty() && point.at.is_none()))
    };
    of.orders.is_empty() && (0..of.methods.len()).all(rooted)
}
