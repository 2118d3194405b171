//! `reweave stats --depends`: what an event depends on, and what depends on it.

use std::io::Write;
use std::path::Path;

use reweave_report::event;
use reweave_trace::{Dependences, Dependent, EventId, Kind, Trace};

use crate::failure::Failure;

/// How many events of each kind are listed.
const MOST: usize = 20;

/// Explains events of a trace.
pub(super) fn print(out: &mut impl Write, path: &Path, trace: &Trace, events: &[u32]) -> anyhow::Result<()> {
    let path = path.display();
    let Some(table) = trace.dependences() else {
        let hint = "record the program with `reweave record --dependences`, or write the table by hand: lines such as \
                    `#! needs 8: 5 3` and `#! capabilities: dependences` at the top";
        return Err(Failure::new(format!("{path}: the trace has no table of dependences")).hint(hint).into());
    };
    for &number in events {
        let id = EventId(number);
        if id.index() >= trace.len() || trace.kind(id) == Kind::Skip {
            let last = trace.len().saturating_sub(1);
            return Err(Failure::new(format!("{path}: there is no event {number}"))
                .hint(format!("events are numbered from 0 to {last}"))
                .into());
        }
        explain(out, trace, table, id)?;
    }
    Ok(out.flush()?)
}

fn explain(out: &mut impl Write, trace: &Trace, table: &Dependences, id: EventId) -> std::io::Result<()> {
    writeln!(out, "{}", event::numbered(trace, id))?;
    let (needs, feeds) = (table.needs(id), table.feeds(id));
    if needs.is_empty() {
        writeln!(out, "  needs no read that no event of its thread before it needed")?;
    }
    list(out, trace, "needs", needs)?;
    list(out, trace, "writes what was computed from", feeds)?;
    let mut needed_by = Vec::new();
    let mut fed = Vec::new();
    for (who, reads) in table.entries() {
        match who {
            _ if !reads.contains(&id) => {}
            Dependent::Needs(event) => needed_by.push(event),
            Dependent::Feeds(event) => fed.push(event),
            Dependent::End(thread) => {
                writeln!(out, "  decides how {} ends", event::clean(trace.thread_name(thread)))?;
            }
        }
    }
    list(out, trace, "decides about", &needed_by)?;
    list(out, trace, "is in what is written by", &fed)
}

fn list(out: &mut impl Write, trace: &Trace, what: &str, events: &[EventId]) -> std::io::Result<()> {
    for &event in events.iter().take(MOST) {
        writeln!(out, "  {what} {}", event::numbered(trace, event))?;
    }
    if events.len() > MOST {
        writeln!(out, "  {what} {} more", events.len() - MOST)?;
    }
    Ok(())
}
