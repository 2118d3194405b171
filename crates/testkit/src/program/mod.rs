//! Random small concurrent programs, with their sources.
//!
//! A program is drawn from a seed as a list of statements for each thread ([`draw()`]), and printed as C ([`c_binary`]) or Rust ([`rust_binary`]). It is *correct by construction*:
//!
//! - every shared variable is accessed under its lock, atomically, or by the thread that it was handed to;
//! - locks are acquired in the order of their numbers, so that no cycle can form (attempts may be made in any order);
//! - statements are drawn in one sequence for all threads, and a thread waits only for what an earlier statement of that
//!   sequence gives to it alone, or for what the first thread gives, which never waits but for the ends of threads. So the earliest
//!   statement that is left can always run;
//! - memory is freed by whoever has it, once.
//!
//! Hence no race, deadlock, use after free or order violation may be found in it, in any model, and it ends with status 0 under
//! every schedule. A [`Bug`] is put at the start of two threads, where nothing orders it, so that it has to be found.

mod c;
mod draw;
mod rust;

pub use c::{c_binary, c_source};
pub use draw::draw;
pub use rust::rust_binary;

/// How a lock is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockKind {
    /// A mutex.
    Normal,
    /// A mutex that its holder may acquire again.
    Recursive,
    /// A mutex that says so when its holder acquires it again.
    ErrorCheck,
    /// A mutex that outlives its holder.
    Robust,
    /// A reader/writer lock.
    ReadWrite,
    /// A spin lock.
    Spin,
    /// A semaphore that begins with 1.
    Semaphore,
    /// A pipe with one byte in it, which the holder takes.
    Pipe,
    /// A number that the holder changes by compare-exchange.
    Atomic,
    /// The lock of a standard stream.
    Stream,
}

/// How a lock is acquired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// The thread waits for it.
    Wait,
    /// It goes another way where the lock is not free.
    Try,
    /// Or where it is not free in time.
    Timed,
    /// Shared with other readers.
    Shared,
    /// Shared, or another way.
    TryShared,
}

/// State of the C library, or of the kernel, that outlives a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// `rand`.
    Random,
    /// `lrand48`.
    Random48,
    /// `strtok`.
    Token,
    /// `setenv` and `getenv`.
    Environment,
    /// `read` from a file: the offset.
    Offset,
    /// `fgetc` from a stream.
    Stream,
    /// `pwrite` and `pread`: the content.
    Content,
    /// The number that `open` gives.
    Descriptor,
    /// `umask`.
    Mask,
}

/// A step of a thread that holds a lock. Variables 0 and 1, four elements of an array and one block belong to each lock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// A variable is read.
    Load(usize),
    /// What was read, and a number, are written.
    Store(usize, u32),
    /// A number is added.
    Add(usize, u32),
    /// A variable decides what is done.
    If(usize, u32, Vec<Step>, Vec<Step>),
    /// What was read decides which element is counted up.
    Index,
    /// A variable is divided by.
    Divide(usize),
    /// The block is read, if there is one.
    Use,
    /// The block is freed, and a new one takes its place.
    Replace(u32),
    /// The block is freed, if there is one.
    Drop,
    /// A call with state, whose result decides.
    Call(State),
    /// The time decides: whether so many microseconds have passed since the start.
    Clock(u32),
    /// The lock is acquired once more.
    Again,
    /// A region of another lock, with a greater number.
    Inner(Region),
}

/// What is done while a lock is held.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region {
    /// The lock, by its number.
    pub lock: usize,
    /// How it is acquired.
    pub mode: Mode,
    /// What is done.
    pub steps: Vec<Step>,
}

/// What an atomic access does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// Reads, and decides by it.
    Load,
    /// Writes.
    Store(u32),
    /// Adds.
    Add(u32),
    /// Exchanges.
    Swap(u32),
    /// Writes the second number if the first is there, and decides by whether it was.
    Compare(u32, u32),
    /// Counts up by compare-exchange until it succeeds.
    Loop,
}

/// How something is handed from one thread to another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandOver {
    /// A semaphore.
    Semaphore,
    /// A flag with a mutex and a condition variable.
    Condition,
    /// A byte in a pipe.
    Pipe,
    /// An atomic flag, at which the receiver looks once.
    Flag,
}

/// Something that one thread gives to another: a number, or a block with a number in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// How.
    pub how: HandOver,
    /// Whether it is a block.
    pub block: bool,
    /// Whether the receiver goes on without it where it does not come in time.
    pub patient: bool,
    /// Whether the receiver looks once.
    pub looks: bool,
}

/// What the first thread gives to whoever takes it: so many numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feed {
    /// How; not a flag.
    pub how: HandOver,
    /// How many.
    pub count: usize,
}

/// A statement of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Statement {
    /// Something under a lock.
    Locked(Region),
    /// An access of an atomic variable.
    Atomic(usize, Atomic),
    /// A token is given.
    Give(usize),
    /// A token is taken.
    Take(usize),
    /// What the first thread gives is taken.
    Eat(usize),
    /// All threads meet.
    Meet(usize),
    /// An initialisation that happens once.
    Once(usize),
    /// Another thread gets an object on this thread's stack, and is joined.
    Helper,
    /// The thread ends and still holds a robust lock.
    Abandon(usize),
}

/// What is wrong with a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bug {
    /// Two threads access a variable, and one writes it.
    Race,
    /// Two threads acquire two locks in different orders.
    Deadlock,
    /// A block is freed while another thread may still use it.
    UseAfterFree,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The seed that it was drawn from.
    pub seed: u64,
    /// The locks, in the order in which they are acquired.
    pub locks: Vec<LockKind>,
    /// How many atomic variables there are.
    pub atomics: usize,
    /// What is handed over.
    pub tokens: Vec<Token>,
    /// What the first thread gives.
    pub feeds: Vec<Feed>,
    /// How many meetings there are.
    pub meetings: usize,
    /// The threads beside the first.
    pub threads: Vec<Vec<Statement>>,
    /// What is wrong with it.
    pub bug: Option<Bug>,
}
