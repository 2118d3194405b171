//! Operations and name spaces, by their codes on the wire.

/// The number of name spaces.
pub const SPACES: usize = 8;

macro_rules! codes {
    ($(#[$type_doc:meta])* $type:ident { $($(#[$doc:meta])* $name:ident = $code:literal,)* }) => {
        $(#[$type_doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum $type {
            $($(#[$doc])* $name = $code,)*
        }

        impl $type {
            /// All of them, in order of their codes.
            pub const ALL: &[$type] = &[$($type::$name,)*];

            /// The one whose code is `code`.
            #[inline]
            pub fn from_code(code: u8) -> Option<$type> {
                match code {
                    $($code => Some($type::$name),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    /// A name space. Ids count from 0 in each, in order of definition.
    Space {
        /// Threads.
        Thread = 0,
        /// Locks.
        Lock = 1,
        /// Variables and objects.
        Variable = 2,
        /// Condition variables.
        Condition = 3,
        /// Regions.
        Region = 4,
        /// The texts of calls.
        Call = 5,
        /// Sites.
        Site = 6,
        /// Values that are not numbers.
        Text = 7,
    }
}

codes! {
    /// What an event does. Where two operations take turns at a place, their codes differ in the last bit only.
    Op {
        /// A plain read.
        Read = 0,
        /// A plain write.
        Write = 1,
        /// An atomic read.
        AtomicRead = 2,
        /// An atomic write.
        AtomicWrite = 3,
        /// An exclusive acquire.
        Acquire = 4,
        /// The release of an exclusive acquire.
        Release = 5,
        /// A shared acquire.
        SharedAcquire = 6,
        /// The release of a shared acquire.
        SharedRelease = 7,
        /// A try-lock that succeeded.
        TryAcquire = 8,
        /// A try-lock that failed.
        Busy = 9,
        /// The creation of a thread.
        Fork = 10,
        /// The awaited end of a thread.
        Join = 11,
        /// The return of a wait.
        Wait = 12,
        /// A notification of one waiter.
        Notify = 13,
        /// A notification of all waiters.
        NotifyAll = 14,
        /// A dependence of control flow on what was read.
        Branch = 15,
        /// The birth of an object.
        Alloc = 16,
        /// The death of an object.
        Free = 17,
        /// The start of a work unit.
        Enter = 18,
        /// The end of a work unit.
        Exit = 19,
        /// The start of the thread.
        Begin = 20,
        /// The end of the thread.
        End = 21,
        /// A completed call.
        Call = 22,
        /// An atomic read-modify-write.
        Update = 23,
        /// A position without an event.
        Skip = 24,
        /// A conditional atomic step that failed.
        FailedAttempt = 25,
        /// A look at a clock.
        Look = 26,
        /// A write that nobody recorded.
        Unseen = 27,
    }
}

impl Op {
    /// Where the operation's target is named; none where it has no target.
    #[inline]
    pub fn space(self) -> Option<Space> {
        // From a table, not by a jump: which operation comes next is hard to foresee.
        const SPACES: [Option<Space>; 32] = {
            let (mut spaces, mut i) = ([None; 32], 0);
            while i < Op::ALL.len() {
                spaces[i] = Op::ALL[i].space_of_target();
                i += 1;
            }
            spaces
        };
        SPACES[self as usize % 32]
    }

    const fn space_of_target(self) -> Option<Space> {
        match self {
            Op::Read | Op::Write | Op::AtomicRead | Op::AtomicWrite | Op::Update | Op::Alloc | Op::Free => {
                Some(Space::Variable)
            }
            Op::FailedAttempt | Op::Look | Op::Unseen => Some(Space::Variable),
            Op::Acquire | Op::Release | Op::SharedAcquire | Op::SharedRelease | Op::TryAcquire | Op::Busy => {
                Some(Space::Lock)
            }
            Op::Fork | Op::Join => Some(Space::Thread),
            Op::Wait | Op::Notify | Op::NotifyAll => Some(Space::Condition),
            Op::Enter | Op::Exit => Some(Space::Region),
            Op::Call => Some(Space::Call),
            Op::Branch | Op::Begin | Op::End | Op::Skip => None,
        }
    }

    /// Whether the operation may carry the value it read.
    #[inline]
    pub fn carries_read(self) -> bool {
        const READS: u32 = Op::set(&[Op::Read, Op::AtomicRead, Op::Update, Op::FailedAttempt]);
        READS >> self as u32 & 1 != 0
    }

    /// Whether the operation may carry the value it wrote or, where it failed, expected.
    #[inline]
    pub fn carries_written(self) -> bool {
        const WRITES: u32 = Op::set(&[Op::Write, Op::AtomicWrite, Op::Update, Op::Unseen, Op::FailedAttempt]);
        WRITES >> self as u32 & 1 != 0
    }

    /// Whether the operation writes the value that it carries as written: a failed attempt only expected it.
    #[inline]
    pub fn writes(self) -> bool {
        self.carries_written() && self != Op::FailedAttempt
    }

    /// How many values the operation may carry.
    #[inline]
    pub(crate) fn values(self) -> usize {
        usize::from(self.carries_read()) + usize::from(self.carries_written())
    }

    /// A bit for each of `ops`, so that asking for one takes no branch: which operation comes next is hard to foresee.
    const fn set(ops: &[Op]) -> u32 {
        let (mut set, mut i) = (0, 0);
        while i < ops.len() {
            set |= 1 << ops[i] as u32;
            i += 1;
        }
        set
    }

    /// The operation that takes turns with this one.
    #[inline]
    pub(crate) fn partner(self) -> Option<Op> {
        Op::from_code(self as u8 ^ 1)
    }
}
