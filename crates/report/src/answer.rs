//! An answer that is no finding, as a page shows it: why something is impossible, what an exploration came to, whether a fix
//! is enough.
//!
//! The page knows none of these: it shows a sentence, facts, reasons, a comparison and, for a contradiction, the circle of
//! events that makes it one.

mod explored;
mod refuted;
mod verified;

use serde::{Deserialize, Serialize};

use crate::view::View;

pub use explored::{Explored, Failure};

/// What is shown.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Default, Debug)]
pub struct Answer {
    /// `refutation`, `query`, `exploration` or `verification`.
    pub kind: String,
    /// How good it is.
    pub tone: Tone,
    /// The answer in a few words.
    pub title: String,
    /// The same in a sentence.
    pub summary: String,
    /// What it is about, and what it rests on.
    pub facts: Vec<Fact>,
    /// What follows one after another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// Events that would each have to come before the next, all the way round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circle: Option<Circle>,
    /// What was there before, and what became of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
    /// Texts that keep their lines, such as schedules in columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listings: Vec<Listing>,
    /// Orders of events to look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
}

/// An order of events: the witness of a view, and what it shows.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// What it is.
    pub title: String,
    /// What is seen in it.
    pub caption: String,
    /// How good that is.
    pub tone: Tone,
    /// Its rows are those of the witness.
    pub view: View,
}

/// How good an answer is.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// What one hopes for.
    Good,
    /// A bug.
    Bad,
    /// Neither is known, or neither is meant.
    #[default]
    Open,
}

/// One fact.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Fact {
    /// What it is about.
    pub term: String,
    /// What it says.
    pub text: String,
}

/// Events in a circle.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Circle {
    /// The threads, each with a column.
    pub threads: Vec<String>,
    /// The events, in the observed order.
    pub events: Vec<Stop>,
    /// What comes before what, in the order of the circle.
    pub steps: Vec<Arrow>,
}

/// An event of a circle.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Stop {
    /// Its number.
    pub event: u32,
    /// Its thread, by its place in the list.
    pub thread: usize,
    /// Its operation, as STD text spells it.
    pub op: String,
    /// What it is and on what.
    pub text: String,
    /// Where it is.
    pub site: String,
}

/// That one event comes before another.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Arrow {
    /// The earlier, by its number.
    pub from: u32,
    /// The later.
    pub to: u32,
    /// Why.
    pub reason: String,
    /// Whether only the question asks for it.
    pub asked: bool,
}

/// Something before a change and after it.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Compared {
    /// What it is.
    pub title: String,
    /// Where it was.
    pub before: String,
    /// What became of it.
    pub after: String,
    /// How good that is.
    pub tone: Tone,
}

/// A text that keeps its lines.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Listing {
    /// What it is.
    pub title: String,
    /// The text.
    pub text: String,
}

fn fact(term: &str, text: impl Into<String>) -> Fact {
    Fact { term: term.to_owned(), text: text.into() }
}

fn count(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}
