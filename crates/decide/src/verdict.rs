//! Answers.

use reweave_trace::{EventId, LockId, Model};
use reweave_witness::{CheckedWitness, Claim, Rejection, Witness};

/// The answer to a query.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Some schedule shows what was asked for.
    Feasible(CheckedWitness),
    /// No schedule does.
    Infeasible(Refutation),
    /// That is not known.
    Unknown(Reason),
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Reason {
    /// The work limit was reached.
    Work,
    /// Somebody asked to stop.
    Stopped,
    /// The stages that were allowed do not settle it.
    Inconclusive,
}

/// Why no schedule can show what was asked for; empty where nobody wanted to know.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refutation {
    /// The question contradicts itself, whatever the schedule.
    Static(Impossible),
    /// Each of these events must come before the next, and the last before the first.
    Cycle(Vec<Step>),
    /// These demands clash: no schedule meets them all, and the list is shrunk.
    Clash(Vec<Demand>),
}

/// One event must come before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The earlier.
    pub from: EventId,
    /// The later.
    pub to: EventId,
    /// Why.
    pub why: Why,
}

/// Why one event must come before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Why {
    /// They are of one thread.
    ProgramOrder,
    /// The first creates the thread of the second.
    Fork,
    /// The second awaits the end of the first's thread.
    Join,
    /// The second is a wait that the first woke.
    Woken,
    /// The first starts the wait that the second woke.
    Starts,
    /// The second observes what the first wrote.
    Observes,
    /// The second is a read that may observe several writes, all of which come after the first or are the first.
    Whichever,
    /// The second is a read that may observe several writes, and the first is the only one that the order leaves.
    OnlyOneLeft,
    /// The order leaves none of the writes that a read may observe; the two say so of the one that it observed.
    NoneLeft {
        /// The read.
        read: EventId,
    },
    /// What the second does may depend on the first, a read.
    Depends,
    /// The first writes what a read observes that the second, another write, must not disturb: it would come between
    /// the write and the read if it came any earlier.
    NotBefore {
        /// The read.
        read: EventId,
        /// The write that it observes.
        write: Option<EventId>,
    },
    /// The two are in critical sections that exclude each other, and the other order is impossible.
    Mutex(LockId),
    /// A wait that nothing woke must not see the notification.
    NotNotified {
        /// The wait.
        wait: EventId,
    },
    /// The second is a write that nobody recorded, which may be due to the first.
    Unseen,
    /// The two look at one clock, which does not go back.
    Looked,
    /// The two are calls on one object, which keep their order.
    Called,
    /// Nothing may stand between two events, and this one stands on the other side.
    Adjacent,
    /// The query asks for it.
    Asked,
}

/// A question that contradicts itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Impossible {
    /// Two events of one thread cannot both be next.
    SameThread(EventId, EventId),
    /// The event is not an acquire that can block.
    NotAnAcquire(EventId),
    /// The threads, standing there, do not block each other in a cycle.
    NoCycle,
    /// The event is not a wait that was woken and that nothing but a notification ends.
    NotASleep(EventId),
    /// The event is not a read.
    NotARead(EventId),
    /// An event cannot come before itself, nor before an earlier one of its thread.
    Backwards(EventId, EventId),
}

/// One demand on every schedule that shows what was asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Demand {
    /// The query asks for this event to run.
    Asked(EventId),
    /// The query asks for this event to be next.
    AskedNext(EventId),
    /// The query asks for the first event to come before the second.
    AskedBefore(EventId, EventId),
    /// The query asks for nothing between the first two; the third cannot be there.
    AskedAdjacent(EventId, EventId, EventId),
    /// The thread of the event starts with this fork.
    Fork {
        /// The event.
        event: EventId,
        /// The fork.
        fork: EventId,
    },
    /// The join needs the thread's last event first.
    Join {
        /// The join.
        join: EventId,
        /// The last event.
        last: EventId,
    },
    /// What the event does may depend on the read, which must observe what it did.
    Needs {
        /// The event.
        event: EventId,
        /// The read.
        read: EventId,
    },
    /// The read must observe this write (none is the initial value), or an equal one.
    Observes {
        /// The read.
        read: EventId,
        /// The write.
        write: Option<EventId>,
    },
    /// The other write must not come between the write and the read.
    NotBetween {
        /// The read.
        read: EventId,
        /// The write that it observes.
        write: Option<EventId>,
        /// The other write.
        other: EventId,
    },
    /// The write that the read must observe has to write what it did.
    Untainted {
        /// The read.
        read: EventId,
        /// The write.
        write: EventId,
        /// The read that the write may depend on.
        by: EventId,
    },
    /// The two critical sections exclude each other.
    Mutex {
        /// The lock.
        lock: LockId,
        /// An acquire.
        first: EventId,
        /// The other.
        second: EventId,
    },
    /// The failed attempt needs another thread inside.
    Busy {
        /// The attempt.
        attempt: EventId,
    },
    /// The wait was woken by the notification, after it had started.
    Woken {
        /// The wait.
        wait: EventId,
        /// The notification.
        waker: EventId,
    },
    /// The wait that nothing woke must not see the notification.
    NotNotified {
        /// The wait.
        wait: EventId,
        /// The notification.
        notification: EventId,
    },
    /// Nobody may be able to go on in the end: this event comes, or its thread is stuck somewhere from there on.
    AtRest(EventId),
    /// The write, which nobody recorded, may be due to the event.
    Unseen {
        /// The write.
        write: EventId,
        /// The event.
        earlier: EventId,
    },
    /// The clock does not go back.
    Looked {
        /// The look that came first.
        look: EventId,
        /// The other.
        later: EventId,
    },
    /// Calls on one object keep their order.
    Called {
        /// The call.
        call: EventId,
        /// The one before it.
        earlier: EventId,
    },
    /// The acquire is blocked by a thread that has ended inside.
    DeadHolder {
        /// The acquire.
        acquire: EventId,
    },
}

/// A bug of ours: a stage called a query feasible with a schedule that the checker refuses.
#[derive(Clone, Debug, thiserror::Error)]
#[error("a schedule for {claim:?} in model {model} was refused: {rejection}")]
pub struct Unsound {
    /// What was asked.
    pub claim: Claim,
    /// The model.
    pub model: Model,
    /// The schedule.
    pub witness: Witness,
    /// Why it was refused.
    pub rejection: Rejection,
}
