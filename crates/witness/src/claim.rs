//! Schedules, and what they are said to show.

use reweave_trace::{EventId, Kind, Trace};

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
    /// or the only one is blocked by a thread that has ended.
    Deadlock(Vec<EventId>),
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
            Claim::Sequence { .. } | Claim::Before { .. } => &[],
        }
    }

    /// The same claim about other events.
    pub fn map(&self, to: impl Fn(EventId) -> EventId) -> Claim {
        let all = |events: &[EventId]| events.iter().map(|&event| to(event)).collect();
        match self {
            Claim::CoEnabled(events) => Claim::CoEnabled(all(events)),
            Claim::Deadlock(acquires) => Claim::Deadlock(all(acquires)),
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
            Claim::CoEnabled(_) | Claim::Deadlock(_) => (Vec::new(), &[]),
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
