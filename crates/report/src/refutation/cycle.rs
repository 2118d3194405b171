//! A cycle of events that must each come before the next.

use std::fmt::Write;

use reweave_decide::{Step, Why};
use reweave_trace::{EventId, Kind, LockId, Op, Trace};
use reweave_witness::Claim;

use super::short;
use crate::{claim, event};

pub(super) fn story(trace: &Trace, asked: &Claim, steps: &[Step]) -> String {
    let steps = circle(steps);
    let mut text = String::from("Going round in a circle:\n");
    for (number, step) in (1..).zip(&steps) {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{number:>3}. {} must come before {}: {}",
            event::numbered(trace, step.from),
            event::numbered(trace, step.to),
            reason(trace, asked, step)
        );
    }
    if let Some(first) = steps.first() {
        let _ = writeln!(text, "So {} would have to come before itself: a contradiction.", short(first.from));
    }
    text
}

/// The cycle as it is shown: what the query asks for comes last, and steps along one thread are one.
pub fn circle(steps: &[Step]) -> Vec<Step> {
    merged(turned(steps))
}

/// The cycle turned so that it ends with what the query asks for: that is what clashes with the rest.
fn turned(steps: &[Step]) -> Vec<Step> {
    let mut steps = steps.to_vec();
    if let Some(asked) = steps.iter().position(|step| step.why == Why::Asked) {
        steps.rotate_left(asked + 1);
    }
    steps
}

/// The steps with those along one thread as one.
fn merged(steps: Vec<Step>) -> Vec<Step> {
    let mut merged: Vec<Step> = Vec::new();
    for step in steps {
        match merged.last_mut() {
            Some(last)
                if last.why == Why::ProgramOrder && step.why == Why::ProgramOrder && last.to == step.from =>
            {
                last.to = step.to;
            }
            _ => merged.push(step),
        }
    }
    merged
}

/// Why the first event of the step must come before the second, to go after a colon.
pub fn reason(trace: &Trace, asked: &Claim, step: &Step) -> String {
    let (from, to) = (short(step.from), short(step.to));
    let (thread, other) = (event::thread(trace, step.from), event::thread(trace, step.to));
    match step.why {
        Why::ProgramOrder => format!("{thread} runs them in this order"),
        Why::Fork => format!("it starts {other}"),
        Why::Join => format!("{to} waits for {thread} to end"),
        Why::Woken => format!("it woke the wait of {other} at {to}"),
        Why::Starts => format!("{thread} starts to wait at {from}, and {to} woke it"),
        Why::Observes => format!("{other} observes it at {to}"),
        Why::Whichever => {
            format!("whichever write of its value {other} observes at {to} comes no earlier than {from}")
        }
        Why::OnlyOneLeft => {
            format!("{other} observes it at {to}: no other write of that value is left to observe")
        }
        Why::NoneLeft { read } => format!(
            "{} has to observe a write of its value; no other is left, and this is what it observed",
            short(read)
        ),
        Why::Depends => {
            let doing = if is(trace, step.to, Kind::reads) { "observes" } else { "does" };
            let effect = if is(trace, step.from, Kind::writes) { "writes" } else { "observes" };
            format!("what {other} {doing} at {to} may depend on what {from} {effect}")
        }
        Why::NotBefore { read, write } => not_before(trace, step, read, write),
        Why::Mutex(lock) => mutex(trace, asked, step, lock),
        Why::NotNotified { wait } => {
            format!("nothing woke the wait at {}, so no notification may come while it lasts", short(wait))
        }
        Why::Unseen => format!("the write at {to} was not recorded, and may be due to anything before it"),
        Why::Looked => format!("both look at one clock, and {to} was later"),
        Why::Called => "both are calls on one object, and these keep their order".to_owned(),
        Why::Adjacent => adjacent(asked, step),
        Why::Asked => asked_for(asked, step),
        // The enum is open; what it may say one day is told as it stands.
        other => format!("{other:?}"),
    }
}

fn is(trace: &Trace, id: EventId, property: impl Fn(Kind) -> bool) -> bool {
    event::op(trace, id).is_some_and(|op| property(op.kind()))
}

fn mutex(trace: &Trace, asked: &Claim, step: &Step, lock: LockId) -> String {
    let (thread, other) = (event::thread(trace, step.from), event::thread(trace, step.to));
    let name = event::clean(trace.lock_name(lock));
    let stays = |next: &&EventId| still_inside(trace, step.to, **next, lock);
    match claim::next(asked).iter().find(stays) {
        Some(&next) => format!(
            "{other} is still inside {name} when {} is next, so {thread} has to be out before",
            short(next)
        ),
        None => format!("{name} is held by one of them at a time, and {other} cannot come first"),
    }
}

/// Whether the thread of `acquire` holds the lock all the way from there to its event `next`.
fn still_inside(trace: &Trace, acquire: EventId, next: EventId, lock: LockId) -> bool {
    let thread = trace.thread(acquire);
    if trace.thread(next) != thread || next <= acquire {
        return false;
    }
    let mut depth = 0_u32;
    for event in (acquire.0..next.0).map(EventId).filter(|&event| trace.thread(event) == thread) {
        match trace.op(event) {
            Op::Acquire(l) | Op::TryAcquire(l) | Op::SharedAcquire(l) if l == lock => depth += 1,
            Op::Release(l) | Op::SharedRelease(l) if l == lock => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return false;
        }
    }
    true
}

fn not_before(trace: &Trace, step: &Step, read: EventId, write: Option<EventId>) -> String {
    let other = if step.from == read { step.to } else { step.from };
    let variable = event::target(trace, read);
    match write {
        Some(write) => format!(
            "{} observes {}, and {}, another write to {variable}, must not come between the two",
            short(read),
            short(write),
            short(other)
        ),
        None => format!(
            "{} observes the initial value of {variable}, so no write to it may come earlier",
            short(read)
        ),
    }
}

fn adjacent(asked: &Claim, step: &Step) -> String {
    let pair = claim::adjacent(asked).into_iter().find(|&(a, b)| a == step.to || b == step.from);
    match pair {
        Some((a, b)) if a == step.to => format!(
            "it must come before {}, and the query asks for nothing between {} and {}",
            short(b),
            short(a),
            short(b)
        ),
        Some((a, b)) => format!(
            "{} must come after {}, and the query asks for nothing between {} and {}",
            short(step.to),
            short(a),
            short(a),
            short(b)
        ),
        None => "the query asks for nothing in between".to_owned(),
    }
}

fn asked_for(asked: &Claim, step: &Step) -> String {
    let next = claim::next(asked);
    let both = next.contains(&step.from) && next.contains(&step.to);
    match next.contains(&step.to) {
        true if both => {
            format!("the query asks for {} to be next still when {} is", short(step.to), short(step.from))
        }
        true => format!("the query asks for {} to be next in the end, after all that runs", short(step.to)),
        false => "the query asks for this order".to_owned(),
    }
}
