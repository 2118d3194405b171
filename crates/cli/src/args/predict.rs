//! The flags of `predict`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use reweave_decide::Stages;
use reweave_detect::{Atomicity, Kind, Shard};

use super::query::{ModelChoice, model, time};
use super::replay::Replaying;
use super::{Reading, Showing};

/// Which atomicity violations to look for.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AtomicityChoice {
    /// Where a thread acts on a value that may have changed since it let go of a lock, or leaves two things half done;
    /// what races is reported with the race. With --all, all
    Likely,
    /// Every interleaving that is possible, however harmless
    All,
}

impl From<AtomicityChoice> for Atomicity {
    fn from(choice: AtomicityChoice) -> Atomicity {
        match choice {
            AtomicityChoice::Likely => Atomicity::Likely,
            AtomicityChoice::All => Atomicity::All,
        }
    }
}

/// Find the bugs that a run could have had
///
/// Looks for data races, deadlocks, atomicity violations, events in the wrong order and uses after free: in the observed
/// run, and in every other that must be possible if this one was. Nothing is reported without a schedule that shows it,
/// which was checked step by step.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct PredictArgs {
    /// Trace files, folders of them, or - for standard input; findings of several are merged
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) searching: Searching,
    /// Do only the I-th of N parts of the work; `reweave merge` joins the JSON of all
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub(crate) shard: Option<Shard>,
    /// Replay every finding on the program, given after `--`, and say what came of it
    #[arg(long, requires = "program")]
    pub(crate) confirm: bool,
    #[command(flatten)]
    pub(crate) replaying: Replaying,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// The recorded program and its arguments, after `--`
    #[arg(value_name = "PROGRAM", last = true, requires = "confirm")]
    pub(crate) program: Vec<OsString>,
}

/// What is searched for, how long, and where findings go.
#[derive(Args, Clone)]
pub(crate) struct Searching {
    /// What to look for: race, deadlock, atomicity, order, uaf [default: all]
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    kinds: Vec<Kind>,
    /// Which atomicity patterns to look for: RWR, WRW, WWR, RWW, WWW, WxWxWyWy, WxRxRyWy, RxWxWyRy [default: all]
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',', hide_possible_values = true,
          value_parser = PossibleValuesParser::new(PATTERNS))]
    pub(crate) patterns: Vec<String>,
    /// Which atomicity violations to look for
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = AtomicityChoice::Likely)]
    pub(crate) atomicity: AtomicityChoice,
    /// How many events of its thread may lie between two accesses that are meant to be one step
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) atomic_distance: u32,
    /// What a thread may do after it has read something new: sync, rf, value, branch, branch+value, dep or dep+value;
    /// auto takes the most permissive one that is sound on the trace
    #[arg(long, value_name = "MODEL", default_value = "auto", value_parser = model)]
    pub(crate) model: ModelChoice,
    /// Take it that this library, which was not compiled with `reweave cc`, does not order what threads do; without
    /// this, what passes through it keeps its observed order. May be given more than once
    #[arg(long, value_name = "NAME")]
    pub(crate) trust_library: Vec<String>,
    /// A file of specifications that calls follow, besides the built-in ones; `bind` lines say which objects have
    /// which type. May be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Vec<PathBuf>,
    /// Every pair of events, not one finding per pair of sites
    #[arg(long)]
    pub(crate) all: bool,
    /// How many candidates of the same sites are tried before giving up on them
    #[arg(long, value_name = "N", default_value_t = 64, conflicts_with = "all")]
    pub(crate) tries: u32,
    /// Only the exact search, without the cheap stages before it
    #[arg(long, conflicts_with = "fast")]
    exact: bool,
    /// Only the cheap stages, which leave more unknown
    #[arg(long)]
    fast: bool,
    /// Stop after this time, such as 30s or 5m, with all that was done by then: recording, reading, searching and replaying;
    /// cheap answers come first [default: 60s, and 5m with replays; none with --exact or --work]
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
    /// Give up on a candidate after this time, such as 500ms, 2s or 1m [default: 2s; none with --work]
    #[arg(long, value_name = "TIME", value_parser = time)]
    budget: Option<Duration>,
    /// Give up on a candidate after this many steps of the search, which are the same on every machine
    #[arg(long, value_name = "N")]
    pub(crate) work: Option<u64>,
    /// Stop before more memory than this is used, such as 500M or 8G, and show what was found so far
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) max_memory: Option<u64>,
    /// Write the findings as JSON to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the findings as SARIF 2.1.0 to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write the findings as a page of HTML to this file, to be opened in a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Findings of level warning count in the exit code, too
    #[arg(long)]
    pub(crate) strict: bool,
    #[command(flatten)]
    pub(crate) showing: Showing,
    /// Leave out findings that a line of this file matches, such as race:legacy.c or mutex:^log$; the syntax is
    /// ThreadSanitizer's, with the kinds atomicity, order and uaf added
    #[arg(long, value_name = "FILE")]
    pub(crate) suppressions: Option<PathBuf>,
    /// Leave out findings that are in this JSON of an earlier run
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
}

