//! Findings that the user does not want to see, in the syntax of ThreadSanitizer's suppression files.
//!
//! A line is `kind:pattern`. The pattern is looked for in each site of a finding, in the calls that led there, and in
//! its target; `*` stands for any
//! characters, `^` at its start and `$` at its end bind it to the start and the end. Lines that start with `#` are
//! comments. `mutex:` is for any deadlock, by the name of a lock. As in ThreadSanitizer, a use after free is also
//! silenced by `race:`. Kinds that only ThreadSanitizer knows are passed over, so that one file serves both.

use reweave_detect::Kind;

use crate::json::predict::Finding;

/// A file of suppressions, and how often each was used.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    line: usize,
    text: String,
    what: What,
    pattern: Pattern,
    used: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Kind(Kind),
    Mutex,
}

/// What is wrong with a line of a file of suppressions.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct SuppressionError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// The kinds of ThreadSanitizer that have no counterpart here.
const FOREIGN: [&str; 5] = ["thread", "signal", "called_from_lib", "race_top", "fd"];

impl Suppressions {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Suppressions, SuppressionError> {
        let mut rules = Vec::new();
        for (place, line) in text.lines().enumerate() {
            let (line_text, line) = (line.trim(), place + 1);
            if line_text.is_empty() || line_text.starts_with('#') {
                continue;
            }
            let error = |reason: String| SuppressionError { line, reason };
            let (kind, pattern) = line_text
                .split_once(':')
                .ok_or_else(|| error(format!("expected kind:pattern, found `{line_text}`")))?;
            if FOREIGN.contains(&kind) {
                continue;
            }
            let what = match kind {
                "mutex" => What::Mutex,
                _ => What::Kind(kind.parse().map_err(|_| {
                    let known = "race, deadlock, mutex, atomicity, order or uaf";
                    error(format!("there is no kind `{kind}`: expected {known}"))
                })?),
            };
            if pattern.is_empty() {
                return Err(error("the pattern is empty, and would match everything".to_owned()));
            }
            let pattern = Pattern::new(pattern);
            rules.push(Rule { line, text: line_text.to_owned(), what, pattern, used: 0 });
        }
        Ok(Suppressions { rules })
    }

    /// Whether a rule matches the finding; each that does counts as used.
    pub fn matches(&mut self, finding: &Finding) -> bool {
        let mut found = false;
        for rule in &mut self.rules {
            if rule.matches(finding) {
                rule.used += 1;
                found = true;
            }
        }
        found
    }

    /// The rules that matched nothing: line and text.
    pub fn unused(&self) -> impl Iterator<Item = (usize, &str)> {
        self.rules.iter().filter(|rule| rule.used == 0).map(|rule| (rule.line, rule.text.as_str()))
    }
}

impl Rule {
    fn matches(&self, finding: &Finding) -> bool {
        let target = || finding.target.split(", ").any(|name| self.pattern.matches(name));
        match self.what {
            What::Mutex => finding.kind == Kind::Deadlock && target(),
            What::Kind(kind) => {
                let kinds = kind == finding.kind || kind == Kind::Race && finding.kind == Kind::UseAfterFree;
                let mut sites = finding.sites.iter().chain(finding.stacks.iter().flatten());
                kinds && (sites.any(|site| self.pattern.matches(site)) || target())
            }
        }
    }
}

