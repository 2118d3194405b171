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
