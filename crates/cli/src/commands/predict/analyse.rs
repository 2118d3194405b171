//! One trace, from the file to its findings.

use std::path::Path;
use std::time::Instant;

use reweave_decide::{Error, Limits};
use reweave_detect::{Finding, Options, Prediction};
use reweave_format::Loaded;
use reweave_report::Scene;
use reweave_report::json::predict::{ModelCount, Repair, TraceResult};
use reweave_report::json::{Bug, Head, seconds};
use reweave_trace::{Model, Trace};

use super::confirm::Confirm;
use super::filter::Filter;
use super::memory;
use super::watch::Watch;
use crate::args::{Global, PredictArgs};
use crate::commands::reports::{Forms, Report};
use crate::commands::{bug_report, model};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::progress::{Progress, Unit};

/// What every trace is searched with.
pub(super) struct Analysis<'a> {
    pub(super) args: &'a PredictArgs,
    pub(super) global: &'a Global,
    pub(super) console: &'a Console,
    pub(super) watch: &'a Watch,
    /// The reports that are wanted.
    pub(super) forms: Forms,
    /// What replays findings, where that is wanted.
    pub(super) confirm: Option<&'a Confirm<'a>>,
}

/// What a trace came to.
pub(super) enum Analysed {
    /// Its result, and a report per finding where reports are wanted.
    Done(Box<TraceResult>, Vec<Report>),
    /// No result; the user knows why.
    Not(Exit),
}

impl Analysis<'_> {
    pub(super) fn run(&self, path: &Path, filter: &mut Filter) -> anyhow::Result<Analysed> {
        if let Some(limit) = self.args.max_memory
            && let Some(estimate) = memory::estimate(path).filter(|&estimate| estimate > limit)
        {
            let (estimate, limit) = (memory::text(estimate), memory::text(limit));
            let path = path.display();
            self.console
                .error(format_args!("{path}: it takes {estimate} of memory or more, the limit is {limit}"));
            self.console.hint("give --max-memory more, or record a shorter trace");
            return Ok(Analysed::Not(Exit::Stopped));
        }
        let start = Instant::now();
        let loaded = input::load(path, self.args.reading, self.global, self.console)?;
        let model = model::choose(self.args.model, path, &loaded, self.console)?;
        self.watch.look();
        self.watch.search()?;
        let outcome = self.search(path, |options| {
            let prediction = reweave_detect::predict(&loaded.trace, model, options)?;
            let mut found = Found::new(&loaded.trace, path, model, prediction, filter);
            let models = by_model(&loaded.trace, model, &found, options)?;
            found.result.models = models.iter().map(ModelCount::from).collect();
            Ok(found)
        });
        self.watch.rest();
        let mut found = match outcome {
            Ok(found) => found,
            Err(Error::Unsound(unsound)) => {
                let head = Head::new(&loaded.trace, &path.display().to_string(), model);
                let bug = Bug::new(head, &unsound);
                return Ok(Analysed::Not(bug_report::file(&bug, &bug_report::folders(), self.console)));
            }
            Err(error) => return Err(Failure::new(format!("{}: {error}", path.display())).into()),
        };
        found.result.seconds = seconds(start.elapsed().as_secs_f64());
        found.result.partial |= self.watch.stopped();
        self.finish(path, &loaded, found)
    }

    /// Runs `work` with the options that the user gave.
    fn search<T>(&self, path: &Path, work: impl FnOnce(&Options<'_>) -> T) -> T {
        let args = self.args;
        let name = path.file_name().unwrap_or(path.as_os_str()).display();
        let progress = Progress::new(format!("searching {name}"), Unit::Candidates, self.console);
        let jobs = self.global.jobs.map(usize::from);
        let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let options = Options {
            kinds: args.kinds(),
            patterns: args.patterns.clone(),
            atomic_distance: args.atomic_distance,
            all: args.all,
            tries: args.tries,
            stages: args.stages(),
            limits: Limits { work: args.work, stop: None },
            timer: Some(&|| self.watch.timer()),
            stop: self.watch.stop(),
            jobs,
            shard: args.shard,
            progress: Some(&|done, total| progress.update(done, Some(total))),
        };
        work(&options)
    }

    fn finish(&self, path: &Path, loaded: &Loaded, found: Found) -> anyhow::Result<Analysed> {
        let Found { mut result, findings } = found;
        result.shard = self.args.shard.map(|shard| format!("{}/{}", shard.index + 1, shard.count));
        let repairs = input::repairs(loaded, path).into_iter().map(|repair| Repair {
            defect: repair.defect.to_string(),
            remedy: repair.defect.remedy().to_owned(),
            count: repair.count,
            first_event: repair.first_event,
            first_line: repair.first_line,
        });
        result.repairs = repairs.collect();
        let mut reports = Vec::new();
        if self.forms.any() {
            let events = findings.iter().flat_map(|found| found.events());
            let scene = Scene::new(&loaded.trace, events.copied());
            for (finding, found) in result.findings.iter().zip(&findings) {
                let trace = Some((&scene, found.witness()));
                reports.push(Report::new(finding, trace, self.forms, self.console));
            }
        }
        if let Some(confirm) = self.confirm {
            let outcomes = confirm.all(&loaded.trace, path, &findings, self.console)?;
            for (finding, outcome) in result.findings.iter_mut().zip(outcomes) {
                finding.replay = outcome;
            }
        }
        Ok(Analysed::Done(Box::new(result), reports))
    }
}

/// What was found, less what the user knows of.
struct Found {
    /// Its findings are those below.
    result: TraceResult,
    findings: Vec<Finding>,
}

impl Found {
    fn new(trace: &Trace, path: &Path, model: Model, prediction: Prediction, filter: &mut Filter) -> Found {
        let mut result = TraceResult::new(trace, &path.display().to_string(), model, &prediction, 0.0);
        let all = std::mem::take(&mut result.findings);
        let mut findings = Vec::new();
        for (shown, finding) in all.into_iter().zip(prediction.findings) {
            if filter.shows(&shown, &mut result.hidden) {
                result.findings.push(shown);
                findings.push(finding);
            }
        }
        Found { result, findings }
    }
}

/// What each model gives of the findings, on a trace that marks branches: what does the marking buy?
fn by_model(
    trace: &Trace,
    model: Model,
    found: &Found,
    options: &Options<'_>,
) -> Result<Vec<reweave_detect::ModelCount>, Error> {
    if !model.needs().branches || found.findings.is_empty() {
        return Ok(Vec::new());
    }
    reweave_detect::count_by_model(trace, model, &found.findings, options)
}
