//! The flags of `verify`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use regex_lite::Regex;

use super::record::time;

/// Is this fix enough? Compares a program before a fix with the same program after it
///
/// Looks for the bug in the program before the fix, takes the schedule that shows it over to the program after the fix, records what
/// it does under it, and predicts on that recording; each finding that has to do with the bug or with the change is
/// replayed on the patched program, recorded and predicted on again. The verdict is one of
///   insufficient                  a run of the patched program shows the bug, or what is left of it
///   brings a new bug              a run of the patched program shows a bug of the change
///   sufficient as far as was seen the bug and all that is near it was excluded, or was run and did no harm
///   undecided                     something could not be looked at: it says what
///   not shown                     the program before the fix does not have the bug
#[derive(Args)]
#[command(after_help = HELP, verbatim_doc_comment)]
pub(crate) struct VerifyArgs {
    /// The program before the fix, compiled with `reweave cc`
    #[arg(long, value_name = "OLD", required_unless_present_any = ["git", "trace"])]
    pub(crate) before: Option<PathBuf>,
    /// The program after the fix, compiled in the same way
    #[arg(long, value_name = "NEW", required_unless_present = "git")]
    pub(crate) after: Option<PathBuf>,
    /// Build both from two commits of the repository here: --git HEAD~1..HEAD --build 'make CC="reweave cc"' -- ./prog ARGUMENTS
    #[arg(long, value_name = "A..B", requires = "build", conflicts_with_all = ["before", "after", "diff"])]
    pub(crate) git: Option<String>,
    /// The command that builds the program in a checkout of a commit, where a shell runs it; then it is run there, too
    #[arg(long, value_name = "COMMAND", requires = "git")]
    pub(crate) build: Option<OsString>,
    /// A recorded run of the old program that has the bug, with the files beside it: the bug is looked for in it alone. Without
    /// --before, the old program is not run
    #[arg(long, value_name = "TRACE", conflicts_with = "git")]
    pub(crate) trace: Option<PathBuf>,
    /// The patch from the old program to the new one, as `git diff` and `diff -u` write it: it says where lines are now, and each line
    /// of it that does something has to run
    #[arg(long, value_name = "FILE")]
    pub(crate) diff: Option<PathBuf>,
    /// The bug that the fix is for: the beginning of its fingerprint in the old program [default: every bug in functions
    /// that changed, else every bug]
    #[arg(long, value_name = "FINDING")]
    pub(crate) finding: Option<String>,
    /// The most runs of the new program
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    /// How many runs of the old program to look for the bug in
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) before_runs: u32,
    /// The first seed of runs that follow no schedule
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Stop after this time, such as 90s or 5min: what is open then is undecided
    #[arg(long, value_name = "TIME", default_value = "5min", value_parser = time)]
    pub(crate) budget: Duration,
    /// Statuses that a run may end with; one that ends otherwise has failed
    #[arg(long, value_name = "STATUS", value_delimiter = ',', default_value = "0")]
    pub(crate) expect_status: Vec<u8>,
    /// When a run failed, besides one that crashed, aborted, hung or failed an assertion: `status`, a status that --expect-status does not
    /// have; `signal`, nothing else; `text REGEX`, a line of its output matches; `cmd CHECK`, this command, which a shell runs with
    /// that output as its input and the run's status in $STATUS, ends with another status than 0. May be repeated [default: status]
    #[arg(long, value_name = "WHEN", value_parser = fails)]
    pub(crate) fails: Vec<Fails>,
    /// End a run, and all that the program started, after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    pub(crate) timeout: Duration,
    /// What the programs read as their standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub(crate) input: Option<PathBuf>,
    /// Keep traces and schedules in this folder [default: only a schedule that shows a bug, here]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Write the verdict as JSON to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write what the fix leaves or brings as SARIF 2.1.0 to this file, for code hosts; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write the verdict as a page of HTML to this file, to be opened in a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The arguments of both programs, after `--`; with --git, first the program
    #[arg(value_name = "ARGUMENT", last = true)]
    pub(crate) arguments: Vec<OsString>,
}

/// When a run failed.
#[derive(Clone, Debug)]
pub(crate) enum Fails {
    Status,
    Signal,
    Text(Regex),
    Command(String),
}

fn fails(text: &str) -> Result<Fails, String> {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    match word {
        "status" if rest.is_empty() => Ok(Fails::Status),
        "signal" if rest.is_empty() => Ok(Fails::Signal),
        "text" if !rest.is_empty() => Regex::new(rest).map(Fails::Text).map_err(|error| error.to_string()),
        "cmd" if !rest.is_empty() => Ok(Fails::Command(rest.to_owned())),
        _ => Err("one of: status, signal, 'text REGEX', 'cmd COMMAND'".to_owned()),
    }
}

const HELP: &str = "\
Exits with 0 when the fix is sufficient as far as was seen, with 1 when it is not or brings a new bug, with 2 when the
old program does not show the bug, with 3 when it is undecided. The same command gives the same verdict, unless
--budget ends it. Whatever a run's failure is, a status, text or check counts only in a run that has the bug.

Example: a counter whose increment was locked in one of two threads only
  reweave cc -g old.c -o old
  reweave cc -g new.c -o new
  reweave verify --before ./old --after ./new
Example: the last commit of a project that is built with make
  reweave verify --git HEAD~1..HEAD --build 'make CC=\"reweave cc\"' -- ./queue_test --rounds 10
Example: the old program is gone, but not a trace of it; 41fe is the bug that `reweave predict old.rw` shows
  reweave verify --trace old.rw --finding 41fe --diff fix.patch --after ./new";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_named() {
        assert!(matches!(fails("status"), Ok(Fails::Status)));
        assert!(matches!(fails("signal"), Ok(Fails::Signal)));
        assert!(matches!(fails("text lost .* of"), Ok(Fails::Text(regex)) if regex.is_match("lost 3 of 4")));
        assert!(
            matches!(fails("cmd ! grep -q lost"), Ok(Fails::Command(command)) if command == "! grep -q lost")
        );
        for wrong in ["text", "text (", "cmd ", "crash", "status 3"] {
            assert!(fails(wrong).is_err(), "{wrong}");
        }
    }
}
