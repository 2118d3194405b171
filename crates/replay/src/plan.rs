//! A schedule as the runtime reads it: numbers only, each item in order.

use std::fmt::Write;

use reweave_capture::CodePlace;

use crate::schedule::{Named, Schedule, Shape};

/// Which of two racing accesses comes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The first one.
    Ab,
    /// The second one.
    Ba,
}

impl Order {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Order::Ab => "ab",
            Order::Ba => "ba",
        }
    }
}

/// How a schedule is to be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wish {
    /// What comes after both threads of a race stand before their accesses.
    pub order: Order,
    /// Whether to give up at the first difference.
    pub strict: bool,
    /// Whether a debugger is to stop there.
    pub stops: bool,
    /// How many points a thread may pass on its way to a step, beyond what it took in the recorded run; the runtime's own
    /// number where there is none.
    pub patience: Option<u64>,
}

/// What item of a plan it is, for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// A segment of the schedule.
    Segment(usize),
    /// A thread comes to stand before an event of the finding.
    Stand(usize),
    /// It waits for its lock.
    Block(usize),
    /// It waits to be notified.
    Sleep(usize),
    /// The moment to look.
    Look,
    /// The event happens afterwards.
    Then(usize),
}

/// The items of the plan, in order.
pub(crate) fn parts(schedule: &Schedule, order: Order) -> Vec<Part> {
    let mut parts: Vec<Part> = (0..schedule.segments.len()).map(Part::Segment).collect();
    let events = 0..schedule.events.len();
    match schedule.shape {
        Shape::Race => {
            parts.extend(events.clone().map(Part::Stand));
            parts.push(Part::Look);
            match order {
                Order::Ab => parts.extend(events.map(Part::Then)),
                Order::Ba => parts.extend(events.rev().map(Part::Then)),
            }
        }
        Shape::Deadlock => {
            parts.extend(events.clone().map(Part::Stand));
            parts.extend(events.map(Part::Block));
            parts.push(Part::Look);
        }
        Shape::Sleep => {
            parts.extend(events.map(Part::Sleep));
            parts.push(Part::Look);
        }
        Shape::Sequence => parts.push(Part::Look),
        // What it does then may fail, or not come at all.
        Shape::Late => parts.extend([Part::Stand(1), Part::Look, Part::Then(1)]),
    }
    parts
}

/// The plan as text.
pub(crate) fn write(schedule: &Schedule, wish: Wish) -> String {
    let mut text = String::new();
    // A module without a name stands for events that have no place.
    let unknown = schedule.modules.len();
    for module in &schedule.modules {
        let _ = writeln!(text, "m {}", module.name);
    }
    text.push_str("m \n");
    if wish.strict {
        text.push_str("strict\n");
    }
    if wish.stops {
        text.push_str("stop\n");
    }
    if let Some(patience) = wish.patience {
        let _ = writeln!(text, "p {patience}");
    }
    let place = |place: CodePlace| {
        format!("{} {}", place.module.map_or(unknown, |module| module as usize), place.offset)
    };
    for set in &schedule.alike {
        let Some((&first, others)) = set.split_first() else { continue };
        for &other in others {
            let _ = writeln!(text, "a {} {}", place(first), place(other));
        }
    }
    for &(parent, at, nth) in schedule.threads.iter().filter_map(|thread| thread.made.as_ref()) {
        let _ = writeln!(text, "t {parent} {} {nth}", place(at));
    }
    for event in &schedule.events {
        let _ = writeln!(text, "c {} {} {}", event.thread, place(event.place), event.occurrence);
    }
    for (word, pairs) in [("x", &schedule.same), ("y", &schedule.order)] {
        for (a, b) in pairs {
            let _ = writeln!(text, "{word} {a} {b}");
        }
    }
    for part in parts(schedule, wish.order) {
        let (word, step) = match part {
            Part::Look => {
                text.push_str("k\n");
                continue;
            }
            Part::Segment(place) => ("r", schedule.segments.get(place)),
            Part::Stand(event) => ("s", schedule.events.get(event)),
            Part::Block(event) => ("b", schedule.events.get(event)),
            Part::Sleep(event) => ("w", schedule.events.get(event)),
            Part::Then(event) => ("r", schedule.events.get(event)),
        };
        if let Some(Named { thread, place: at, occurrence, own, .. }) = step {
            let _ = writeln!(text, "{word} {thread} {} {occurrence} {own}", place(*at));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use reweave_capture::ModuleFile;

    use super::*;
    use crate::schedule::Thread;

    /// The plans that the runtime has a test for, too: it reads each line of them.
    const PLANS: &str = include_str!("../tests/data/plans.txt");

    fn schedule(shape: Shape) -> Schedule {
        let place = |module, offset| CodePlace { module: Some(module), offset };
        let named =
            |thread, place, occurrence, own| Named { thread, place, occurrence, own, note: String::new() };
        let module = |name: &str| ModuleFile { name: name.to_owned(), build: "1".to_owned() };
        let thread = |made| Thread { name: String::new(), made, note: String::new() };
        Schedule {
            modules: vec![module("program"), module("libc.so.6")],
            fingerprint: String::new(),
            kind: String::new(),
            title: String::new(),
            shape,
            threads: vec![
                thread(None),
                thread(Some((0, place(0, 48), 2))),
                thread(Some((1, CodePlace { module: None, offset: 0 }, 1))),
            ],
            events: vec![named(1, place(0, 16), 4, 17), named(2, place(1, 64), 1, 0)],
            same: vec![(0, 1)],
            order: vec![(1, 0)],
            alike: vec![vec![place(0, 16), place(0, 24), place(0, 32)]],
            segments: vec![named(0, place(0, 80), 1, 3)],
        }
    }

    #[test]
    fn plans_are_those_that_the_runtime_reads() {
        let mut seen = 0;
        for plan in PLANS.split("# ").skip(1) {
            let (name, expected) = plan.split_once('\n').expect("a name");
            let words: Vec<&str> = name.split(' ').collect();
            let shapes = [Shape::Race, Shape::Deadlock, Shape::Sequence, Shape::Sleep, Shape::Late];
            let shape = shapes.into_iter().find(|shape| shape.name() == words[0]).expect("a shape");
            let wish = Wish {
                order: if words[1] == "ab" { Order::Ab } else { Order::Ba },
                strict: words.contains(&"strict"),
                stops: words.contains(&"stop"),
                patience: words.contains(&"patience").then_some(500),
            };
            assert_eq!(write(&schedule(shape), wish), expected, "{name}");
            seen += 1;
        }
        assert_eq!(seen, 6);
    }
}
