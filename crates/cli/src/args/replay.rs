//! The flags of `replay` and `hunt`, and of replaying in `predict`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::Reading;
use super::predict::{Searching, WITH_REPLAYS};
use super::record::{Policy, time};

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
    /// Record the replay, too: a trace like any other; where there are two runs, one for each order, their numbers go
    /// before the extension
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gdb", "lldb"])]
    pub(crate) record: Option<PathBuf>,
    /// Of what is recorded, find out which reads each event depends on, as `reweave record
    /// --dependences` does
    #[arg(long, requires = "record")]
    pub(crate) dependences: bool,
    /// The JSON of `reweave predict` that has the finding [default: look for it in the trace again]
    #[arg(long, value_name = "FILE")]
    pub(crate) findings: Option<PathBuf>,
    /// A file of specifications that calls follow, as `predict` had it
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Vec<PathBuf>,
    /// For a race: which access comes first, the first one (ab) or the second (ba) [default: one run of each]
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<OrderChoice>,
    /// Stop under gdb where the bug is about to happen, in its thread; `reweave` there shows who
    /// holds what
    #[arg(long)]
    pub(crate) gdb: bool,
    /// Stop under lldb, likewise
    #[arg(long, conflicts_with = "gdb")]
    pub(crate) lldb: bool,
    /// Give up at the first difference from the recorded run, instead of letting threads run on while the step that is
    /// wanted of them can still come
    #[arg(long)]
    pub(crate) strict: bool,
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
    /// End a replay, and all that the program started, after this time, such as 10s or 500ms
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(crate) replay_timeout: Duration,
    /// What the program reads as its standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Go on in the child where the program forks while it has one thread, as the recording did
    #[arg(long)]
    pub(crate) follow_child: bool,
    /// Replay each finding this many times, and say how often it was confirmed
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
    /// How many more runs to make at most, each under a schedule in which a thread reads what it did not before [default: 8;
    /// none with --suppressions or --baseline, since what fails there may be known]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    deepen: Option<u32>,
    /// Keep traces, schedules and findings in this folder [default: a temporary one]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// End a recorded run after this time
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = time)]
    pub(crate) timeout: Duration,
    /// Statuses that a run may end with; one that ends otherwise has failed, and is the first finding
    #[arg(long, value_name = "STATUS", value_delimiter = ',', default_value = "0")]
    pub(crate) expect_status: Vec<u8>,
    /// How it is decided who runs next while a run is recorded
    #[arg(long, value_name = "POLICY", default_value = "random")]
    pub(crate) policy: Policy,
    /// Find out which reads each event depends on, for the model dep+value; for C programs compiled
    /// with the plugin
    #[arg(long)]
    pub(crate) dependences: bool,
    #[command(flatten)]
    pub(crate) searching: Searching,
    #[command(flatten)]
    pub(crate) replaying: Replaying,
    /// The program and its arguments, after `--`
    #[arg(value_name = "PROGRAM", required = true, last = true)]
    pub(crate) program: Vec<OsString>,
}

/// How many runs a hunt deepens by, unless the user says otherwise.
const DEEPEN: u32 = 8;

impl HuntArgs {
    /// How long all of it may take.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.searching.time_or(WITH_REPLAYS)
    }

    /// How many more runs to make.
    pub(crate) fn deepen(&self) -> u32 {
        let knows = self.searching.suppressions.is_some() || self.searching.baseline.is_some();
        self.deepen.unwrap_or(if knows { 0 } else { DEEPEN })
    }
}

const HUNT_HELP: &str = "\
Exits with 0 when nothing was found, or only warnings (without --strict), with 1 when something was, or when a
recorded run failed by itself, with 3 when nothing was found but a
limit left candidates undecided.

After the recorded runs, it makes others that no scheduler would come to soon: a read is made to come before the write that
it observed, or after another one, and the run goes on from there. So assertions are found that hang on the order of
critical sections, each of which is correctly locked. A run that fails so is run again before it is reported.

Where PROGRAM was not compiled to be recorded, it is a driver: a script, ctest, anything that starts programs. Each
program below it that was compiled to be recorded gets a trace of its own. A program has failed where its driver ends
with a status other than expected.

Example: fail a build where a test could have gone wrong
  reweave hunt --runs 3 --sarif findings.sarif -- ./queue_test --rounds 10
Example: hunt in every test of a project that was built with `reweave cc`
  reweave hunt --runs 1 --keep hunted -- ctest -j2";
