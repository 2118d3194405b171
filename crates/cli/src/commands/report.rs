//! `reweave report`: the findings of an earlier run, in another form.

use std::path::{Path, PathBuf};

use reweave_report::Scene;
use reweave_report::json::TraceShape;
use reweave_report::json::predict::TraceResult;
use reweave_trace::{EventId, Links, Model, ProgramOrder};
use reweave_witness::{CheckedWitness, Checker};

use super::merge;
use super::reports::{Forms, Report, Reports};
use crate::args::{Global, ReportArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{document, input};

pub(crate) fn run(args: &ReportArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let standard = |path: &Option<PathBuf>| path.as_deref().is_some_and(input::is_standard);
    if standard(&args.json) && standard(&args.sarif) {
        return Err(Failure::new("only one document can go to standard output").into());
    }
    let document = merge::read(&args.findings)?;
    let (given, results) = (args.trace.len(), document.results.len());
    if given != 0 && given != results {
        let message = format!("the findings are of {results} traces, but --trace was given {given} times");
        return Err(Failure::new(message)
            .hint("give one for each trace, in the order of the findings")
            .into());
    }
    let forms = forms(args);
    let mut reports = Vec::new();
    for (place, result) in document.results.iter().enumerate() {
        let trace = match args.trace.get(place) {
            Some(path) => Some(path.clone()),
            None => Some(PathBuf::from(&result.trace.path)).filter(|path| path.is_file()),
        };
        reports.push(match trace {
            Some(path) if !result.findings.is_empty() => with_trace(result, &path, args, global, console)?,
            Some(_) => Vec::new(),
            None => {
                if !result.findings.is_empty() {
                    let path = &result.trace.path;
                    console.warn(format_args!(
                        "{path} is not here: no schedules are shown; --trace tells where it is"
                    ));
                }
                result.findings.iter().map(|finding| Report::new(finding, None, forms, console)).collect()
            }
        });
    }
    let reports = Reports { document: &document, reports };
    if let Some(path) = &args.json {
        document::write_json(path, &document, console)?;
    }
    if let Some(path) = &args.sarif {
        document::write_json(path, &reports.sarif(), console)?;
    }
    if forms.text {
        reports.print(global.quiet, console)?;
    }
    Ok(Exit::Yes)
}

/// Text is shown where no document is asked for.
fn forms(args: &ReportArgs) -> Forms {
    Forms { text: args.json.is_none() && args.sarif.is_none(), sarif: args.sarif.is_some() }
}

/// Reports with schedules, each checked again: what was written down may not be of this trace.
fn with_trace(
    result: &TraceResult,
    path: &Path,
    args: &ReportArgs,
    global: &Global,
    console: &Console,
) -> anyhow::Result<Vec<Report>> {
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
    let model: Model =
        result.model.parse().map_err(|_| Failure::new(format!("no model `{}`", result.model)))?;
    let events = result.findings.iter().flat_map(|finding| &finding.events);
    let scene = Scene::new(&loaded.trace, events.map(|&event| EventId(event)));
    let (links, order) = (Links::new(&loaded.trace), ProgramOrder::new(&loaded.trace));
    let checker = Checker::new(&loaded.trace, &links, &order);
    let forms = forms(args);
    let one = |finding| {
        let checked = check(&checker, model, finding).map_err(other)?;
        Ok(Report::new(finding, Some((&scene, &checked)), forms, console))
    };
    result.findings.iter().map(one).collect()
}

fn check(
    checker: &Checker<'_>,
    model: Model,
    finding: &reweave_report::json::predict::Finding,
) -> Result<CheckedWitness, String> {
    let name = &finding.fingerprint;
    let claim = finding.claim().ok_or_else(|| format!("finding {name} has no witness"))?;
    let checked = checker.check(model, finding.witness(), claim);
    checked.map_err(|rejection| format!("the witness of finding {name} is refused: {rejection}"))
}
