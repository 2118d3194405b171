//! What a finding is, in words: its events, what goes wrong, what to do about it.

use reweave_detect::Kind;
use reweave_trace::{EventId, Op, Trace};

use crate::event;
use crate::json::predict::Finding;
use crate::scene::Scene;

/// A line for each event of the finding.
pub(super) fn parts(finding: &Finding, scene: Option<&Scene<'_>>) -> Vec<String> {
    let count = finding.events.len();
    let one = |(place, &id): (usize, &u32)| {
        let what = match scene {
            Some(scene) => subject(finding.kind, scene.trace, EventId(id)),
            None => format!("Event {id}"),
        };
        what + role(finding, place, count)
    };
    finding.events.iter().enumerate().map(one).collect()
}

fn subject(kind: Kind, trace: &Trace, id: EventId) -> String {
    let Some(op) = event::op(trace, id) else { return format!("Event {}", id.0) };
    let (thread, target) = (event::thread(trace, id), event::target(trace, id));
    if kind == Kind::Deadlock {
        let shared = if matches!(op, Op::SharedAcquire(_)) { ", to share it" } else { "" };
        return format!("Thread {thread} waits for {target}{shared}");
    }
    let noun = match op {
        Op::Read(_) => "Read",
        Op::Write(_) => "Write",
        Op::AtomicRead(_) => "Atomic read",
        Op::AtomicWrite(_) => "Atomic write",
        Op::Update(_) => "Atomic update",
        Op::Alloc(_) => "Allocation",
        Op::Free(_) => "Free",
        Op::Notify(_) | Op::NotifyAll(_) => "Notification",
        Op::Acquire(_) | Op::TryAcquire(_) | Op::SharedAcquire(_) => "Acquire",
        Op::Release(_) | Op::SharedRelease(_) => "Release",
        op => return format!("{} by thread {thread}", event::operation(trace, op)),
    };
    format!("{noun} of {target} by thread {thread}")
}

/// What the event has to do with the bug.
fn role(finding: &Finding, place: usize, count: usize) -> &'static str {
    match (finding.kind, finding.pattern.as_str(), place) {
        (Kind::Race, _, 1) => " can happen at the same time",
        (Kind::Deadlock, "dead-holder", _) => ", whose holder has ended",
        (Kind::Atomicity, _, 0) => ", the first half of a step",
        (Kind::Atomicity, _, place) if place + 1 == count => ", the other half",
        (Kind::Atomicity, _, _) => " can come in between",
        (Kind::Order, "lost-wake-up", 0) => " can come too early",
        (Kind::Order, "lost-wake-up", _) => " starts the wait, too late to be woken",
        (Kind::Order, "use-before-initialisation", 0) => " can come first",
        (Kind::Order, "use-before-initialisation", _) => " should have come before it",
        (Kind::Order | Kind::UseAfterFree, _, 0) => " can come first",
        (Kind::Order | Kind::UseAfterFree, _, _) => " should have come before it",
        _ => "",
    }
}

/// What goes wrong, where the events do not say so.
pub(super) fn sense(finding: &Finding, scene: Option<&Scene<'_>>) -> Option<String> {
    let name = |place: usize, fallback: &str| match (scene, finding.events.get(place)) {
        (Some(scene), Some(&id)) => event::thread(scene.trace, EventId(id)).into_owned(),
        _ => fallback.to_owned(),
    };
    let (local, remote) = (name(0, "the first thread"), name(1, "the other thread"));
    let mut targets = finding.target.split(", ").map(event::clean);
    let (x, y) = (targets.next().unwrap_or_default(), targets.next().unwrap_or_default());
    let sense = match finding.pattern.as_str() {
        "RWR" => format!("two reads that {local} takes for one see different values"),
        "WRW" => format!("{remote} sees a value that {local} meant to replace before anybody could see it"),
        "WWR" => format!("{local} reads not what it has just written, but what {remote} wrote"),
        "RWW" => format!("{local} writes over a value that it has not seen: the write of {remote} is lost"),
        "WWW" => format!("{local} overwrites what {remote} wrote in between, unseen"),
        "WxWxWyWy" => format!("{x} is left with the value of {remote}, {y} with that of {local}"),
        "WxRxRyWy" => format!("{remote} sees the new {x} with the old {y}"),
        "RxWxWyRy" => format!("{local} sees the old {x} with the new {y}"),
        _ => return None,
    };
    Some(format!("What goes wrong ({}): {sense}", finding.pattern))
}

/// What to do next, in one line.
pub(super) fn advice(finding: &Finding) -> &'static str {
    match (finding.kind, finding.pattern.as_str()) {
        (Kind::Race, _) => "let both accesses hold the same lock, or make both atomic",
        (Kind::Deadlock, "dead-holder") => "release the lock on every way out of the thread",
        (Kind::Deadlock, _) => "take these locks in the same order everywhere, or hold only one at a time",
        (Kind::Atomicity, _) => {
            "hold one lock from the first half to the other, and around what can come between"
        }
        (Kind::Order, "lost-wake-up") => {
            "set a flag under the lock before the notification, and wait in a loop while it is not set"
        }
        (Kind::Order, _) => "initialise before the thread that uses it is created, or wait for it",
        (Kind::UseAfterFree, "double-free") => "let one thread alone own the object, or count its owners",
        (Kind::UseAfterFree, _) => "free only after every user has been joined, or count the owners",
    }
}
