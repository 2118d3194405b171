//! Objects of the built-in types, as plain Rust.

use std::collections::BTreeMap;

use crate::Rng;

/// Every type, with its methods and how many arguments each has.
pub const TYPES: [(&str, &[(&str, usize)]); 20] = [
    ("register", &[("read", 0), ("write", 1), ("swap", 1), ("cas", 2)]),
    ("counter", &[("inc", 0), ("dec", 0), ("add", 1), ("get", 0), ("set", 1), ("fetch_add", 1)]),
    ("set", &[("add", 1), ("remove", 1), ("contains", 1), ("size", 0), ("clear", 0)]),
    ("map", &[("put", 2), ("get", 1), ("remove", 1), ("contains", 1), ("size", 0), ("clear", 0)]),
    ("queue", &[("enq", 1), ("deq", 0), ("take", 0), ("peek", 0), ("len", 0)]),
    ("stack", &[("push", 1), ("pop", 0), ("top", 0), ("len", 0)]),
    ("channel", &[("send", 1), ("try_send", 1), ("recv", 0), ("try_recv", 0), ("len", 0), ("close", 0)]),
    ("union_find", &[("union", 2), ("find", 1), ("same", 2)]),
    ("refcount", &[("inc", 0), ("dec", 0), ("get", 0)]),
    ("file", &[("write", 1), ("read", 0), ("flush", 0), ("tell", 0), ("use", 0), ("close", 0)]),
    ("descriptor", &[("read", 0), ("write", 0), ("sync", 0), ("use", 0), ("close", 0)]),
    ("socket", &[("send", 0), ("recv", 0), ("shutdown", 0), ("close", 0)]),
    ("mutex", &[("use", 0), ("destroy", 0)]),
    ("condition", &[("use", 0), ("destroy", 0)]),
    ("semaphore", &[("post", 0), ("wait", 0), ("try_wait", 0), ("value", 0), ("use", 0), ("destroy", 0)]),
    ("barrier", &[("arrive", 0), ("destroy", 0)]),
    ("once", &[("call", 0), ("is_done", 0)]),
    ("context", &[("cancel", 0), ("err", 0), ("done", 0)]),
    ("wait_group", &[("add", 1), ("done", 0), ("wait", 0)]),
    ("directory", &[("use", 0), ("close", 0)]),
];

/// What a call comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is done, and gives this, if anything.
    Done(Option<String>),
    /// It waits, or fails.
    Impossible,
}

/// An object of one of the types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    of: &'static str,
    map: BTreeMap<i64, i64>,
    sequence: Vec<i64>,
    number: i64,
    other: i64,
    /// Closed, destroyed, done or cancelled.
    over: bool,
    capacity: usize,
}

impl Object {
    /// A new object of the type with this number in [`TYPES`].
    pub fn new(of: usize, rng: &mut Rng) -> Object {
        let (of, _) = TYPES[of];
        let number = i64::from(of == "refcount");
        let capacity = 1 + rng.below(2);
        Object { of, map: BTreeMap::new(), sequence: Vec::new(), number, other: 0, over: false, capacity }
    }

    /// Makes a call.
    pub fn call(&mut self, method: &str, arguments: &[i64]) -> Outcome {
        let x = arguments.first().copied().unwrap_or(0);
        let y = arguments.get(1).copied().unwrap_or(0);
        match self.of {
            "register" | "counter" | "refcount" => self.numeric(method, x, y),
            "set" | "map" | "union_find" => self.keyed(method, x, y),
            "queue" | "stack" | "channel" | "file" => self.sequential(method, x),
            _ => self.lifecycle(method, x),
        }
    }

    fn numeric(&mut self, method: &str, x: i64, y: i64) -> Outcome {
        let old = self.number;
        let (now, result) = match (self.of, method) {
            (_, "read" | "get") => (old, Some(old.to_string())),
            (_, "write" | "set") => (x, None),
            (_, "swap") => (x, Some(old.to_string())),
            (_, "cas") => (if old == x { y } else { old }, Some((old == x).to_string())),
            ("refcount", _) if old <= 0 => return Outcome::Impossible,
            ("refcount", "dec") => (old - 1, Some((old == 1).to_string())),
            (_, "inc") => (old + 1, None),
            (_, "dec") => (old - 1, None),
            (_, "add") => (old + x, None),
            _ => (old + x, Some(old.to_string())),
        };
        self.number = now;
        Outcome::Done(result)
    }

