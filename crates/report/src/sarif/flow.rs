//! A witness as a code flow of SARIF: a flow per thread, in which the order of execution is numbered over all.

use std::collections::BTreeMap;

use reweave_trace::{EventId, ThreadId};
use serde_json::Value;
use serde_sarif::sarif::{CodeFlow, ThreadFlow, ThreadFlowLocation};

use super::{message, site};
use crate::event;
use crate::json::predict::Finding;
use crate::text::Shown;

/// How many steps of the schedule a flow has; those furthest from the bug are left out.
const STEPS: usize = 200;

/// The flow of `finding`: what follows the part of the schedule that runs as observed.
pub(super) fn code_flow(finding: &Finding, shown: Shown<'_>) -> CodeFlow {
    let (trace, witness) = (shown.scene.trace, shown.checked.witness());
    let named: Vec<EventId> = finding.events.iter().copied().map(EventId).collect();
    let skipped = witness.tail.len().saturating_sub(STEPS);
    let mut steps: Vec<EventId> = Vec::new();
    // Whatever the schedule does not have comes right after it: the accesses that race, the acquires that block.
    steps.extend(named.iter().filter(|event| event.0 < witness.prefix));
    let early = witness.tail[..skipped].iter().filter(|event| named.contains(event));
    steps.extend(early.chain(&witness.tail[skipped..]));
    let last: Vec<EventId> = named.iter().copied().filter(|event| !steps.contains(event)).collect();
    steps.extend(last);
    let mut flows: BTreeMap<ThreadId, Vec<ThreadFlowLocation>> = BTreeMap::new();
    for (order, &step) in steps.iter().filter(|&&step| event::op(trace, step).is_some()).enumerate() {
        let importance = if named.contains(&step) { "essential" } else { "unimportant" };
        let location = site::location(trace.site_name(trace.site(step)), event::numbered(trace, step));
        let step_location = ThreadFlowLocation::builder()
            .location(location)
            .execution_order(i64::try_from(order).unwrap_or(i64::MAX))
            .importance(Value::from(importance))
            .build();
        flows.entry(trace.thread(step)).or_default().push(step_location);
    }
    let flows = flows.into_iter().map(|(thread, locations)| {
        let name = event::clean(trace.thread_name(thread)).into_owned();
        ThreadFlow::builder().id(name).locations(locations).build()
    });
    let title = match witness.prefix {
        0 => "a schedule that gets there".to_owned(),
        prefix => format!("a schedule that gets there, after the first {prefix} events as observed"),
    };
    CodeFlow::builder().message(message(title)).thread_flows(flows.collect::<Vec<_>>()).build()
}
