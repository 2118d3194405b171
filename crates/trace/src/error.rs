//! What can be wrong with a trace.

use std::fmt;

use crate::EventId;

/// Why a trace could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The events do not make up a run that can have been observed.
    #[error(transparent)]
    IllFormed(#[from] IllFormed),
    /// There are more things of a kind than ids.
    #[error("the trace has too many {what}: the limit is about 4 billion (1 billion for values)")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
    },
    /// An event of a batch refers to a name that was never defined.
    #[error("an event refers to a name that was never defined")]
    UnknownName,
    /// A name is longer than [`crate::MAX_NAME_BYTES`].
    #[error("a name is {bytes} bytes long: the limit is {limit}", limit = crate::MAX_NAME_BYTES)]
    NameTooLong {
        /// How long it is.
        bytes: usize,
    },
    /// The table of dependences does not fit the events.
    #[error("the table of dependences is wrong: {reason}")]
    Dependence {
        /// What is wrong with it.
        reason: String,
    },
    /// A variable's name has more dots than objects may nest.
    #[error("the variable `{name}` has more than {limit} dots, the limit in a trace with alloc or free")]
    TooNested {
        /// The name, shortened.
        name: String,
        /// The limit.
        limit: usize,
    },
}

/// The first event that breaks the rules for a well-formed trace.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct IllFormed {
    /// The event.
    pub event: EventId,
    /// Another event that it clashes with.
    pub other: Option<EventId>,
    /// The rule it breaks.
    pub defect: Defect,
    /// One sentence with the names of what is involved.
    pub message: String,
}

/// A way for a trace to be ill formed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Defect {
    /// A fork or join of `151` where the thread is `T151`.
    MisnamedThread,
    /// A fork of a thread that was forked before.
    SecondFork,
    /// A fork of a thread that has run already, itself among them.
    ForkAfterEvents,
    /// An event of a thread before its fork: how a repair sees the same.
    BeforeFork,
    /// A join of a thread before its last event.
    EarlyJoin,
    /// An event of a thread after its end, or, as a repair sees it, an end after which there are events.
    AfterEnd,
    /// An acquire that was logged before it was granted.
    EarlyAcquire,
    /// The last event of a thread, an acquire of a lock that another thread holds.
    NeverGranted,
    /// An acquire of a lock that another thread holds.
    HeldByAnother,
    /// A release by a thread that does not hold the lock.
    ReleaseWithoutAcquire,
    /// A failed attempt at a lock that no other thread holds.
    BusyWithoutHolder,
    /// A second birth of an object.
    SecondAlloc,
    /// The birth of an object that was used before.
    UseBeforeAlloc,
    /// A second death of an object.
    SecondFree,
    /// A read of a value that its writer did not write.
    ValueDisagrees,
    /// An access without a value in a trace that claims to have them all.
    MissingValue,
}

impl Defect {
    /// Every defect, in the order in which they are listed to users.
    pub const ALL: [Defect; 16] = [
        Defect::MisnamedThread,
        Defect::SecondFork,
        Defect::ForkAfterEvents,
        Defect::BeforeFork,
        Defect::EarlyJoin,
        Defect::AfterEnd,
        Defect::EarlyAcquire,
        Defect::NeverGranted,
        Defect::HeldByAnother,
        Defect::ReleaseWithoutAcquire,
        Defect::BusyWithoutHolder,
        Defect::SecondAlloc,
        Defect::UseBeforeAlloc,
        Defect::SecondFree,
        Defect::ValueDisagrees,
        Defect::MissingValue,
    ];

    /// What a repair does about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Defect::MisnamedThread => "the thread was renamed",
            Defect::SecondFork | Defect::ForkAfterEvents => "the fork was dropped",
            Defect::EarlyJoin => "the join was dropped",
            Defect::BeforeFork => "the event was dropped",
            Defect::AfterEnd => "the end was dropped",
            Defect::EarlyAcquire => "the acquire was moved to its thread's next event",
            Defect::NeverGranted => "the acquire was dropped",
            Defect::HeldByAnother => "its lock only orders, and nothing is found between its sections",
            Defect::ReleaseWithoutAcquire => "the release was dropped",
            Defect::BusyWithoutHolder => "the attempt was dropped",
            Defect::SecondAlloc => "the object got a new name",
            Defect::UseBeforeAlloc => "the alloc was dropped",
            Defect::SecondFree => "the free was dropped",
            Defect::ValueDisagrees | Defect::MissingValue => "all values were dropped",
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Defect::MisnamedThread => "fork or join of a misnamed thread",
            Defect::SecondFork => "second fork of a thread",
            Defect::ForkAfterEvents => "fork of a thread that has run already",
            Defect::BeforeFork => "event of a thread before its fork",
            Defect::EarlyJoin => "join before the thread's last event",
            Defect::AfterEnd => "end of a thread that runs on",
            Defect::EarlyAcquire => "acquire that was logged before it was granted",
            Defect::NeverGranted => "acquire that was never granted",
            Defect::HeldByAnother => "acquire of a lock that another thread holds",
            Defect::ReleaseWithoutAcquire => "release without an acquire",
            Defect::BusyWithoutHolder => "busy attempt at a lock that no other thread holds",
            Defect::SecondAlloc => "second alloc of an object",
            Defect::UseBeforeAlloc => "alloc of an object that was used before",
            Defect::SecondFree => "second free of an object",
            Defect::ValueDisagrees => "read of a value that was not written",
            Defect::MissingValue => "access without a value",
        })
    }
}
