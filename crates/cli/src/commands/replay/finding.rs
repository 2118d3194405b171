//! From a trace and the name of a finding to its schedule.

use std::path::Path;

use reweave_detect::{Options, Prediction};
use reweave_replay::build::{Recorded, Title, build};
use reweave_replay::{Error, Schedule};
use reweave_trace::{Links, ProgramOrder, Trace};
use reweave_witness::{CheckedWitness, Checker};

use super::recorded::Steps;
use crate::args::{Global, ModelChoice, ReplayArgs};
use crate::commands::{merge, model};
use crate::console::Console;
use crate::failure::Failure;
use crate::progress::{Progress, Unit};
use crate::{input, witness_file};

/// A finding whose witness was checked, and what it is called.
struct Found {
    checked: CheckedWitness,
    title: Title,
}

/// A trace with all that schedules are made from.
pub(crate) struct Context<'t> {
    trace: &'t Trace,
    steps: Steps,
    links: Links,
    order: ProgramOrder,
}

impl<'t> Context<'t> {
    pub(crate) fn new(trace: &'t Trace, path: &Path) -> anyhow::Result<Context<'t>> {
        let steps = Steps::read(trace, path)?;
        Ok(Context { trace, steps, links: Links::new(trace), order: ProgramOrder::new(trace) })
    }

    fn checker(&self) -> Checker<'_> {
        Checker::new(self.trace, &self.links, &self.order)
    }

    /// The schedule of a finding.
    pub(crate) fn schedule(&self, checked: &CheckedWitness, title: Title) -> Result<Schedule, Error> {
        let recorded = Recorded { trace: self.trace, steps: &self.steps.steps, about: &self.steps.about };
        build(recorded, &self.checker(), checked, title)
    }
}

/// The schedule of the finding that the user named.
pub(super) fn schedule(args: &ReplayArgs, global: &Global, console: &Console) -> anyhow::Result<Schedule> {
    let (Some(path), Some(name)) = (&args.trace, &args.finding) else {
        return Err(Failure::new("give a trace and a finding, or --schedule").into());
    };
    let loaded = input::load(path, args.reading, global, console)?;
    let context = Context::new(&loaded.trace, path)?;
    let file = Path::new(name);
    let found = if file.is_file() || input::is_standard(file) {
        witness(&context, file)?
    } else if let Some(findings) = &args.findings {
        named_in(&context, findings, name)?
    } else {
        let model = model::choose(ModelChoice::Auto, path, &loaded, console)?;
        search(&context, model, name, global, console)?
    };
    context.schedule(&found.checked, found.title).map_err(|error| {
        Failure::new(error.to_string()).hint("record again: trace and steps belong together").into()
    })
}

fn witness(context: &Context<'_>, file: &Path) -> anyhow::Result<Found> {
    let witness_file::Question { model, witness, claim } = witness_file::read(file)?;
    let checked = context.checker().check(model, witness, claim).map_err(|rejection| {
        Failure::new(format!("{}: the witness is not accepted: {rejection}", file.display()))
    })?;
    let title = Title {
        fingerprint: "-".to_owned(),
        kind: "witness".to_owned(),
        text: file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    Ok(Found { checked, title })
}

/// The finding in a document of `reweave predict`.
fn named_in(context: &Context<'_>, path: &Path, name: &str) -> anyhow::Result<Found> {
    let document = merge::read(path)?;
    let all = document.results.iter().flat_map(|result| {
        let model = &result.model;
        result.findings.iter().map(move |finding| (model, finding))
    });
    let matching: Vec<_> = all.filter(|(_, finding)| finding.fingerprint.starts_with(name)).collect();
    unique(name, matching.iter().map(|(_, finding)| finding.fingerprint.as_str()))?;
    let Some((model, finding)) = matching.first() else { return Err(unknown(name).into()) };
    let model = model.parse().map_err(|_| Failure::new(format!("there is no model `{model}`")))?;
    let claim = finding.claim().ok_or_else(|| Failure::new("the finding has no witness"))?;
    let checked = context.checker().check(model, finding.witness(), claim).map_err(|rejection| {
        Failure::new(format!("{}: it is not a finding of this trace: {rejection}", path.display()))
    })?;
    let title = Title {
        fingerprint: finding.fingerprint.clone(),
        kind: finding.kind.to_string(),
        text: format!("{} of {}", finding.pattern, finding.target),
    };
    Ok(Found { checked, title })
}

/// Looks for the finding in the trace again.
fn search(
    context: &Context<'_>,
    model: reweave_trace::Model,
    name: &str,
    global: &Global,
    console: &Console,
) -> anyhow::Result<Found> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Failure::new(format!("`{name}` is neither a fingerprint nor a file"))
            .hint("`reweave predict` shows the fingerprint of each finding")
            .into());
    }
    let progress = Progress::new("searching".to_owned(), Unit::Candidates, console);
    let jobs = global.jobs.map(usize::from);
    let options = Options {
        jobs: jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        progress: Some(&|done, total| progress.update(done, Some(total))),
        ..Options::default()
    };
    let prediction = reweave_detect::predict(context.trace, model, &options)
        .map_err(|error| Failure::new(format!("the trace could not be searched: {error}")))?;
    drop(progress);
    pick(context.trace, &prediction, name)
}

fn pick(trace: &Trace, prediction: &Prediction, name: &str) -> anyhow::Result<Found> {
    let matching: Vec<_> =
        prediction.findings.iter().filter(|finding| finding.fingerprint().starts_with(name)).collect();
    unique(name, matching.iter().map(|finding| finding.fingerprint()))?;
    let Some(finding) = matching.first() else { return Err(unknown(name).into()) };
    Ok(Found { checked: finding.witness().clone(), title: title(trace, finding) })
}

/// What a finding is called.
pub(crate) fn title(trace: &Trace, finding: &reweave_detect::Finding) -> Title {
    Title {
        fingerprint: finding.fingerprint().to_owned(),
        kind: finding.kind().to_string(),
        text: format!("{} of {}", finding.pattern().name(), finding.target(trace)),
    }
}

fn unknown(name: &str) -> Failure {
    Failure::new(format!("no finding's fingerprint begins with `{name}`"))
        .hint("`reweave predict` shows the fingerprint of each finding")
}

/// Several findings of the same fingerprint are one.
fn unique<'f>(name: &str, fingerprints: impl Iterator<Item = &'f str>) -> anyhow::Result<()> {
    let mut all: Vec<&str> = fingerprints.collect();
    all.dedup();
    if all.len() > 1 {
        let hint = format!("there are {}", all.join(", "));
        return Err(Failure::new(format!("several fingerprints begin with `{name}`")).hint(hint).into());
    }
    Ok(())
}
