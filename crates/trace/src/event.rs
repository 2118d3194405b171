//! Events and their operations.

use crate::{CallId, ConditionId, LockId, RegionId, SiteId, ThreadId, VarId};

/// One event of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The thread that ran it.
    pub thread: ThreadId,
    /// What it did.
    pub op: Op,
    /// Where in the program.
    pub site: SiteId,
}

/// Declares `Op` and `Kind` together, so that the two cannot drift apart.
macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident $(($id:ident in $space:ident))? = $code:literal;)*) => {
        /// An operation with its target.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Op {
            $($(#[$doc])* $name $(($id))?,)*
        }

        /// An operation without its target: one byte.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $name = $code,)*
        }

        impl Kind {
            /// Every kind, in order of its code.
            pub const ALL: &[Kind] = &[$(Kind::$name,)*];

            /// What kind of thing the operation's target is; none where it has no target.
            pub fn space(self) -> Option<Space> {
                match self {
                    $(Kind::$name => operations!(@space $($space)?),)*
                }
            }
        }

        impl Op {
            /// The operation of `kind` on `target`, which is ignored where the kind takes none.
            #[inline]
            pub fn new(kind: Kind, target: u32) -> Op {
                match kind {
                    $(Kind::$name => operations!(@new $name, target $(, $id)?),)*
                }
            }

            /// The operation without its target.
            #[inline]
            pub fn kind(self) -> Kind {
                match self {
                    $(operations!(@pattern $name $(, $id)?) => Kind::$name,)*
                }
            }

            /// The number of the target in its space; 0 where there is none.
            #[inline]
            pub fn target(self) -> u32 {
                match self {
                    $(operations!(@bind $name, id $(, $id)?) => operations!(@target id $(, $id)?),)*
                }
            }
        }
    };
    (@space) => { None };
    (@space $space:ident) => { Some(Space::$space) };
    (@new $name:ident, $target:ident) => { Op::$name };
    (@new $name:ident, $target:ident, $id:ident) => { Op::$name($id($target)) };
    (@pattern $name:ident) => { Op::$name };
    (@pattern $name:ident, $id:ident) => { Op::$name(_) };
    (@bind $name:ident, $bound:ident) => { Op::$name };
    (@bind $name:ident, $bound:ident, $id:ident) => { Op::$name($bound) };
    (@target $bound:ident) => { 0 };
    (@target $bound:ident, $id:ident) => { $bound.0 };
}

operations! {
    /// A plain read.
    Read(VarId in Variable) = 0;
    /// A plain write.
    Write(VarId in Variable) = 1;
    /// An atomic read.
    AtomicRead(VarId in Variable) = 2;
    /// An atomic write.
    AtomicWrite(VarId in Variable) = 3;
    /// An atomic read-modify-write, one step.
    Update(VarId in Variable) = 4;
    /// An exclusive acquire.
    Acquire(LockId in Lock) = 5;
    /// The release of an exclusive acquire.
    Release(LockId in Lock) = 6;
    /// A try-lock that succeeded: an exclusive acquire that cannot block.
    TryAcquire(LockId in Lock) = 7;
    /// A try-lock that failed or timed out.
    Busy(LockId in Lock) = 8;
    /// A shared acquire.
    SharedAcquire(LockId in Lock) = 9;
    /// The release of a shared acquire.
    SharedRelease(LockId in Lock) = 10;
    /// The creation of a thread.
    Fork(ThreadId in Thread) = 11;
    /// The awaited end of a thread.
    Join(ThreadId in Thread) = 12;
    /// The return of a wait on a condition variable, before it takes its lock again.
    Wait(ConditionId in Condition) = 13;
    /// A notification of one waiter.
    Notify(ConditionId in Condition) = 14;
    /// A notification of all waiters.
    NotifyAll(ConditionId in Condition) = 15;
    /// A point where control flow, or an address, callee or lock, depends on what the thread has read so far.
    Branch = 16;
    /// The birth of an object, named as a variable: a write to it and to every field of it.
    Alloc(VarId in Variable) = 17;
    /// The death of an object: a write to it and to every field of it.
    Free(VarId in Variable) = 18;
    /// One completed invocation of a library object.
    Call(CallId in Call) = 19;
    /// The start of the thread.
    Begin = 20;
    /// The end of the thread.
    End = 21;
    /// The start of a work unit that is meant to be atomic.
    Enter(RegionId in Region) = 22;
    /// The end of such a work unit.
    Exit(RegionId in Region) = 23;
    /// No event: a position whose event is ignored by its format or was dropped by a repair. No thread runs it.
    Skip = 24;
    /// A conditional atomic step that failed and wrote nothing: a compare-exchange, an attempt at a semaphore.
    FailedAttempt(VarId in Variable) = 25;
    /// A look at a clock that only goes forward, or a deadline that passed.
    Look(VarId in Variable) = 26;
    /// A write that nobody recorded, told by the read after it.
    Unseen(VarId in Variable) = 27;
}

