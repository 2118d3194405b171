//! Weak-doesn't-commute with calls, by its definition.

use reweave_stream::{Analysis, Race, races};
use reweave_testkit::calls::{Standing, standing};
use reweave_testkit::{Shape, generate, parse, show};
use reweave_trace::{EventId, Op, Trace};

use crate::naive::Naive;
use crate::relation::{Relation, add, closed, has};
use crate::{pairs, shapes};

/// How many traces of each shape.
const TRACES: u64 = 4_000;

type Pairs = Vec<(EventId, EventId)>;

impl Naive<'_> {
    fn name(&self, e: usize) -> &str {
        self.trace.target_name(self.op(e)).unwrap_or_default()
    }

    /// The names of the objects that a call touches: its own, and each argument or result on which there was a call before.
    fn objects(&self, e: usize) -> Vec<&str> {
        let own = |e: usize| {
            let head = self.name(e).split(['(', '=']).next().unwrap_or_default();
            let object = head.rsplit_once('.').map_or("", |(object, _)| object);
            object.split_once(' ').map_or(object, |(_, name)| name)
        };
        let known: Vec<&str> = (0..=e).filter(|&f| matches!(self.op(f), Op::Call(_))).map(own).collect();
        let words = self.name(e).split(['(', ')', ',', '=']).skip(1).map(str::trim);
        let named = words.filter(|word| !word.is_empty() && known.contains(word));
        std::iter::once(own(e)).chain(named).collect()
    }

    /// How two calls of different threads stand to each other, where they touch an object in common.
    fn calls(&self, a: usize, b: usize) -> Option<Standing> {
        let (Op::Call(_), Op::Call(_)) = (self.op(a), self.op(b)) else { return None };
        let (one, two) = (self.objects(a), self.objects(b));
        let meet = one.iter().any(|object| two.contains(object));
        let alone = one.len() > 1 || two.len() > 1;
        (meet && self.thread(a) != self.thread(b)).then(|| match alone {
            true => Standing::Conflict,
            false => match standing(self.name(a), self.name(b)) {
                Standing::Commute if coarse(self.name(a), self.name(b)) => Standing::Conflict,
                standing => standing,
            },
        })
    }

    /// Whether a call ends the life of a lock or condition variable, and of which.
    fn ends(&self, e: usize) -> Option<&str> {
        let rest = self.name(e).strip_suffix(".destroy()=()")?;
        matches!(self.op(e), Op::Call(_)).then_some(())?;
        rest.strip_prefix("mutex ").or_else(|| rest.strip_prefix("condition "))
    }

    /// Whether an event uses the lock or condition variable of its name. Of a nest that is the outermost acquire.
    fn uses_name(&self, e: usize) -> bool {
        match self.op(e) {
            Op::Busy(_) | Op::Notify(_) | Op::NotifyAll(_) => true,
            _ => self.sections.iter().any(|s| s.acquire == e),
        }
    }

    /// Whether an event is the outermost release of a section.
    fn releases(&self, e: usize) -> bool {
        self.sections.iter().any(|s| s.release == Some(e))
    }

    /// The condition variable of a wait that starts with the release `a` and returns before `b`.
    fn awaited(&self, a: usize, b: usize) -> Option<&str> {
        let wait = (a + 1..b).find(|&e| self.thread(e) == self.thread(a))?;
        (self.releases(a) && matches!(self.op(wait), Op::Wait(_))).then(|| self.name(wait))
    }

    /// Whether `a` uses a lock or condition variable that lies in `object`.
    fn uses_part(&self, a: usize, b: usize, object: &str) -> bool {
        let lies = |name: &str| name.strip_prefix(object).is_some_and(|rest| rest.starts_with('.'));
        (self.uses_name(a) || self.releases(a)) && lies(self.name(a)) || self.awaited(a, b).is_some_and(lies)
    }

    /// Whether `a` must not come after `b`, which came later.
    fn is_order_pair(&self, a: usize, b: usize) -> bool {
        if self.thread(a) == self.thread(b) {
            return false;
        }
        if let Op::Free(p) = self.op(b) {
            if self.uses_part(a, b, self.trace.variable_name(p)) {
                return true;
            }
            let Some(used) = self.op(a).access().filter(|access| !access.lifetime) else { return false };
            let born = || (0..a).any(|e| self.op(e) == Op::Alloc(used.variable));
            let part = self.name(a).contains('.') || born();
            return part && self.trace.objects().covers(p, used.variable);
        }
        if let Some(name) = self.ends(b)
            && (self.uses_name(a) && self.name(a) == name || self.awaited(a, b) == Some(name))
        {
            // A wait that returns after an end of life is known then.
            let from = match self.awaited(a, b) == Some(name) {
                true => (a + 1..b).find(|&e| self.thread(e) == self.thread(a)).unwrap_or(a),
                false => a,
            };
            return !(from..b).any(|e| self.ends(e) == Some(name));
        }
        self.calls(a, b) == Some(Standing::Ordered)
    }

    fn edc_order(&self) -> Relation {
        let mut order = self.with_program_order(self.hard());
        for b in self.events() {
            for a in (0..b).filter(|&a| self.calls(a, b) == Some(Standing::Conflict)) {
                add(&mut order, a, b);
            }
        }
        for (first, release, second) in self.successive() {
            for b in self.events().filter(|&b| self.inside(&second, b)) {
                let meets =
                    |a: usize| self.inside(&first, a) && self.clash(a, b) && !self.is_order_pair(a, b);
                if self.events().any(meets) {
                    add(&mut order, release, b);
                }
            }
        }
        closed(order)
    }

    /// The pairs that are free, and those that are so if their critical sections change places.
    fn edc(&self) -> (Pairs, Pairs) {
        let order = self.edc_order();
        let (mut free, mut locked) = (Pairs::new(), Pairs::new());
        for b in self.events() {
            for a in 0..b {
                let pair = (self.ids[a], self.ids[b]);
                if !self.is_order_pair(a, b) {
                    if self.trace.conflict(pair.0, pair.1) && !has(&order, a, b) {
                        free.push(pair);
                    }
                    continue;
                }
                let last = self.events().rev().find(|&e| self.thread(e) == self.thread(b)).unwrap_or(b);
                let mut common = self.sections.iter().filter(|s| self.inside(s, a)).flat_map(|one| {
                    let meets = move |two: &&crate::naive::Section| {
                        two.lock == one.lock && self.inside(two, b) && !(one.shared && two.shared)
                    };
                    self.sections
                        .iter()
                        .filter(meets)
                        .map(move |two| (one.acquire, two.release.unwrap_or(last)))
                });
                match common.next() {
                    None if !has(&order, a, b) => free.push(pair),
                    Some(first) if std::iter::once(first).chain(common).all(|(x, y)| !has(&order, x, y)) => {
                        locked.push(pair);
                    }
                    _ => {}
                }
            }
        }
        (free, locked)
    }
}

