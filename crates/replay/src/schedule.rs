//! A schedule: who runs until what, and what is claimed to happen then.

use reweave_capture::{CodePlace, ModuleFile};

/// The kind of a schedule that only lets a read observe something new.
pub const DEEPENED: &str = "deepened";

/// What the claimed events do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// All are next at once.
    Race,
    /// Each waits for a lock.
    Deadlock,
    /// They have come, in the given order.
    Sequence,
    /// Each is a wait that nobody ends.
    Sleep,
    /// The first has come, and the second, which should have come before it, is next.
    Late,
}

impl Shape {
    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Shape::Race => "race",
            Shape::Deadlock => "deadlock",
            Shape::Sequence => "sequence",
            Shape::Sleep => "sleep",
            Shape::Late => "late",
        }
    }
}

/// A step, as it is named in every run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// The thread, by its place in the list of threads.
    pub thread: usize,
    /// Where.
    pub place: CodePlace,
    /// The how-manieth time that the thread has an event there, from 1.
    pub occurrence: u64,
    /// The how-manieth event of the thread in the program; 0 where that is not known.
    pub own: u64,
    /// What it is, for people.
    pub note: String,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// What it is called in this schedule.
    pub name: String,
    /// The thread that makes it, where, and which of those it makes there; none for the first thread.
    pub made: Option<(usize, CodePlace, u64)>,
    /// Where that is, for people.
    pub note: String,
}

/// A thread runs until it has done a step.
pub type Segment = Named;

/// A schedule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// The program first, then libraries; places refer to them by their place in this list.
    pub modules: Vec<ModuleFile>,
    /// What identifies the finding.
    pub fingerprint: String,
    /// The kind of bug, in a word.
    pub kind: String,
    /// What the finding is, in a few words.
    pub title: String,
    /// What its events do.
    pub shape: Shape,
    /// The threads; the first is the program's first.
    pub threads: Vec<Thread>,
    /// The events of the finding.
    pub events: Vec<Named>,
    /// Pairs of events that touch the same memory.
    pub same: Vec<(usize, usize)>,
    /// Pairs of events of which the first comes first.
    pub order: Vec<(usize, usize)>,
    /// Sets of places that are one: an event at any of them counts for all. A step names the first of its set.
    pub alike: Vec<Vec<CodePlace>>,
    /// What runs, in order, before the claimed events are next; with them in it where they are a sequence, and the first of them where the other
    /// is late.
    pub segments: Vec<Segment>,
}
