//! `reweave verify`: is this fix enough?

mod after;
mod before;
mod fails;
mod git;
mod given;
mod look;
mod pictures;
mod runner;
mod show;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use reweave_replay::text;
use reweave_report::answer::Answer;
use reweave_report::json::predict::Document;
use reweave_report::{html, sarif};
use reweave_session::{Folder, adopt, interrupt};
use reweave_verify::port::Builds;
use reweave_verify::{Map, Verdict};

use super::predict::watch::{Allowed, Watch};
use super::reports::Outputs;
use crate::args::{Global, VerifyArgs};
use crate::console::Console;
use crate::document;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Progress;
use after::{After, Outcomes};
use given::Given;
use look::Search;
use runner::Runner;

pub(crate) fn run(args: &VerifyArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let text = !outputs(args).standard()?;
    let temporary = Folder::temporary()?;
    let folder = match &args.keep {
        Some(folder) => {
            fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            folder.as_path()
        }
        None => temporary.path(),
    };
    interrupt::watch()?;
    adopt()?;
    // What builds and checks take is of the budget, too.
    let end = Instant::now() + args.budget;
    let progress = Progress::until("looking at the programs", Some(end), console);
    let given = Given::new(args, folder, end, &progress, console)?;
    let watch = Watch::start(Allowed { time: Some(args.budget), end: Some(end), ..Allowed::default() })
        .context("no thread can be started: there is no memory for it, or a limit forbids it")?;
    let search = Search { global, console, watch: &watch, progress: &progress, end };
    let trace = args.trace.as_deref().map(|path| search.open(path)).transpose()?;
    let (old_code, new_code) = match (&given.before, &trace) {
        (Some(before), _) => runner::codes(&before.path, &given.after.path)?,
        (None, Some(trace)) => (runner::traced(trace)?, runner::code(&given.after.path)?),
        (None, None) => return Err(Failure::new("give --before, --trace or --git").into()),
    };
    let map = Map::new(&old_code, &new_code, given.diff.as_ref());
    let builds = Builds { old: &old_code, new: &new_code, map: &map, diff: given.diff.as_ref() };
    let old = given.before.clone();
    let runner = |program, name| Runner::new(program, &given.arguments, args, folder, name, end);
    let mut old = old.map(|old| runner(old, "old")).transpose()?;
    let mut before = before::hunt(old.as_mut(), trace.as_ref(), builds, args, search)?;
    if interrupt::requested() {
        return Ok(Exit::Interrupted);
    }
    if before.bugs.is_empty() {
        drop(progress);
        given::shorten(&given, &mut before, None);
        write(args, &show::document(&given, &before, None, None, Vec::new()), console)?;
        if text {
            show::not_shown(args, &given, &before, console)?;
        }
        return Ok(if before.cut { Exit::Stopped } else { Exit::BadInput });
    }
    let mut new = runner(given.after.clone(), "new")?;
    let mut outcomes = After::new(&mut new, builds, &before, args, search).verify()?;
    let pictures = pictures::pictures(args, &before, &outcomes, builds, &given, search)?;
    drop(progress);
    if interrupt::requested() {
        return Ok(Exit::Interrupted);
    }
    let schedule = save(args, &before, &outcomes)?;
    given::shorten(&given, &mut before, Some(&mut outcomes));
    write(args, &show::document(&given, &before, Some(&outcomes), schedule.as_deref(), pictures), console)?;
    if text {
        show::verdict(&given, &before, &outcomes, schedule.as_deref(), console)?;
    }
    Ok(match outcomes.verdict {
        Verdict::Sufficient => Exit::Yes,
        Verdict::Insufficient | Verdict::NewBug => Exit::No,
        Verdict::NotShown => Exit::BadInput,
        Verdict::Undecided => Exit::Stopped,
    })
}

/// The files that are written.
fn outputs(args: &VerifyArgs) -> Outputs<'_> {
    Outputs { json: args.json.as_ref(), sarif: args.sarif.as_ref(), html: args.html.as_ref() }
}

fn write(
    args: &VerifyArgs,
    verified: &reweave_report::json::Verified,
    console: &Console,
) -> anyhow::Result<()> {
    if let Some(path) = &args.json {
        document::write_dense_json(path, verified, document::FINDINGS, console)?;
    }
    if let Some(path) = &args.sarif {
        document::write_json(path, &sarif::verified(verified), console)?;
    }
    if let Some(path) = &args.html {
        let answer = Answer::from(verified);
        document::write_text(path, &html::answer(&answer, &Document::default()), console)?;
    }
    Ok(())
}

/// Writes the schedule that shows a bug of the new program.
fn save(args: &VerifyArgs, before: &before::Before, outcomes: &Outcomes) -> anyhow::Result<Option<PathBuf>> {
    let Some(shown) = &outcomes.shown else { return Ok(None) };
    let name = before.bugs.first().map_or("new", |bug| bug.found.fingerprint.get(..8).unwrap_or("new"));
    let folder = args.keep.as_deref().unwrap_or(Path::new(""));
    let path = folder.join(format!("verify-{name}.schedule"));
    fs::write(&path, text::write(&shown.schedule)).with_context(|| path.display().to_string())?;
    Ok(Some(path))
}