/// Parts that must occur one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pattern {
    parts: Vec<String>,
    at_start: bool,
    at_end: bool,
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        let (text, at_start) = text.strip_prefix('^').map_or((text, false), |rest| (rest, true));
        let (text, at_end) = text.strip_suffix('$').map_or((text, false), |rest| (rest, true));
        Pattern { parts: text.split('*').map(str::to_owned).collect(), at_start, at_end }
    }

    fn matches(&self, text: &str) -> bool {
        let [first, middle @ ..] = &self.parts[..] else { return true };
        let Some((last, middle)) = middle.split_last() else { return self.matches_whole(first, text) };
        let mut rest = match self.at_start {
            true => text.strip_prefix(first.as_str()),
            false => text.split_once(first.as_str()).map(|(_, rest)| rest),
        };
        for part in middle {
            rest = rest.and_then(|rest| rest.split_once(part.as_str())).map(|(_, rest)| rest);
        }
        rest.is_some_and(|rest| if self.at_end { rest.ends_with(last) } else { rest.contains(last) })
    }

    /// A pattern without `*`.
    fn matches_whole(&self, part: &str, text: &str) -> bool {
        match (self.at_start, self.at_end) {
            (true, true) => text == part,
            (true, false) => text.starts_with(part),
            (false, true) => text.ends_with(part),
            (false, false) => text.contains(part),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Runs, Schedule};

    fn finding(kind: Kind, sites: &[&str], target: &str) -> Finding {
        Finding {
            kind,
            pattern: String::new(),
            fingerprint: String::new(),
            events: Vec::new(),
            sites: sites.iter().map(|&site| site.to_owned()).collect(),
            stacks: Vec::new(),
            origins: Vec::new(),
            torn: Vec::new(),
            target: target.to_owned(),
            schedule: Schedule { witness_prefix: 0, witness: Runs::default() },
            model: None,
            instances: 1,
            trace: None,
            traces: None,
            claim: None,
            severity: None,
            replay: None,
            replays: Vec::new(),
            view: None,
        }
    }

    #[test]
    fn patterns_match_as_in_thread_sanitizer() {
        for (pattern, text, expected) in [
            ("bank", "src/bank.c:12", true),
            ("^bank", "src/bank.c:12", false),
            ("^src/", "src/bank.c:12", true),
            (".c:12$", "src/bank.c:12", true),
            (".c:1$", "src/bank.c:12", false),
            ("^src/bank.c:12$", "src/bank.c:12", true),
            ("^src/bank$", "src/bank.c:12", false),
            ("s*c:*2", "src/bank.c:12", true),
            ("^s*2$", "src/bank.c:12", true),
            ("^s*3$", "src/bank.c:12", false),
            ("a*a$", "a", false),
            ("*", "", true),
            ("^*$", "anything", true),
            ("b**k", "bank", true),
            ("k*b", "bank", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(text), expected, "{pattern} in {text}");
        }
    }

    #[test]
    fn rules_are_for_their_kind_and_count_their_use() {
        let text = "# a comment\n\nrace:bank.c\n  deadlock:^a.c:1$  \nmutex:^m\nuaf:zzz\nthread:main\n";
        let mut rules = Suppressions::parse(text).expect("rules");
        let race = finding(Kind::Race, &["bank.c:1", "b"], "x");
        assert!(rules.matches(&race));
        assert!(!rules.matches(&finding(Kind::Atomicity, &["bank.c:1"], "x")));
        assert!(rules.matches(&finding(Kind::UseAfterFree, &["bank.c:1"], "p")));
        assert!(rules.matches(&finding(Kind::Deadlock, &["b"], "l, mine")));
        assert!(!rules.matches(&finding(Kind::Deadlock, &["my.c:1"], "l, n")));
        assert!(!rules.matches(&finding(Kind::Race, &["b"], "m")));
        assert_eq!(rules.unused().collect::<Vec<_>>(), [(4, "deadlock:^a.c:1$"), (6, "uaf:zzz")]);
    }

    #[test]
    fn a_rule_matches_any_call_that_led_to_an_event() {
        let mut race = finding(Kind::Race, &["push q.c:30", "pop q.c:41"], "x");
        race.stacks =
            vec![vec!["push q.c:30".to_owned(), "main q.c:50".to_owned()], vec!["pop q.c:41".to_owned()]];
        assert!(Suppressions::parse("race:^main ").expect("a rule").matches(&race));
        assert!(!Suppressions::parse("deadlock:^main ").expect("a rule").matches(&race));
        race.stacks.clear();
        assert!(!Suppressions::parse("race:^main ").expect("a rule").matches(&race));
    }

    #[test]
    fn lines_that_say_nothing_are_refused() {
        for (text, line) in [("race", 1), ("# x\nfoo:bar", 2), ("race:", 1)] {
            assert_eq!(Suppressions::parse(text).map(drop).map_err(|error| error.line), Err(line), "{text}");
        }
    }
}
