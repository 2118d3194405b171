//! The result of a part of an exploration, as a text of lines: a word, and what belongs to it.

use std::fmt::Write as _;

use super::{Engine, Exploration, Found, Verdict};

const RESULT: &str = "reweave result 1";
/// The kinds of failures.
const KINDS: [&str; 6] = ["panic", "deadlock", "livelock", "race", "misuse", "exit"];

/// What a part came to.
pub(super) struct PartResult {
    /// The options of the exploration.
    pub(super) line: String,
    /// Which part; 0 is what lies before all parts.
    pub(super) number: usize,
    pub(super) of: usize,
    pub(super) exploration: Exploration,
}

/// What stands in the first line that begins with a word.
pub(super) fn field(text: &str, name: &str) -> Option<String> {
    fields(text, name).next().map(str::to_owned)
}

fn fields<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = &'t str> {
    text.lines().filter_map(move |line| {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        (word == name).then_some(rest)
    })
}

/// A text in one line.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(text: &str) -> String {
    let mut all = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, false) => all.push(letter),
            (_, true) => match letters.next() {
                Some('n') => all.push('\n'),
                Some('r') => all.push('\r'),
                Some(other) => all.push(other),
                None => {}
            },
        }
    }
    all
}

impl PartResult {
    /// The text.
    pub(super) fn text(&self) -> String {
        let one = &self.exploration;
        let verdict = match &one.verdict {
            Verdict::Proved => "proved".to_owned(),
            Verdict::Failed { schedule } => format!("failed {}", escaped(schedule)),
            Verdict::Stopped => "stopped".to_owned(),
        };
        let engine = if one.engine == Engine::Trace { "trace" } else { "saturate" };
        let mut text = format!("{RESULT}\noptions {}\nitem {} of {}\n", self.line, self.number, self.of);
        let _ = writeln!(text, "verdict {verdict}\nengine {engine}");
        let _ = writeln!(text, "runs {}\nstates {}\nexecutions {}", one.runs, one.states, one.executions);
        let _ = writeln!(text, "seconds {}", one.seconds);
        for line in &one.assumes {
            let _ = writeln!(text, "assumes {}", escaped(line));
        }
        for name in &one.relied_on {
            let _ = writeln!(text, "relied {}", escaped(name));
        }
        for failure in &one.failures {
            let preemptions = failure.preemptions.map_or("-".to_owned(), |count| count.to_string());
            let _ = writeln!(text, "failure {} {preemptions} {}", failure.kind, escaped(&failure.what));
            let _ = writeln!(text, "schedule {}", escaped(failure.schedule.as_deref().unwrap_or("-")));
        }
        let _ = writeln!(text, "text {}\nend", escaped(&one.text));
        text
    }

    /// Reads such a text; the error is what is wrong with it.
    pub(super) fn read(text: &str) -> Result<PartResult, String> {
        if text.lines().next() != Some(RESULT) || text.lines().next_back() != Some("end") {
            return Err(format!("a result begins with the line `{RESULT}` and ends with `end`"));
        }
        let wanted = |name: &str| field(text, name).ok_or_else(|| format!("there is no line `{name} …`"));
        let number = |name: &str| {
            wanted(name)?.parse::<u64>().map_err(|_| format!("`{name}` has no number that can be read"))
        };
        let verdict = match wanted("verdict")?.split_once(' ') {
            Some(("failed", schedule)) => Verdict::Failed { schedule: unescaped(schedule) },
            _ if wanted("verdict")? == "proved" => Verdict::Proved,
            _ => Verdict::Stopped,
        };
        let item = wanted("item")?;
        let places = item.split_once(" of ").and_then(|(at, of)| Some((at.parse().ok()?, of.parse().ok()?)));
        let (at, of) = places.ok_or("`item` is not of the form N of N")?;
        let failures = fields(text, "failure").zip(fields(text, "schedule"));
        let failures: Option<Vec<Found>> = failures.map(|(line, schedule)| found(line, schedule)).collect();
        Ok(PartResult {
            line: wanted("options")?,
            number: at,
            of,
            exploration: Exploration {
                verdict,
                runs: number("runs")?,
                states: number("states")?,
                executions: number("executions")?,
                failures: failures.ok_or("a line `failure …` cannot be read")?,
                relied_on: fields(text, "relied").map(unescaped).collect(),
                engine: if wanted("engine")? == "trace" { Engine::Trace } else { Engine::Saturate },
                seconds: wanted("seconds")?.parse().map_err(|_| "`seconds` has no number".to_owned())?,
                text: unescaped(&wanted("text")?),
                assumes: fields(text, "assumes").map(unescaped).collect(),
                left_at: None,
                impossible: false,
            },
        })
    }
}

fn found(line: &str, schedule: &str) -> Option<Found> {
    let (kind, rest) = line.split_once(' ')?;
    let (preemptions, what) = rest.split_once(' ')?;
    Some(Found {
        kind: KINDS.into_iter().find(|known| *known == kind)?,
        what: unescaped(what),
        schedule: Some(unescaped(schedule)).filter(|text| text != "-"),
        preemptions: preemptions.parse().ok(),
    })
}
