//! Events, as the analysis is told of them and as it answers.

/// Where an event was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Where {
    /// At an instruction of a function.
    Instruction(usize, u32),
    /// At the start of a function, where its copies of arguments are made.
    Start,
    /// In a function of a library that instrumented code called.
    Called,
    /// Nobody knows.
    Elsewhere,
}

/// What a recorded event does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Touches memory.
    Access {
        /// Whether it reads.
        reads: bool,
        /// Whether it writes.
        writes: bool,
    },
    /// A branch that instrumented code told of.
    Branch,
    /// An acquire or release.
    Lock,
    /// Touches a variable that stands for something outside of the program's memory.
    Outside,
    /// Something that stores nothing.
    Plain,
}

/// A recorded event, of which any number may come to be in the trace.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Its thread.
    pub thread: usize,
    /// Where it is.
    pub place: Where,
    /// Whether it is a further part of what the event before belongs to.
    pub part: bool,
    /// What it does.
    pub kind: Kind,
}

/// An event of the trace.
#[derive(Clone, Copy, Debug)]
pub struct InTrace {
    /// Whether a thread that has read something else may run it, in the model `branch`.
    pub transparent: bool,
    /// Whether sets may have it.
    pub root: bool,
    /// Whether it is a branch that instrumented code told of.
    pub branch: bool,
    /// Whether it reads and writes, or would have, in one step.
    pub update: bool,
}

/// What an event of the trace depends on.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sets {
    /// The reads that decide about it.
    pub needs: Vec<u32>,
    /// The reads that what it writes is computed from.
    pub feeds: Vec<u32>,
}
