//! The analyses by name.

use std::fmt;
use std::str::FromStr;

/// A one-pass analysis; its module has the paper, the guarantee and the cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Analysis {
    /// Happens-before.
    Hb,
    /// Schedulable happens-before.
    Shb,
    /// Weak-causally-precedes.
    Wcp,
    /// Weak-doesn't-commute.
    Wdc,
    /// Synchronization-preserving races.
    SyncP,
    /// Weak-doesn't-commute with calls, and pairs that must not change places.
    Edc,
}

impl Analysis {
    /// All of them, in order of reports.
    pub const ALL: [Analysis; 6] =
        [Analysis::Hb, Analysis::Shb, Analysis::Wcp, Analysis::Wdc, Analysis::SyncP, Analysis::Edc];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Analysis::Hb => "hb",
            Analysis::Shb => "shb",
            Analysis::Wcp => "wcp",
            Analysis::Wdc => "wdc",
            Analysis::SyncP => "syncp",
            Analysis::Edc => "edc",
        }
    }

    /// Which of its races are real, in a few words.
    pub fn guarantee(self) -> &'static str {
        match self {
            Analysis::Hb => "the first is real",
            Analysis::Shb | Analysis::SyncP => "each is real",
            Analysis::Wcp => "if any, a race or a deadlock is real",
            Analysis::Wdc | Analysis::Edc => "none without vindication",
        }
    }
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no analysis of that name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseAnalysisError(String);

impl fmt::Display for ParseAnalysisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no analysis `{}`: expected hb, shb, wcp, wdc, syncp or edc", self.0)
    }
}

impl std::error::Error for ParseAnalysisError {}

impl FromStr for Analysis {
    type Err = ParseAnalysisError;

    fn from_str(name: &str) -> Result<Analysis, ParseAnalysisError> {
        Analysis::ALL
            .into_iter()
            .find(|analysis| analysis.name() == name)
            .ok_or_else(|| ParseAnalysisError(name.to_owned()))
    }
}
