//! The operations in words.

pub(crate) use reweave_report::event::word;
use reweave_trace::Kind;

/// What events of `kind` are called.
pub(crate) fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "reads",
        Kind::Write => "writes",
        Kind::AtomicRead => "atomic reads",
        Kind::AtomicWrite => "atomic writes",
        Kind::Update => "atomic updates",
        Kind::Acquire => "acquires",
        Kind::Release => "releases",
        Kind::TryAcquire => "successful tries",
        Kind::Busy => "failed tries",
        Kind::SharedAcquire => "shared acquires",
        Kind::SharedRelease => "shared releases",
        Kind::Fork => "forks",
        Kind::Join => "joins",
        Kind::Wait => "waits",
        Kind::Notify => "notifications of one",
        Kind::NotifyAll => "notifications of all",
        Kind::Branch => "branches",
        Kind::Alloc => "allocations",
        Kind::Free => "frees",
        Kind::Call => "calls",
        Kind::Begin => "thread begins",
        Kind::End => "thread ends",
        Kind::Enter => "region entries",
        Kind::Exit => "region exits",
        Kind::Skip => "positions without an event",
        Kind::FailedAttempt => "failed attempts",
        Kind::Look => "looks at a clock",
        Kind::Unseen => "unrecorded writes",
    }
}
