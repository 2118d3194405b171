//! How bad a finding is: by what the program did when it was replayed, else by its kind.

use reweave_detect::{Kind, Pattern};
use serde::{Deserialize, Serialize};

/// What came of the program in a replay; the worst first.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Harm {
    /// It crashed.
    Crash,
    /// An assertion of its own failed, or it panicked.
    Assertion,
    /// It waited for ever.
    Hang,
    /// It had other output, or another status, than the recorded run.
    Difference,
    /// Nothing that can be seen from outside.
    None,
}

impl Harm {
    /// What the program does, in words.
    pub fn words(self) -> &'static str {
        match self {
            Harm::Crash => "the program crashes",
            Harm::Assertion => "the program fails its assertion",
            Harm::Hang => "the program hangs",
            Harm::Difference => "the program has other output or another status than in the recorded run",
            Harm::None => "no visible harm to the program",
        }
    }
}

/// Whether a finding counts in the exit code.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It does.
    Error,
    /// Only with `--strict`: a pattern that is often meant, and that was not seen to do harm.
    Warning,
}

impl Level {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
        }
    }
}

/// How bad a finding is, and why.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Severity {
    /// The level.
    pub level: Level,
    /// What the program did in the worst replay; none where there was none that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harm: Option<Harm>,
    /// Why it is of that level.
    pub reason: String,
}

impl Severity {
    /// The severity of a finding whose worst replay did this to the program.
    pub fn new(kind: Kind, pattern: Option<Pattern>, harm: Option<Harm>) -> Severity {
        let by_kind = match (kind, pattern) {
            (Kind::Race, _) => Some("two accesses at once are undefined behaviour"),
            (Kind::Deadlock, _) => Some("threads wait for ever"),
            (Kind::UseAfterFree, Some(Pattern::DoubleFree)) => Some("memory is freed twice"),
            (Kind::UseAfterFree, _) => Some("freed memory is used"),
            (Kind::Order, Some(Pattern::LostWakeUp)) => Some("a thread waits for ever"),
            (Kind::Order, Some(Pattern::CallOrder)) => {
                Some("by the rule of its type, a call fails or is lost")
            }
            (Kind::Order, _) | (Kind::Atomicity, _) => None,
        };
        let harmful = harm.filter(|&harm| harm != Harm::None);
        let level = if by_kind.is_some() || harmful.is_some() { Level::Error } else { Level::Warning };
        let reason = match (harm, by_kind) {
            (Some(harm), _) if harm != Harm::None => harm.words().to_owned(),
            (Some(harm), Some(why)) => format!("{why}; {} in its replay", harm.words()),
            (Some(harm), None) => format!("{} in its replay", harm.words()),
            (None, Some(why)) => why.to_owned(),
            (None, None) => "a pattern that may be meant; a replay shows whether it does harm".to_owned(),
        };
        Severity { level, harm, reason }
    }

    /// What lists are sorted by: the worst first.
    pub fn rank(&self) -> (Level, Option<Harm>) {
        // Without a replay a finding stands behind those that did harm, and before those that did none.
        let harm = self.harm.or(Some(Harm::Difference));
        (self.level, harm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_makes_an_error_of_any_kind() {
        let level = |kind, pattern, harm| Severity::new(kind, Some(pattern), harm).level;
        assert_eq!(level(Kind::Race, Pattern::Race, None), Level::Error);
        assert_eq!(level(Kind::Race, Pattern::Race, Some(Harm::None)), Level::Error);
        let stale = Pattern::OneVariable("RWW");
        assert_eq!(level(Kind::Atomicity, stale, None), Level::Warning);
        assert_eq!(level(Kind::Atomicity, stale, Some(Harm::None)), Level::Warning);
        for harm in [Harm::Crash, Harm::Assertion, Harm::Hang, Harm::Difference] {
            assert_eq!(level(Kind::Atomicity, stale, Some(harm)), Level::Error, "{harm:?}");
        }
        assert_eq!(level(Kind::Order, Pattern::LostWakeUp, None), Level::Error);
        assert_eq!(level(Kind::Order, Pattern::UseBeforeInitialisation, None), Level::Warning);
    }
}
