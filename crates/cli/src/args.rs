//! The flags, each defined once: help is made from here.

mod cargo;
mod explain;
mod generate;
mod install;
mod predict;
mod query;
mod record;
mod replay;
mod report;
mod spec;
mod stream;
mod verify;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use reweave_format::Format;

use crate::exit::Exit;
use crate::plain::plain;

pub(crate) use cargo::{CargoArgs, CargoTestArgs, DrivenArgs};
pub(crate) use explain::ExplainArgs;
pub(crate) use generate::GenerateArgs;
pub(crate) use install::{CompletionsArgs, DoctorArgs, ManArgs};
pub(crate) use predict::PredictArgs;
pub(crate) use query::{ModelChoice, QueryArgs, SourceLine};
pub(crate) use record::{CcArgs, CppArgs, RecordArgs};
pub(crate) use replay::{HuntArgs, OrderChoice, ReplayArgs, Replaying};
pub(crate) use report::{MergeArgs, ReportArgs, Showing};
pub(crate) use spec::{SpecArgs, SpecCommand};
pub(crate) use stream::StreamArgs;
pub(crate) use verify::{Fails, VerifyArgs};

/// Predict concurrency bugs from the trace of one run.
#[derive(Parser)]
#[command(name = "reweave", version, max_term_width = 100, after_help = MAIN_HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const MAIN_HELP: &str = "\
Exit codes: 0 nothing found, or yes; 1 findings, or no; 2 wrong usage or bad input; 3 stopped by a limit
before an answer; 70 a bug of ours.

Example: find the bugs that one run of a program could have had
  reweave predict examples/bank.std";

/// Reads the command line. Help and errors about it are coloured as it asks for.
pub(crate) fn parse(line: &[OsString]) -> Result<Cli, clap::Error> {
    let asked = line.iter().enumerate().find_map(|(place, word)| match word.to_str()? {
        "--color" => line.get(place + 1)?.to_str(),
        word => word.strip_prefix("--color="),
    });
    let choice = match asked.and_then(|name| Color::from_str(name, false).ok()) {
        Some(Color::Always) => ColorChoice::Always,
        Some(Color::Never) => ColorChoice::Never,
        _ => ColorChoice::Auto,
    };
    Cli::from_arg_matches(&Cli::command().color(choice).try_get_matches_from(line)?)
}

/// Prints the help that was asked for, or what is wrong with the command line.
pub(crate) fn tell(error: &clap::Error) -> Exit {
    // It quotes what is wrong as it is.
    let text = error.render().to_string();
    // Help that nobody reads to its end is no failure.
    let _ = match plain(&text) == text {
        true => error.print(),
        false => write!(io::stderr(), "{}", plain(&text)),
    };
    if error.use_stderr() { Exit::BadInput } else { Exit::Yes }
}