impl PredictArgs {
    /// How long all of it may take: replays take longer than a search.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.searching.time_or(if self.confirm { WITH_REPLAYS } else { TIME })
    }
}

impl std::ops::Deref for PredictArgs {
    type Target = Searching;

    fn deref(&self) -> &Searching {
        &self.searching
    }
}

/// How long a search takes at most, and one candidate, unless the user says otherwise.
const TIME: Duration = Duration::from_secs(60);
pub(super) const WITH_REPLAYS: Duration = Duration::from_secs(300);
const BUDGET: Duration = Duration::from_secs(2);

const PATTERNS: [&str; 8] = ["RWR", "WRW", "WWR", "RWW", "WWW", "WxWxWyWy", "WxRxRyWy", "RxWxWyRy"];

const HELP: &str = "\
Exits with 0 when nothing was found, or only findings of level warning without --strict, with 1 when something was,
with 3 when nothing was found but a limit left candidates undecided in the models rf and branch; what richer models leave open is counted in the summary. An interrupt
stops the search and shows what was found so far; a second one ends it at once. The output is the same for any number
of jobs, but for `seconds` and for what --time or --budget cuts off: --work does that in the same place everywhere.

Example: find the race in the bundled trace, which the observed order of the locks hides
  reweave predict examples/bank.std
    WARNING: data race on balance
      Write of balance by thread alice
        at bank.c:22 (event 5), holding m since bank.c:21
      Read of balance by thread bob can happen at the same time
        at bank.c:34 (event 10), holding no lock
      …
Example: fail a build on new findings only
  reweave predict run.rw --baseline known.json --sarif findings.sarif
Example: make each bug happen on the program that was recorded
  reweave predict run.rw --confirm -- ./queue_test";

impl Searching {
    /// The kinds to look for, each once, in the order of reports.
    pub(crate) fn kinds(&self) -> Vec<Kind> {
        Kind::ALL.into_iter().filter(|kind| self.kinds.is_empty() || self.kinds.contains(kind)).collect()
    }

    /// How long all of it may take, where the user does not say; no limit where the same answer is wanted on every machine.
    pub(super) fn time_or(&self, usual: Duration) -> Option<Duration> {
        let unlimited = self.exact || self.work.is_some();
        self.time.or((!unlimited).then_some(usual))
    }

    /// How long one candidate may take.
    pub(crate) fn budget(&self) -> Option<Duration> {
        self.budget.or(self.work.is_none().then_some(BUDGET))
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

/// `2/3` is the second of three parts.
fn shard(text: &str) -> Result<Shard, String> {
    let part = |text: &str| -> Option<u32> { text.parse().ok().filter(|&number| number > 0) };
    text.split_once('/')
        .and_then(|(index, count)| Some((part(index)?, part(count)?)))
        .filter(|(index, count)| index <= count)
        .map(|(index, count)| Shard { index: index - 1, count })
        .ok_or_else(|| "expected a part of the work, such as 1/3 for the first of three".to_owned())
}

/// A number of bytes; `k`, `M` and `G` are powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let text = text.strip_suffix('B').unwrap_or(text);
    let (digits, shift) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 10),
        Some((at, 'M')) => (&text[..at], 20),
        Some((at, 'G')) => (&text[..at], 30),
        Some((at, 'T')) => (&text[..at], 40),
        _ => (text, 0),
    };
    let bytes = digits.parse().ok().and_then(|number: u64| number.checked_mul(1 << shift));
    bytes.filter(|&bytes| bytes > 0).ok_or_else(|| "expected a size, such as 500M or 8G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_sizes_are_read() {
        assert_eq!(shard("2/3"), Ok(Shard { index: 1, count: 3 }));
        assert!(["", "0/3", "4/3", "1", "1/0", "a/b", "-1/2"].into_iter().all(|text| shard(text).is_err()));
        assert_eq!(size("500"), Ok(500));
        assert_eq!(size("2k"), Ok(2048));
        assert_eq!(size("8GB"), Ok(8 << 30));
        assert!(["", "0", "M", "1.5G", "-1", "99999999999T"].into_iter().all(|text| size(text).is_err()));
    }
}
