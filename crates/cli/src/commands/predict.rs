//! `reweave predict`: which bugs could this run have had?

mod analyse;
mod confirm;
mod filter;
mod memory;
mod watch;

use std::path::PathBuf;

use reweave_report::json::predict::Document;

use super::reports::{self, Forms, Reports};
use crate::args::{Global, PredictArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::{self, Failure};
use crate::{document, input};
use analyse::{Analysed, Analysis};
use confirm::Confirm;
use filter::Filter;
use watch::Watch;

pub(crate) fn run(args: &PredictArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let standard = |path: &Option<PathBuf>| path.as_deref().is_some_and(input::is_standard);
    if standard(&args.json) && standard(&args.sarif) {
        return Err(Failure::new("only one document can go to standard output").into());
    }
    let mut filter = Filter::read(args.suppressions.as_deref(), args.baseline.as_deref())?;
    let files = input::expand(&args.traces, args.reading)?;
    let text = !standard(&args.json) && !standard(&args.sarif);
    let watch = Watch::start(args.budget, args.max_memory)?;
    let forms = Forms { text, sarif: args.sarif.is_some() };
    let confirm = Confirm::new(args)?;
    let analysis = Analysis { args, global, console, watch: &watch, forms, confirm: confirm.as_ref() };
    let (mut results, mut reports, mut worst) = (Vec::new(), Vec::new(), Exit::Yes);
    for file in &files {
        if watch.stopped() {
            break;
        }
        match analysis.run(file, &mut filter) {
            Ok(Analysed::Done(result, rendered)) => {
                results.push(*result);
                reports.push(rendered);
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
    if results.is_empty() {
        return Ok(worst.max(if watch.stopped() { Exit::Stopped } else { Exit::Yes }));
    }
    let document = Document { results };
    let reports = Reports { document: &document, reports };
    if text {
        reports.print(global.quiet, console)?;
    }
    if let Some(path) = &args.json {
        document::write_json(path, &document, console)?;
    }
    if let Some(path) = &args.sarif {
        document::write_json(path, &reports.sarif(), console)?;
    }
    watch.tell(files.len() - document.results.len(), console);
    Ok(worst.max(reports::exit(&document)))
}
