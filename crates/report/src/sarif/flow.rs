//! A witness as a code flow of SARIF: a flow per thread, in which the order of execution is numbered over all.

use std::collections::BTreeMap;

use serde_json::Value;
use serde_sarif::sarif::{CodeFlow, ThreadFlow, ThreadFlowLocation};

use super::{message, site};
use crate::event::clean;
use crate::json::predict::Finding;
use crate::view::{Row, Step, View};

/// The flow of a finding, of at most so many steps: those furthest from the bug are left out, the bug's own never. None
/// where the view has no orders.
pub(super) fn code_flow(finding: &Finding, most: usize) -> Option<CodeFlow> {
    let view = finding.view.as_deref()?;
    let board = view.board.as_ref()?;
    let steps: Vec<&Step> = board
        .witness
        .iter()
        .filter_map(|row| match row {
            Row::Step(step) => Some(&**step),
            Row::Fold(_) => None,
        })
        .collect();
    let skipped = steps.len().saturating_sub(most);
    let mut flows: BTreeMap<u32, Vec<ThreadFlowLocation>> = BTreeMap::new();
    for (order, step) in steps.iter().enumerate().filter(|(place, step)| *place >= skipped || step.bug) {
        let importance = if step.bug { "essential" } else { "unimportant" };
        let site = step.site.and_then(|site| view.sites.get(site as usize)).map_or("", |site| &site.text);
        let location = ThreadFlowLocation::builder()
            .location(site::location(site, text(view, step)))
            .execution_order(i64::try_from(order).unwrap_or(i64::MAX))
            .importance(Value::from(importance))
            .build();
        flows.entry(step.thread).or_default().push(location);
    }
    let flows = flows.into_iter().map(|(thread, locations)| {
        let name = view.threads.get(thread as usize).map_or("", |thread| &thread.name);
        ThreadFlow::builder().id(clean(name).into_owned()).locations(locations).build()
    });
    let flows = flows.collect::<Vec<_>>();
    let title = format!("a schedule that gets there: {}", clean(&board.moment));
    (!flows.is_empty()).then(|| CodeFlow::builder().message(message(title)).thread_flows(flows).build())
}

/// `event 7 (T1 w(x) at bank.c:12)`.
fn text(view: &View, step: &Step) -> String {
    let name = |list: Option<&String>| list.map_or("", String::as_str).to_owned();
    let thread = name(view.threads.get(step.thread as usize).map(|thread| &thread.name));
    let target = step.target.and_then(|target| view.targets.get(target as usize)).map(|target| &target.name);
    let target = target.map_or_else(String::new, |target| format!("({target})"));
    let site = step.site.and_then(|site| view.sites.get(site as usize)).map(|site| &site.text);
    let at = site.filter(|site| !site.is_empty()).map_or_else(String::new, |site| format!(" at {site}"));
    clean(&format!("event {} ({thread} {}{target}{at})", step.event, step.op)).into_owned()
}
