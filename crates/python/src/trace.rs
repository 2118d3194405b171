//! A trace, and what can be asked of it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use reweave_decide::{Decider, Error, Limits, Prepared, Stages};
use reweave_detect::{Atomicity, Finding, Options};
use reweave_format::{Format, LoadOptions, Loaded};
use reweave_report::json::predict::{Document, FailedRun, Library, Repair, TraceResult};
use reweave_report::json::{self, Head, Query, seconds};
use reweave_report::schedule;
use reweave_report::view::{Maker, Subject};
use reweave_trace::{Capabilities, EventId, Model, ProgramOrder, Space};
use reweave_witness::{Checker, Rejection, Witness};

use crate::column::{Column, Which};
use crate::{bug, file_error, interruptible, value_error};

/// One observed run; it never changes.
#[pyclass(frozen, module = "reweave", name = "_Trace")]
pub(crate) struct Trace {
    path: PathBuf,
    loaded: Arc<Loaded>,
}

#[pymethods]
impl Trace {
    /// Loads the trace in a file of any format that Reweave reads.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        repair: bool,
        spec: &str,
    ) -> PyResult<Trace> {
        let format = format.map(str::parse::<Format>).transpose().map_err(value_error)?;
        if !spec.is_empty() {
            reweave_spec::read_checked(spec).map_err(value_error)?;
        }
        let options = LoadOptions { format, repair, jobs: 0, progress: None };
        let mut loaded = py.detach(|| reweave_format::load(&path, &options)).map_err(file_error)?;
        if !spec.is_empty() {
            loaded.trace = loaded.trace.with_specifications(spec);
        }
        Ok(Trace { path, loaded: Arc::new(loaded) })
    }

    fn __len__(&self) -> usize {
        self.loaded.trace.len()
    }

    /// What the reader should know about the file, a sentence each.
    #[getter]
    fn notices(&self) -> Vec<String> {
        self.loaded.notices.clone()
    }

    /// What was mended, in words and numbers.
    #[getter]
    fn repairs(&self) -> Vec<(String, u64)> {
        self.loaded.repairs.iter().map(|(defect, count, _)| (defect.to_string(), count)).collect()
    }

    /// The format that the file was in.
    #[getter]
    fn format(&self) -> &'static str {
        self.loaded.format.name()
    }

    /// What the recorder promises.
    #[getter]
    fn capabilities(&self) -> Vec<&'static str> {
        self.loaded.trace.capabilities().names().collect()
    }

    /// The most permissive model that is sound here.
    #[getter]
    fn model(&self) -> &'static str {
        Model::auto(self.usable()).name()
    }

    /// A column: kinds, threads, targets or sites.
    fn column(&self, name: &str) -> PyResult<Column> {
        let which = match name {
            "kinds" => Which::Kinds,
            "threads" => Which::Threads,
            "targets" => Which::Targets,
            "sites" => Which::Sites,
            _ => return Err(value_error(format_args!("there is no column `{name}`"))),
        };
        Ok(Column { loaded: Arc::clone(&self.loaded), which })
    }

    /// The names of the threads, variables, locks, conditions, regions, calls or sites, by number.
    fn names(&self, of: &str) -> PyResult<Vec<&str>> {
        let names = self.loaded.trace.names();
        let table = match of {
            "threads" => names.space(Space::Thread),
            "variables" => names.space(Space::Variable),
            "locks" => names.space(Space::Lock),
            "conditions" => names.space(Space::Condition),
            "regions" => names.space(Space::Region),
            "calls" => names.space(Space::Call),
            "sites" => &names.sites,
            _ => return Err(value_error(format_args!("there are no names of `{of}`"))),
        };
        Ok((0..table.len() as u32).map(|id| table.get(id)).collect())
    }

    /// The document of `reweave predict`.
    #[expect(clippy::too_many_arguments, reason = "they are the options of a Python function, by name")]
    #[pyo3(signature = (*, kinds, model, all, atomicity, work, time, jobs))]
    fn predict(
        &self,
        py: Python<'_>,
        kinds: Vec<String>,
        model: Option<&str>,
        all: bool,
        atomicity: &str,
        work: Option<u64>,
        time: Option<f64>,
        jobs: usize,
    ) -> PyResult<String> {
        let (model, start, limit) = (self.choose(model)?, Instant::now(), duration(time)?);
        let mut options = Options { all, jobs, limits: Limits { work, stop: None }, ..Options::default() };
        options.atomicity = match atomicity {
            "likely" => Atomicity::Likely,
            "all" => Atomicity::All,
            _ => return Err(value_error(format_args!("atomicity is likely or all, not `{atomicity}`"))),
        };
        if !kinds.is_empty() {
            options.kinds =
                kinds.iter().map(|kind| kind.parse().map_err(value_error)).collect::<PyResult<_>>()?;
        }
        if options.jobs == 0 {
            options.jobs = std::thread::available_parallelism().map_or(1, usize::from);
        }
        let trace = &self.loaded.trace;
        let predicted = interruptible::run(py, limit, |stop| {
            options.stop = stop;
            let prediction = reweave_detect::predict(trace, model, &options)?;
            let path = self.path.display().to_string();
            let mut result = TraceResult::new(trace, &path, model, &prediction, 0.0);
            add_views(&mut result, trace, &prediction.findings);
            result.seconds = seconds(start.elapsed().as_secs_f64());
            result.time_limit = time;
            result.repairs = self.told_repairs();
            let shared = trace.libraries().into_iter().filter(|library| library.shared);
            result.libraries =
                shared.map(|library| Library { name: library.name, steps: library.steps }).collect();
            Ok(Document {
                failed_runs: FailedRun::of_trace(trace, &path).into_iter().collect(),
                cut: Vec::new(),
                results: vec![result],
            })
        });
        let document = predicted?.map_err(refused)?;
        serde_json::to_string(&document).map_err(bug)
    }

    /// The document of `reweave query` for a claim, and the answer in words.
    fn query(
        &self,
        py: Python<'_>,
        claim: &str,
        model: Option<&str>,
        work: Option<u64>,
        time: Option<f64>,
    ) -> PyResult<(String, String)> {
        let asked: json::Claim = serde_json::from_str(claim).map_err(value_error)?;
        let claim = reweave_witness::Claim::from(&asked);
        let (model, start, limit) = (self.choose(model)?, Instant::now(), duration(time)?);
        let trace = &self.loaded.trace;
        let answered = interruptible::run(py, limit, |stop| {
            let prepared = Prepared::new(trace, trace.dependences());
            let limits = Limits { work, stop: Some(stop) };
            Decider::new(&prepared, model)?.decide_with(&claim, &limits, Stages::All)
        });
        let verdict = answered?.map_err(refused)?;
        let head = Head::new(trace, &self.path.display().to_string(), model);
        let document = Query::new(trace, head, &claim, &verdict, start.elapsed().as_secs_f64());
        let text = match &verdict {
            reweave_decide::Verdict::Feasible(checked) => {
                schedule::text(trace, checked, schedule::Options::default())
            }
            reweave_decide::Verdict::Infeasible(why) => {
                reweave_report::refutation::text(trace, model, &claim, why)
            }
            reweave_decide::Verdict::Unknown(_) => "the limits were reached before an answer\n".to_owned(),
        };
        Ok((serde_json::to_string(&document).map_err(bug)?, text))
    }

    /// Whether a witness shows what it claims; why not, where it does not.
    fn check(
        &self,
        py: Python<'_>,
        model: &str,
        prefix: u32,
        tail: Vec<u32>,
        claim: &str,
    ) -> PyResult<Option<String>> {
        let asked: json::Claim = serde_json::from_str(claim).map_err(value_error)?;
        let model = self.choose(Some(model))?;
        let witness = Witness { prefix, tail: tail.into_iter().map(EventId).collect() };
        let trace = &self.loaded.trace;
        let checked = interruptible::run(py, None, |_| {
            let (links, order) = (reweave_spec::links(trace), ProgramOrder::new(trace));
            Checker::new(trace, &links, &order).check(model, witness, (&asked).into())
        });
        match checked? {
            Ok(_) => Ok(None),
            Err(unsound @ Rejection::Unsound { .. }) => Err(value_error(unsound)),
            Err(rejection) => Ok(Some(rejection.to_string())),
        }
    }
}

