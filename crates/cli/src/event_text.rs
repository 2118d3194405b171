//! One event, spelled out with its place in the file.

use std::path::Path;

use reweave_format::Loaded;
use reweave_report::event;
use reweave_trace::{EventId, Kind};

/// `event 7 (t.std:9): T2 acq(l) at bank.c:12`, as far as all that is known.
pub(crate) fn describe(loaded: &Loaded, path: &Path, id: EventId) -> String {
    let trace = &loaded.trace;
    let line = loaded.lines.as_ref().and_then(|lines| lines.line(id));
    let place = line.map(|line| format!(" ({}:{line})", path.display())).unwrap_or_default();
    let number = id.0;
    if id.index() >= trace.len() {
        return format!("event {number}: the trace has {} positions, from 0", trace.len());
    }
    if trace.kind(id) == Kind::Skip {
        return format!("event {number}{place}: no event, it was passed over or dropped");
    }
    format!("event {number}{place}: {}", event::text(trace, id))
}
