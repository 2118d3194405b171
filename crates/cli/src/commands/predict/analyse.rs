//! One trace, from the file to its findings.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use reweave_decide::{Error, Limits};
use reweave_detect::{Finding, Kind, Options, Prediction};
use reweave_format::Loaded;
use reweave_report::json::predict::{Early, FailedRun, Hidden, ModelCount, OpenGroups, Repair, TraceResult};
use reweave_report::json::{Bug, Head, predict as json, seconds};
use reweave_report::text;
use reweave_report::view::Subject;
use reweave_spec::Calls;
use reweave_trace::{Model, Trace};

use super::confirm::Confirm;
use super::filter::Filter;
use super::libraries;
use super::memory;
use super::watch::Watch;
use crate::args::{Global, PredictArgs};
use crate::commands::views::{self, subject};
use crate::commands::{bug_report, model};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::plural::count;
use crate::progress::{Progress, Unit};
use crate::sources::Sources;

/// What every trace is searched with.
pub(super) struct Analysis<'a> {
    pub(super) args: &'a PredictArgs,
    pub(super) global: &'a Global,
    pub(super) console: &'a Console,
    pub(super) watch: &'a Watch,
    /// Whether text is wanted.
    pub(super) text: bool,
    /// What replays findings, where that is wanted.
    pub(super) confirm: Option<&'a Confirm<'a>>,
}

/// What a trace came to.
pub(super) enum Analysed {
    /// Its result, the text of each finding where that is wanted, and how the run failed by itself if it did.
    Done(Box<TraceResult>, Vec<String>, Box<Option<FailedRun>>),
    /// No result; the user knows why.
    Not(Exit),
}

