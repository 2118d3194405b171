//! Deciding, and comparing with what is on file.

use std::path::Path;

use reweave_decide::{Decider, Limits, Prepared, Verdict};
use reweave_testkit::litmus;
use reweave_trace::{EventId, Model, Trace};
use reweave_witness::Claim;

pub(crate) fn id(event: u32) -> EventId {
    EventId(event)
}

pub(crate) fn ids(events: &[u32]) -> Vec<EventId> {
    events.iter().copied().map(EventId).collect()
}

/// The trace of a litmus test.
pub(crate) fn litmus(name: &str) -> Trace {
    litmus::all().into_iter().find(|test| test.name == name).expect("a litmus test").trace
}

/// What all stages say.
pub(crate) fn decide(trace: &Trace, model: Model, claim: &Claim) -> Verdict {
    let prepared = Prepared::new(trace, None);
    let mut decider = Decider::new(&prepared, model).expect("a sound model");
    decider.decide(claim, &Limits::none()).expect("an answer")
}

/// Compares `text` with the file `tests/golden/<name>.txt`; `REWEAVE_BLESS=1` writes it instead.
#[track_caller]
pub(crate) fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("REWEAVE_BLESS").is_some_and(|value| value == "1") {
        return std::fs::write(&path, text).expect("golden files can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == text,
        "{} differs; look at it, and bless it with REWEAVE_BLESS=1\n--- expected\n{expected}--- found\n{text}",
        path.display()
    );
}
