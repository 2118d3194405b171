//! What a finding is, in words: its title, its events, what goes wrong, what to do about it.

use std::borrow::Cow;

use reweave_detect::{Kind, Pattern, Rule, rule};
use reweave_trace::{EventId, Op, Trace};

use super::maker::Subject;
use super::names::{Site, Target, TargetKind};
use crate::claim::and;
use crate::event::{self, clean};

/// `data race on balance`.
pub fn headline(trace: &Trace, subject: &Subject<'_>) -> String {
    let names = names(trace, subject);
    let (all, first) = (names.join(", "), names.first().map_or("", String::as_str));
    match (subject.kind, subject.pattern) {
        (Kind::Race, _) => format!("data race on {all}"),
        (Kind::Deadlock, _) => {
            let threads: Vec<String> =
                subject.events.iter().map(|&id| event::thread(trace, id).into_owned()).collect();
            format!("deadlock of {} on {all}", and(&threads))
        }
        (Kind::Atomicity, _) => format!("atomicity violation on {all}"),
        // The other target is the lock of the wait.
        (Kind::Order, Pattern::LostWakeUp) => format!("lost wake-up on {first}"),
        (Kind::Order, Pattern::UseBeforeInitialisation) => format!("use of {all} before its initialisation"),
        (Kind::Order, _) => match broken_rule(trace, subject) {
            Some(rule) => format!("order violation: {}", clean(&rule.message)),
            None => format!("order violation on {all}"),
        },
        (Kind::UseAfterFree, Pattern::DoubleFree) => format!("double free of {all}"),
        (Kind::UseAfterFree, _) => format!("use after free of {first}"),
    }
}

/// What the events are on, each name once.
fn names(trace: &Trace, subject: &Subject<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for &id in subject.events {
        let name =
            event::op(trace, id).and_then(|op| trace.target_name(op)).map(|name| clean(name).into_owned());
        names.extend(name.filter(|name| !names.contains(name)));
    }
    names
}

/// Who can do what, and where: `bob can read balance (bank.c:34) at the same time as alice writes it (bank.c:22)`.
pub fn summary(trace: &Trace, subject: &Subject<'_>) -> String {
    let who = |place: usize| subject.events.get(place).map_or_else(String::new, |&id| thread(trace, id));
    let doing =
        |place: usize| subject.events.get(place).map_or_else(String::new, |&id| act(subject.kind, trace, id));
    let at = |place: usize| subject.events.get(place).map_or_else(String::new, |&id| site(trace, id));
    let last = subject.events.len().saturating_sub(1);
    match (subject.kind, subject.pattern) {
        (Kind::Race, _) => {
            format!(
                "{} can {}{} while {} is about to {}{}.",
                who(0),
                doing(0),
                at(0),
                who(1),
                doing(1),
                at(1)
            )
        }
        (Kind::Deadlock, Pattern::DeadHolder) => {
            format!(
                "{} waits{} for {}, whose holder has ended.",
                who(0),
                at(0),
                target(trace, subject.events[0])
            )
        }
        (Kind::Deadlock, _) => {
            let waits =
                |&id: &EventId| format!("{} for {}{}", thread(trace, id), target(trace, id), site(trace, id));
            let waits: Vec<String> = subject.events.iter().map(waits).collect();
            format!("All of these can wait at once, for ever: {}.", and(&waits))
        }
        (Kind::Atomicity, _) => {
            let between = subject.events.iter().skip(1).take(last.saturating_sub(1));
            let between: Vec<String> = between
                .map(|&id| {
                    format!("{} can {}{}", thread(trace, id), act(subject.kind, trace, id), site(trace, id))
                })
                .collect();
            format!(
                "Between {}'s {}{} and its {}{}, {}.",
                who(0),
                doing(0),
                at(0),
                doing(last),
                at(last),
                and(&between)
            )
        }
        (Kind::Order, Pattern::LostWakeUp) => {
            format!(
                "{} can {}{} before {} waits{}, and nobody is left to wake it.",
                who(0),
                doing(0),
                at(0),
                who(1),
                at(1)
            )
        }
        (Kind::Order | Kind::UseAfterFree, _) => format!(
            "{} can {}{} before {} comes to {}{}; in the recorded run it was the other way round.",
            who(0),
            doing(0),
            at(0),
            who(1),
            doing(1),
            at(1)
        ),
    }
}

