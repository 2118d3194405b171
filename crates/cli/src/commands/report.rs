//! `reweave report`: the findings of an earlier run, in another form.

mod answer;
mod browser;

use std::path::{Path, PathBuf};

use reweave_detect::Pattern;
use reweave_report::json::TraceShape;
use reweave_report::json::predict::{Finding, TraceResult};
use reweave_report::text;
use reweave_report::view::Subject;
use reweave_trace::{EventId, Model, ProgramOrder, Trace};
use reweave_witness::{CheckedWitness, Checker};

use super::reports::{Outputs, Reports};
use super::{merge, views};
use crate::args::{Global, ReportArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::limited;
use crate::sources::Sources;

pub(crate) fn run(args: &ReportArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let page = page(args)?;
    let outputs = Outputs { json: args.json.as_ref(), sarif: args.sarif.as_ref(), html: page.as_ref() };
    outputs.standard()?;
    let wants_text = outputs.paths().next().is_none();
    let text = limited::read(&args.findings, limited::DOCUMENT)?;
    if let Some(answer) = answer::read(&text) {
        return answer::write(&answer, args, page.as_deref(), console);
    }
    let mut document = merge::parse(&args.findings, &text)?;
    let (given, results) = (args.trace.len(), document.results.len());
    if given != 0 && given != results {
        let message = format!("the findings are of {results} traces, but --trace was given {given} times");
        return Err(Failure::new(message)
            .hint("give one for each trace, in the order of the findings")
            .into());
    }
    let mut texts = Vec::new();
    for (place, result) in document.results.iter_mut().enumerate() {
        let trace = match args.trace.get(place) {
            Some(path) => Some(path.clone()),
            None => Some(PathBuf::from(&result.trace.path)).filter(|path| path.is_file()),
        };
        let colour = wants_text.then(|| console.colors());
        texts.push(match trace {
            Some(path) if !result.findings.is_empty() => {
                with_trace(result, &path, args, global, colour, console)?
            }
            Some(_) => Vec::new(),
            None => without_trace(result, colour, console),
        });
    }
    let reports = Reports { document: &document, texts };
    reports.write(outputs, console)?;
    if wants_text {
        reports.print(global.quiet, console)?;
    }
    if let Some(path) = page.filter(|_| args.open) {
        browser::open(&path, console)?;
    }
    Ok(Exit::Yes)
}

/// The file of the page, where one is wanted: `--open` alone makes a file that stays.
fn page(args: &ReportArgs) -> anyhow::Result<Option<PathBuf>> {
    match &args.html {
        Some(path) if args.open && input::is_standard(path) => {
            Err(Failure::new("a page on standard output cannot be opened").into())
        }
        Some(path) => Ok(Some(path.clone())),
        None if args.open => {
            let file = tempfile::Builder::new().prefix("reweave-").suffix(".html").tempfile()?;
            Ok(Some(file.into_temp_path().keep()?))
        }
        None => Ok(None),
    }
}

fn without_trace(result: &TraceResult, colour: Option<bool>, console: &Console) -> Vec<String> {
    if !result.findings.is_empty() {
        let path = &result.trace.path;
        console.warn(format_args!(
            "{path} is not here: schedules are not checked again; --trace says where it is"
        ));
    }
    let one = |finding: &Finding| colour.map(|colour| text::body(finding, None, colour));
    result.findings.iter().filter_map(one).collect()
}

/// Reports with schedules, each checked again: what was written down may not be of this trace.
fn with_trace(
    result: &mut TraceResult,
    path: &Path,
    args: &ReportArgs,
    global: &Global,
    colour: Option<bool>,
    console: &Console,
) -> anyhow::Result<Vec<String>> {
    // What was repaired then is repaired now.
    let repair = args.reading.repair || !result.repairs.is_empty();
    let loaded = input::load(path, crate::args::Reading { repair, ..args.reading }, global, console)?;
    let other = |what: String| {
        let message = format!("{}: it is not the trace of these findings: {what}", path.display());
        Failure::new(message).hint("give the right one with --trace")
    };
    let shape = TraceShape { path: result.trace.path.clone(), ..TraceShape::new(&loaded.trace, "") };
    if shape != result.trace {
        return Err(other("it has other events, threads, variables or locks".to_owned()).into());
    }
    let (links, order) = (reweave_spec::links(&loaded.trace), ProgramOrder::new(&loaded.trace));
    let checker = Checker::new(&loaded.trace, &links, &order);
    let one = |finding: &Finding| {
        let name = finding.model.as_ref().unwrap_or(&result.model);
        let model: Model = name.parse().map_err(|_| Failure::new(format!("no model `{name}`")))?;
        let checked = check(&checker, &loaded.trace, model, finding).map_err(other)?;
        let pattern = Pattern::from_name(&finding.pattern);
        let pattern = pattern.ok_or_else(|| other(format!("there is no pattern `{}`", finding.pattern)))?;
        Ok((checked, pattern, finding.events.iter().copied().map(EventId).collect()))
    };
    let found: Vec<(CheckedWitness, Pattern, Vec<EventId>)> =
        result.findings.iter().map(one).collect::<anyhow::Result<_>>()?;
    let subjects = result.findings.iter().zip(&found).map(|(finding, (checked, pattern, events))| Subject {
        kind: finding.kind,
        pattern: *pattern,
        events,
        checked,
    });
    let subjects: Vec<Subject<'_>> = subjects.collect();
    let sources = Sources::new(&args.showing, path);
    Ok(views::add(&mut result.findings, &loaded.trace, &subjects, &sources, colour))
}

fn check(
    checker: &Checker<'_>,
    trace: &Trace,
    model: Model,
    finding: &Finding,
) -> Result<CheckedWitness, String> {
    let name = &finding.fingerprint;
    let claim = finding.claim().ok_or_else(|| format!("finding {name} has no witness"))?;
    let checked = checker.check(model, finding.witness(trace), claim);
    checked.map_err(|rejection| format!("the witness of finding {name} is refused: {rejection}"))
}