/// The name spaces that targets live in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Space {
    /// Threads.
    Thread,
    /// Locks.
    Lock,
    /// Variables, objects among them.
    Variable,
    /// Condition variables.
    Condition,
    /// Regions.
    Region,
    /// Calls.
    Call,
}

impl Space {
    /// Every space.
    pub const ALL: [Space; 6] =
        [Space::Thread, Space::Lock, Space::Variable, Space::Condition, Space::Region, Space::Call];
}

/// How an operation touches memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The variable; for the birth and death of an object, the object, whose fields are touched too.
    pub variable: VarId,
    /// Whether it observes the variable.
    pub reads: bool,
    /// Whether it writes the variable.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Whether it is the birth or death of an object.
    pub lifetime: bool,
}

impl Op {
    /// How the operation touches memory, if it does.
    #[inline]
    pub fn access(self) -> Option<Access> {
        let access = |variable, reads, writes, atomic, lifetime| {
            Some(Access { variable, reads, writes, atomic, lifetime })
        };
        match self {
            Op::Read(v) => access(v, true, false, false, false),
            Op::Write(v) => access(v, false, true, false, false),
            Op::AtomicRead(v) | Op::FailedAttempt(v) => access(v, true, false, true, false),
            Op::AtomicWrite(v) | Op::Unseen(v) => access(v, false, true, true, false),
            Op::Update(v) => access(v, true, true, true, false),
            Op::Alloc(v) | Op::Free(v) => access(v, false, true, false, true),
            _ => None,
        }
    }
}

impl Kind {
    /// The kind whose code is `code`.
    #[inline]
    pub fn from_code(code: u8) -> Option<Kind> {
        Kind::ALL.get(code as usize).copied()
    }

    /// Whether the operation observes a variable.
    #[inline]
    pub fn reads(self) -> bool {
        matches!(self, Kind::Read | Kind::AtomicRead | Kind::Update | Kind::FailedAttempt)
    }

    /// Whether the operation depends on nothing that its thread has read, as long as no branch says so: in the
    /// `branch` models a tainted thread may still run it.
    #[inline]
    pub fn is_transparent(self) -> bool {
        use Kind::*;
        let access = matches!(self, Read | Write | AtomicRead | AtomicWrite);
        access || matches!(self, Acquire | TryAcquire | Release | SharedAcquire | SharedRelease)
    }

    /// Whether the operation writes a variable or an object.
    #[inline]
    pub fn writes(self) -> bool {
        use Kind::*;
        matches!(self, Write | AtomicWrite | Update | Alloc | Free | Unseen)
    }

    /// Whether the operation has two values: an update what it read and wrote, a failed attempt what it read and expected.
    #[inline]
    pub fn has_two_values(self) -> bool {
        matches!(self, Kind::Update | Kind::FailedAttempt)
    }

    /// Whether an event of the kind may have a value in the place of the written one.
    #[inline]
    pub fn carries_written(self) -> bool {
        self.writes() && !matches!(self, Kind::Alloc | Kind::Free) || self == Kind::FailedAttempt
    }

    /// Whether the operation runs only when what it would observe lets it do what it did.
    #[inline]
    pub fn is_conditional(self) -> bool {
        matches!(self, Kind::Update | Kind::FailedAttempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_dense_and_every_operation_survives_being_taken_apart() {
        for (code, &kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(kind as usize, code);
            assert_eq!(Kind::from_code(code as u8), Some(kind));
            let op = Op::new(kind, 7);
            assert_eq!(op.kind(), kind);
            assert_eq!(op.target(), if kind.space().is_some() { 7 } else { 0 });
            let access = op.access();
            assert_eq!(access.is_some_and(|a| a.reads), kind.reads());
            assert_eq!(access.is_some_and(|a| a.writes), kind.writes());
        }
        assert_eq!(Kind::from_code(Kind::ALL.len() as u8), None);
    }
}
