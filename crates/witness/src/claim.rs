//! Schedules, and what they are said to show.

use reweave_trace::{EventId, Kind, ThreadId, Trace};

/// A schedule: the trace's own first events in observed order, then others.
///
/// Split in two so that a witness deep in a long trace stays short. Skipped positions in the prefix do not count.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Witness {
    /// How many of the trace's first positions come first.
    pub prefix: u32,
    /// The events that follow.
    pub tail: Vec<EventId>,
}

impl Witness {
    /// Every event of the schedule, in order. A prefix longer than the trace ends with it.
    pub fn schedule(&self, trace: &Trace) -> impl Iterator<Item = EventId> {
        self.schedule_after(trace, 0)
    }

    /// The same without the first `passed` positions of the trace, which must be in the prefix.
    pub(crate) fn schedule_after(&self, trace: &Trace, passed: u32) -> impl Iterator<Item = EventId> {
        let prefix = (passed..self.prefix.min(trace.len() as u32)).map(EventId);
        prefix.filter(|&id| trace.kind(id) != Kind::Skip).chain(self.tail.iter().copied())
    }
}

/// What a witness is said to show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// After the schedule, all these events may run.
    CoEnabled(Vec<EventId>),
    /// After the schedule, these acquires may run but block each other in a cycle, in whatever order they are given;
    /// or the only one is blocked by a thread that has ended. Waits may be among them, each asleep until a thread of
    /// the cycle notifies it: then nobody else can go on either.
    Deadlock(Vec<EventId>),
    /// After the schedule, this wait sleeps, its notification came before it started, and nobody can go on.
    Asleep(EventId),
    /// The schedule has this read, and no write of its variable before it; the birth of an object writes nothing.
    Unwritten(EventId),
    /// The schedule has the call `first`, which may go ahead of others that it can overtake; after the schedule, `then`, which
    /// came before it, may run: too late.
    Ahead {
        /// The call that comes too early.
        first: EventId,
        /// The event that comes too late.
        then: EventId,
    },
    /// The schedule has these events in this order.
    Sequence {
        /// The events.
        events: Vec<EventId>,
        /// The places i where nothing comes between the i-th event and the next.
        adjacent: Vec<usize>,
    },
    /// The schedule has these events, the first of each pair before the second.
    Before {
        /// The pairs.
        pairs: Vec<(EventId, EventId)>,
        /// The pairs, by their place, with nothing in between.
        adjacent: Vec<usize>,
    },
}

impl Claim {
    /// The events that are to be next after the schedule.
    pub(crate) fn next_events(&self) -> &[EventId] {
        match self {
            Claim::CoEnabled(events) | Claim::Deadlock(events) => events,
            Claim::Asleep(wait) => std::slice::from_ref(wait),
            Claim::Ahead { then, .. } => std::slice::from_ref(then),
            Claim::Sequence { .. } | Claim::Before { .. } | Claim::Unwritten(_) => &[],
        }
    }

    /// Whether the claim is that nobody can go on.
    pub(crate) fn is_at_rest(&self, is_wait: impl Fn(EventId) -> bool) -> bool {
        match self {
            Claim::Asleep(_) => true,
            Claim::Deadlock(events) => events.iter().any(|&event| is_wait(event)),
            _ => false,
        }
    }

    /// The call that the claim lets go ahead.
    pub fn ahead(&self) -> Option<EventId> {
        if let Claim::Ahead { first, .. } = self { Some(*first) } else { None }
    }

    /// The same claim about other events.
    pub fn map(&self, to: impl Fn(EventId) -> EventId) -> Claim {
        let all = |events: &[EventId]| events.iter().map(|&event| to(event)).collect();
        match self {
            Claim::CoEnabled(events) => Claim::CoEnabled(all(events)),
            Claim::Deadlock(acquires) => Claim::Deadlock(all(acquires)),
            Claim::Asleep(wait) => Claim::Asleep(to(*wait)),
            Claim::Unwritten(read) => Claim::Unwritten(to(*read)),
            Claim::Ahead { first, then } => Claim::Ahead { first: to(*first), then: to(*then) },
            Claim::Sequence { events, adjacent } => {
                Claim::Sequence { events: all(events), adjacent: adjacent.clone() }
            }
            Claim::Before { pairs, adjacent } => {
                let pairs = pairs.iter().map(|&(a, b)| (to(a), to(b))).collect();
                Claim::Before { pairs, adjacent: adjacent.clone() }
            }
        }
    }

    /// The pairs with nothing in between.
    pub(crate) fn adjacent_pairs(&self) -> Vec<(EventId, EventId)> {
        let (all, adjacent): (Vec<_>, &[usize]) = match self {
            Claim::CoEnabled(_)
            | Claim::Deadlock(_)
            | Claim::Asleep(_)
            | Claim::Unwritten(_)
            | Claim::Ahead { .. } => (Vec::new(), &[]),
            Claim::Sequence { events, adjacent } => {
                (events.windows(2).map(|pair| (pair[0], pair[1])).collect(), adjacent)
            }
            Claim::Before { pairs, adjacent } => (pairs.clone(), adjacent),
        };
        adjacent.iter().filter_map(|&place| all.get(place).copied()).collect()
    }
}

/// Why a claim does not hold after a schedule that does.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The claim names no event, or an adjacent place that it does not have.
    #[error("the claim is empty or names an adjacent place that it does not have")]
    Meaningless,
    /// Two of the events are of one thread, or the same.
    #[error("events {} and {} are not of different threads", .0.0, .1.0)]
    SameThread(EventId, EventId),
    /// The event may not run after the schedule.
    #[error("after the schedule, event {} may not run: {refusal}", .event.0)]
    MayNotRun {
        /// The event.
        event: EventId,
        /// Why.
        refusal: crate::Refusal,
    },
    /// The acquires do not block each other in a cycle.
    #[error("after the schedule, the acquires do not block each other in a cycle")]
    NoCycle,
    /// The event is not a wait that sleeps, or its notification did not come too early.
    #[error("after the schedule, event {} is not a wait that missed its notification", .0.0)]
    NotAsleep(EventId),
    /// A thread can go on, or may go another way than it did, or is not known to have ended.
    #[error("after the schedule, not every thread has ended or waits for ever: {}", goes_on(.next))]
    NotAtRest {
        /// The thread.
        thread: ThreadId,
        /// Its next event, where it has one.
        next: Option<EventId>,
    },
    /// The event is not a read, or does not read what nobody wrote.
    #[error("event {} does not read what nobody has written before", .0.0)]
    Written(EventId),
    /// The event is not in the schedule.
    #[error("event {} is not in the schedule", .0.0)]
    Missing(EventId),
    /// The first event does not come before the second.
    #[error("event {} does not come before event {}", .0.0, .1.0)]
    NotBefore(EventId, EventId),
    /// Something comes between the two events.
    #[error("something comes between event {} and event {}", .0.0, .1.0)]
    NotAdjacent(EventId, EventId),
}

fn goes_on(next: &Option<EventId>) -> String {
    match next {
        Some(event) => format!("event {} can come", event.0),
        None => "a thread has run out of events without an end".to_owned(),
    }
}
