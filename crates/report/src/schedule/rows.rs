//! The lines of a schedule: steps, and what stands for steps that do not matter.

use std::collections::BTreeSet;

use reweave_trace::{EventId, Kind, ThreadId, Trace};
use reweave_witness::{CheckedWitness, Witness};

use super::touch::Meetings;
use crate::claim;

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Row {
    /// Something about the schedule as a whole.
    Note(String),
    /// The same, about what it was made for.
    Moment(String),
    /// An event; marked if it is one that the claim names.
    Step { event: EventId, marked: bool },
    /// Events of one thread that do not matter.
    Gap { thread: ThreadId, events: usize },
    /// A remark on the event above.
    Remark { thread: ThreadId, text: String },
}

/// Shorter stretches are shown: a line that stands for them would save little.
const LONG: usize = 4;

/// The steps of the schedule.
pub(super) fn steps(trace: &Trace, checked: &CheckedWitness, limit: usize) -> Vec<Row> {
    let named: BTreeSet<EventId> = match claim::next(checked.claim()) {
        [] => claim::events(checked.claim()).into_iter().collect(),
        _ => BTreeSet::new(),
    };
    let (length, tail) = observed(trace, checked.witness());
    let mut rows = prefix(length, &named);
    // What a sequence needs is over with its last event.
    let end = match named.is_empty() {
        true => tail.len(),
        false => tail.iter().rposition(|event| named.contains(event)).map_or(0, |place| place + 1),
    };
    let (needed, rest) = tail.split_at(end);
    rows.extend(shorten(after(trace, checked, needed, &named), limit));
    if !rest.is_empty() {
        rows.push(Row::Note(format!("… {}", count(rest.len(), "more event"))));
    }
    if rows.is_empty() {
        rows.push(Row::Note("nothing has to run first".to_owned()));
    }
    rows
}

/// How many positions run as observed, and what follows: a witness may have given its prefix shorter than it is.
pub(crate) fn observed<'w>(trace: &Trace, witness: &'w Witness) -> (u32, &'w [EventId]) {
    let (mut length, mut tail) = (witness.prefix, &witness.tail[..]);
    while let [next, rest @ ..] = tail
        && (length..next.0).all(|position| trace.kind(EventId(position)) == Kind::Skip)
        && next.0 >= length
    {
        (length, tail) = (next.0 + 1, rest);
    }
    (length, tail)
}

/// The prefix, interrupted by the events that the claim names.
fn prefix(length: u32, named: &BTreeSet<EventId>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut from = 0;
    let marks = named.range(..EventId(length)).copied().map(Some).chain([None]);
    for mark in marks {
        let to = mark.map_or(length, |event| event.0);
        match to - from {
            0 => {}
            1 => rows.push(Row::Note(format!("event {from} as observed"))),
            _ => rows.push(Row::Note(format!("events {from}–{} as observed", to - 1))),
        }
        if let Some(event) = mark {
            rows.push(Row::Step { event, marked: true });
            from = event.0 + 1;
        }
    }
    rows
}

/// The steps after the prefix, without the stretches where a thread is on its own.
fn after(trace: &Trace, checked: &CheckedWitness, events: &[EventId], named: &BTreeSet<EventId>) -> Vec<Row> {
    let meetings = Meetings::new(trace, events.iter().chain(claim::next(checked.claim())));
    let matters = |event: EventId| named.contains(&event) || meetings.matters(trace, event);
    let alone =
        |a: &EventId, b: &EventId| trace.thread(*a) == trace.thread(*b) && !matters(*a) && !matters(*b);
    let mut rows = Vec::new();
    for stretch in events.chunk_by(alone) {
        match stretch {
            [first, ..] if stretch.len() >= LONG => {
                rows.push(Row::Gap { thread: trace.thread(*first), events: stretch.len() });
            }
            _ => {
                rows.extend(stretch.iter().map(|&event| Row::Step { event, marked: named.contains(&event) }))
            }
        }
    }
    rows
}

/// At most about `limit` lines: the first ones give way, but for marked events.
fn shorten(rows: Vec<Row>, limit: usize) -> Vec<Row> {
    let Some(cut) = rows.len().checked_sub(limit).filter(|&cut| cut > 0) else { return rows };
    let mut shown = Vec::new();
    let mut passed = 0;
    for (place, row) in rows.into_iter().enumerate() {
        let kept = place >= cut || matches!(row, Row::Step { marked: true, .. });
        if !kept {
            passed += if let Row::Gap { events, .. } = row { events } else { 1 };
            continue;
        }
        if passed > 0 {
            shown.push(Row::Note(format!("… {}", count(passed, "event"))));
            passed = 0;
        }
        shown.push(row);
    }
    shown
}

/// `1 event`, `12 events`.
pub(super) fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(rows: &[Row]) -> Vec<String> {
        let note = |row: &Row| match row {
            Row::Note(text) => text.clone(),
            Row::Step { event, .. } => event.0.to_string(),
            _ => String::new(),
        };
        rows.iter().map(note).collect()
    }

    #[test]
    fn the_prefix_is_one_line_but_for_named_events() {
        let named = |events: &[u32]| events.iter().copied().map(EventId).collect();
        assert_eq!(notes(&prefix(0, &named(&[]))), [""; 0]);
        assert_eq!(notes(&prefix(1, &named(&[]))), ["event 0 as observed"]);
        assert_eq!(notes(&prefix(9, &named(&[9]))), ["events 0–8 as observed"]);
        let rows = prefix(9, &named(&[0, 4, 8]));
        assert_eq!(notes(&rows), ["0", "events 1–3 as observed", "4", "events 5–7 as observed", "8"]);
    }

    #[test]
    fn too_many_lines_give_way_but_not_the_marked_ones() {
        let rows = (0..10).map(|id| Row::Step { event: EventId(id), marked: id == 2 }).collect();
        assert_eq!(notes(&shorten(rows, 3)), ["… 2 events", "2", "… 4 events", "7", "8", "9"]);
    }
}
