//! Two commits of a repository, checked out and built.
//!
//! Each gets a clone of its own that shares the objects: nothing is written to the repository itself, whatever happens.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context;
use reweave_session::{Nested, interrupt};
use reweave_verify::Diff;

use super::given::{Given, Program};
use crate::args::VerifyArgs;
use crate::commands::record;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;

/// So many lines of what a build says are shown where it fails.
const LINES: usize = 20;

/// Builds both commits in `folder`.
pub(super) fn build(
    range: &str,
    args: &VerifyArgs,
    folder: &Path,
    end: Instant,
    progress: &Progress,
    console: &Console,
) -> anyhow::Result<Given> {
    let (Some((program, arguments)), Some(command)) = (args.arguments.split_first(), &args.build) else {
        return Err(Failure::new("--git needs the program that --build makes, after `--`")
            .hint("as in: reweave verify --git HEAD~1..HEAD --build make -- ./queue_test --rounds 10")
            .into());
    };
    let wrong = || {
        Failure::new(format!("--git {range}: two commits are expected, the first without the fix"))
            .hint("as in HEAD~1..HEAD, or main..fix")
    };
    let (old, new) = range.split_once("..").ok_or_else(wrong)?;
    if old.is_empty() || new.is_empty() || new.starts_with('.') {
        return Err(wrong().into());
    }
    if Path::new(program).is_absolute() {
        let message = format!("{}: a path within the repository is expected", program.display());
        return Err(Failure::new(message).hint("the program is run where it is built, in a checkout").into());
    }
    let root = PathBuf::from(git(None, ["rev-parse", "--show-toplevel"])?);
    let here = PathBuf::from(git(None, ["rev-parse", "--show-prefix"])?);
    let [old, new] = [old, new].map(|name| -> anyhow::Result<String> {
        git(None, ["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{name}^{{commit}}")])
            .map_err(|_| Failure::new(format!("--git {range}: there is no commit `{name}`")).into())
    });
    let (old, new) = (old?, new?);
    let diff =
        git(None, ["diff", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/", &old, &new])?;
    let diff = Diff::parse(&diff).map_err(|why| Failure::new(format!("git diff {old} {new}: {why}")))?;
    let make = |name: &str, commit: &str| -> anyhow::Result<Program> {
        let checkout = folder.join(name);
        clone(&root, &checkout, commit)?;
        let within = checkout.join(&here);
        let short = commit.get(..12).unwrap_or(commit);
        progress.above(|| console.note(format_args!("builds {short} ({name} the fix)")));
        progress.say(format!("building {short} ({name} the fix)"));
        run_build(command, &within, commit, end)?;
        found(&within, program, command)
    };
    let (before, after) = (make("before", &old)?, make("after", &new)?);
    let checkouts = [folder.canonicalize().unwrap_or_default(), folder.to_owned()];
    let checkouts = checkouts
        .iter()
        .flat_map(|folder| ["before", "after"].map(|name| format!("{}/", folder.join(name).display())));
    let checkouts = checkouts.collect();
    let stays = args.keep.is_some();
    let names = match stays {
        true => [&before, &after].map(|program| program.path.display().to_string()),
        false => [&old, &new]
            .map(|commit| format!("{} of {}", program.display(), commit.get(..12).unwrap_or(commit))),
    };
    let (arguments, diff) = (arguments.to_vec(), Some(diff));
    Ok(Given { before: Some(before), after, names, arguments, diff, stays, checkouts })
}

fn clone(root: &Path, checkout: &Path, commit: &str) -> anyhow::Result<()> {
    if checkout.exists() {
        let message = format!("{} is already there", checkout.display());
        return Err(Failure::new(message).hint("give --keep another folder, or remove it").into());
    }
    let words: [&OsStr; 6] = [
        "clone".as_ref(),
        "--quiet".as_ref(),
        "--shared".as_ref(),
        "--no-checkout".as_ref(),
        root.as_ref(),
        checkout.as_ref(),
    ];
    git(None, words)?;
    git(Some(checkout), ["checkout", "--quiet", "--detach", commit])?;
    Ok(())
}

/// The built program; it has to be one that can be recorded.
fn found(within: &Path, program: &OsString, command: &OsStr) -> anyhow::Result<Program> {
    let path = within.join(program);
    if !path.is_file() {
        let message = format!("{}: `{}` did not make it", path.display(), command.display());
        return Err(Failure::new(message)
            .hint("the program after `--` is named from the folder that the build runs in")
            .into());
    }
    // Whatever the folder of temporary files is called: the program runs elsewhere.
    let path = path.canonicalize().with_context(|| path.display().to_string())?;
    record::find(&path.as_os_str().to_owned())?;
    Ok(Program { path, folder: Some(within.to_owned()) })
}

fn run_build(command: &OsStr, within: &Path, commit: &str, end: Instant) -> anyhow::Result<()> {
    if !within.is_dir() {
        return Err(
            Failure::new(format!("commit {commit} does not have the folder {}", within.display())).into()
        );
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(command).current_dir(within).stdin(Stdio::null());
    let built = Nested::output_before(&mut shell, Some(end)).context("sh does not start")?;
    if interrupt::requested() {
        return Err(Failure::new("interrupted").into());
    }
    let Some(built) = built else {
        let message =
            format!("the time of --budget was up while `{}` built commit {commit}", command.display());
        return Err(Failure::stopped(message).hint("--budget covers builds as well: give it more").into());
    };
    if built.status.success() {
        return Ok(());
    }
    let said = [built.stdout, built.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    let end = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default().join("\n");
    let message =
        format!("commit {commit} cannot be built: `{}` {}:\n{end}", command.display(), built.status);
    Err(Failure::new(message).into())
}

/// What git says; where it fails, that is the error.
fn git<W: AsRef<OsStr>>(within: Option<&Path>, words: impl IntoIterator<Item = W>) -> anyhow::Result<String> {
    let mut command = Command::new("git");
    if let Some(folder) = within {
        command.arg("-C").arg(folder);
    }
    let ran = Nested::output(command.args(words)).context("git does not start: --git needs it")?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        let said = said.trim().trim_start_matches("fatal: ");
        return Err(Failure::new(format!("git: {said}")).into());
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}
