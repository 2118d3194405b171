//! From a trace and the name of a finding to its schedule.

use std::path::Path;

use reweave_capture::Step;
use reweave_detect::{Options, Prediction};
use reweave_replay::build::{Continued, Recorded, Title, build, continued};
use reweave_replay::{Error, Schedule};
use reweave_report::json::Question;
use reweave_trace::{EventId, Links, Model, ProgramOrder, Trace};
use reweave_witness::{CheckedWitness, Checker, Claim, Witness};

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
        Ok(Context { trace, steps, links: reweave_spec::links(trace), order: ProgramOrder::new(trace) })
    }

    /// The step of each event.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps.steps
    }

    fn checker(&self) -> Checker<'_> {
        Checker::new(self.trace, &self.links, &self.order)
    }

    /// The schedule of a finding.
    pub(crate) fn schedule(&self, checked: &CheckedWitness, title: Title) -> Result<Schedule, Error> {
        let recorded = Recorded { trace: self.trace, steps: &self.steps.steps, about: &self.steps.about };
        build(recorded, &self.checker(), checked, title)
    }

    /// The schedule up to an event that is in a witness, or next after it, and on as recorded.
    pub(crate) fn continued(
        &self,
        checked: &CheckedWitness,
        last: EventId,
        title: Title,
    ) -> Result<Continued, Error> {
        let recorded = Recorded { trace: self.trace, steps: &self.steps.steps, about: &self.steps.about };
        continued(recorded, &self.checker(), checked, last, title)
    }
}

impl Context<'_> {
    /// The schedule of the recorded run itself; none where it cannot be forced.
    pub(crate) fn recorded(&self) -> Option<Schedule> {
        let is_access = |event: &reweave_trace::Event| {
            event.op.access().is_some() || matches!(event.op, reweave_trace::Op::Call(_))
        };
        let last = self.trace.events().rev().find(|(_, event)| is_access(event))?.0;
        let witness = Witness { prefix: u32::try_from(self.trace.len()).ok()?, tail: Vec::new() };
        let claim = Claim::Sequence { events: vec![last], adjacent: Vec::new() };
        let checked = self.checker().check(Model::Rf, witness, claim).ok()?;
        let text = "the recorded run".to_owned();
        let title = Title { fingerprint: "-".to_owned(), kind: "recorded".to_owned(), text };
        self.schedule(&checked, title).ok()
    }
}

/// The schedule of the finding that the user named.
pub(super) fn schedule(args: &ReplayArgs, global: &Global, console: &Console) -> anyhow::Result<Schedule> {
    let (Some(path), Some(name)) = (&args.trace, &args.finding) else {
        return Err(Failure::new("give a trace and a finding, or --schedule").into());
    };
    let loaded = input::load(path, args.reading, global, console)?;
    let loaded = input::with_specifications(loaded, &args.spec)?;
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
    let Question { model, schedule, claim } = witness_file::read(file)?;
    let witness = schedule.expand(context.trace);
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
    let checked =
        context.checker().check(model, finding.witness(context.trace), claim).map_err(|rejection| {
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
    model: Model,
    name: &str,
    global: &Global,
    console: &Console,
) -> anyhow::Result<Found> {
    let prediction = predict(context.trace, model, name, global, console)?;
    let finding = named(&prediction, name)?;
    Ok(Found { checked: finding.witness().clone(), title: title(context.trace, finding) })
}

/// The findings of the trace, one of which `name` is to be a fingerprint of.
pub(crate) fn predict(
    trace: &Trace,
    model: Model,
    name: &str,
    global: &Global,
    console: &Console,
) -> anyhow::Result<Prediction> {
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
    reweave_detect::predict(trace, model, &options)
        .map_err(|error| Failure::new(format!("the trace could not be searched: {error}")).into())
}

/// The only finding whose fingerprint begins with `name`.
pub(crate) fn named<'p>(
    prediction: &'p Prediction,
    name: &str,
) -> anyhow::Result<&'p reweave_detect::Finding> {
    let matching: Vec<_> =
        prediction.findings.iter().filter(|finding| finding.fingerprint().starts_with(name)).collect();
    unique(name, matching.iter().map(|finding| finding.fingerprint()))?;
    matching.first().copied().ok_or_else(|| unknown(name).into())
}

/// What a finding is called.
pub(crate) fn title(trace: &Trace, finding: &reweave_detect::Finding) -> Title {
    Title {
        fingerprint: finding.fingerprint().to_owned(),
        kind: finding.kind().to_string(),
        text: format!("{} of {}", finding.pattern().name(), finding.target(trace)),
    }
}

pub(crate) fn unknown(name: &str) -> Failure {
    Failure::new(format!("no finding's fingerprint begins with `{name}`"))
        .hint("`reweave predict` shows the fingerprint of each finding")
}

/// Several findings of the same fingerprint are one.
pub(crate) fn unique<'f>(name: &str, fingerprints: impl Iterator<Item = &'f str>) -> anyhow::Result<()> {
    let mut all: Vec<&str> = fingerprints.collect();
    all.dedup();
    if all.len() > 1 {
        let hint = format!("there are {}", all.join(", "));
        return Err(Failure::new(format!("several fingerprints begin with `{name}`")).hint(hint).into());
    }
    Ok(())
}