/// Whether the access points of two calls that commute conflict, by hand: they are coarser than the conditions where a call changes the
/// whole of an object, or a key of a map.
fn coarse(a: &str, b: &str) -> bool {
    let changes_all = |call: &str| {
        let (head, rest) = call.split_once('(').unwrap_or((call, ""));
        let (arguments, result) = rest.split_once(")=").unwrap_or((rest, ""));
        let (of, method) = (head.split(' ').next().unwrap_or(""), head.rsplit('.').next().unwrap_or(""));
        match (of, method) {
            ("union_find", "union") => result == "true",
            ("register", method) => {
                method == "write" || method == "swap" || method == "cas" && result == "true"
            }
            ("counter", "fetch_add") => arguments != "0",
            ("counter", "set") | ("set" | "map", "clear") | ("context", "cancel") => true,
            _ => false,
        }
    };
    let replaces = |put: &str, other: &str| {
        let Some((key, value)) = put.split_once(".put(").and_then(|(_, rest)| rest.split_once(", ")) else {
            return false;
        };
        let (value, old) = value.split_once(")=").unwrap_or((value, ""));
        value != old && other.contains(&format!(".contains({key})"))
    };
    changes_all(a) || changes_all(b) || replaces(a, b) || replaces(b, a)
}

/// What the analysis finds: free pairs, and locked ones, by later event.
fn found(trace: &Trace, all: bool) -> (Pairs, Pairs) {
    let races = races(trace, Analysis::Edc, all).expect("the trace is well formed");
    let of = |locked: bool| {
        let mut pairs: Pairs = races
            .iter()
            .filter(|race: &&Race| race.lock.is_some() == locked)
            .map(|race| (race.earlier, race.later))
            .collect();
        pairs.sort_unstable_by_key(|&(earlier, later)| (later, earlier));
        pairs
    };
    (of(false), of(true))
}

fn later(pairs: &[(EventId, EventId)]) -> Vec<EventId> {
    let mut later: Vec<EventId> = pairs.iter().map(|&(_, later)| later).collect();
    later.sort_unstable();
    later.dedup();
    later
}

#[track_caller]
fn check(trace: &Trace, about: &str) -> (usize, usize) {
    let expected = Naive::commuting(trace).edc();
    let all = found(trace, true);
    assert_eq!(all, expected, "{about}:\n{}", show(trace));
    let one = found(trace, false);
    assert_eq!(later(&one.0), later(&expected.0), "one partner, {about}:\n{}", show(trace));
    // A partner without the lock stands for one with it.
    let either = |(free, locked): &(Pairs, Pairs)| later(&[&free[..], &locked[..]].concat());
    assert_eq!(either(&one), either(&expected), "one locked partner, {about}:\n{}", show(trace));
    let real = one.0.iter().all(|pair| expected.0.contains(pair))
        && one.1.iter().all(|pair| expected.1.contains(pair));
    assert!(real, "{about}:\n{}", show(trace));
    (expected.0.len(), expected.1.len())
}

