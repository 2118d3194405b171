//! The flags of `stream`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use reweave_stream::{Analysis, ParseAnalysisError};

use super::Reading;
use super::query::{ModelChoice, model, time};

/// Find racy pairs in one pass
///
/// Reads the events once, as they come, and tells which conflict with an earlier one that the analysis leaves unordered
/// with them. Fast, and in memory that does not grow with the trace (but for wcp and syncp, which need some history);
/// what a racy pair is worth depends on the analysis:
///   hb      happens-before: the first race is real
///   shb     schedulable happens-before: every race is real
///   wcp     weak-causally-precedes: more; if there is any, then a race or a deadlock is real
///   wdc     weak-doesn't-commute: still more, but some may be false
///   syncp   synchronization-preserving: more than shb, and every race is real
///   edc     wdc with calls that commute, and with uses that may come after a free, a close or a destroy, also under a lock
/// docs/analyses.md says what each finds, misses and costs. `reweave predict` finds more, and shows how it happens.
#[derive(Args)]
#[command(after_help = HELP, verbatim_doc_comment)]
pub(crate) struct StreamArgs {
    /// The trace, or - for standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// Which analyses: hb, shb, wcp, wdc, syncp, edc, several with commas, or all; of several only the counts are printed
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all", value_parser = choice)]
    analysis: Vec<Choice>,
    /// Every earlier partner of a racy event, not one
    #[arg(long)]
    pub(crate) all: bool,
    /// Report only what a schedule was found and checked for; loads the whole trace
    #[arg(long)]
    pub(crate) vindicate: bool,
    /// With --vindicate, what a thread may do after it has read something new; see `reweave query --help`
    #[arg(long, value_name = "MODEL", default_value = "auto", value_parser = model, requires = "vindicate")]
    pub(crate) model: ModelChoice,
    /// With --vindicate, give up on a pair after this time, such as 500ms, 2s or 1m
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = time, requires = "vindicate")]
    pub(crate) budget: Duration,
    /// With --vindicate, give up on a pair after this many steps of the search, which are the same on every machine
    #[arg(long, value_name = "N", requires = "vindicate")]
    pub(crate) work: Option<u64>,
    /// Write the pairs as JSON to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

const HELP: &str = "\
Exits with 0 when nothing is racy, with 1 when something is, with 3 when nothing was vindicated but a limit left pairs
undecided. A repair has to look ahead, so that --repair loads the whole trace.

Example: the race that happens-before misses in the bundled trace
  reweave stream examples/bank.std --analysis wcp
    wcp: 1 racy event at 1 site in 13 events; if any, a race or a deadlock is real
      bank.c:22 and bank.c:34: 1 racy event, first 10 with 5
Example: all analyses on a trace that is still being written
  tail -c +1 -f run.rw | reweave stream - --format rw --json pairs.json";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    All,
    One(Analysis),
}

fn choice(name: &str) -> Result<Choice, String> {
    if name == "all" {
        return Ok(Choice::All);
    }
    name.parse()
        .map(Choice::One)
        .map_err(|error: ParseAnalysisError| format!("{error}; all stands for each of them"))
}

impl StreamArgs {
    /// The analyses to run, each once, in the order of reports.
    pub(crate) fn analyses(&self) -> Vec<Analysis> {
        let asked = |analysis: &Analysis| {
            self.analysis.iter().any(|&choice| choice == Choice::All || choice == Choice::One(*analysis))
        };
        Analysis::ALL.into_iter().filter(asked).collect()
    }
}