fn thread(trace: &Trace, id: EventId) -> String {
    event::thread(trace, id).into_owned()
}

fn target(trace: &Trace, id: EventId) -> String {
    let name = event::op(trace, id).and_then(|op| trace.target_name(op)).unwrap_or("nothing");
    clean(&Target::new(name, TargetKind::Other).short()).into_owned()
}

fn site(trace: &Trace, id: EventId) -> String {
    match event::op(trace, id).map(|_| Site::new(trace.site_name(trace.site(id))).short()) {
        Some(site) if !site.is_empty() => format!(" ({})", clean(&site)),
        _ => String::new(),
    }
}

/// The condition variable that a finding is about where it is used by a wait, which starts at this event.
fn waits_for<'t>(kind: Kind, trace: &'t Trace, id: EventId) -> Option<Cow<'t, str>> {
    let ends_a_life = matches!(kind, Kind::Order | Kind::UseAfterFree);
    let condition = event::awaited(trace, id).filter(|_| ends_a_life)?;
    Some(clean(trace.condition_name(condition)))
}

fn act(kind: Kind, trace: &Trace, id: EventId) -> String {
    let Some(op) = event::op(trace, id) else { return "nothing".to_owned() };
    if let Some(condition) = waits_for(kind, trace, id) {
        return format!("start to wait for {}", clean(&Target::new(&condition, TargetKind::Other).short()));
    }
    let verb = match op {
        Op::Read(_) | Op::AtomicRead(_) => "read",
        Op::Write(_) | Op::AtomicWrite(_) | Op::Unseen(_) => "write",
        Op::Update(_) | Op::FailedAttempt(_) => "update",
        Op::Alloc(_) => "allocate",
        Op::Free(_) => "free",
        Op::Notify(_) | Op::NotifyAll(_) => "notify",
        Op::Wait(_) => "wait for",
        Op::Acquire(_) | Op::TryAcquire(_) | Op::SharedAcquire(_) => "lock",
        Op::Release(_) | Op::SharedRelease(_) => "unlock",
        op => return event::operation(trace, op),
    };
    format!("{verb} {}", target(trace, id))
}

/// What the event at `place` has to do with the bug, as a line.
pub fn part(trace: &Trace, subject: &Subject<'_>, place: usize) -> String {
    let id = subject.events.get(place).copied().unwrap_or(EventId(u32::MAX));
    actor(subject.kind, trace, id) + role(subject.kind, subject.pattern, place, subject.events.len())
}

fn actor(kind: Kind, trace: &Trace, id: EventId) -> String {
    let Some(op) = event::op(trace, id) else { return format!("Event {}", id.0) };
    let (thread, target) = (event::thread(trace, id), event::target(trace, id));
    if kind == Kind::Deadlock {
        let shared = match op {
            Op::SharedAcquire(_) => ", to share it",
            Op::Wait(_) => " to be notified",
            _ => "",
        };
        return format!("Thread {thread} waits for {target}{shared}");
    }
    if let Some(condition) = waits_for(kind, trace, id) {
        return format!("Start of a wait for {condition} by thread {thread}");
    }
    let noun = match op {
        Op::Read(_) => "Read",
        Op::Write(_) => "Write",
        Op::AtomicRead(_) => "Atomic read",
        Op::AtomicWrite(_) => "Atomic write",
        Op::Update(_) => "Atomic update",
        Op::FailedAttempt(_) => "Failed attempt",
        Op::Unseen(_) => "Unrecorded write",
        Op::Alloc(_) => "Allocation",
        Op::Free(_) => "Free",
        Op::Notify(_) | Op::NotifyAll(_) => "Notification",
        Op::Wait(_) => return format!("Wait for {target} by thread {thread}"),
        Op::Acquire(_) | Op::TryAcquire(_) | Op::SharedAcquire(_) => "Acquire",
        Op::Release(_) | Op::SharedRelease(_) => "Release",
        op => return format!("{} by thread {thread}", event::operation(trace, op)),
    };
    format!("{noun} of {target} by thread {thread}")
}