impl Trace {
    fn usable(&self) -> Capabilities {
        let trace = &self.loaded.trace;
        Capabilities { dependences: trace.dependences().is_some(), ..trace.capabilities() }
    }

    /// The model to decide in, if it is sound on the trace.
    fn choose(&self, name: Option<&str>) -> PyResult<Model> {
        let usable = self.usable();
        let Some(name) = name.filter(|name| *name != "auto") else { return Ok(Model::auto(usable)) };
        let model: Model = name.parse().map_err(value_error)?;
        if usable.include(model.needs()) {
            return Ok(model);
        }
        let best = Model::auto(usable);
        Err(value_error(format_args!(
            "{}: the model {model} needs what the trace does not carry ({}); the most permissive model that is sound \
             here is {best}",
            self.path.display(),
            model.needs(),
        )))
    }

    fn told_repairs(&self) -> Vec<Repair> {
        let Loaded { repairs, lines, .. } = &*self.loaded;
        let one = |(defect, count, first): (reweave_trace::Defect, u64, EventId)| Repair {
            defect: defect.to_string(),
            remedy: defect.remedy().to_owned(),
            count,
            first_event: first.0,
            first_line: lines.as_ref().and_then(|lines| lines.line(first)),
        };
        repairs.iter().map(one).collect()
    }
}

/// Adds what can be shown of each finding.
fn add_views(result: &mut TraceResult, trace: &reweave_trace::Trace, findings: &[Finding]) {
    let one = |finding| {
        let (kind, pattern) = (Finding::kind(finding), finding.pattern());
        Subject { kind, pattern, events: finding.events(), checked: finding.witness() }
    };
    let subjects: Vec<Subject<'_>> = findings.iter().map(one).collect();
    let maker = Maker::new(trace, subjects.iter().flat_map(|subject| subject.events).copied());
    for (finding, view) in result.findings.iter_mut().zip(maker.views(&subjects)) {
        finding.view = Some(Box::new(view));
    }
}

fn duration(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    seconds.map(Duration::try_from_secs_f64).transpose().map_err(value_error)
}

/// A question that cannot be asked of this trace, or a bug.
fn refused(error: Error) -> PyErr {
    match error {
        Error::Unsound(unsound) => bug(format_args!(
            "a witness was found that the checker refuses (model {}, claim {:?})",
            unsound.model, unsound.claim
        )),
        error => value_error(error),
    }
}
