//! `reweave predict`: which bugs could this run have had?

mod analyse;
mod confirm;
mod filter;
mod libraries;
mod memory;
pub(super) mod watch;

use std::path::{Path, PathBuf};

use anyhow::Context;
use reweave_report::json::predict::{Document, FailedRun};

use super::reports::{self, Outputs, Reports};
use crate::args::{Global, PredictArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure;
use crate::{input, limited};
use analyse::{Analysed, Analysis};
use confirm::Confirm;
use filter::Filter;
use watch::{Allowed, Watch};

/// What a hunt has besides traces.
#[derive(Default)]
pub(super) struct Hunted<'a> {
    /// Whether there is a hunt at all.
    pub(super) is_one: bool,
    /// The runs that failed by themselves.
    pub(super) failed_runs: Vec<FailedRun>,
    /// Where findings and schedules are kept.
    pub(super) keep: Option<&'a Path>,
}

pub(crate) fn run(args: &PredictArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    hunted(args, Hunted::default(), global, console)
}

/// Predicts on the traces of a hunt.
pub(super) fn hunted(
    args: &PredictArgs,
    hunted: Hunted<'_>,
    global: &Global,
    console: &Console,
) -> anyhow::Result<Exit> {
    let outputs = Outputs { json: args.json.as_ref(), sarif: args.sarif.as_ref(), html: args.html.as_ref() };
    let text = !outputs.standard()?;
    let mut filter = Filter::read(args.suppressions.as_deref(), args.baseline.as_deref())?;
    let files = input::expand(&args.traces, args.reading)?;
    let others = [&args.suppressions, &args.baseline].into_iter().flatten();
    limited::refuse_same(files.iter().chain(others).map(PathBuf::as_path), outputs.paths())?;
    let allowed = Allowed { time: args.time(), budget: args.budget(), memory: args.max_memory };
    let watch = Watch::start(allowed)
        .context("no thread can be started: there is no memory for it, or a limit forbids it")?;
    let confirm = Confirm::new(args, hunted.keep)?;
    let analysis = Analysis { args, global, console, watch: &watch, text, confirm: confirm.as_ref() };
    let (mut results, mut texts, mut worst) = (Vec::new(), Vec::new(), Exit::Yes);
    let mut observed = Vec::new();
    for file in &files {
        if watch.stopped() {
            break;
        }
        match analysis.run(file, &mut filter) {
            Ok(Analysed::Done(result, rendered, failed)) => {
                results.push(*result);
                texts.push(rendered);
                observed.extend(*failed);
            }
            Ok(Analysed::Not(exit)) => worst = worst.max(exit),
            Err(error) => match failure::report(&error, console) {
                // The reader of our output has gone, or the user has had enough.
                exit @ (Exit::Yes | Exit::Interrupted) => return Ok(exit),
                exit => worst = worst.max(exit),
            },
        }
    }
    if let Some(path) = &args.suppressions {
        filter.warn_of_unused(path, console);
    }
    if results.is_empty() && hunted.failed_runs.is_empty() {
        return Ok(worst.max(if watch.stopped() { Exit::Stopped } else { Exit::Yes }));
    }
    // A hunt knows which of its runs failed, and which status was expected.
    let failed_runs = if hunted.is_one { hunted.failed_runs } else { observed };
    let document = Document { failed_runs, results };
    let reports = Reports { document: &document, texts };
    if text {
        reports.print(global.quiet, console)?;
    }
    reports.write(outputs, console)?;
    if let Some(folder) = hunted.keep {
        let json = folder.join("findings.json");
        reports.write(Outputs { json: Some(&json), sarif: None, html: None }, console)?;
    }
    watch.tell(files.len() - document.results.len(), console);
    let exit = match reports::exit(&document, args.strict) {
        Exit::Yes if watch.stopped() && !watch.is_late() => Exit::Stopped,
        exit => exit,
    };
    Ok(worst.max(exit))
}
