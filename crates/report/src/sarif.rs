//! Findings as SARIF 2.1.0, which code hosts and editors show beside the source.
//!
//! One result per finding, of at most 50 kB. Its locations are the finding's own sites, and its code flow is the witness,
//! with a flow per thread. A site that looks like `file:line` is a physical location, any other a logical one.

mod flow;
mod rule;
mod site;
mod verified;

use std::collections::BTreeMap;

use reweave_detect::Kind;
use serde_json::Value;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, Message, PropertyBag, ReportingDescriptor, ResultLevel, Run,
    RunAutomationDetails, Sarif, Stack, StackFrame, Tool, ToolComponent,
};

use crate::event::clean;
use crate::json::predict::{Document, FailedRun, Finding};
use crate::text;
use crate::view::Level;

pub use serde_sarif::sarif::Result;
pub use verified::verified;

/// The key of our fingerprint in a result.
const FINGERPRINT: &str = "reweave/v2";
/// What relative paths are relative to.
const SOURCES: &str = "%SRCROOT%";
/// The most bytes that a result may take.
const MOST: usize = 50_000;
/// The most frames of a stack.
const FRAMES: usize = 16;

/// The result for one finding.
pub fn result(finding: &Finding) -> Result {
    let severity = finding.severity();
    let level = match severity.level {
        Level::Error => ResultLevel::Error,
        Level::Warning => ResultLevel::Warning,
    };
    let mut result = Result::builder()
        .rule_id(finding.kind.name())
        .rule_index(finding.kind as i64)
        .level(level)
        .message(message(sentence(finding)))
        .locations(vec![location(finding, 0)])
        .partial_fingerprints(BTreeMap::from([(FINGERPRINT.to_owned(), finding.fingerprint.clone())]))
        .occurrence_count(i64::try_from(finding.instances).unwrap_or(i64::MAX).max(1))
        .properties(PropertyBag::builder().additional_properties(properties(finding)).build())
        .build();
    let related = (0..finding.events.len())
        .map(|place| Location { id: i64::try_from(place + 1).ok(), ..location(finding, place) });
    result.related_locations = Some(related.collect::<Vec<_>>()).filter(|list| !list.is_empty());
    result.stacks = Some(stacks(finding)).filter(|stacks| !stacks.is_empty());
    shorten(&mut result, finding);
    result
}

/// The result for a run that failed by itself. It has no position in the source: its program is its location.
pub fn failed(run: &FailedRun) -> Result {
    let mut text = clean(&run.sentence()).into_owned();
    run.threads.iter().for_each(|step| text += &format!(". {}", clean(&step.sentence())));
    if let Some(differs) = &run.differs {
        text += &format!(". What is different: {}", clean(differs));
    }
    if !run.again.is_empty() {
        text += &format!(". To run it again: {}", clean(&run.again));
    }
    let print = format!("{}-{}", run.status, run.program.first().map_or("", String::as_str));
    let program = run.program.first().map_or("", String::as_str);
    Result::builder()
        .rule_id(rule::FAILED)
        .rule_index(Kind::ALL.len() as i64)
        .level(ResultLevel::Error)
        .message(message(clipped(&text)))
        .locations(vec![site::location(program, "the program that ran".to_owned())])
        .partial_fingerprints(BTreeMap::from([(FINGERPRINT.to_owned(), print)]))
        .build()
}

