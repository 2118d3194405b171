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
        };
        let adjacent = match claim {
            Core::CoEnabled(_) | Core::Deadlock(_) => &[][..],
            Core::Sequence { adjacent, .. } | Core::Before { adjacent, .. } => adjacent,
        };
        Claim { asked, adjacent: adjacent.iter().map(|&place| place as u32).collect() }
    }
}
