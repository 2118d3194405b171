//! Racy pairs as JSON; `docs/analyses.md` describes it.

use serde::{Serialize, Serializer};

use super::tally::Tally;

/// The document.
#[derive(Serialize)]
pub(super) struct Document<'t> {
    schema: u32,
    analyses: Vec<Analysis<'t>>,
}

#[derive(Serialize)]
struct Analysis<'t> {
    name: &'static str,
    racy_events: u64,
    racy_sites: u64,
    #[serde(serialize_with = "compact")]
    pairs: &'t [[u32; 2]],
    #[serde(serialize_with = "compact", skip_serializing_if = "<[_]>::is_empty")]
    locked_pairs: &'t [[u32; 2]],
}

impl<'t> Document<'t> {
    pub(super) fn new(tallies: &'t [Tally]) -> Document<'t> {
        let analysis = |tally: &'t Tally| Analysis {
            name: tally.analysis.name(),
            racy_events: tally.racy_events(),
            racy_sites: tally.racy_sites(),
            pairs: tally.pairs(),
            locked_pairs: tally.locked(),
        };
        Document { schema: 1, analyses: tallies.iter().map(analysis).collect() }
    }
}

fn compact<S: Serializer>(pairs: &&[[u32; 2]], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(pairs.iter())
}
