//! When a run failed.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use reweave_replay::{Ended, Harm, Outcome};
use reweave_session::Nested;

use crate::args::{Fails, VerifyArgs};

/// How a run failed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Failed {
    /// How it ended, in words.
    pub(super) how: String,
    /// Whether it crashed, aborted or hung: else it only had a status or output that is not expected, which may mean anything.
    pub(super) is_hard: bool,
}

/// How a run failed; none where it did not. Commands that decide about it run in `folder`.
pub(super) fn failure(
    ended: &Ended,
    args: &VerifyArgs,
    folder: Option<&Path>,
    end: Instant,
) -> anyhow::Result<Option<Failed>> {
    let waits = ended.report.deadlocked || ended.report.timed_out || ended.status.is_none();
    let failed = |is_hard: bool, how: String| Ok(Some(Failed { how, is_hard }));
    match ended.harm(None) {
        Harm::Crash | Harm::Assertion => return failed(true, ended.ending()),
        Harm::Hang if ended.report.outcome == Outcome::Confirmed => return failed(true, ended.ending()),
        // It may wait for what the schedule withholds from it.
        _ if waits => return Ok(None),
        _ => {}
    }
    let unless_said = [Fails::Status];
    let ways = if args.fails.is_empty() { unless_said.as_slice() } else { args.fails.as_slice() };
    for way in ways {
        if let Some(how) = fails(way, ended, args, folder, end)? {
            return failed(false, how);
        }
    }
    Ok(None)
}

fn fails(
    way: &Fails,
    ended: &Ended,
    args: &VerifyArgs,
    folder: Option<&Path>,
    end: Instant,
) -> anyhow::Result<Option<String>> {
    Ok(match way {
        Fails::Signal => None,
        Fails::Status => {
            let code = ended.status.and_then(|status| status.code());
            let is_expected = |code: i32| args.expect_status.iter().any(|&one| i32::from(one) == code);
            code.filter(|&code| !is_expected(code)).map(|_| ended.ending())
        }
        Fails::Text(regex) => {
            let found = ended.lines().iter().any(|line| regex.is_match(line));
            found.then(|| format!("wrote what --fails 'text {}' names", regex.as_str()))
        }
        Fails::Command(check) => {
            let good =
                check_passes(check, ended, folder, end).with_context(|| format!("--fails 'cmd {check}'"))?;
            (!good).then(|| format!("did not pass --fails 'cmd {check}'"))
        }
    })
}

/// Whether a command is content with what a run wrote.
fn check_passes(check: &str, ended: &Ended, folder: Option<&Path>, end: Instant) -> anyhow::Result<bool> {
    let mut output = tempfile::NamedTempFile::new()?;
    for line in ended.lines() {
        writeln!(output, "{line}")?;
    }
    let status = ended.status.and_then(|status| status.code()).map_or(String::new(), |code| code.to_string());
    let mut command = Command::new("sh");
    command.arg("-c").arg(check).env("STATUS", status).stdin(Stdio::from(File::open(output.path())?));
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    // Where the budget ends it, nothing is known of the run; the verification is over then, and
    // says so.
    let Some(ran) = Nested::output_before(&mut command, Some(end))? else { return Ok(true) };
    // What a shell says where there is no such command: that is no answer.
    if matches!(ran.status.code(), Some(126 | 127)) {
        let said = String::from_utf8_lossy(&ran.stderr).trim().to_owned();
        return Err(crate::failure::Failure::new(format!("the check could not be run: {said}")).into());
    }
    Ok(ran.status.success())
}
