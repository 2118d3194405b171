//! Where an event stands: its site, the locks that its thread holds there, and where the thread comes from.

use std::collections::BTreeSet;

use reweave_trace::{EventId, ThreadId, Trace};

use crate::claim::and;
use crate::event::{clean, op};
use crate::json::predict::Finding;
use crate::scene::{Hold, Scene};

/// `at bank.c:22 (event 5), holding m since bank.c:21`.
pub(super) fn place(scene: Option<&Scene<'_>>, event: EventId, site: &str) -> String {
    let mut text = match site {
        "" => format!("event {}", event.0),
        site => format!("at {} (event {})", clean(site), event.0),
    };
    if let Some(scene) = scene
        && op(scene.trace, event).is_some()
    {
        text += &match &held(scene, event)[..] {
            [] => ", holding no lock".to_owned(),
            locks => format!(", holding {}", and(locks)),
        };
    }
    text
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

/// Where the threads of a finding come from, in order of their first event.
pub(super) fn creations(scene: &Scene<'_>, finding: &Finding) -> Vec<String> {
    let trace = scene.trace;
    let mut seen: BTreeSet<ThreadId> = BTreeSet::new();
    let events = finding.events.iter().map(|&event| EventId(event));
    events
        .filter(|&event| op(trace, event).is_some() && seen.insert(trace.thread(event)))
        .filter_map(|event| creation(trace, scene, trace.thread(event)))
        .collect()
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
