//! Views of findings, made while their trace is at hand.

use reweave_report::json::predict::Finding;
use reweave_report::text;
use reweave_report::view::{Maker, Subject};
use reweave_trace::Trace;

use crate::sources::Sources;

/// What a view shows of a finding.
pub(super) fn subject(finding: &reweave_detect::Finding) -> Subject<'_> {
    Subject {
        kind: finding.kind(),
        pattern: finding.pattern(),
        events: finding.events(),
        checked: finding.witness(),
    }
}

/// Adds its view to each finding; their texts, in colour or not, where they are wanted.
pub(super) fn add(
    findings: &mut [Finding],
    trace: &Trace,
    subjects: &[Subject<'_>],
    sources: &Sources,
    colour: Option<bool>,
) -> Vec<String> {
    if findings.is_empty() {
        return Vec::new();
    }
    let events = subjects.iter().flat_map(|subject| subject.events);
    let maker = Maker::new(trace, events.copied()).with_sources(sources);
    let mut texts = Vec::new();
    for ((finding, view), subject) in findings.iter_mut().zip(maker.views(subjects)).zip(subjects) {
        finding.view = Some(Box::new(view));
        sources.shown(finding);
        if let Some(colour) = colour {
            let shown = text::Shown { trace, checked: subject.checked };
            texts.push(sources.shown_text(&text::body(finding, Some(shown), colour)));
        }
    }
    texts
}
