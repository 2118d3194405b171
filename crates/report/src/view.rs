//! The view of a finding: all that can be shown of it, made once while the trace is at hand.
//!
//! Text, JSON, SARIF and the page are written from it, and none of them needs the trace or knows the law. What a step
//! observes, who holds what and who waits for whom comes from the machine that checks witnesses. A [`Maker`] makes the
//! views of one trace.
//!
//! The fields are those of documents, which `docs/json.md` describes; threads, targets and sites are named by their
//! index in the lists of the view.

mod board;
mod keep;
mod maker;
mod names;
mod news;
mod order;
mod run;
pub mod severity;
pub mod words;

use serde::{Deserialize, Serialize};

pub use maker::{Maker, SourceText, Subject};
pub use names::{Site, Target, TargetKind};
pub use news::Harmless;
pub use severity::{Harm, Level, Severity};

/// All that can be shown of a finding.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// `data race on balance`.
    pub title: String,
    /// Who can do what, and where, in a sentence.
    pub summary: String,
    /// What each event of the finding has to do with it, in their order.
    pub roles: Vec<Role>,
    /// What goes wrong, where the roles do not say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    /// What to do about it.
    pub next: String,
    /// The threads that are named here.
    pub threads: Vec<Thread>,
    /// The variables, locks and condition variables that are named here.
    pub targets: Vec<Target>,
    /// The positions in the source that are named here.
    pub sites: Vec<Site>,
    /// Both orders; none where that would have taken too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// The source around the finding's sites, where it could be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Excerpt>,
}

/// What an event has to do with the finding.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Role {
    /// The event.
    pub event: u32,
    /// Its thread.
    pub thread: u32,
    /// `Read of balance by thread bob can happen at the same time`.
    pub text: String,
    /// The locks that the thread holds there, in the order in which it took them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Held>,
}

/// A lock that is held.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// The lock.
    pub lock: u32,
    /// The event that took it.
    pub since: u32,
    /// Where that is.
    pub site: u32,
    /// Whether it is the shared side.
    #[serde(default, skip_serializing_if = "is_false")]
    pub shared: bool,
}

/// A thread.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// The function that it starts with, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Whether an event of the finding is its own, or it blocks one that is.
    pub involved: bool,
    /// Its creation; none for the first thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Created>,
}

/// The creation of a thread.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Created {
    /// The event.
    pub event: u32,
    /// The name of the thread that created it.
    pub by: String,
    /// Where.
    pub site: u32,
}

/// Both orders of the same events, with all but the events of interest folded.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Board {
    /// As recorded.
    pub observed: Vec<Row>,
    /// As the witness has them, with the events that can then come at its end.
    pub witness: Vec<Row>,
    /// The row of the witness where the bug is there.
    pub bug: u32,
    /// What is so there: `both can run now`.
    pub moment: String,
    /// Events of the folds, by their number: no more than 400.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfolded: Vec<Step>,
    /// The reads of the witness up to the bug that observe something new, and why that does no
    /// harm; the first 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub new_reads: Vec<NewRead>,
    /// How many more there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_new_reads: u64,
}

/// A read that observes something else than in the recorded run, or what was computed from such a
/// read.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct NewRead {
    /// The event.
    pub event: u32,
    /// Its thread.
    pub thread: u32,
    /// What it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    /// Where it is.
    pub site: u32,
    /// The write that it observes; none for what was there at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<u32>,
    /// The write that it observed in the recorded run, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<u32>,
    /// Why that does no harm.
    pub harmless: Harmless,
    /// The writes of the witness that are computed from it, by the table of dependences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub feeds: Vec<u32>,
    /// All of it in a sentence.
    pub text: String,
}

/// One line of an order.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(untagged)]
pub enum Row {
    /// One event.
    Step(Box<Step>),
    /// Events that do not matter.
    Fold(Fold),
}

/// An event in its order.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The event.
    pub event: u32,
    /// Its thread.
    pub thread: u32,
    /// Its operation, by its word in STD text.
    pub op: String,
    /// What it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<u32>,
    /// The value that it wrote, or read in the recorded run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether it is one of the finding's events.
    #[serde(default, skip_serializing_if = "is_false")]
    pub bug: bool,
    /// Whether it has not run, but can, or waits.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pending: bool,
    /// What it observes in this order, where it reads and the machine ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Reads>,
    /// The state after it, as far as it changed.
    #[serde(flatten)]
    pub state: State,
}

/// What a read observes.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Reads {
    /// The write; none for what was there at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<u32>,
    /// The value, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether another write was observed in the recorded run.
    #[serde(default, skip_serializing_if = "is_false")]
    pub changed: bool,
    /// Whether the memory has been freed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub freed: bool,
}

/// Events that do not matter.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Fold {
    /// How many.
    pub folded: u64,
    /// Of how many threads; 0 where they were not counted.
    #[serde(default)]
    pub of_threads: u32,
    /// The first of them, in this order; each is among the `unfolded` of the board.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<u32>,
    /// The state after them, as far as it changed.
    #[serde(flatten)]
    pub state: State,
}

/// A state, as far as it differs from the one before.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Default, Debug)]
pub struct State {
    /// The involved threads that are in another state now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<ThreadState>,
    /// The finding's variables that have another value now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<VariableState>,
}

/// What a thread is about to do.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct ThreadState {
    /// The thread.
    pub thread: u32,
    /// The locks that it holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<u32>,
    /// Its next event; none where there is no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
    /// The threads that it waits for, where it is blocked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<u32>,
}

/// The next event of a thread.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Next {
    /// The event.
    pub event: u32,
    /// Its operation.
    pub op: String,
    /// What it is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<u32>,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub site: Option<u32>,
}

/// What a variable holds.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct VariableState {
    /// The variable.
    pub target: u32,
    /// Its value, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The event that wrote it last; none for what was there at first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writer: Option<u32>,
    /// Whether the memory has been freed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub freed: bool,
}

/// Some lines of a source file.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Excerpt {
    /// The file, as in sites.
    pub file: String,
    /// The number of the first line.
    pub first: u32,
    /// The lines.
    pub lines: Vec<String>,
    /// Whether the file has changed since the recording.
    #[serde(default, skip_serializing_if = "is_false")]
    pub newer: bool,
}

fn is_false(value: &bool) -> bool {
    !*value
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
