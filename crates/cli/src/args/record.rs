//! The flags of `record`, `cc` and `c++`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

/// Run a program and record what its threads do
///
/// The program must have been compiled with `reweave cc` or `reweave c++`. Its threads take turns, one at a time, in an
/// order that the seed decides: the same seed gives the same run, another seed another one. Its output, its input and
/// its exit status are its own.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct RecordArgs {
    /// The trace to write; with --runs, the number of the run goes before the extension
    #[arg(short, long, value_name = "FILE", default_value = "trace.rw")]
    pub(crate) output: PathBuf,
    /// What decides who runs when
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// How it is decided who runs next
    #[arg(long, value_name = "POLICY", default_value = "random")]
    pub(crate) policy: Policy,
    /// How many times to run it, each time with the next seed
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: u32,
    /// End the program after this time, such as 10s or 500ms
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,
    /// Begin the program's clock at this second since 1970; else it begins at the second that it is
    #[arg(long, value_name = "SECOND", default_value_t = 0, hide_default_value = true)]
    pub(crate) clock: u64,
    /// Stop recording after this many events, and let the program go on
    #[arg(long, value_name = "N", default_value_t = 2_000_000_000)]
    pub(crate) max_events: u64,
    /// Stop recording at this many bytes, such as 500M, and let the program go on: the trace ends there
    #[arg(long, value_name = "BYTES", default_value = "2G", value_parser = bytes)]
    pub(crate) max_size: u64,
    /// Keep only the last N events: the trace begins with the threads, locks and blocks that were there then
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) last: Option<u64>,
    /// Record the child where the program forks while it has one thread, as programs do that go into the background
    #[arg(long)]
    pub(crate) follow_child: bool,
    /// Force this schedule, as `reweave replay --save` writes it: the trace is one of that run
    #[arg(long, value_name = "FILE", conflicts_with_all = ["policy", "finish"])]
    pub(crate) schedule: Option<PathBuf>,
    /// Run nothing: make the trace of a recording that was left behind when `reweave record` itself was killed
    #[arg(long, value_name = "FOLDER", conflicts_with = "program")]
    pub(crate) finish: Option<PathBuf>,
    /// Write a line for each branch, with its thread, the way taken and its site; for programs compiled with the plugin
    #[arg(long, value_name = "FILE")]
    pub(crate) ways: Option<PathBuf>,
    /// Find out which reads each event depends on, for the model dep+value; for C programs compiled with the plugin. It takes
    /// longer once the program has ended
    #[arg(long)]
    pub(crate) dependences: bool,
    /// Send the program's standard output to standard error
    #[arg(long, hide = true)]
    pub(crate) output_aside: bool,
    /// The program and its arguments
    #[arg(
        value_name = "PROGRAM",
        required_unless_present = "finish",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) program: Vec<OsString>,
}

const HELP: &str = "\
Exits as the program does; with 3 where it was ended because of a deadlock or --timeout. With --runs, the first
status other than 0 counts.

Example: compile, record, predict
  reweave cc -g bank.c -o bank
  reweave record -o bank.rw -- ./bank
  reweave predict bank.rw";

/// How the next thread is chosen.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Policy {
    /// Any thread, now and then
    Random,
    /// Random priorities that change at a few random points
    Pct,
    /// The same thread as long as it can run
    Plain,
    /// All threads at once, as the machine lets them: fastest, but the trace is approximate
    Free,
}

impl Policy {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Policy::Random => "random",
            Policy::Pct => "pct",
            Policy::Plain => "plain",
            Policy::Free => "free",
        }
    }
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().map_err(|_| "a number and a unit, such as 10s".to_owned())?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "s" | "" => Ok(Duration::from_secs(number)),
        "min" | "m" => Ok(Duration::from_secs(number.saturating_mul(60))),
        _ => Err("the unit is ms, s or min".to_owned()),
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    let number = text.trim_end_matches(['k', 'M', 'G']);
    let scale = match &text[number.len()..] {
        "" => 1,
        "k" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        _ => return Err("a number, and k, M or G".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "a number, and k, M or G".to_owned())?;
    number.checked_mul(scale).ok_or_else(|| "too large".to_owned())
}

/// Compile C so that the program can be recorded
///
/// Takes the arguments of gcc or clang, and runs it with a few more: drop-in, as in `CC="reweave
/// cc" make`. Where clang 22 or 19 is installed, it compiles with Reweave's own plugin, and traces
/// also have every branch: more can be predicted, soundly. Else the first found of gcc, clang and
/// cc compiles with ThreadSanitizer's hooks, which give accesses only. REWEAVE_CC names another
/// compiler.
#[derive(Args)]
#[command(after_help = CC_HELP)]
pub(crate) struct CcArgs {
    /// The compiler's arguments
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

const CC_HELP: &str = "\
--reweave-front=plugin|tsan, or REWEAVE_FRONT, chooses between the plugin and ThreadSanitizer's hooks; with -v, what
was chosen is said. Objects of both kinds may be linked together: the trace then has no branches.
Exits as the compiler does.

Example: build a project whose makefile lets one choose the compiler
  make CC=\"reweave cc\" CXX=\"reweave c++\"";

/// Compile C++ so that the program can be recorded
///
/// As `reweave cc`, with clang++ 22, or the first found of g++, clang++ and c++; REWEAVE_CXX names another one.
#[derive(Args)]
#[command(after_help = CC_HELP)]
pub(crate) struct CppArgs {
    /// The compiler's arguments
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) arguments: Vec<OsString>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("2"), Ok(Duration::from_secs(2)));
        assert_eq!(time("3min"), Ok(Duration::from_secs(180)));
        assert!(time("fast").is_err() && time("3h").is_err());
        assert_eq!(bytes("5M"), Ok(5_000_000));
        assert_eq!(bytes("17"), Ok(17));
        assert!(bytes("99999999999G").is_err() && bytes("M").is_err());
    }
}
