//! What a claim asks for: its events, and a weaker claim that the quick stages can refute.

use reweave_trace::{EventId, Kind, VarId};
use reweave_witness::Claim;

use crate::prepare::Prepared;

/// The events that a claim names.
pub(crate) fn events(claim: &Claim) -> Vec<EventId> {
    match claim {
        Claim::CoEnabled(events) | Claim::Deadlock(events) | Claim::Sequence { events, .. } => events.clone(),
        Claim::Before { pairs, .. } => pairs.iter().flat_map(|&(a, b)| [a, b]).collect(),
        Claim::Asleep(event) | Claim::Unwritten(event) => vec![*event],
        Claim::Ahead { first, then } => vec![*first, *then],
    }
}

/// The events that a claim wants to be next, and those that it wants to run.
pub(crate) fn next_and_run(claim: &Claim) -> (Vec<EventId>, Vec<EventId>) {
    match claim {
        Claim::CoEnabled(events) | Claim::Deadlock(events) => (events.clone(), Vec::new()),
        Claim::Asleep(wait) => (vec![*wait], Vec::new()),
        Claim::Ahead { first, then } => (vec![*then], vec![*first]),
        Claim::Sequence { .. } | Claim::Before { .. } | Claim::Unwritten(_) => (Vec::new(), events(claim)),
    }
}

/// The pairs that a claim wants in this order.
pub(crate) fn pairs(prepared: &Prepared<'_>, claim: &Claim) -> Vec<(EventId, EventId)> {
    match claim {
        Claim::CoEnabled(_) | Claim::Deadlock(_) | Claim::Asleep(_) | Claim::Ahead { .. } => Vec::new(),
        Claim::Sequence { events, .. } => events.windows(2).map(|pair| (pair[0], pair[1])).collect(),
        Claim::Before { pairs, .. } => pairs.clone(),
        Claim::Unwritten(read) => spoilers(prepared, *read).map(|write| (*read, write)).collect(),
    }
}

/// The writes that must not come before a read for it to find what nobody wrote: the birth of an object is none.
pub(crate) fn spoilers<'p>(prepared: &'p Prepared<'_>, read: EventId) -> impl Iterator<Item = EventId> + 'p {
    let variable: Option<VarId> = prepared.trace.op(read).access().map(|access| access.variable);
    let writers = variable.map_or(&[][..], |variable| prepared.writers(variable));
    writers.iter().copied().filter(move |&write| write != read && prepared.trace.kind(write) != Kind::Alloc)
}

/// The event observed first of those that a schedule for the claim may move.
pub(crate) fn earliest(prepared: &Prepared<'_>, claim: &Claim) -> Option<EventId> {
    let mut all = events(claim);
    for event in all.clone() {
        if let Some(link) = prepared.links.wait(event) {
            all.push(link.start);
            all.extend(link.waker);
        }
    }
    if let Claim::Unwritten(read) = claim {
        all.extend(spoilers(prepared, *read).next());
    }
    all.into_iter().min()
}

/// What holds wherever the claim does, for claims that only the exact stage understands: a refutation of it is one of the claim.
pub(crate) fn weaker(prepared: &Prepared<'_>, claim: &Claim) -> Option<Claim> {
    match claim {
        Claim::Asleep(wait) => {
            let link = prepared.links.wait(*wait)?;
            Some(Claim::Before { pairs: vec![(link.waker?, link.start)], adjacent: Vec::new() })
        }
        Claim::Deadlock(events) if events.iter().any(|&event| prepared.trace.kind(event) == Kind::Wait) => {
            let acquires = events.iter().copied().filter(|&event| prepared.trace.kind(event) != Kind::Wait);
            Some(Claim::CoEnabled(acquires.collect()))
        }
        _ => None,
    }
}