/// What every command takes.
#[derive(Args, Default)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// No progress and no summaries: only results, warnings and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// How many threads to use [default: one per core]; the output is the same for any number
    #[arg(short, long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) jobs: Option<u16>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Predict(PredictArgs),
    Report(ReportArgs),
    Explain(ExplainArgs),
    Merge(MergeArgs),
    Validate(ValidateArgs),
    Stats(StatsArgs),
    Convert(ConvertArgs),
    Generate(GenerateArgs),
    Check(CheckArgs),
    Query(QueryArgs),
    Stream(StreamArgs),
    Spec(SpecArgs),
    Record(RecordArgs),
    Replay(ReplayArgs),
    Hunt(HuntArgs),
    Verify(VerifyArgs),
    Cargo(CargoArgs),
    #[command(name = "cargo-test", hide = true)]
    CargoTest(CargoTestArgs),
    #[command(hide = true)]
    Driven(DrivenArgs),
    Cc(CcArgs),
    #[command(name = "c++")]
    Cpp(CppArgs),
    Doctor(DoctorArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// How a trace is read.
#[derive(Args, Clone, Copy, Default)]
pub(crate) struct Reading {
    /// Drop or rename what is ill formed instead of refusing the trace; says what and how often
    #[arg(long)]
    pub(crate) repair: bool,
    /// The format of the trace: std, rapidbin, roadrunner, csv, speedygo or rw [default: by name and content]
    #[arg(long, visible_alias = "from", value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
}

/// Check that traces can have been observed
///
/// A trace is well formed when one run of a program can have produced it: no lock is held by two threads, no thread
/// runs before its fork, every read observes what was written. The first violation is shown with its line.
#[derive(Args)]
#[command(after_help = VALIDATE_HELP)]
pub(crate) struct ValidateArgs {
    /// Trace files, folders of them, or - for standard input
    #[arg(value_name = "TRACE", required = true)]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

const VALIDATE_HELP: &str = "\
Exits with 0 when every trace is well formed, else with 2.

Example: see what a repair would do to a log that was cut at its start
  reweave validate --repair log.std.gz
    log.std.gz: well formed after 2 repairs: 9,871 events, 4 threads, …
      2 x release without an acquire (first at log.std.gz:17): the release was dropped";

/// Show the shape of traces
///
/// Events by kind, threads, locks and how they are contended, which variables are really shared, waits, and which
/// models of what a thread may do are sound on the trace.
#[derive(Args)]
#[command(after_help = STATS_HELP)]
pub(crate) struct StatsArgs {
    /// Trace files, folders of them, or - for standard input
    #[arg(value_name = "TRACE", required_unless_present = "program")]
    pub(crate) traces: Vec<PathBuf>,
    /// The table that the compiler plugin left in a program, library, archive or object, instead of a trace
    #[arg(long, value_name = "BINARY", conflicts_with_all = ["traces", "repair", "format"])]
    pub(crate) program: Vec<PathBuf>,
    /// Which reads an event depends on, by the trace's table of dependences, and which events depend on it, instead of figures
    #[arg(long, value_name = "EVENT", conflicts_with_all = ["program", "json"])]
    pub(crate) depends: Vec<u32>,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Write it as JSON to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

const STATS_HELP: &str = "\
A recorded trace also tells which program and libraries it is of, by their build ids. With
--program, the table of one of them is shown: its modules, functions and instructions, and which of
them are recorded.

Example: what an event of a trace with dependences depends on
  reweave record --dependences -o shop.rw -- ./shop
  reweave stats shop.rw --depends 32

Example: the share of events that touch memory used by several threads
  reweave stats traces/ --json - | jq '.traces[] | [.path, .variables.shared.accesses / .events]'";

/// Rewrite a trace in another format
///
/// The extension says the format: .std is text, .data is RAPID's binary format, .rw is our own, the most compact one.
/// Text is compressed when the name ends in .zst. Event ids stay the same.
#[derive(Args)]
#[command(after_help = CONVERT_HELP)]
pub(crate) struct ConvertArgs {
    /// The trace to read, or - for standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The file to write, or - for standard output
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// The format to write: std, rapidbin or rw [default: by the name of OUT]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: Option<Format>,
}

const CONVERT_HELP: &str = "\
OUT is written under another name first: it is there in full or not at all.

Example: look at the first lines of a binary trace
  reweave convert t.rw - --to std | head";

/// Check a witness: does this schedule run, and does it show what it claims?
///
/// Runs the schedule step by step with the trusted machine, and prints the first step that fails.
/// WITNESS is a file such as
///   {"model": "rf", "witness_prefix": 0, "witness": [0, 1], "claim": {"coenabled": [2, 6]}}
/// where the schedule is the first `witness_prefix` events of the trace, followed by the events in
/// `witness`, and the claim is one of
///   "coenabled": [a, b, …]    after the schedule all these events may run
///   "deadlock": [a, b, …]     after it these acquires block each other
///   "sequence": [a, b, …]     it has these events in this order
///   "before": [[a, b], …]     it has the first of each pair before the second
/// The last two may have "adjacent": [i, …], the places with nothing in between.
#[derive(Args)]
#[command(after_help = CHECK_HELP, verbatim_doc_comment)]
pub(crate) struct CheckArgs {
    /// The trace, or - for standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// The witness file, or - for standard input
    #[arg(value_name = "WITNESS")]
    pub(crate) witness: PathBuf,
    /// A file of specifications that calls follow, besides the built-in ones; `bind` lines say which objects have
    /// which type. May be given more than once
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

const CHECK_HELP: &str = "\
Exits with 0 when the witness is accepted, with 1 when it is not.

Example: check the race in the bundled trace
  reweave check examples/bank.std examples/bank-race.json";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_do_not_clash_and_every_command_teaches_by_example() {
        let command = Cli::command();
        command.clone().debug_assert();
        for sub in command.get_subcommands() {
            let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.contains("Example: "), "{}", sub.get_name());
        }
    }
}
