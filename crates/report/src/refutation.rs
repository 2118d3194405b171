//! Why no schedule shows what was asked for, as a story that a person can follow.

mod clash;
mod cycle;

use reweave_decide::{Impossible, Reason, Refutation};
use reweave_trace::{EventId, Model, Trace};
use reweave_witness::Claim;

use crate::event;

pub use clash::demand;
pub use cycle::{circle, reason};

/// The story, in lines of text that each have their end.
pub fn text(trace: &Trace, model: Model, claim: &Claim, refutation: &Refutation) -> String {
    match refutation {
        Refutation::Static(impossible) => format!("{}\n", contradiction(trace, *impossible)),
        Refutation::Cycle(steps) => cycle::story(trace, claim, steps),
        Refutation::Clash(demands) => clash::story(trace, model, demands),
    }
}

/// Why nothing is known, and what would help, as a sentence.
pub fn unknown(reason: Reason) -> &'static str {
    match reason {
        Reason::Work => "The search took more steps than --work allows: give it more, or leave it out.",
        Reason::Stopped => "The time of --budget was up: give it more, or leave it out.",
        _ => "The stages that were allowed do not settle it: leave out --fast.",
    }
}

/// Why the question contradicts itself, as a sentence.
pub fn contradiction(trace: &Trace, impossible: Impossible) -> String {
    let text = |id: EventId| event::numbered(trace, id);
    match impossible {
        Impossible::SameThread(a, b) if a == b => {
            format!("{} is named twice: two different threads are needed.", upper(&text(a)))
        }
        Impossible::SameThread(a, b) => {
            let thread = event::thread(trace, a);
            format!("{thread} runs both {} and {}: they cannot be next at the same time.", text(a), text(b))
        }
        Impossible::NotAnAcquire(a) => {
            format!("{} is not an acquire that can block, so no thread can be stuck there.", upper(&text(a)))
        }
        Impossible::NotASleep(a) => format!(
            "{} is not a wait that was woken, or a deadline ends it: it cannot sleep for ever.",
            upper(&text(a))
        ),
        Impossible::NotARead(a) => format!("{} is not a read.", upper(&text(a))),
        Impossible::NoCycle => "The threads, standing there, do not block each other: no lock that one of \
                                them waits for is held by the next, all the way round."
            .to_owned(),
        Impossible::Backwards(a, b) if a == b => {
            format!("{} cannot come before itself.", upper(&text(a)))
        }
        Impossible::Backwards(a, b) => {
            let thread = event::thread(trace, a);
            format!(
                "{} cannot come before {}: {thread} runs them the other way round.",
                upper(&text(a)),
                text(b)
            )
        }
        // The enum is open; what it may say one day is told as it stands.
        other => format!("The question contradicts itself: {other:?}."),
    }
}

/// `text` with a capital at its start.
fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `event 7`, for an event that has been spelled out already.
fn short(id: EventId) -> String {
    format!("event {}", id.0)
}
