//! The document of `reweave verify`.

use serde::{Deserialize, Serialize};

use crate::answer::Picture;

/// Whether a fix is enough.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Verified {
    /// The version of the form.
    pub schema: u32,
    /// The program that wrote it.
    pub tool: String,
    /// `insufficient`, `new-bug`, `sufficient`, `undecided` or `not-shown`.
    pub verdict: String,
    /// The program before the fix.
    pub before: String,
    /// The program after it.
    pub after: String,
    /// The first bug that the fix is for; none where the old program does not show any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bug: Option<VerifiedBug>,
    /// The others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_bugs: Vec<VerifiedBug>,
    /// What else could go wrong in the new program.
    pub claims: Vec<VerifiedClaim>,
    /// Why it is undecided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// How often the new program ran.
    pub runs: u32,
    /// How many recordings of it were searched.
    pub traces: u32,
    /// How many candidates there were in them.
    pub candidates: u64,
    /// How many of those no schedule shows.
    pub excluded: u64,
    /// The schedules that show a bug.
    pub schedules: Vec<String>,
    /// What the locks say about the fix.
    pub hints: Vec<String>,
    /// What else there is to say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The first bug in the old program, and what became of its events in the new one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<Picture>,
}

/// A bug of the old program.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct VerifiedBug {
    /// The kind of bug.
    pub kind: String,
    /// What exactly it looks like.
    pub pattern: String,
    /// What identifies it in the old program.
    pub fingerprint: String,
    /// What it is, in a few words.
    pub title: String,
    /// The sites of its events in the old program.
    pub sites: Vec<String>,
    /// How the old program failed with it; none where it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What became of it in the new program: `excluded`, `harmless`, `shown` or `open`.
    pub state: String,
    /// Why.
    pub by: String,
    /// How many steps of its schedule came in the new program, and of how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<[u64; 2]>,
}

/// That something can go wrong in the new program.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct VerifiedClaim {
    /// The kind of bug.
    pub kind: String,
    /// What exactly it looks like.
    pub pattern: String,
    /// What identifies it in the new program.
    pub fingerprint: String,
    /// What it is, in a few words.
    pub title: String,
    /// What it has to do with the bug: `same`, `near`, `changed` or `other`.
    pub relation: String,
    /// Its events, in the trace that it was found in.
    pub events: Vec<u32>,
    /// Their sites in the old program, as far as they have one.
    pub sites_before: Vec<String>,
    /// Their sites in the new program.
    pub sites_after: Vec<String>,
    /// What became of it: `excluded`, `harmless`, `shown` or `open`.
    pub state: String,
    /// Why.
    pub by: String,
}
