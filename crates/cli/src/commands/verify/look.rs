//! What can go wrong in a recorded run.

use std::path::{Path, PathBuf};
use std::time::Instant;

use reweave_decide::{Error, Limits};
use reweave_detect::{Atomicity, Kind, Options, Pattern, Prediction};
use reweave_replay::Schedule;
use reweave_report::json::{Bug, Head};
use reweave_report::view::{Level, Severity};
use reweave_trace::{Model, Trace};
use reweave_verify::seen::Shape;
use reweave_verify::{About, Code};
use reweave_witness::CheckedWitness;

use crate::args::{Global, ModelChoice, Reading};
use crate::commands::predict::watch::Watch;
use crate::commands::replay::finding::{Context, title};
use crate::commands::{bug_report, model};
use crate::console::Console;
use crate::failure::Failure;
use crate::input;
use crate::progress::Progress;

/// What one candidate may take: steps of the search, which are the same on every machine.
const WORK: u64 = 3_000_000;

/// A bug that a recorded run could have had.
pub(super) struct Found {
    pub(super) about: About,
    pub(super) shape: Option<Shape>,
    pub(super) fingerprint: String,
    /// What it is, in a few words.
    pub(super) title: String,
    pub(super) sites: Vec<String>,
    pub(super) events: Vec<u32>,
    pub(super) schedule: Schedule,
    /// The order of events that shows it.
    pub(super) witness: CheckedWitness,
    /// Whether it is a bug whatever comes of it.
    pub(super) is_error: bool,
    pub(super) trace: PathBuf,
    /// What the locks at its events say.
    pub(super) hints: Vec<String>,
}

/// A candidate that was not decided.
pub(super) struct Open {
    pub(super) about: About,
    pub(super) title: String,
    pub(super) reason: &'static str,
}

/// What a recorded run came to.
#[derive(Default)]
pub(super) struct Looked {
    pub(super) found: Vec<Found>,
    pub(super) open: Vec<Open>,
    pub(super) candidates: u64,
    pub(super) excluded: u64,
    /// How many candidates were passed over because there are too many alike.
    pub(super) passed_over: u64,
    pub(super) partial: bool,
}

/// How a bug was found, and so how likely it is one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Rank {
    /// It must be possible if the recorded run was.
    Sound,
    /// Locks and forks do not exclude it; whether values do is only seen when it is run. It is likely a bug if it comes.
    Likely,
    /// The same of every pattern, however harmless.
    Every,
}

/// How to search.
#[derive(Clone, Copy)]
pub(super) struct Search<'s> {
    pub(super) global: &'s Global,
    pub(super) console: &'s Console,
    pub(super) watch: &'s Watch,
    pub(super) progress: &'s Progress,
    /// When the budget is used up.
    pub(super) end: Instant,
}

/// A trace with its steps.
pub(super) struct Opened {
    pub(super) loaded: reweave_format::Loaded,
    pub(super) path: PathBuf,
}

impl Search<'_> {
    /// Whether the budget is used up.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.end || self.watch.stopped()
    }

    pub(super) fn open(&self, path: &Path) -> anyhow::Result<Opened> {
        let loaded = input::load_silently(path, Reading::default(), self.global, self.console)?;
        Ok(Opened { loaded, path: path.to_owned() })
    }

    /// Looks for bugs, as hard as the rank says.
    pub(super) fn look(&self, opened: &Opened, code: &Code, rank: Rank) -> anyhow::Result<Looked> {
        let (trace, path) = (&opened.loaded.trace, opened.path.as_path());
        let model = match rank {
            Rank::Sound => model::choose(ModelChoice::Auto, path, &opened.loaded, self.console)?,
            Rank::Likely | Rank::Every => Model::Sync,
        };
        let jobs = self.global.jobs.map(usize::from);
        let options = Options {
            kinds: Kind::ALL.to_vec(),
            atomicity: if rank == Rank::Every { Atomicity::All } else { Atomicity::Likely },
            limits: Limits { work: Some(WORK), stop: None },
            stop: self.watch.stop(),
            jobs: jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
            ..Options::default()
        };
        self.watch.search()?;
        let predicted = reweave_detect::predict(trace, model, &options);
        self.watch.rest();
        let prediction = match predicted {
            Ok(prediction) => prediction,
            Err(Error::Unsound(unsound)) => {
                let bug = Bug::new(Head::new(trace, &path.display().to_string(), model), &unsound);
                bug_report::file(&bug, &bug_report::folders(), self.console);
                return Err(Failure::new("the search made a mistake; a report of it was written").into());
            }
            Err(error) => return Err(Failure::new(format!("{}: {error}", path.display())).into()),
        };
        let context = Context::new(trace, path)?;
        Ok(looked(&context, trace, path, code, prediction))
    }
}

fn looked(context: &Context<'_>, trace: &Trace, path: &Path, code: &Code, prediction: Prediction) -> Looked {
    let steps = context.steps();
    let mut looked = Looked {
        candidates: prediction.counts.candidates,
        excluded: prediction.counts.infeasible,
        passed_over: prediction.unexamined,
        partial: prediction.partial,
        ..Looked::default()
    };
    for finding in &prediction.findings {
        let about = About::new(finding, trace, steps, code);
        let targets: Vec<&str> = about.targets.iter().map(String::as_str).collect();
        let name = words(finding.kind(), finding.pattern(), &targets.join(", "));
        let schedule = match context.schedule(finding.witness(), title(trace, finding)) {
            Ok(schedule) => schedule,
            Err(_) => {
                looked.open.push(Open { about, title: name, reason: "its schedule cannot be named" });
                continue;
            }
        };
        let level = Severity::new(finding.kind(), Some(finding.pattern()), None).level;
        looked.found.push(Found {
            about,
            shape: Shape::new(trace, steps, code, finding.events()),
            fingerprint: finding.fingerprint().to_owned(),
            title: name,
            sites: finding.sites().iter().map(|&site| trace.site_name(site).to_owned()).collect(),
            events: finding.events().iter().map(|event| event.0).collect(),
            schedule,
            witness: finding.witness().clone(),
            is_error: level == Level::Error,
            trace: path.to_owned(),
            hints: reweave_verify::held::hints(trace, finding.events()),
        });
    }
    for open in &prediction.undecided {
        let about = About::of(open.kind, open.pattern.name(), &open.events, trace, steps, code);
        let targets: Vec<&str> = about.targets.iter().map(String::as_str).collect();
        let title = words(open.kind, open.pattern, &targets.join(", "));
        looked.open.push(Open { about, title, reason: open.reason.name() });
    }
    looked
}

/// What a bug is, in a few words.
fn words(kind: Kind, pattern: Pattern, target: &str) -> String {
    match (kind, pattern) {
        (Kind::Race, _) => format!("data race on {target}"),
        (Kind::Deadlock, _) => format!("deadlock on {target}"),
        (Kind::Atomicity, pattern) => format!("atomicity violation ({}) on {target}", pattern.name()),
        (Kind::Order, pattern) => format!("{} of {target}", pattern.name().replace('-', " ")),
        (Kind::UseAfterFree, Pattern::DoubleFree) => format!("double free of {target}"),
        (Kind::UseAfterFree, _) => format!("use after free of {target}"),
    }
}
