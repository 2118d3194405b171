//! Findings as SARIF 2.1.0, which code hosts and editors show beside the source.
//!
//! One result per finding. Its locations are the finding's own sites, and its code flow is the witness, with a flow per
//! thread, where the trace is at hand. A site that looks like `file:line` is a physical location, any other a logical
//! one.

mod flow;
mod site;

use std::collections::BTreeMap;

use reweave_detect::Kind;
use reweave_trace::EventId;
use serde_json::Value;
use serde_sarif::sarif::{
    Invocation, Location, Message, MultiformatMessageString, PropertyBag, ReportingDescriptor, ResultLevel,
    Run, Sarif, Stack, StackFrame, Tool, ToolComponent,
};

use crate::event;
use crate::json::predict::{Document, Finding};
use crate::scene::Scene;
use crate::text::{self, Shown};

pub use serde_sarif::sarif::Result;

/// The key of our fingerprint in a result.
const FINGERPRINT: &str = "reweave/v1";

/// The result for one finding; [`close`] completes it.
pub fn result(finding: &Finding, shown: Option<Shown<'_>>) -> Result {
    let scene = shown.map(|shown| shown.scene);
    let mut properties: BTreeMap<String, Value> = BTreeMap::new();
    properties.insert("pattern".to_owned(), finding.pattern.clone().into());
    properties.insert("events".to_owned(), finding.events.clone().into());
    properties.insert("target".to_owned(), finding.target.clone().into());
    let properties = PropertyBag::builder().additional_properties(properties).build();
    let mut result = Result::builder()
        .rule_id(finding.kind.name())
        .rule_index(finding.kind as i64)
        .level(ResultLevel::Error)
        .message(message(text::headline(finding, scene)))
        .locations(vec![location(finding, scene, 0)])
        .partial_fingerprints(BTreeMap::from([(FINGERPRINT.to_owned(), finding.fingerprint.clone())]))
        .properties(properties)
        .build();
    let related = (1..finding.events.len())
        .map(|place| Location { id: i64::try_from(place).ok(), ..location(finding, scene, place) });
    result.related_locations = Some(related.collect::<Vec<_>>()).filter(|list| !list.is_empty());
    result.stacks = Some(stacks(finding, scene)).filter(|stacks| !stacks.is_empty());
    result.code_flows = shown.map(|shown| vec![flow::code_flow(finding, shown)]);
    result
}

/// The stacks of the finding's events, and of where its threads and objects come from.
fn stacks(finding: &Finding, scene: Option<&Scene<'_>>) -> Vec<Stack> {
    let one = |what: String, sites: &[String]| {
        let frame =
            |site: &String| StackFrame::builder().location(site::location(site, site.clone())).build();
        Stack::builder().message(message(what)).frames(sites.iter().map(frame).collect::<Vec<_>>()).build()
    };
    let what = |id: u32| match scene {
        Some(scene) => event::numbered(scene.trace, EventId(id)),
        None => format!("event {id}"),
    };
    let events = finding.events.iter().zip(&finding.stacks).map(|(&id, sites)| one(what(id), sites));
    let origins =
        finding.origins.iter().map(|origin| one(format!("the origin of {}", origin.name), &origin.stack));
    events.chain(origins).collect()
}

/// Tells `result` how often its finding was seen, which is known only after all traces.
pub fn close(result: &mut Result, finding: &Finding) {
    result.occurrence_count = Some(i64::try_from(finding.instances).unwrap_or(i64::MAX).max(1));
    if let (Some(traces), Some(properties)) = (finding.traces, &mut result.properties) {
        properties.additional_properties.insert("traces".to_owned(), traces.into());
    }
    if let (Some(replay), Some(properties)) = (finding.replay, &mut result.properties) {
        properties.additional_properties.insert("replay".to_owned(), replay.name().into());
    }
}

/// The whole document. `results` are those of the findings that are shown.
pub fn log(document: &Document, results: Vec<Result>) -> Sarif {
    let rules = Kind::ALL.into_iter().map(|kind| {
        ReportingDescriptor::builder()
            .id(kind.name())
            .short_description(MultiformatMessageString::builder().text(title(kind)).build())
            .build()
    });
    let driver = ToolComponent::builder()
        .name("reweave")
        .version(env!("CARGO_PKG_VERSION"))
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(rules.collect::<Vec<_>>())
        .build();
    // A run that left something open is no proof that nothing is wrong.
    let complete = !document.is_partial() && document.counts().unknown == 0;
    let counts = serde_json::to_value(document.counts()).unwrap_or_default();
    let properties = PropertyBag::builder()
        .additional_properties(BTreeMap::from([
            ("complete".to_owned(), Value::from(complete)),
            ("counts".to_owned(), counts),
        ]))
        .build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .invocations(vec![Invocation::builder().execution_successful(!document.is_partial()).build()])
        .results(results)
        .properties(properties)
        .build();
    Sarif::builder()
        .schema("https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
        .version(Value::from("2.1.0"))
        .runs(vec![run])
        .build()
}

fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Race => "Two conflicting accesses can happen at the same time",
        Kind::Deadlock => "Threads can wait for each other for ever",
        Kind::Atomicity => "Accesses that are meant to be one step can be interleaved with others",
        Kind::Order => "Two events can come in the wrong order",
        Kind::UseAfterFree => "An object can be used after its end",
    }
}

/// The location of the finding's event at `place`.
fn location(finding: &Finding, scene: Option<&Scene<'_>>, place: usize) -> Location {
    let site = finding.sites.get(place).map_or("", String::as_str);
    let id = EventId(finding.events.get(place).copied().unwrap_or_default());
    let what = match scene {
        Some(scene) => event::numbered(scene.trace, id),
        None => format!("event {}", id.0),
    };
    site::location(site, what)
}

fn message(text: impl Into<String>) -> Message {
    Message::builder().text(text).build()
}
