//! Where an event stands: its site, the locks that its thread holds there, and where the thread comes from.

use std::collections::BTreeSet;

use reweave_trace::{EventId, ThreadId, Trace};

use crate::claim::and;
use crate::event::{clean, op};
use crate::json::predict::{Finding, Origin};
use crate::scene::{Hold, Scene};
use crate::stack;

/// `at bank.c:22 (event 5), holding m since bank.c:21`; or, where calls are known, a line for each frame of the stack.
pub(super) fn place(scene: Option<&Scene<'_>>, event: EventId, site: &str, stack: &[String]) -> Vec<String> {
    let mut more = String::new();
    if let Some(scene) = scene
        && op(scene.trace, event).is_some()
    {
        more += &match &held(scene, event)[..] {
            [] => ", holding no lock".to_owned(),
            locks => format!(", holding {}", and(locks)),
        };
    }
    at(site, stack, event.0, &more)
}

/// A site, or a stack where it has more than one frame, with what there is to say.
fn at(site: &str, stack: &[String], event: u32, more: &str) -> Vec<String> {
    match (site, stack) {
        (_, [_, _, ..]) => stack::lines(stack, &format!(" (event {event}){more}")),
        ("", _) => vec![format!("event {event}{more}")],
        (site, _) => vec![format!("at {} (event {event}){more}", clean(site))],
    }
}

/// The locks that the thread of `event` holds just before it, each with where it was taken.
fn held(scene: &Scene<'_>, event: EventId) -> Vec<String> {
    let trace = scene.trace;
    let one = |hold: &Hold| {
        let shared = if hold.shared { " (shared)" } else { "" };
        let since = match trace.site_name(trace.site(hold.acquire)) {
            "" => format!("event {}", hold.acquire.0),
            site => clean(site).into_owned(),
        };
        format!("{}{shared} since {since}", clean(trace.lock_name(hold.lock)))
    };
    scene.held(event).iter().map(one).collect()
}

/// Where the threads of a finding come from, in order of their first event; where calls are known, its objects, too.
pub(super) fn creations(scene: Option<&Scene<'_>>, finding: &Finding) -> Vec<String> {
    if !finding.origins.is_empty() {
        return finding.origins.iter().flat_map(origin).collect();
    }
    let Some(scene) = scene else { return Vec::new() };
    let trace = scene.trace;
    let mut seen: BTreeSet<ThreadId> = BTreeSet::new();
    let events = finding.events.iter().map(|&event| EventId(event));
    events
        .filter(|&event| op(trace, event).is_some() && seen.insert(trace.thread(event)))
        .filter_map(|event| creation(trace, scene, trace.thread(event)))
        .collect()
}

fn origin(origin: &Origin) -> Vec<String> {
    let (name, by) = (clean(&origin.name), clean(&origin.by));
    let birth = match origin.what.as_str() {
        "thread" => format!("Thread {name} was created by {by}"),
        _ => format!("{name} was allocated by {by}"),
    };
    let site = origin.stack.first().map_or("", String::as_str);
    match &at(site, &origin.stack, origin.event, "")[..] {
        [place] => vec![format!("{birth} {place}")],
        frames => std::iter::once(birth).chain(frames.iter().map(|frame| format!("  {frame}"))).collect(),
    }
}

/// None for a thread that nobody created, such as the first.
fn creation(trace: &Trace, scene: &Scene<'_>, thread: ThreadId) -> Option<String> {
    let fork = scene.fork(thread)?;
    let (child, parent) = (clean(trace.thread_name(thread)), clean(trace.thread_name(trace.thread(fork))));
    Some(match trace.site_name(trace.site(fork)) {
        "" => format!("Thread {child} was created by {parent} (event {})", fork.0),
        site => format!("Thread {child} was created by {parent} at {} (event {})", clean(site), fork.0),
    })
}
