//! A whole document: the results of one trace, or of several with what they come to together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::{FailedRun, Finding, TraceResult, Undecided};
use crate::json::{Counts, SCHEMA, TOOL, seconds};

/// The results, one per trace.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Document {
    /// The recorded runs that failed by themselves, where the runs were made for this.
    pub failed_runs: Vec<FailedRun>,
    /// What there was no time for beside the search, in words: runs to record, findings to replay.
    pub cut: Vec<String>,
    /// In the order in which the user named the traces.
    pub results: Vec<TraceResult>,
}

/// Why a text is not a document of `reweave predict`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It is not JSON, or a field is missing or of another type.
    #[error("not a result of reweave predict: {0}")]
    Form(#[from] serde_json::Error),
    /// It is of another version.
    #[error("the document has schema {0}, this is a reader of schema {SCHEMA}")]
    Schema(u64),
    /// A finding has too few or too many events or sites for its kind.
    #[error("finding {0} does not have the events and sites that its kind takes")]
    Finding(String),
}

impl Document {
    /// Reads a document.
    pub fn parse(text: &[u8]) -> Result<Document, DocumentError> {
        let value: Value = serde_json::from_slice(text)?;
        let schema = value.get("schema").and_then(Value::as_u64).unwrap_or(u64::from(SCHEMA));
        if schema != u64::from(SCHEMA) {
            return Err(DocumentError::Schema(schema));
        }
        #[derive(Deserialize)]
        struct Several {
            traces: Vec<TraceResult>,
        }
        let failed_runs = match value.get("failed_runs") {
            Some(list) => serde_json::from_value(list.clone())?,
            None => Vec::new(),
        };
        let cut = match value.get("cut") {
            Some(list) => serde_json::from_value(list.clone())?,
            None => Vec::new(),
        };
        let results = match value.get("traces") {
            Some(_) => serde_json::from_value::<Several>(value)?.traces,
            None => vec![serde_json::from_value(value)?],
        };
        for finding in results.iter().flat_map(|result| &result.findings) {
            if finding.claim().is_none() || finding.sites.len() != finding.events.len() {
                return Err(DocumentError::Finding(finding.fingerprint.clone()));
            }
        }
        Ok(Document { failed_runs, cut, results })
    }

    /// The findings to show. Those of several traces are merged by fingerprint, and the events are those of the first
    /// trace that shows it.
    pub fn findings(&self) -> Vec<Finding> {
        if let [only] = &self.results[..] {
            return only.findings.clone();
        }
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut merged: Vec<Finding> = Vec::new();
        for (trace, result) in self.results.iter().enumerate() {
            let trace = trace as u32;
            for finding in &result.findings {
                let place = *places.entry(&finding.fingerprint).or_insert(merged.len());
                match merged.get_mut(place) {
                    None => merged.push(Finding { trace: Some(trace), traces: Some(1), ..finding.clone() }),
                    // Another pair of the same sites in the same trace: the first one stands for all.
                    Some(known) if known.trace == Some(trace) => {}
                    Some(known) => {
                        known.instances += finding.instances;
                        known.traces = known.traces.map(|traces| traces + 1);
                        known.replay = known.replay.into_iter().chain(finding.replay).min();
                        if finding.severity().rank() < known.severity().rank() {
                            known.severity = finding.severity.clone();
                            known.replays.clone_from(&finding.replays);
                        }
                    }
                }
            }
        }
        merged.sort_by_key(|finding| finding.kind);
        merged
    }

    /// All candidates.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        for counts in self.results.iter().map(|result| result.counts) {
            sum.candidates += counts.candidates;
            sum.feasible += counts.feasible;
            sum.infeasible += counts.infeasible;
            sum.unknown += counts.unknown;
        }
        sum
    }

    /// Whether some run was stopped before its end.
    pub fn is_partial(&self) -> bool {
        self.results.iter().any(|result| result.partial)
    }
}

#[derive(Serialize)]
struct Single<'a> {
    schema: u32,
    tool: &'a str,
    #[serde(skip_serializing_if = "<[FailedRun]>::is_empty")]
    failed_runs: &'a [FailedRun],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    cut: &'a [String],
    #[serde(flatten)]
    result: &'a TraceResult,
}

#[derive(Serialize)]
struct Several<'a> {
    schema: u32,
    tool: &'a str,
    #[serde(skip_serializing_if = "<[FailedRun]>::is_empty")]
    failed_runs: &'a [FailedRun],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    cut: &'a [String],
    traces: &'a [TraceResult],
    findings: Vec<Finding>,
    undecided: Vec<Undecided>,
    counts: Counts,
    partial: bool,
    seconds: f64,
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let [result] = &self.results[..] {
            let (failed_runs, cut) = (&self.failed_runs[..], &self.cut[..]);
            return Single { schema: SCHEMA, tool: TOOL, failed_runs, cut, result }.serialize(serializer);
        }
        let undecided = self.results.iter().enumerate().flat_map(|(trace, result)| {
            let in_trace = move |open: &Undecided| Undecided { trace: Some(trace as u32), ..open.clone() };
            result.undecided.iter().map(in_trace)
        });
        Several {
            schema: SCHEMA,
            tool: TOOL,
            failed_runs: &self.failed_runs,
            cut: &self.cut,
            traces: &self.results,
            // Views are large, and the findings of the traces have them.
            findings: self.findings().into_iter().map(|one| Finding { view: None, ..one }).collect(),
            undecided: undecided.collect(),
            counts: self.counts(),
            partial: self.is_partial(),
            seconds: seconds(self.results.iter().map(|result| result.seconds).sum()),
        }
        .serialize(serializer)
    }
}