impl Analysis<'_> {
    /// Objects whose type is not known lose predictions: that is said, once per trace.
    fn warn_of_untyped(&self, path: &Path, trace: &Trace) {
        let calls = Calls::new(trace);
        if let [first, ..] = calls.untyped() {
            let objects = count(calls.untyped().len() as u64, "object");
            self.console.warn(format_args!(
                "{}: calls on {objects} without a known type keep their order (the first is {}); name it as in `set s.add(1)`, or give --spec",
                path.display(),
                if first.is_empty() { "the one without a name" } else { first }
            ));
        }
    }

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
        let load = input::loading(path, self.args.reading, self.global, self.console);
        let Some(loaded) = self.watch.at_most(load)? else {
            let (path, limit) = (path.display(), self.args.time().unwrap_or_default());
            self.console.error(format_args!("{path}: stopped at the limit of {limit:?} while it was read"));
            self.console.hint("give --time more, or record a shorter trace");
            return Ok(Analysed::Not(Exit::Stopped));
        };
        let loaded = input::loaded(loaded?, path, self.console);
        let mut loaded = input::with_specifications(loaded, &self.args.spec)?;
        self.warn_of_untyped(path, &loaded.trace);
        let libraries = libraries::assumed(&mut loaded.trace, self.args, path, self.console);
        let model = model::choose(self.args.model, path, &loaded, self.console)?;
        self.watch.look();
        self.watch.search()?;
        let filter = Mutex::new(filter);
        let hides = |finding: &json::Finding| {
            let mut filter = filter.lock().unwrap_or_else(PoisonError::into_inner);
            !filter.shows(finding, &mut Hidden::default())
        };
        let early = Early::new(&loaded.trace);
        let notice = |finding: &Finding| Some(early.finding(finding)).filter(|finding| !hides(finding));
        let outcome = self.search(path, &notice, |options| {
            let prediction = reweave_detect::predict(&loaded.trace, model, options)?;
            // What comes now is there to be counted.
            let options = &Options { found: None, ..options.clone() };
            let filter = &mut filter.lock().unwrap_or_else(PoisonError::into_inner);
            let mut found = Found::new(&loaded.trace, path, model, prediction, filter);
            found.result.ordered_by_libraries =
                libraries::taken_away(&loaded.trace, &libraries, model, options, &found.result)?;
            found.result.libraries = libraries;
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

    /// Runs `work` with the options that the user gave. On a terminal, findings are said as soon as they are there, as far as
    /// `notice` makes something of them; the report comes when all is done.
    fn search<T>(
        &self,
        path: &Path,
        notice: &(dyn Fn(&Finding) -> Option<json::Finding> + Sync),
        work: impl FnOnce(&Options<'_>) -> T,
    ) -> T {
        let args = self.args;
        let name = path.file_name().unwrap_or(path.as_os_str()).display();
        let progress = Progress::new(format!("searching {name}"), Unit::Candidates, self.console);
        let jobs = self.global.jobs.map(usize::from);
        let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let start = Instant::now();
        let found = |finding: &Finding| {
            if let Some(finding) = notice(finding) {
                let after = start.elapsed().as_secs_f64();
                let what = found_early(&finding);
                progress.above(|| self.console.note(format_args!("found after {after:.1} s: {what}")));
            }
        };
        let options = Options {
            kinds: args.kinds(),
            patterns: args.patterns.clone(),
            atomic_distance: args.atomic_distance,
            atomicity: args.atomicity.into(),
            all: args.all,
            tries: args.tries,
            stages: args.stages(),
            limits: Limits { work: args.work, stop: None },
            timer: Some(&|| self.watch.timer()),
            stop: self.watch.stop(),
            jobs,
            shard: args.shard,
            progress: Some(&|done, total| progress.update(done, Some(total))),
            found: (self.text && self.console.shows_progress()).then_some(&found as _),
        };
        work(&options)
    }

    fn finish(&self, path: &Path, loaded: &Loaded, found: Found) -> anyhow::Result<Analysed> {
        let Found { mut result, findings } = found;
        result.time_limit = self.args.time().map(|limit| limit.as_secs_f64());
        result.shard = self.args.shard.map(|shard| format!("{}/{}", shard.index + 1, shard.count));
        let repairs = input::repairs(loaded, path).into_iter().map(|repair| Repair {
            defect: repair.defect.to_string(),
            remedy: repair.defect.remedy().to_owned(),
            count: repair.count,
            first_event: repair.first_event,
            first_line: repair.first_line,
        });
        result.repairs = repairs.collect();
        if let Some(confirm) = self.confirm {
            result.program = confirm.words(path);
            let outcomes = confirm.all(&loaded.trace, path, &findings, self.console)?;
            for (finding, outcome) in result.findings.iter_mut().zip(outcomes) {
                outcome.store(finding);
            }
        }
        let _progress = Progress::waiting("writing the report", self.console);
        let subjects: Vec<Subject<'_>> = findings.iter().map(subject).collect();
        let sources = Sources::new(&self.args.showing, path);
        let texts = views::add(&mut result.findings, &loaded.trace, &subjects, &sources, self.shown());
        let failed = FailedRun::of_trace(&loaded.trace, &path.display().to_string());
        Ok(Analysed::Done(Box::new(result), texts, Box::new(failed)))
    }

    /// How text is shown; none where it is not.
    fn shown(&self) -> Option<bool> {
        self.text.then(|| self.console.colors())
    }
}

/// A finding in one line, before there is a report.
fn found_early(finding: &json::Finding) -> String {
    format!("{}, at {}", text::headline(finding), finding.sites.join(" and "))
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
        let models = prediction.models;
        for (shown, finding) in all.into_iter().zip(prediction.findings) {
            if filter.shows(&shown, &mut result.hidden) {
                result.findings.push(shown);
                findings.push(finding);
            }
        }
        result.models = by_model(&models, &findings);
        Found { result, findings }
    }
}

/// What a model left undecided, by kind.
fn open_groups(count: &reweave_detect::ModelCount) -> Vec<OpenGroups> {
    let each = Kind::ALL.into_iter().zip(count.undecided_by_kind);
    each.filter(|(_, groups)| *groups > 0).map(|(kind, groups)| OpenGroups { kind, groups }).collect()
}

/// What each model gave, where there was more than one: what does it buy that branches are marked and values known?
fn by_model(prediction: &[reweave_detect::ModelCount], findings: &[Finding]) -> Vec<ModelCount> {
    let one = |(place, count): (usize, &reweave_detect::ModelCount)| {
        let gives = |finding: &&Finding| {
            prediction[..=place].iter().any(|count| count.model == finding.witness().model())
        };
        ModelCount {
            model: count.model.name().to_owned(),
            findings: findings.iter().filter(gives).count() as u64,
            unknown: count.undecided,
            undecided: open_groups(count),
            stopped: count.stopped,
        }
    };
    if prediction.len() < 2 { Vec::new() } else { prediction.iter().enumerate().map(one).collect() }
}
