//! How a recorded run ended, and what its recorder had to assume.

use std::fmt::Write;

/// How a run ended, as its recorder tells, or as requests for locks that nobody granted show.
///
/// Who ran it, and its status, are there of a run that failed by itself.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Ending {
    /// The program and its arguments; nothing where that is not known.
    pub program: Vec<String>,
    /// The seed of the run, where it had one.
    pub seed: Option<u64>,
    /// How threads were chosen, where that was not the default.
    pub policy: Option<String>,
    /// Its status, as shells say it; [`Ending::DEADLOCK`] where threads waited for each other.
    pub status: u8,
    /// The threads that waited, each with what for.
    pub waits: Vec<(String, String)>,
    /// The functions that were called and of which it is not known what they depend on.
    pub unlisted: Vec<String>,
}

impl Ending {
    /// The status of a run that ended in a deadlock.
    pub const DEADLOCK: u8 = 3;

    /// Whether the run failed by itself.
    pub fn failed(&self) -> bool {
        self.status != 0 || !self.waits.is_empty()
    }

    /// Adds what another part of the same file says.
    pub(crate) fn extend(&mut self, other: &Ending) {
        self.status = self.status.max(other.status);
        self.seed = self.seed.or(other.seed);
        self.policy = self.policy.take().or_else(|| other.policy.clone());
        self.program.extend_from_slice(&other.program);
        self.waits.extend_from_slice(&other.waits);
        self.unlisted.extend_from_slice(&other.unlisted);
        self.unlisted.sort();
        self.unlisted.dedup();
    }

    /// Lines of a word and what it says.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let mut line = |word: &str, rest: &str| _ = writeln!(text, "{word} {rest}");
        if self.failed() {
            line("status", &self.status.to_string());
        }
        if let Some(seed) = self.seed {
            line("seed", &seed.to_string());
        }
        if let Some(policy) = &self.policy {
            line("policy", &escaped(policy));
        }
        self.program.iter().for_each(|part| line("program", &escaped(part)));
        for (thread, what) in &self.waits {
            line("waits", &format!("{} {}", escaped(thread).replace(' ', "\\s"), escaped(what)));
        }
        self.unlisted.iter().for_each(|name| line("unlisted", &escaped(name)));
        text
    }

    /// Takes a line of [`Ending::to_text`]; what is wrong with it, where something is.
    pub fn take(&mut self, line: &str) -> Result<(), String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let number = || rest.parse::<u64>().map_err(|_| format!("expected a number after `{word}`"));
        match word {
            "status" => {
                self.status = u8::try_from(number()?).map_err(|_| "a status is at most 255".to_owned())?;
            }
            "seed" => self.seed = Some(number()?),
            "policy" => self.policy = Some(unescaped(rest)),
            "program" => self.program.push(unescaped(rest)),
            "waits" => {
                let (thread, what) = rest.split_once(' ').ok_or("expected a thread and what it waits for")?;
                self.waits.push((unescaped(thread), unescaped(what)));
            }
            "unlisted" if !rest.is_empty() => self.unlisted.push(unescaped(rest)),
            _ => {
                return Err(
                    "expected status, seed, policy, program, waits or unlisted, and what it says".to_owned()
                );
            }
        }
        Ok(())
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('s') => ' ',
                other => other.unwrap_or('\\'),
            },
            char => char,
        });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ending_survives_as_text() {
        let ending = Ending {
            program: vec!["./a b".to_owned(), "x\\n\ny\r".to_owned(), String::new()],
            seed: Some(u64::MAX),
            policy: Some("pct".to_owned()),
            status: 134,
            waits: vec![("main".to_owned(), "a thread to end".to_owned()), ("T 1".to_owned(), String::new())],
            unlisted: vec!["a_function".to_owned()],
        };
        let mut again = Ending::default();
        ending.to_text().lines().for_each(|line| again.take(line).unwrap());
        assert_eq!(again, ending);
    }

    #[test]
    fn a_run_that_did_not_fail_has_no_status() {
        let ending = Ending { unlisted: vec!["a_function".to_owned()], ..Ending::default() };
        assert_eq!((ending.failed(), ending.to_text().as_str()), (false, "unlisted a_function\n"));
    }

    #[test]
    fn what_is_no_ending_is_refused() {
        for line in [
            "status",
            "status 256",
            "status x",
            "seed -1",
            "waits",
            "waits T1",
            "unlisted",
            "colour blue",
            "",
        ] {
            assert!(Ending::default().take(line).is_err(), "{line}");
        }
    }
}