    fn keyed(&mut self, method: &str, x: i64, y: i64) -> Outcome {
        let text = |value: Option<i64>| value.map_or("nil".to_owned(), |value| value.to_string());
        let root = |map: &BTreeMap<i64, i64>, x: i64| map.get(&x).copied().unwrap_or(x);
        Outcome::Done(match (self.of, method) {
            ("set", "add") => Some(self.map.insert(x, 0).is_none().to_string()),
            ("set", "remove") => Some(self.map.remove(&x).is_some().to_string()),
            (_, "contains") => Some(self.map.contains_key(&x).to_string()),
            (_, "size") => Some(self.map.len().to_string()),
            (_, "clear") => {
                self.map.clear();
                None
            }
            ("map", "put") => Some(text(self.map.insert(x, y))),
            ("map", "get") => Some(text(self.map.get(&x).copied())),
            ("map", "remove") => Some(text(self.map.remove(&x))),
            (_, "find") => Some(root(&self.map, x).to_string()),
            (_, "same") => Some((root(&self.map, x) == root(&self.map, y)).to_string()),
            _ => {
                let (one, two) = (root(&self.map, x), root(&self.map, y));
                let (low, high) = (one.min(two), one.max(two));
                if low != high {
                    self.map.values_mut().filter(|each| **each == high).for_each(|each| *each = low);
                    self.map.insert(high, low);
                }
                Some((low != high).to_string())
            }
        })
    }

    fn sequential(&mut self, method: &str, x: i64) -> Outcome {
        let text =
            |value: Option<i64>| Outcome::Done(Some(value.map_or("nil".to_owned(), |v| v.to_string())));
        let full = self.of == "channel" && self.sequence.len() >= self.capacity;
        let takes = |sequence: &mut Vec<i64>| (!sequence.is_empty()).then(|| sequence.remove(0));
        match (self.of, method) {
            ("file", _) if self.over => return Outcome::Impossible,
            ("channel", "send" | "try_send" | "close") if self.over => return Outcome::Impossible,
            ("channel", "send") if full => return Outcome::Impossible,
            ("channel", "try_send") => {
                if !full {
                    self.sequence.push(x);
                }
                return Outcome::Done(Some((!full).to_string()));
            }
            ("channel", "recv") if self.sequence.is_empty() && !self.over => return Outcome::Impossible,
            ("queue", "take") if self.sequence.is_empty() => return Outcome::Impossible,
            (_, "enq" | "push" | "send" | "write") => self.sequence.push(x),
            (_, "close") => self.over = true,
            (_, "flush" | "use") => {}
            (_, "pop") => return text(self.sequence.pop()),
            (_, "top") => return text(self.sequence.last().copied()),
            (_, "peek") => return text(self.sequence.first().copied()),
            (_, "len") => return text(Some(self.sequence.len() as i64)),
            ("file", "tell") => return text(Some(self.number)),
            ("file", "read") => {
                let found = self.sequence.get(self.number as usize).copied();
                self.number += i64::from(found.is_some());
                return text(found);
            }
            _ => return text(takes(&mut self.sequence)),
        }
        Outcome::Done(None)
    }

    fn lifecycle(&mut self, method: &str, x: i64) -> Outcome {
        let (over, old) = (self.over, self.number);
        match (self.of, method) {
            ("once", _) => {
                self.over |= method == "call";
                return Outcome::Done(Some((if method == "call" { !over } else { over }).to_string()));
            }
            ("context", "err") => return Outcome::Done(Some(over.to_string())),
            ("context", "done") if !over => return Outcome::Impossible,
            ("context", "done") => {}
            ("context", _) => self.over = true,
            ("wait_group", "add") => self.number += x,
            ("wait_group", "done") if old > 0 => self.number -= 1,
            ("wait_group", "wait") if old == 0 => {}
            ("wait_group", _) => return Outcome::Impossible,
            _ if over => return Outcome::Impossible,
            (_, "destroy" | "close") => self.over = true,
            ("descriptor", "read" | "write") => {
                self.number += 1;
                return Outcome::Done(Some(old.to_string()));
            }
            ("socket", "send") if self.capacity == 0 => return Outcome::Impossible,
            ("socket", "send") => {
                self.number += 1;
                return Outcome::Done(Some(old.to_string()));
            }
            ("socket", "recv") => {
                self.other += 1;
                return Outcome::Done(Some((self.other - 1).to_string()));
            }
            // After it nothing more can be sent.
            ("socket", "shutdown") => self.capacity = 0,
            ("semaphore", "post") | ("barrier", "arrive") => self.number += 1,
            ("semaphore", "wait") if old == 0 => return Outcome::Impossible,
            ("semaphore", "wait") => self.number -= 1,
            ("semaphore", "try_wait") => {
                self.number -= i64::from(old > 0);
                return Outcome::Done(Some((old > 0).to_string()));
            }
            ("semaphore", "value") => return Outcome::Done(Some(old.to_string())),
            _ => {}
        }
        Outcome::Done(None)
    }
}

/// A random call of a type: its method and its arguments.
pub fn random_call(of: usize, rng: &mut Rng) -> (&'static str, Vec<i64>) {
    let (name, methods) = TYPES[of];
    let (method, arity) = methods[rng.below(methods.len())];
    let arguments = (0..arity).map(|_| rng.below(2) as i64 + i64::from(name != "counter")).collect();
    (method, arguments)
}

/// The text of a call that came to `result`.
pub fn text(of: usize, object: &str, call: &(&'static str, Vec<i64>), result: Option<&str>) -> String {
    let arguments: Vec<String> = call.1.iter().map(ToString::to_string).collect();
    let result = result.unwrap_or("()");
    format!("{} {object}.{}({})={result}", TYPES[of].0, call.0, arguments.join(", "))
}
