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
use reweave_session::interrupt;

use super::clock::{Clock, Phase};
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
    /// Runs since the hunt began.
    pub(super) clock: Option<Clock>,
    /// What there was no time for.
    pub(super) cut: Vec<String>,
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
    let clock = hunted.clock.unwrap_or_else(|| Clock::start(args.time()));
    let phase = if args.confirm { Phase::Search } else { Phase::Last };
    let (time, end) = (clock.total(), clock.end(phase));
    let allowed = Allowed { time, end, budget: args.budget(), memory: args.max_memory };
    let watch = Watch::start(allowed)
        .context("no thread can be started: there is no memory for it, or a limit forbids it")?;
    let confirm = Confirm::new(args, hunted.keep, clock)?;
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
        return Ok(worst.max(nothing(&hunted, &watch, files.len(), console)));
    }
    // A hunt knows which of its runs failed, and which status was expected.
    let failed_runs = if hunted.is_one { hunted.failed_runs } else { observed };
    let mut cut = hunted.cut;
    cut.extend(confirm.as_ref().and_then(Confirm::cut));
    let document = Document { failed_runs, cut, results };
    let reports = Reports { document: &document, texts };
    if text {
        reports.print(global.quiet, console)?;
    }
    reports.write(outputs, console)?;
    if let Some(folder) = hunted.keep {
        let json = folder.join("findings.json");
        reports.write(Outputs { json: Some(&json), sarif: None, html: None }, console)?;
    }
    let left_out = files.len() - document.results.len();
    watch.tell(left_out, console);
    let exit = match reports::exit(&document, args.strict) {
        // A trace that was not looked at is not decided.
        Exit::Yes if watch.stopped() && (!watch.is_late() || left_out > 0) => Exit::Stopped,
        exit => exit,
    };
    Ok(worst.max(exit))
}

/// How a run ends that came to no result, and of which no run failed.
fn nothing(hunted: &Hunted<'_>, watch: &Watch, left_out: usize, console: &Console) -> Exit {
    if hunted.is_one && interrupt::requested() {
        watch.tell(left_out, console);
        return Exit::Interrupted;
    }
    for cut in &hunted.cut {
        console.warn(format_args!("no time for more: {cut}; --time allows more"));
    }
    if watch.stopped() || !hunted.cut.is_empty() { Exit::Stopped } else { Exit::Yes }
}
