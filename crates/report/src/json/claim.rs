//! What a witness shows or a query asks for.

use reweave_trace::EventId;
use serde::{Deserialize, Serialize};

/// `{"sequence": [5, 17, 11], "adjacent": [0]}`.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// The question and its events.
    #[serde(flatten)]
    pub asked: Asked,
    /// The places with nothing in between.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adjacent: Vec<u32>,
}

/// The question and its events.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// All may run.
    Coenabled(Vec<u32>),
    /// They block each other.
    Deadlock(Vec<u32>),
    /// They run in this order.
    Sequence(Vec<u32>),
    /// The first of each pair runs before the second.
    Before(Vec<[u32; 2]>),
    /// The wait sleeps for ever.
    Asleep(u32),
    /// The read finds what nobody wrote.
    Unwritten(u32),
    /// The first goes ahead of its order; the second may run then, too late.
    Ahead([u32; 2]),
}

impl From<&reweave_witness::Claim> for Claim {
    fn from(claim: &reweave_witness::Claim) -> Claim {
        use reweave_witness::Claim as Core;
        let ids = |events: &[EventId]| events.iter().map(|event| event.0).collect();
        let asked = match claim {
            Core::CoEnabled(events) => Asked::Coenabled(ids(events)),
            Core::Deadlock(events) => Asked::Deadlock(ids(events)),
            Core::Sequence { events, .. } => Asked::Sequence(ids(events)),
            Core::Before { pairs, .. } => Asked::Before(pairs.iter().map(|&(a, b)| [a.0, b.0]).collect()),
            Core::Asleep(wait) => Asked::Asleep(wait.0),
            Core::Unwritten(read) => Asked::Unwritten(read.0),
            Core::Ahead { first, then } => Asked::Ahead([first.0, then.0]),
        };
        let adjacent = match claim {
            Core::Sequence { adjacent, .. } | Core::Before { adjacent, .. } => adjacent,
            _ => &[][..],
        };
        Claim { asked, adjacent: adjacent.iter().map(|&place| place as u32).collect() }
    }
}

impl From<&Claim> for reweave_witness::Claim {
    fn from(claim: &Claim) -> reweave_witness::Claim {
        use reweave_witness::Claim as Core;
        let ids = |events: &[u32]| events.iter().copied().map(EventId).collect();
        let adjacent = claim.adjacent.iter().map(|&place| place as usize).collect();
        match &claim.asked {
            Asked::Coenabled(events) => Core::CoEnabled(ids(events)),
            Asked::Deadlock(events) => Core::Deadlock(ids(events)),
            Asked::Sequence(events) => Core::Sequence { events: ids(events), adjacent },
            Asked::Before(pairs) => {
                let pairs = pairs.iter().map(|&[a, b]| (EventId(a), EventId(b))).collect();
                Core::Before { pairs, adjacent }
            }
            Asked::Asleep(wait) => Core::Asleep(EventId(*wait)),
            Asked::Unwritten(read) => Core::Unwritten(EventId(*read)),
            Asked::Ahead([first, then]) => Core::Ahead { first: EventId(*first), then: EventId(*then) },
        }
    }
}
