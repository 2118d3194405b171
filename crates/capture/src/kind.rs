//! Operations of a recording as those of a trace.

use reweave_trace::Kind;
use reweave_wire as wire;

/// The same access as an atomic one.
pub(crate) fn atomic(kind: Kind) -> Kind {
    match kind {
        Kind::Read => Kind::AtomicRead,
        Kind::Write => Kind::AtomicWrite,
        kind => kind,
    }
}

/// What it is in a trace.
pub(crate) fn kind(op: wire::Op) -> Kind {
    match op {
        wire::Op::Read => Kind::Read,
        wire::Op::Write => Kind::Write,
        wire::Op::AtomicRead => Kind::AtomicRead,
        wire::Op::AtomicWrite => Kind::AtomicWrite,
        wire::Op::Acquire => Kind::Acquire,
        wire::Op::Release => Kind::Release,
        wire::Op::SharedAcquire => Kind::SharedAcquire,
        wire::Op::SharedRelease => Kind::SharedRelease,
        wire::Op::TryAcquire => Kind::TryAcquire,
        wire::Op::Busy => Kind::Busy,
        wire::Op::Fork => Kind::Fork,
        wire::Op::Join => Kind::Join,
        wire::Op::Wait => Kind::Wait,
        wire::Op::Notify => Kind::Notify,
        wire::Op::NotifyAll => Kind::NotifyAll,
        wire::Op::Branch => Kind::Branch,
        wire::Op::Alloc => Kind::Alloc,
        wire::Op::Free => Kind::Free,
        wire::Op::Enter => Kind::Enter,
        wire::Op::Exit => Kind::Exit,
        wire::Op::Begin => Kind::Begin,
        wire::Op::End => Kind::End,
        wire::Op::Call => Kind::Call,
        wire::Op::Update => Kind::Update,
        wire::Op::Skip => Kind::Skip,
        wire::Op::FailedAttempt => Kind::FailedAttempt,
        wire::Op::Look => Kind::Look,
        wire::Op::Unseen => Kind::Unseen,
    }
}
