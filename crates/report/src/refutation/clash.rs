//! Demands that no schedule meets together.

use std::fmt::Write;

use reweave_decide::Demand;
use reweave_trace::{EventId, Model, Trace};

use super::short;
use crate::event;

pub(super) fn story(trace: &Trace, model: Model, demands: &[Demand]) -> String {
    let mut text = String::from("No schedule meets all of these:\n");
    for &one in demands {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  - {}", demand(trace, model, one));
    }
    text
}

/// One demand, as a sentence without a full stop.
pub fn demand(trace: &Trace, model: Model, demand: Demand) -> String {
    let text = |id: EventId| event::numbered(trace, id);
    match demand {
        Demand::Asked(a) => format!("the query asks for {} to run", text(a)),
        Demand::AskedNext(a) => format!("the query asks for {} to be next in the end", text(a)),
        Demand::AskedBefore(a, b) => format!("the query asks for {} before {}", text(a), text(b)),
        Demand::AskedAdjacent(a, b, other) => {
            format!(
                "the query asks for nothing between {} and {}, so {} is not there",
                short(a),
                short(b),
                text(other)
            )
        }
        Demand::Fork { event, fork } => {
            format!("{} needs {}, which starts its thread", text(event), text(fork))
        }
        Demand::Join { join, last } => {
            format!(
                "{} waits for the end of {}, so {} comes first",
                text(join),
                event::thread(trace, last),
                text(last)
            )
        }
        Demand::Needs { event, read } if event == read => {
            format!("{} runs only if it observes what it did", text(event))
        }
        Demand::Needs { event, read } => {
            format!("{} may depend on {}, which then has to observe what it did", text(event), text(read))
        }
        Demand::Observes { .. } | Demand::NotBetween { .. } | Demand::Untainted { .. } => {
            data(trace, model, demand)
        }
        Demand::Mutex { lock, first, second } => {
            let lock = event::clean(trace.lock_name(lock));
            format!("{} and {} are not inside {lock} at the same time", text(first), text(second))
        }
        Demand::Busy { attempt } => {
            let lock = event::target(trace, attempt);
            format!("{} fails only while another thread holds {lock}", text(attempt))
        }
        Demand::Woken { wait, waker } => {
            format!("{} was woken by {}, which comes after the wait has started", text(wait), text(waker))
        }
        Demand::NotNotified { wait, notification } => {
            format!("nothing woke {}, so {} does not come while it lasts", text(wait), text(notification))
        }
        Demand::Unseen { write, earlier } => {
            format!("{} was not recorded, and may be due to {}", text(write), text(earlier))
        }
        Demand::Looked { look, later } => {
            format!("{} looked at the clock later than {}, and it does not go back", text(later), text(look))
        }
        Demand::Called { call, earlier } => {
            format!("{} and {} are calls on one object, which keep their order", text(earlier), text(call))
        }
        Demand::DeadHolder { acquire } => {
            let lock = event::target(trace, acquire);
            format!("the query asks for {} to find {lock} held by a thread that has ended", text(acquire))
        }
        Demand::AtRest(event) => {
            format!(
                "nobody can go on in the end: {} comes, or its thread waits for ever before it",
                text(event)
            )
        }
        // The enum is open; what it may say one day is told as it stands.
        other => format!("{other:?}"),
    }
}

/// Demands on what reads observe.
fn data(trace: &Trace, model: Model, demand: Demand) -> String {
    let text = |id: EventId| event::numbered(trace, id);
    match demand {
        // One of several equal values would do, and the list may name each.
        Demand::Observes { read, write } if model.by_value() => {
            let from = write.map_or_else(|| "the start".to_owned(), text);
            format!("{} has to observe the value that it did, as from {from}", text(read))
        }
        Demand::Observes { read, write: Some(write) } => {
            format!("{} has to observe {}", text(read), text(write))
        }
        Demand::Observes { read, write: None } => {
            format!("{} has to observe the initial value of {}", text(read), event::target(trace, read))
        }
        Demand::NotBetween { read, write: Some(write), other } => {
            format!(
                "{} does not come between {} and {}, which observes it",
                text(other),
                text(write),
                text(read)
            )
        }
        Demand::NotBetween { read, write: None, other } => {
            format!("{} does not come before {}, which observes the initial value", text(other), text(read))
        }
        Demand::Untainted { read, write, by } => format!(
            "{} is observed by {}, so it has to write what it did, and {}, which it may depend on, has to \
             observe what it did",
            text(write),
            text(read),
            text(by)
        ),
        other => format!("{other:?}"),
    }
}
