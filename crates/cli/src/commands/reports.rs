//! Findings with what is to be shown of them, as text and as SARIF.

use std::io::Write;

use reweave_report::json::predict::{Document, Finding};
use reweave_report::{Scene, sarif, text};
use reweave_witness::CheckedWitness;

use crate::console::Console;
use crate::exit::Exit;

/// What is shown of one finding.
pub(super) struct Report {
    body: Option<String>,
    sarif: Option<sarif::Result>,
}

/// The forms that are wanted: each takes time and memory.
#[derive(Clone, Copy)]
pub(super) struct Forms {
    pub(super) text: bool,
    pub(super) sarif: bool,
}

impl Forms {
    pub(super) fn any(self) -> bool {
        self.text || self.sarif
    }
}

impl Report {
    /// Renders a finding while its trace is at hand.
    pub(super) fn new(
        finding: &Finding,
        trace: Option<(&Scene<'_>, &CheckedWitness)>,
        forms: Forms,
        console: &Console,
    ) -> Report {
        let shown = trace.map(|(scene, checked)| text::Shown { scene, checked });
        Report {
            body: forms.text.then(|| text::body(finding, shown, console.colors())),
            sarif: forms.sarif.then(|| sarif::result(finding, shown)),
        }
    }
}

/// A document, with a report for each finding of each of its results.
pub(super) struct Reports<'d> {
    pub(super) document: &'d Document,
    pub(super) reports: Vec<Vec<Report>>,
}

impl Reports<'_> {
    /// The findings to show, each with its report.
    fn all(&self) -> Vec<(Finding, Option<&Report>)> {
        let one = |(place, finding): (usize, Finding)| {
            let trace = finding.trace.unwrap_or(0) as usize;
            // Findings of several traces are merged: the first of its trace stands for all of a fingerprint.
            let place = match finding.trace {
                None => Some(place),
                Some(_) => self.document.results.get(trace).and_then(|result| {
                    result.findings.iter().position(|one| one.fingerprint == finding.fingerprint)
                }),
            };
            let report = place.and_then(|place| self.reports.get(trace)?.get(place));
            (finding, report)
        };
        self.document.findings().into_iter().enumerate().map(one).collect()
    }

    pub(super) fn print(&self, quiet: bool, console: &Console) -> anyhow::Result<()> {
        let mut out = console.out();
        let all = self.all();
        for (finding, report) in &all {
            let body = report.and_then(|report| report.body.as_deref()).unwrap_or_default();
            write!(out, "{}{body}{}", text::RULE, text::closing(finding))?;
        }
        if !all.is_empty() {
            write!(out, "{}", text::RULE)?;
        }
        if !quiet {
            let findings: Vec<Finding> = all.into_iter().map(|(finding, _)| finding).collect();
            write!(out, "{}", text::summary(self.document, &findings, console.colors()))?;
        }
        Ok(out.flush()?)
    }

    /// The document of SARIF.
    pub(super) fn sarif(&self) -> impl serde::Serialize {
        let results = self.all().into_iter().filter_map(|(finding, report)| {
            let mut result = report?.sarif.clone()?;
            sarif::close(&mut result, &finding);
            Some(result)
        });
        sarif::log(self.document, results.collect())
    }
}

/// How a run that came to this ends.
pub(super) fn exit(document: &Document) -> Exit {
    if document.results.iter().any(|result| !result.findings.is_empty()) {
        Exit::No
    } else if document.is_partial() || document.counts().unknown > 0 {
        Exit::Stopped
    } else {
        Exit::Yes
    }
}
