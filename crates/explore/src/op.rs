//! The steps of a thread: what it asks of the shared world, and what it gets.

use std::panic::Location;

/// A thread, named by its creator and its number among the creator's threads; the first one is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub u32);

/// A shared object, named by its creator and its number among the creator's objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u32);

impl ThreadId {
    /// The thread that every run starts with.
    pub const MAIN: ThreadId = ThreadId(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl ObjectId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Data that one thread hands to another: a lock's content, a message, what a thread returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Data {
    /// Data that is known, or irrelevant.
    Value(u64),
    /// Data that cannot be compared. It is a function of the giver's history, so the history stands for it.
    Version,
}

/// What a thread gets from a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Outcome {
    /// How the step went; [`tag`] has the bits.
    pub tag: u32,
    /// What was read, received or returned.
    pub value: u64,
}

/// The bits of [`Outcome::tag`].
pub mod tag {
    /// A try, an exchange, a send or a receive did not succeed.
    pub const FAILED: u32 = 1;
    /// The time was up.
    pub const TIMEOUT: u32 = 2;
    /// The lock is poisoned, or the joined thread panicked.
    pub const POISONED: u32 = 4;
    /// The caller has to initialise, or leads the others of a barrier.
    pub const CHOSEN: u32 = 8;
}

/// A read-modify-write of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Update {
    /// The function.
    pub function: Function,
    /// Its second argument.
    pub operand: u64,
    /// The width of the cell in bits, at most 64.
    pub bits: u32,
}

/// The functions of a read-modify-write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "their names are what they do")]
pub enum Function {
    Add,
    Sub,
    And,
    Nand,
    Or,
    Xor,
    Swap,
    Max,
    Min,
    MaxSigned,
    MinSigned,
}

impl Update {
    /// The value after it.
    pub fn apply(self, old: u64) -> u64 {
        let shift = 64 - self.bits.clamp(1, 64);
        let signed = |value: u64| ((value << shift) as i64) >> shift;
        let new = match self.function {
            Function::Add => old.wrapping_add(self.operand),
            Function::Sub => old.wrapping_sub(self.operand),
            Function::And => old & self.operand,
            Function::Nand => !(old & self.operand),
            Function::Or => old | self.operand,
            Function::Xor => old ^ self.operand,
            Function::Swap => self.operand,
            Function::Max => old.max(self.operand),
            Function::Min => old.min(self.operand),
            Function::MaxSigned => signed(old).max(signed(self.operand)) as u64,
            Function::MinSigned => signed(old).min(signed(self.operand)) as u64,
        };
        (new << shift) >> shift
    }
}

/// Something that a spinning thread saw, and waits to see changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Watch {
    /// A cell, or the data of a lock, had this value.
    Value(ObjectId, u64),
    /// A lock could not be had.
    Held(ObjectId),
    /// A channel had no message.
    Empty(ObjectId),
}

impl Watch {
    /// What was seen.
    pub fn object(self) -> ObjectId {
        match self {
            Watch::Value(object, _) | Watch::Held(object) | Watch::Empty(object) => object,
        }
    }
}

/// When a wait may end without having been woken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Early {
    /// At any time.
    Always,
    /// When one of these differs: the thread came back to this wait once and would come back to it again.
    Changed(Vec<Watch>),
}

