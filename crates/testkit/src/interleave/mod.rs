//! Small concurrent programs, and by exhaustion what all their interleavings can do.
//!
//! The language has every kind of step that `explore` knows; the machine is our own, written from the law, and shares no
//! code with it.

mod brute;
mod classes;
mod draw;
mod lives;
mod world;

pub use brute::{Everything, everything};
pub use classes::classes;
pub use draw::{Flavour, draw, draw_same};

/// One instruction. Registers and objects are numbers; a result goes to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the instructions are those of every machine")]
pub enum Instr {
    Load {
        reg: usize,
        cell: usize,
        plain: bool,
    },
    Store {
        cell: usize,
        value: u64,
        plain: bool,
    },
    Add {
        reg: usize,
        cell: usize,
        by: u64,
    },
    Swap {
        reg: usize,
        cell: usize,
        value: u64,
    },
    /// The register is 1 if it failed.
    Cas {
        reg: usize,
        cell: usize,
        expected: u64,
        new: u64,
        weak: bool,
    },
    /// Reads until the cell has the value.
    Spin {
        cell: usize,
        value: u64,
    },
    Lock {
        lock: usize,
    },
    TryLock {
        reg: usize,
        lock: usize,
    },
    Unlock {
        lock: usize,
    },
    Read {
        lock: usize,
    },
    TryRead {
        reg: usize,
        lock: usize,
    },
    ReadEnd {
        lock: usize,
    },
    Write {
        lock: usize,
    },
    TryWrite {
        reg: usize,
        lock: usize,
    },
    WriteEnd {
        lock: usize,
    },
    /// From writing to reading.
    Downgrade {
        lock: usize,
    },
    /// The register is 1 if the time was up.
    Wait {
        reg: usize,
        condition: usize,
        lock: usize,
        timed: bool,
    },
    Notify {
        condition: usize,
        all: bool,
    },
    Down {
        semaphore: usize,
    },
    TryDown {
        reg: usize,
        semaphore: usize,
    },
    Up {
        semaphore: usize,
    },
    Barrier {
        reg: usize,
        barrier: usize,
        size: usize,
    },
    /// The register is 1 if this thread has to initialise.
    OnceBegin {
        reg: usize,
        once: usize,
    },
    OnceEnd {
        once: usize,
    },
    Send {
        channel: usize,
        value: u64,
    },
    TrySend {
        reg: usize,
        channel: usize,
        value: u64,
    },
    Receive {
        reg: usize,
        channel: usize,
    },
    TryReceive {
        reg: usize,
        channel: usize,
    },
    Park,
    Unpark {
        thread: usize,
    },
    Spawn {
        thread: usize,
    },
    Join {
        thread: usize,
    },
    /// Waits for the ends of all other threads.
    JoinAll,
    Choose {
        reg: usize,
        among: u64,
    },
    /// A call on the set or on the counter: one step.
    Call {
        reg: usize,
        called: Called,
    },
    /// Leaves out so many instructions if the register has that value. No step.
    SkipIf {
        reg: usize,
        value: u64,
        count: usize,
    },
    Fail {
        site: u32,
    },
    Exit {
        code: i32,
    },
}

/// A call on the one set, on the one counter, or on the one count of owners. The first two begin empty, the last with two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the methods are those of every set and counter")]
pub enum Called {
    Add(u64),
    Remove(u64),
    Has(u64),
    Size,
    Inc,
    Get,
    /// One owner more, unless there is none.
    Up,
    /// One owner less.
    Down,
}

impl Called {
    /// Whether the order of two calls can be told, in some state.
    pub fn depends(self, other: Called) -> bool {
        use Called::{Add, Down, Get, Has, Inc, Remove, Size, Up};
        match (self, other) {
            (Add(left) | Remove(left) | Has(left), Add(right) | Remove(right) | Has(right)) => {
                left == right && !matches!((self, other), (Has(_), Has(_)))
            }
            (Add(_) | Remove(_), Size) | (Size, Add(_) | Remove(_)) => true,
            (Inc, Get) | (Get, Inc) => true,
            (Down, Up | Down) | (Up, Down) => true,
            _ => false,
        }
    }
}

/// How many registers a thread has.
pub const REGISTERS: usize = 3;
/// How many objects of each kind a program has.
pub const OBJECTS: usize = 3;
/// How many messages a channel holds.
pub const CAPACITY: usize = 1;

/// A program. Thread 0 runs at the start, others when they are spawned. All cells, semaphores and registers begin with 0.
#[derive(Clone, Debug)]
pub struct Small {
    /// The instructions of each thread.
    pub threads: Vec<Vec<Instr>>,
    /// Whether waits may end without cause, timed ones because of the time, and weak exchanges fail.
    pub unasked: bool,
    /// Whether all threads but the first have the same instructions, and are started one right after the other.
    pub same: bool,
}

/// How a step went, and what it gave: the bits and values that `explore` documents.
pub type Result = (u32, u64);

/// A thread, with the results of its steps so far.
pub type History = (usize, Vec<Result>);