/// Adds as much of the witness as fits, and takes stacks away where they alone are too much.
fn shorten(result: &mut Result, finding: &Finding) {
    let size = |result: &Result| serde_json::to_string(result).map_or(0, |text| text.len());
    for steps in [200, 100, 50, 25, 10] {
        result.code_flows = flow::code_flow(finding, steps).map(|flow| vec![flow]);
        if size(result) <= MOST {
            return;
        }
    }
    result.code_flows = None;
    if size(result) > MOST {
        result.stacks = None;
    }
    if size(result) > MOST {
        result.related_locations = None;
        result.properties = None;
        result.message = message(clipped(&text::headline(finding)));
        result.locations = Some(vec![Location { message: None, ..location(finding, 0) }]);
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(1_000).collect()
}

fn properties(finding: &Finding) -> BTreeMap<String, Value> {
    let severity = finding.severity();
    let mut properties: BTreeMap<String, Value> = BTreeMap::from([
        ("pattern".to_owned(), finding.pattern.clone().into()),
        ("events".to_owned(), finding.events.clone().into()),
        ("target".to_owned(), finding.target.clone().into()),
        ("severity".to_owned(), severity.reason.into()),
    ]);
    if let Some(traces) = finding.traces {
        properties.insert("traces".to_owned(), traces.into());
    }
    if let Some(replay) = finding.replay {
        properties.insert("replay".to_owned(), replay.name().into());
    }
    properties
}

/// What code hosts show: the title, and both accesses with links to where they are.
fn sentence(finding: &Finding) -> String {
    let mut text = text::headline(finding);
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    text.push('.');
    for (place, role) in finding.view.iter().flat_map(|view| &view.roles).enumerate() {
        let site = finding.sites.get(place).filter(|site| !site.is_empty());
        let at = site.map_or_else(|| format!("event {}", role.event), |site| clean(site).into_owned());
        text += &format!(" {} ([{}]({})).", clean(&role.text), brackets(&at), place + 1);
    }
    let severity = finding.severity();
    text + &format!(" Severity: {}.", clean(&severity.reason))
}

/// Brackets in the text of a link have a backslash before them.
fn brackets(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

/// The stacks of the finding's events, and of where its threads and objects come from.
fn stacks(finding: &Finding) -> Vec<Stack> {
    let one = |what: String, sites: &[String]| {
        let frame =
            |site: &String| StackFrame::builder().location(site::location(site, site.clone())).build();
        let frames = sites.iter().take(FRAMES).map(frame).collect::<Vec<_>>();
        Stack::builder().message(message(what)).frames(frames).build()
    };
    let events = finding.stacks.iter().enumerate().map(|(place, sites)| one(what(finding, place), sites));
    let origins = finding
        .origins
        .iter()
        .map(|origin| one(format!("the origin of {}", clean(&origin.name)), &origin.stack));
    events.chain(origins).collect()
}

/// The whole document. `results` are those of the findings that are shown.
pub fn log(document: &Document, results: Vec<Result>) -> Sarif {
    // A run that left something open is no proof that nothing is wrong.
    let complete = !document.is_partial() && document.counts().unknown == 0;
    let counts = serde_json::to_value(document.counts()).unwrap_or_default();
    let properties =
        BTreeMap::from([("complete".to_owned(), Value::from(complete)), ("counts".to_owned(), counts)]);
    whole(properties, !document.is_partial(), "reweave/", rule::failed(), results)
}

/// A document with one run, whose results are of the kinds of bugs or of another rule.
fn whole(
    properties: BTreeMap<String, Value>,
    successful: bool,
    category: &str,
    other: ReportingDescriptor,
    results: Vec<Result>,
) -> Sarif {
    let driver = ToolComponent::builder()
        .name("reweave")
        .version(env!("CARGO_PKG_VERSION"))
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(Kind::ALL.into_iter().map(rule::descriptor).chain([other]).collect::<Vec<_>>())
        .build();
    let properties = PropertyBag::builder().additional_properties(properties).build();
    let root = ArtifactLocation::builder().description(message("The root of the sources.")).build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .automation_details(RunAutomationDetails::builder().id(category).build())
        .original_uri_base_ids(BTreeMap::from([(SOURCES.to_owned(), root)]))
        .column_kind(Value::from("unicodeCodePoints"))
        .invocations(vec![Invocation::builder().execution_successful(successful).build()])
        .results(results)
        .properties(properties)
        .build();
    Sarif::builder()
        .schema("https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
        .version(Value::from("2.1.0"))
        .runs(vec![run])
        .build()
}

/// What the finding's event at `place` does.
fn what(finding: &Finding, place: usize) -> String {
    let role = finding.view.as_ref().and_then(|view| view.roles.get(place));
    let event = finding.events.get(place).copied().unwrap_or_default();
    role.map_or_else(|| format!("event {event}"), |role| clean(&role.text).into_owned())
}

/// The location of the finding's event at `place`.
fn location(finding: &Finding, place: usize) -> Location {
    let site = finding.sites.get(place).map_or("", String::as_str);
    site::location(site, what(finding, place))
}

fn message(text: impl Into<String>) -> Message {
    Message::builder().text(text).build()
}
