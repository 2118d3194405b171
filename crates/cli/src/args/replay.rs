//! The flags of `replay` and `hunt`, and of replaying in `predict`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::Reading;
use super::record::time;

/// Make a predicted bug happen on the real program
///
/// Runs the program with its threads in the order of the finding's schedule. A race is confirmed when both threads stand
/// before their accesses at once; what comes of each order is then shown side by side. A deadlock is confirmed when its
/// threads wait for each other, anything else when its events have come in the order that is wrong.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct ReplayArgs {
    /// The trace, as `reweave record` wrote it, with the file beside it that ends in .steps
    #[arg(value_name = "TRACE", required_unless_present = "schedule")]
    pub(crate) trace: Option<PathBuf>,
    /// The finding: its fingerprint, or the beginning of it, or a witness file
    #[arg(value_name = "FINDING", required_unless_present = "schedule")]
    pub(crate) finding: Option<String>,
    /// Replay this schedule, instead of a trace and a finding
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trace", "finding", "findings"])]
    pub(crate) schedule: Option<PathBuf>,
    /// Write the schedule to this file: a text that others can replay
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// The JSON of `reweave predict` that has the finding [default: look for it in the trace again]
    #[arg(long, value_name = "FILE")]
    pub(crate) findings: Option<PathBuf>,
    /// For a race: which access comes first, the first one (ab) or the second (ba) [default: one run of each]
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<OrderChoice>,
    /// Stop under gdb where the bug is about to happen
    #[arg(long)]
    pub(crate) gdb: bool,
    #[command(flatten)]
    pub(crate) replaying: Replaying,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// The program and its arguments, after `--`
    #[arg(value_name = "PROGRAM", required = true, last = true)]
    pub(crate) program: Vec<OsString>,
}

/// How programs are replayed.
#[derive(Args, Clone)]
pub(crate) struct Replaying {
    /// Give up at the first difference from the recorded run, instead of letting threads run on while the step that is
    /// wanted of them can still come
    #[arg(long)]
    pub(crate) strict: bool,
    /// End a replay, and all that the program started, after this time, such as 10s or 500ms
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(crate) replay_timeout: Duration,
    /// What the program reads as its standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Replay each finding so many times, and say how often it was confirmed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) times: u32,
}

/// Which of two accesses comes first.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderChoice {
    Ab,
    Ba,
}

const HELP: &str = "\
Exits with 0 when the bug was confirmed, with 1 when it was not, with 2 when the program is not the one that was
recorded.

Example: record, predict, and watch it happen
  reweave cc -g examples/shop.c -o shop
  reweave record -o shop.rw -- ./shop
  reweave predict shop.rw
  reweave replay shop.rw 51f0 -- ./shop";

/// Record a program a few times, predict, and replay what was found: the one command for a build
///
/// Runs the program with several seeds, looks for bugs in each run, merges what was found, and makes each bug happen on
/// the program.
#[derive(Args)]
#[command(after_help = HUNT_HELP)]
pub(crate) struct HuntArgs {
    /// How many runs to record, each with the next seed
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: u32,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Keep traces, schedules and findings in this folder [default: a temporary one]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// What to look for: race, deadlock, atomicity, order, uaf [default: all]
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    pub(crate) kinds: Vec<reweave_detect::Kind>,
    /// End a recorded run after this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(crate) timeout: Duration,
    /// Write the findings as JSON to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the findings as SARIF 2.1.0 to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) replaying: Replaying,
    /// The program and its arguments, after `--`
    #[arg(value_name = "PROGRAM", required = true, last = true)]
    pub(crate) program: Vec<OsString>,
}

const HUNT_HELP: &str = "\
Exits with 0 when nothing was found, with 1 when something was, confirmed or not, with 3 when nothing was found but a
limit left candidates undecided.

Example: fail a build where a test could have gone wrong
  reweave hunt --runs 3 --sarif findings.sarif -- ./queue_test --rounds 10";