fn role(kind: Kind, pattern: Pattern, place: usize, count: usize) -> &'static str {
    match (kind, pattern, place) {
        (Kind::Race, _, 1) => " can happen at the same time",
        (Kind::Deadlock, Pattern::DeadHolder, _) => ", whose holder has ended",
        (Kind::Atomicity, _, 0) => ", the first half of a step",
        (Kind::Atomicity, _, place) if place + 1 == count => ", the other half",
        (Kind::Atomicity, _, _) => " can come in between",
        (Kind::Order, Pattern::LostWakeUp, 0) => " can come too early",
        (Kind::Order, Pattern::LostWakeUp, _) => " starts too late, and nobody is left to wake it",
        (Kind::Order, Pattern::UseBeforeInitialisation, 0) => " can find what nobody has written yet",
        (Kind::Order | Kind::UseAfterFree, _, 0) => " can come first",
        (Kind::Order | Kind::UseAfterFree, _, _) => " should have come before it",
        _ => "",
    }
}

/// The rule that calls in the wrong order break.
fn broken_rule(trace: &Trace, subject: &Subject<'_>) -> Option<Rule> {
    let &[first, then] = subject.events else { return None };
    let known = first.max(then).index() < trace.len() && subject.pattern.name() == "call-order";
    if known { rule(trace, first, then) } else { None }
}

/// What goes wrong, where the events do not say so.
pub fn wrong(trace: &Trace, subject: &Subject<'_>) -> Option<String> {
    if let Some(rule) = broken_rule(trace, subject) {
        let (of, message) = (clean(&rule.of), clean(&rule.message));
        return Some(format!("{of}: \"{message}\" ({}); tier: {}", rule.place, rule.tier.name()));
    }
    let name = |place: usize| subject.events.get(place).map_or_else(String::new, |&id| thread(trace, id));
    let (local, remote) = (name(0), name(1));
    let names = names(trace, subject);
    let (x, y) = (names.first().map_or("", String::as_str), names.get(1).map_or("", String::as_str));
    Some(match subject.pattern.name() {
        "RWR" => format!("two reads that {local} takes for one see different values"),
        "WRW" => format!("{remote} sees a value that {local} meant to replace before anybody could see it"),
        "WWR" => format!("{local} reads not what it has just written, but what {remote} wrote"),
        "RWW" => format!("{local} writes over a value that it has not seen: the write of {remote} is lost"),
        "WWW" => format!("{local} overwrites what {remote} wrote in between, unseen"),
        "WxWxWyWy" => format!("{x} is left with the value of {remote}, {y} with that of {local}"),
        "WxRxRyWy" => format!("{remote} sees the new {x} with the old {y}"),
        "RxWxWyRy" => format!("{local} sees the old {x} with the new {y}"),
        _ => return None,
    })
}

/// What to do next, in one line.
pub fn advice(kind: Kind, pattern: Pattern) -> &'static str {
    match (kind, pattern) {
        (Kind::Race, _) => "let both accesses hold the same lock, or make both atomic",
        (Kind::Deadlock, Pattern::DeadHolder) => "release the lock on every way out of the thread",
        (Kind::Deadlock, Pattern::WaitCycle) => {
            "hold no lock in a wait but the wait's own, or let who notifies do without that lock"
        }
        (Kind::Deadlock, _) => "take these locks in the same order everywhere, or hold only one at a time",
        (Kind::Atomicity, _) => {
            "hold one lock from the first half to the other, and around what can come between"
        }
        (Kind::Order, Pattern::LostWakeUp) => {
            "set a flag under the lock before the notification, and wait in a loop while it is not set"
        }
        (Kind::Order, Pattern::CallOrder) => {
            "let the second wait until the first is done, by a join, a flag under a lock, or a count"
        }
        (Kind::Order, _) => "initialise before the thread that uses it is created, or wait for it",
        (Kind::UseAfterFree, Pattern::DoubleFree) => {
            "let one thread alone own the object, or count its owners"
        }
        (Kind::UseAfterFree, _) => "free only after every user has been joined, or count the owners",
    }
}
