//! Why the machine refuses a step.

use reweave_trace::EventId;

/// Why an event cannot be the next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The trace has no event at this position.
    #[error("the trace has no event there")]
    NoEvent,
    /// The event has run already.
    #[error("it has run already")]
    AlreadyRan,
    /// The thread has an earlier event that has not run.
    #[error("event {} of its thread has to come first", .next.0)]
    NotNext {
        /// The event that is next in the thread.
        next: EventId,
    },
    /// The thread has not been forked yet.
    #[error("its thread has not been forked yet, by event {}", .fork.0)]
    NotForked {
        /// The fork.
        fork: EventId,
    },
    /// The joined thread has not started or has not run all its events.
    #[error("the joined thread has not ended")]
    NotEnded,
    /// The joined thread may have gone another way, because it has read something new.
    #[error("the joined thread has observed something new, at event {}, and may not end as it did", .read.0)]
    JoinsTainted {
        /// The unclean read.
        read: EventId,
    },
    /// Another thread holds the lock.
    #[error("another thread holds the lock")]
    Locked,
    /// No other thread holds the lock that the attempt failed at.
    #[error("no other thread holds the lock, so the attempt would not fail")]
    NotBusy,
    /// The notification that woke the wait has not run.
    #[error("event {}, which woke the wait, has not run", .waker.0)]
    NotWoken {
        /// The notification.
        waker: EventId,
    },
    /// The notification that woke the wait ran before the wait started.
    #[error("event {}, which woke the wait, ran before the wait started: the wake-up is lost", .waker.0)]
    WokenTooEarly {
        /// The notification.
        waker: EventId,
    },
    /// The wait, which nothing woke, would be woken by a notification.
    #[error("a notification since its start would wake the wait, which nothing woke")]
    WouldBeWoken,
    /// A call on one of its objects that came before it, and does not commute with it, has not run.
    #[error("event {}, an earlier call on its object, has not run", .earlier.0)]
    CallTooEarly {
        /// The earlier call.
        earlier: EventId,
    },
    /// The arguments of a call may be others than they were.
    #[error("an argument of the call depends on event {}, which observed something new", .read.0)]
    TaintedArguments {
        /// The first read that the arguments depend on.
        read: EventId,
    },
    /// A call on one of its objects went ahead: what is left of the object is not known.
    #[error("event {}, a call on its object, went ahead of its order", .ahead.0)]
    CallAfterAhead {
        /// That call.
        ahead: EventId,
    },
    /// The last event of its thread was a call with a result that went ahead: what it returned is not known.
    #[error("its thread stopped at a call that went ahead of its order")]
    StoppedAhead,
    /// The update would observe something new.
    #[error("the update would not observe what it did")]
    UncleanUpdate,
    /// The attempt that failed would observe something new, and could succeed.
    #[error("the attempt would not observe what it did, and could succeed")]
    UncleanAttempt,
    /// The clock has been looked at since, and it does not go back.
    #[error("event {} looked at the same clock later and has run, and a clock does not go back", .later.0)]
    LookedAlready {
        /// The later look.
        later: EventId,
    },
    /// The write that nobody recorded may be due to any event before it, and one of them has not run.
    #[error("event {} came before this write, which nobody recorded, and has not run", .missing.0)]
    UnseenTooEarly {
        /// The first event that has not run.
        missing: EventId,
    },
    /// The event may depend on something new that was read, and the model does not let it run.
    #[error("it may depend on event {}, which observed something new", .read.0)]
    Tainted {
        /// The unclean read.
        read: EventId,
    },
}