/// Shapes with calls and with objects, under locks.
fn with_calls() -> Vec<(&'static str, Shape)> {
    let mut calls = Shape {
        locks: (1, 1),
        events: (16, 30),
        threads: (2, 4),
        free_starts: 90,
        burst: 70,
        ..Shape::calls()
    };
    (calls.weights.read, calls.weights.write, calls.weights.acquire) = (2, 2, 20);
    let mut lives = Shape { locks: (1, 2), events: (16, 30), free_starts: 90, ..Shape::objects() };
    (lives.weights.acquire, lives.weights.release) = (14, 18);
    let mut conditions = Shape { conditions: (1, 1), ..calls.clone() };
    (conditions.weights.notify, conditions.weights.busy, conditions.weights.call) = (10, 4, 14);
    let mut inside = Shape { conditions: (1, 1), ..lives.clone() };
    (inside.weights.wait, inside.weights.notify, inside.weights.busy) = (30, 14, 4);
    vec![
        ("locked calls", calls),
        ("locked objects", lives),
        ("lives of locks", conditions),
        ("locks in objects", inside),
    ]
}

#[test]
fn it_finds_what_its_definition_says() {
    let (mut free, mut locked) = (0, [0; 4]);
    for (name, shape) in shapes() {
        for seed in 0..TRACES / 4 {
            free += check(&generate(&shape, 7_000_000 + seed), &format!("{name}, seed {seed}")).0;
        }
    }
    for (place, (name, shape)) in with_calls().into_iter().enumerate() {
        // Pairs under a lock are rare: a life that ends in a section, after a use in another.
        for seed in 0..3 * TRACES {
            let mut trace = generate(&shape, 8_000_000 + seed);
            if place > 1 {
                // Where there are objects, the lock and the condition variable lie in them.
                let (lock, condition) = if place == 2 { ("l0", "c0") } else { ("p0.l", "p0.n.c") };
                let text = show(&trace)
                    .replace("mutex q.", &format!("mutex {lock}."))
                    .replace("condition q.", &format!("condition {condition}."));
                trace = parse(&text).expect("a trace");
            }
            let counts = check(&trace, &format!("{name}, seed {seed}"));
            free += counts.0;
            locked[place] += counts.1;
        }
    }
    assert!(free > 1_000 && locked.iter().all(|&count| count > 10), "{free} {locked:?}");
}

#[test]
fn without_calls_and_objects_it_finds_what_wdc_does() {
    for (name, shape) in shapes() {
        for seed in 0..200 {
            let trace = generate(&shape, 9_000_000 + seed);
            let other = |op: Op| matches!(op, Op::Call(_) | Op::Free(_) | Op::Alloc(_));
            if !trace.events().any(|(_, event)| other(event.op)) {
                let (free, locked) = found(&trace, true);
                assert!(locked.is_empty());
                assert_eq!(
                    free,
                    pairs(&trace, Analysis::Wdc, true),
                    "{name}, seed {seed}:\n{}",
                    show(&trace)
                );
            }
        }
    }
}

#[test]
fn a_lock_and_a_wait_use_what_they_lie_in() {
    let free = |text: &str| found(&parse(text).expect("a trace"), false).0;
    let used = "a|acq(p.m)|1\na|rel(p.m)|2\n";
    assert_eq!(free(&format!("{used}b|free(p)|3")), [(EventId(0), EventId(2))], "one partner is enough");
    assert_eq!(free(&format!("{used}b|free(q)|3")), []);
    let waits = "a|acq(m)|1\na|rel(m)|2\nb|notify(p.c)|3\na|wait(p.c)|4\na|acq(m)|5\na|rel(m)|6\n";
    let ends = format!("{waits}d|call(condition p.c.destroy()=())|7");
    let all = found(&parse(&ends).expect("a trace"), true).0;
    assert_eq!(
        all,
        [(EventId(1), EventId(6)), (EventId(2), EventId(6))],
        "where it starts, not where it returns"
    );
}

#[test]
fn an_end_of_life_under_the_same_lock_is_found() {
    let locked = |text: &str| found(&parse(text).expect("a trace"), false).1.len();
    let used = "a|acq(m)|1\na|w(p.f)|2\na|rel(m)|3\n";
    let freed = "b|acq(m)|5\nb|free(p)|6\nb|rel(m)|7";
    assert_eq!(locked(&format!("{used}{freed}")), 1);
    // A write that the second section reads orders the two.
    let written = "a|acq(m)|1\na|w(p.f)|2\na|w(y)|3\na|rel(m)|4\n";
    assert_eq!(locked(&format!("{written}b|acq(m)|5\nb|free(p)|6\nb|r(y)|7\nb|rel(m)|8")), 0);
    assert_eq!(
        locked(
            "a|acq(m)|1\na|call(channel c.send(1)=())|2\na|rel(m)|3\nb|acq(m)|4\nb|call(channel c.close()=())|5\nb|rel(m)|6"
        ),
        1
    );
}
