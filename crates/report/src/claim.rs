//! A question in words.

use std::collections::BTreeSet;

use reweave_trace::EventId;
use reweave_witness::Claim;

/// What the claim asks for, as a noun phrase: `events 3 and 9 next at the same time`.
pub fn text(claim: &Claim) -> String {
    match claim {
        Claim::CoEnabled(events) => match events[..] {
            [only] => format!("event {} next", only.0),
            _ => format!("events {} next at the same time", list(events)),
        },
        Claim::Deadlock(acquires) => match acquires[..] {
            [only] => format!("event {} waiting for ever", only.0),
            _ => format!("a deadlock of events {}", list(acquires)),
        },
        Claim::Asleep(wait) => format!("event {} waiting for ever, its notification gone by", wait.0),
        Claim::Unwritten(read) => format!("event {} reading what nobody has written", read.0),
        Claim::Ahead { first, then } => format!("event {} ahead of its order, and {} next", first.0, then.0),
        Claim::Sequence { events, .. } => {
            let what = match events[..] {
                [only] => format!("event {}", only.0),
                _ => format!("events {} in this order", list(events)),
            };
            what + &apart(claim)
        }
        Claim::Before { pairs, .. } => {
            let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("{} before {}", a.0, b.0)).collect();
            format!("event {}{}", and(&pairs), apart(claim))
        }
    }
}

/// Every event that the claim names, in its order, each once.
pub fn events(claim: &Claim) -> Vec<EventId> {
    let mut seen = BTreeSet::new();
    let mut events = match claim {
        Claim::CoEnabled(events) | Claim::Deadlock(events) | Claim::Sequence { events, .. } => events.clone(),
        Claim::Before { pairs, .. } => pairs.iter().flat_map(|&(a, b)| [a, b]).collect(),
        Claim::Asleep(event) | Claim::Unwritten(event) => vec![*event],
        Claim::Ahead { first, then } => vec![*first, *then],
    };
    events.retain(|&event| seen.insert(event));
    events
}

/// The events that the claim wants to be next in the end.
pub(crate) fn next(claim: &Claim) -> &[EventId] {
    match claim {
        Claim::CoEnabled(events) | Claim::Deadlock(events) => events,
        Claim::Asleep(wait) => std::slice::from_ref(wait),
        Claim::Ahead { then, .. } => std::slice::from_ref(then),
        Claim::Sequence { .. } | Claim::Before { .. } | Claim::Unwritten(_) => &[],
    }
}

/// The pairs that the claim wants nothing between.
pub(crate) fn adjacent(claim: &Claim) -> Vec<(EventId, EventId)> {
    let (pairs, places): (Vec<_>, &[usize]) = match claim {
        Claim::CoEnabled(_)
        | Claim::Deadlock(_)
        | Claim::Asleep(_)
        | Claim::Unwritten(_)
        | Claim::Ahead { .. } => (Vec::new(), &[]),
        Claim::Sequence { events, adjacent } => {
            (events.windows(2).map(|pair| (pair[0], pair[1])).collect(), adjacent)
        }
        Claim::Before { pairs, adjacent } => (pairs.clone(), adjacent),
    };
    places.iter().filter_map(|&place| pairs.get(place).copied()).collect()
}

fn apart(claim: &Claim) -> String {
    let pairs = adjacent(claim);
    let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("{} and {}", a.0, b.0)).collect();
    if pairs.is_empty() { String::new() } else { format!(", nothing between {}", pairs.join(", nor ")) }
}

fn list(events: &[EventId]) -> String {
    let events: Vec<String> = events.iter().map(|event| event.0.to_string()).collect();
    and(&events)
}

/// `a, b and c`.
pub(crate) fn and(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_has_words() {
        let ids = |events: &[u32]| events.iter().copied().map(EventId).collect::<Vec<_>>();
        let pairs = vec![(EventId(3), EventId(7)), (EventId(9), EventId(12))];
        for (claim, words) in [
            (Claim::CoEnabled(ids(&[3])), "event 3 next"),
            (Claim::CoEnabled(ids(&[3, 9])), "events 3 and 9 next at the same time"),
            (Claim::Deadlock(ids(&[3])), "event 3 waiting for ever"),
            (Claim::Deadlock(ids(&[1, 5, 9])), "a deadlock of events 1, 5 and 9"),
            (Claim::Asleep(EventId(6)), "event 6 waiting for ever, its notification gone by"),
            (Claim::Ahead { first: EventId(6), then: EventId(2) }, "event 6 ahead of its order, and 2 next"),
            (Claim::Unwritten(EventId(6)), "event 6 reading what nobody has written"),
            (Claim::Sequence { events: ids(&[4]), adjacent: vec![] }, "event 4"),
            (
                Claim::Sequence { events: ids(&[5, 17, 11]), adjacent: vec![0, 1] },
                "events 5, 17 and 11 in this order, nothing between 5 and 17, nor 17 and 11",
            ),
            (
                Claim::Before { pairs: pairs.clone(), adjacent: vec![1] },
                "event 3 before 7 and 9 before 12, nothing between 9 and 12",
            ),
        ] {
            assert_eq!(text(&claim), words);
        }
    }
}
