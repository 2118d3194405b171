//! The flags of `query`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use reweave_decide::Stages;
use reweave_trace::{EventId, Model};
use reweave_witness::Claim;

use super::Reading;

/// Decide one question: could this have happened in another run?
///
/// Searches for a schedule of the trace's events that shows what is asked for, and prints it, one column per thread;
/// or says why there is none. Events are named by their position in the trace, from 0; --race takes source lines, and
/// answers for every pair of their accesses.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct QueryArgs {
    /// The trace, or - for standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    question: Question,
    /// Nothing comes between the events at these places of --sequence and the next, or in these pairs of --before;
    /// places are counted from 0
    #[arg(long, value_name = "PLACES", value_delimiter = ',', conflicts_with_all = ["coenabled", "deadlock", "race"])]
    adjacent: Vec<u32>,
    /// What a thread may do after it has read something new: sync, rf, value, branch, branch+value, dep or dep+value;
    /// auto takes the most permissive one that is sound on the trace
    #[arg(long, value_name = "MODEL", default_value = "auto", value_parser = model)]
    pub(crate) model: ModelChoice,
    /// Give up after this time, such as 500ms, 2s or 1m [default: never]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) budget: Option<Duration>,
    /// Give up after this many steps of the search, which are the same on every machine [default: never]
    #[arg(long, value_name = "N")]
    pub(crate) work: Option<u64>,
    /// A file of specifications that calls follow, besides the built-in ones; `bind` lines say which objects have
    /// which type. May be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Vec<PathBuf>,
    /// Only the exact search, without the cheap stages before it
    #[arg(long, conflicts_with = "fast")]
    exact: bool,
    /// Only the cheap stages, which leave more unknown
    #[arg(long)]
    fast: bool,
    /// Write the answer as JSON to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the answer as a page of HTML to this file: the schedule, or the circle of events that makes it impossible
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// How many pairs of accesses --race decides, the nearest first; the rest is left unknown
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "race")]
    pub(crate) pairs: usize,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

const HELP: &str = "\
Exits with 0 when it is feasible, with 1 when it is not, with 3 when a limit was reached before that was known.
The JSON of a feasible answer is a witness file: `reweave check TRACE FILE` runs it again.

Example: can bob look at the balance while alice changes it?
  reweave query examples/bank.std --coenabled 5,10
    feasible in the model value: events 5 and 10 next at the same time
Example: the same by source lines, for every time that they ran
  reweave query examples/bank.std --race bank.c:22 bank.c:34";

/// Exactly one of these.
#[derive(Args)]
#[group(required = true, multiple = false)]
struct Question {
    /// A schedule with these events in this order
    #[arg(long, value_name = "EVENTS", value_delimiter = ',')]
    sequence: Option<Vec<u32>>,
    /// A schedule with the first event of each pair before the second
    #[arg(long, value_name = "A:B,…", value_delimiter = ',', value_parser = pair)]
    before: Option<Vec<(u32, u32)>>,
    /// A schedule after which all these events can run: for two that conflict, a data race
    #[arg(long, value_name = "EVENTS", value_delimiter = ',')]
    coenabled: Option<Vec<u32>>,
    /// A schedule after which these acquires wait for each other, or the only one for a thread that has ended
    #[arg(long, value_name = "ACQUIRES", value_delimiter = ',')]
    deadlock: Option<Vec<u32>>,
    /// For every pair of accesses of these two source lines that conflict: can they race?
    #[arg(long, value_names = ["FILE:LINE", "FILE:LINE"], num_args = 2, value_parser = source_line)]
    race: Option<Vec<SourceLine>>,
}

/// A line of a source file, whose path may be given by its last parts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SourceLine {
    pub(crate) file: String,
    pub(crate) line: u32,
}

impl std::fmt::Display for SourceLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

fn source_line(text: &str) -> Result<SourceLine, String> {
    let parsed = text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?)));
    match parsed {
        Some((file, line)) if !file.is_empty() => Ok(SourceLine { file: file.to_owned(), line }),
        _ => Err("expected a file and a line, such as bank.c:22".to_owned()),
    }
}

/// The model that the user asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ModelChoice {
    Auto,
    This(Model),
}

impl QueryArgs {
    /// The source lines of `--race`.
    pub(crate) fn race(&self) -> Option<[&SourceLine; 2]> {
        match self.question.race.as_deref() {
            Some([a, b]) => Some([a, b]),
            _ => None,
        }
    }

    /// The question, where it is not `--race`.
    pub(crate) fn claim(&self) -> Claim {
        let ids = |events: &[u32]| events.iter().copied().map(EventId).collect();
        let adjacent = self.adjacent.iter().map(|&place| place as usize).collect();
        match &self.question {
            Question { coenabled: Some(events), .. } => Claim::CoEnabled(ids(events)),
            Question { deadlock: Some(events), .. } => Claim::Deadlock(ids(events)),
            Question { before: Some(pairs), .. } => {
                let pairs = pairs.iter().map(|&(a, b)| (EventId(a), EventId(b))).collect();
                Claim::Before { pairs, adjacent }
            }
            Question { sequence, .. } => {
                Claim::Sequence { events: ids(sequence.as_deref().unwrap_or_default()), adjacent }
            }
        }
    }

    /// The stages that may be used.
    pub(crate) fn stages(&self) -> Stages {
        match (self.exact, self.fast) {
            (true, _) => Stages::Exact,
            (_, true) => Stages::Fast,
            _ => Stages::All,
        }
    }
}

fn pair(text: &str) -> Result<(u32, u32), String> {
    text.split_once(':')
        .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)))
        .ok_or_else(|| "expected two events, such as 3:7".to_owned())
}

pub(super) fn model(text: &str) -> Result<ModelChoice, String> {
    if text == "auto" {
        return Ok(ModelChoice::Auto);
    }
    text.parse().map(ModelChoice::This).map_err(|error: reweave_trace::ParseModelError| error.to_string())
}

/// A time with its unit: `ms`, `s` or `m`.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0)];
    let parsed = units.into_iter().find_map(|(unit, seconds)| {
        let number: f64 = text.strip_suffix(unit)?.trim_end().parse().ok()?;
        Duration::try_from_secs_f64(number * seconds).ok()
    });
    parsed.ok_or_else(|| "expected a time, such as 500ms, 2s or 1m".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, millis) in [("500ms", 500), ("2s", 2000), ("0.5s", 500), ("1m", 60_000), ("0s", 0)] {
            assert_eq!(time(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "2", "s", "-1s", "NaNs", "infm", "2h", "1e300m", "2 s s"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn source_lines_are_read() {
        let line = source_line("src/a.c:12").expect("it is one");
        assert_eq!(
            (line.file.as_str(), line.line, line.to_string()),
            ("src/a.c", 12, "src/a.c:12".to_owned())
        );
        assert!(["a.c", ":12", "a.c:", "a.c:x", "a.c:-1"].into_iter().all(|text| source_line(text).is_err()));
    }

    #[test]
    fn pairs_and_models_are_read() {
        assert_eq!(pair("3:7"), Ok((3, 7)));
        assert!(["3", "3:", ":", "a:b", "3:7:9", "-1:2"].into_iter().all(|text| pair(text).is_err()));
        assert_eq!(model("auto"), Ok(ModelChoice::Auto));
        assert_eq!(model("branch+value"), Ok(ModelChoice::This(Model::BranchValue)));
        assert!(model("fast").is_err());
    }
}