/// The next step of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are what the step says of them")]
pub enum Op {
    /// Reads a cell; `plain` ones race.
    Read { cell: ObjectId, plain: bool },
    /// Writes a cell.
    Write { cell: ObjectId, value: u64, plain: bool },
    /// Changes what is in a cell, plainly, to something that cannot be compared; what was there.
    Touch { cell: ObjectId },
    /// Reads and changes a cell at once.
    Update { cell: ObjectId, update: Update },
    /// Writes `new` if the cell has `expected`; a weak one may fail anyway.
    Exchange { cell: ObjectId, expected: u64, new: u64, weak: bool },
    /// One owner more, unless there is none; or one less, and whether it was the last.
    Count { cell: ObjectId, up: bool },
    /// Waits until one of the cells differs: the thread spins on them.
    Await { watched: Vec<Watch> },
    /// Waits for a lock and holds it.
    Lock { lock: ObjectId, recursive: bool },
    /// Holds a lock if it is free.
    TryLock { lock: ObjectId, recursive: bool, may_fail: bool },
    /// Gives a lock up, with the data it protects.
    Unlock { lock: ObjectId, data: Data, poison: bool },
    /// Whether a lock of either kind is poisoned.
    IsPoisoned { lock: ObjectId },
    /// Forgets that the lock is poisoned.
    ClearPoison { lock: ObjectId },
    /// Waits for a reader/writer lock, and shares it.
    ReadLock { lock: ObjectId },
    /// Shares a reader/writer lock if nobody writes.
    TryReadLock { lock: ObjectId },
    /// Ends sharing it.
    ReadUnlock { lock: ObjectId },
    /// Waits for a reader/writer lock, and has it alone.
    WriteLock { lock: ObjectId },
    /// Has it alone if it is free.
    TryWriteLock { lock: ObjectId },
    /// Gives it up, with the data it protects.
    WriteUnlock { lock: ObjectId, data: Data, poison: bool },
    /// Shares what it has alone, with no other writer in between.
    Downgrade { lock: ObjectId, data: Data },
    /// Gives the lock up, waits for the condition variable, and holds the lock again.
    Wait { condition: ObjectId, lock: ObjectId, data: Data, timed: bool, early: Early },
    /// Wakes one who waits, or all.
    Notify { condition: ObjectId, all: bool },
    /// Waits until a semaphore is above 0, and takes 1.
    Acquire { semaphore: ObjectId },
    /// Takes 1 if there is one.
    TryAcquire { semaphore: ObjectId },
    /// Adds to a semaphore.
    Release { semaphore: ObjectId, count: u64 },
    /// Waits until so many threads have come here.
    Barrier { barrier: ObjectId, size: u32 },
    /// Initialises once: whether this thread has to. Waits while another does.
    Initialise { once: ObjectId },
    /// The end of an initialisation.
    Initialised { once: ObjectId, done: bool, data: Data },
    /// Whether it is done.
    IsInitialised { once: ObjectId },
    /// Waits for room in a channel, and sends.
    Send { channel: ObjectId, message: Data },
    /// Sends if there is room.
    TrySend { channel: ObjectId, message: Data },
    /// Waits for a message.
    Receive { channel: ObjectId, timed: bool, early: Early },
    /// Takes a message if there is one.
    TryReceive { channel: ObjectId },
    /// One sender more.
    AddSender { channel: ObjectId },
    /// One sender less.
    DropSender { channel: ObjectId },
    /// No receiver any more.
    DropReceiver { channel: ObjectId },
    /// Waits for the thread's token, and takes it.
    Park { timed: bool, early: Early },
    /// Gives a thread its token.
    Unpark { thread: ThreadId },
    /// Starts a thread.
    Spawn { thread: ThreadId },
    /// Starts a thread by the same code with the same arguments as another, which was started just before or is itself.
    SpawnSame { thread: ThreadId, like: ThreadId },
    /// Waits for the end of a thread.
    Join { thread: ThreadId },
    /// Waits for the ends of threads; whether one of them panicked.
    JoinAll { threads: Vec<ThreadId> },
    /// One of so many, all of which are tried.
    Choose { among: u32 },
    /// A call on an object that follows a specification.
    Call { object: ObjectId, call: u64 },
    /// Nothing.
    Yield,
    /// The end of all threads.
    Exit { code: i32 },
    /// A failure of this thread; it goes no further.
    Fail { site: u32 },
    /// The end of this thread.
    End { data: Data, panicked: bool },
}

/// What an object is, and how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are what the object says of them")]
pub enum Init {
    /// Memory.
    Cell(u64),
    /// Memory with data that cannot be compared.
    Data(Data),
    /// A lock that nobody holds.
    Lock(Data),
    /// A reader/writer lock that nobody holds.
    RwLock(Data),
    /// A condition variable.
    Condition,
    /// A semaphore.
    Semaphore(u64),
    /// A barrier.
    Barrier,
    /// An initialisation that has not begun, or one that is done.
    Once(Option<Data>),
    /// An empty channel with one sender and one receiver; no capacity is no bound.
    Channel(Option<u32>),
    /// An object of a specification's class, in this state.
    Object { class: u32, state: u64 },
}

/// What a thread does next, and what it made on the way there.
#[derive(Clone, Debug, Eq)]
pub struct Next {
    /// The objects that it made since its last step. No other thread can know them yet.
    pub made: Vec<(ObjectId, Init)>,
    /// The step.
    pub op: Op,
    /// Where it is in the source, if that is known.
    pub place: Option<&'static Location<'static>>,
}

/// Where a step is in the source says nothing of what it does.
impl PartialEq for Next {
    fn eq(&self, other: &Next) -> bool {
        self.op == other.op && self.made == other.made
    }
}

/// One step of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Move {
    /// Whose.
    pub thread: ThreadId,
    /// Which of the thread's possibilities: 0 where there is one. For a notification the number of the woken thread plus one.
    pub choice: u32,
}
