//! Findings that an older run knows already.

use std::collections::BTreeSet;

use crate::json::predict::{Document, Finding};

/// The fingerprints of an older run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Baseline {
    fingerprints: BTreeSet<String>,
}

impl Baseline {
    /// What `document` knows.
    pub fn new(document: &Document) -> Baseline {
        let all = document.results.iter().flat_map(|result| &result.findings);
        Baseline { fingerprints: all.map(|finding| finding.fingerprint.clone()).collect() }
    }

    /// Whether the finding was there before.
    pub fn knows(&self, finding: &Finding) -> bool {
        self.fingerprints.contains(&finding.fingerprint)
    }
}
