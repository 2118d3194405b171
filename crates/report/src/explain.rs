//! Explanations in words: what a kind of bug or a term means, and why a finding's schedule can run.

mod why;

pub use why::why;

/// A text about a kind of bug or a term.
#[derive(Debug)]
pub struct Topic {
    /// The name that users write.
    pub name: &'static str,
    /// Other names that lead here.
    pub also: &'static [&'static str],
    /// The text; its first line is a title.
    pub text: &'static str,
}

impl Topic {
    /// The first line.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default()
    }

    /// All but the title, without empty lines around it.
    pub fn body(&self) -> &'static str {
        self.text.split_once('\n').map_or("", |(_, body)| body).trim_matches('\n')
    }

    /// Whether it is about a kind of bug.
    pub fn is_kind(&self) -> bool {
        self.name.parse::<reweave_detect::Kind>().is_ok()
    }
}

macro_rules! topics {
    ($($name:literal: $($also:literal)*;)*) => {
        &[$(Topic { name: $name, also: &[$($also),*], text: include_str!(concat!("explain/topics/", $name, ".txt")) }),*]
    };
}

/// All topics, kinds of bugs first.
pub const TOPICS: &[Topic] = topics! {
    "race": "data-race";
    "deadlock": "cycle" "dead-holder" "wait-cycle";
    "atomicity": "RWR" "WRW" "WWR" "RWW" "WWW" "WxWxWyWy" "WxRxRyWy" "RxWxWyRy";
    "order": "lost-wake-up" "use-before-initialisation" "call-order";
    "uaf": "use-after-free" "double-free";
    "models": "model" "sync" "rf" "value" "branch" "branch+value" "dep" "dep+value" "auto";
    "witness": "schedule" "checker" "check";
    "undecided": "unknown" "budget" "tries" "inconclusive" "stopped";
    "replay": "confirmed" "diverged" "hung" "finished" "confirm";
    "verify": "fix" "insufficient" "sufficient" "new-bug" "not-shown" "excluded" "harmless" "shown" "open";
    "severity": "error" "warning" "strict" "harm" "crash" "assertion" "hang" "difference";
    "fingerprint": "fingerprints" "suppressions" "baseline";
    "exit-codes": "exit" "exit-code";
    "assumptions": "sound" "limits" "libraries" "approximate";
};

/// The topic of that name, in any case.
pub fn topic(name: &str) -> Option<&'static Topic> {
    let is = |other: &str| other.eq_ignore_ascii_case(name);
    TOPICS.iter().find(|topic| is(topic.name) || topic.also.iter().any(|also| is(also)))
}

#[cfg(test)]
mod tests {
    use reweave_detect::{Kind, UndecidedReason};
    use reweave_trace::Model;

    use super::*;
    use crate::json::predict::Replay;

    #[test]
    fn whatever_a_report_names_is_explained() {
        let reasons = [
            UndecidedReason::Budget,
            UndecidedReason::Inconclusive,
            UndecidedReason::Tries,
            UndecidedReason::Stopped,
        ];
        let patterns = ["cycle", "dead-holder", "wait-cycle", "lost-wake-up", "use-before-initialisation"];
        // Those of `reweave verify`, whose crate this one does not know; the tests of the program
        // ask for each.
        let verdicts = ["insufficient", "new-bug", "sufficient", "not-shown"];
        let verdicts = verdicts.into_iter().chain(["excluded", "harmless", "shown", "open"]);
        let more = ["call-order", "use-after-free", "double-free", "RWR", "WxWxWyWy"];
        let outcomes = [Replay::Confirmed, Replay::Diverged, Replay::Hung, Replay::Finished];
        let names = Kind::ALL.map(Kind::name).into_iter().chain(Model::ALL.map(Model::name));
        let names = names.chain(reasons.map(UndecidedReason::name)).chain(outcomes.map(Replay::name));
        for name in names.chain(patterns).chain(more).chain(verdicts) {
            let topic = topic(name).unwrap_or_else(|| panic!("{name}"));
            let is_word = |word: &str| word.trim_end_matches(',') == name;
            assert!(topic.name == name || topic.body().split_whitespace().any(is_word), "{name}");
        }
        assert!(topic("Race").is_some() && topic("no such thing").is_none());
    }

    #[test]
    fn topics_have_a_title_and_fit_a_terminal() {
        for topic in TOPICS {
            assert!(topic.text.starts_with(topic.title()) && !topic.body().is_empty(), "{}", topic.name);
            for line in topic.text.lines() {
                assert!(line.chars().count() <= 100 && line.trim_end() == line, "{}: {line}", topic.name);
            }
        }
    }
}
