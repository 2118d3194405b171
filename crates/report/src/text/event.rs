//! Where an event stands: its site, the locks that its thread holds there, and where the thread comes from.

use std::collections::BTreeSet;

use crate::claim::and;
use crate::event::clean;
use crate::json::predict::{Finding, Origin};
use crate::stack;
use crate::view::{Held, Role, View};

/// `at bank.c:22 (event 5), holding m since bank.c:21`; or, where calls are known, a line for each frame of the stack.
pub(super) fn place(finding: &Finding, place: usize) -> Vec<String> {
    let event = finding.events.get(place).copied().unwrap_or_default();
    let site = finding.sites.get(place).map_or("", String::as_str);
    let stack = finding.stacks.get(place).map_or(&[][..], Vec::as_slice);
    let view = finding.view.as_deref();
    let role = view.and_then(|view| Some((view, view.roles.get(place)?)));
    let more = role.map_or_else(String::new, |(view, role)| match &held(view, role)[..] {
        [] => ", holding no lock".to_owned(),
        locks => format!(", holding {}", and(locks)),
    });
    at(site, stack, event, &more)
}

/// A site, or a stack where it has more than one frame, with what there is to say.
fn at(site: &str, stack: &[String], event: u32, more: &str) -> Vec<String> {
    match (site, stack) {
        (_, [_, _, ..]) => stack::lines(stack, &format!(" (event {event}){more}")),
        ("", _) => vec![format!("event {event}{more}")],
        (site, _) => vec![format!("at {} (event {event}){more}", clean(site))],
    }
}

/// The locks that a thread holds, each with where it was taken.
fn held(view: &View, role: &Role) -> Vec<String> {
    let one = |held: &Held| {
        let shared = if held.shared { " (shared)" } else { "" };
        let since = match view.sites.get(held.site as usize).map_or("", |site| &site.text) {
            "" => format!("event {}", held.since),
            site => clean(site).into_owned(),
        };
        let lock = view.targets.get(held.lock as usize).map_or("", |target| &target.name);
        format!("{}{shared} since {since}", clean(lock))
    };
    role.held.iter().map(one).collect()
}

/// Where the threads of a finding come from, in order of their first event; where calls are known, its objects, too.
pub(super) fn creations(finding: &Finding) -> Vec<String> {
    if !finding.origins.is_empty() {
        return finding.origins.iter().flat_map(origin).collect();
    }
    let Some(view) = finding.view.as_deref() else { return Vec::new() };
    let mut seen: BTreeSet<u32> = BTreeSet::new();
    let threads = view.roles.iter().map(|role| role.thread).filter(|&thread| seen.insert(thread));
    threads.filter_map(|thread| creation(view, thread)).collect()
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
fn creation(view: &View, thread: u32) -> Option<String> {
    let thread = view.threads.get(thread as usize)?;
    let created = thread.created.as_ref()?;
    let (child, parent) = (clean(&thread.name), clean(&created.by));
    Some(match view.sites.get(created.site as usize).map_or("", |site| &site.text) {
        "" => format!("Thread {child} was created by {parent} (event {})", created.event),
        site => {
            format!("Thread {child} was created by {parent} at {} (event {})", clean(site), created.event)
        }
    })
}
