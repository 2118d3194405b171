//! What is compared: two programs, the patch between them, and where they run.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use reweave_report::answer::Picture;
use reweave_verify::Diff;

use super::after::Outcomes;
use super::before::Before;
use super::git;
use crate::args::VerifyArgs;
use crate::commands::record;
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::Progress;

/// A program to be run.
#[derive(Clone)]
pub(super) struct Program {
    pub(super) path: PathBuf,
    /// Where it runs; here where there is none.
    pub(super) folder: Option<PathBuf>,
}

/// What the user gave, or what was made of it.
pub(super) struct Given {
    /// The old program; none where only a trace of it is left.
    pub(super) before: Option<Program>,
    pub(super) after: Program,
    /// What both are called in what is said.
    pub(super) names: [String; 2],
    pub(super) arguments: Vec<OsString>,
    pub(super) diff: Option<Diff>,
    /// Whether the new program is still there afterwards.
    pub(super) stays: bool,
    /// Folders of checkouts, which say nothing to anybody: paths are written without them.
    pub(super) checkouts: Vec<String>,
}

impl Given {
    /// Finds the programs, or builds them in `folder`.
    pub(super) fn new(
        args: &VerifyArgs,
        folder: &Path,
        end: Instant,
        progress: &Progress,
        console: &Console,
    ) -> anyhow::Result<Given> {
        if let Some(range) = &args.git {
            return git::build(range, args, folder, end, progress, console);
        }
        let find = |path: &PathBuf| -> anyhow::Result<Program> {
            Ok(Program { path: record::find(&path.as_os_str().to_owned())?, folder: None })
        };
        let Some(after) = &args.after else {
            return Err(Failure::new("give --after, the program after the fix, or --git").into());
        };
        let before = args.before.as_ref().map(find).transpose()?;
        let named = args.before.as_ref().or(args.trace.as_ref());
        let names =
            [named, Some(after)].map(|path| path.map(|path| path.display().to_string()).unwrap_or_default());
        let diff = args.diff.as_deref().map(patch).transpose()?;
        let arguments = args.arguments.clone();
        Ok(Given { before, after: find(after)?, names, arguments, diff, stays: true, checkouts: Vec::new() })
    }
}

/// Takes the folders of checkouts away from what will be said.
pub(super) fn shorten(given: &Given, before: &mut Before, outcomes: Option<&mut Outcomes>) {
    let one = |text: &mut String| {
        for folder in &given.checkouts {
            *text = text.replace(folder.as_str(), "");
        }
    };
    let all = |texts: &mut Vec<String>| texts.iter_mut().for_each(one);
    for bug in before.bugs.iter_mut().chain(&mut before.beside) {
        all(&mut bug.found.sites);
    }
    let Some(outcomes) = outcomes else { return };
    for bug in &mut outcomes.bugs {
        one(&mut bug.by);
    }
    for claim in &mut outcomes.claims {
        one(&mut claim.by);
        all(&mut claim.sites);
        all(&mut claim.sites_before);
    }
    all(&mut outcomes.gaps);
    all(&mut outcomes.notes);
    all(&mut outcomes.hints);
}

/// The picture without the folders of checkouts.
pub(super) fn shortened(given: &Given, picture: Picture) -> Picture {
    let Ok(mut text) = serde_json::to_string(&picture) else { return picture };
    for folder in given.checkouts.iter().filter_map(|folder| serde_json::to_string(folder).ok()) {
        text = text.replace(folder.trim_matches('"'), "");
    }
    serde_json::from_str(&text).unwrap_or(picture)
}

fn patch(path: &Path) -> anyhow::Result<Diff> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let name = path.display();
    let diff = Diff::parse(&text).map_err(|why| Failure::new(format!("{name}: {why}")))?;
    if diff.is_empty() {
        return Err(Failure::new(format!("{name}: there is no change in it"))
            .hint("a patch as `git diff` or `diff -u` writes it is expected")
            .into());
    }
    Ok(diff)
}
