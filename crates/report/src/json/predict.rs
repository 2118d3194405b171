//! The document of `reweave predict`.
//!
//! What it says about one trace is a [`TraceResult`]. A document about one trace is that result with a head; a document
//! about several has all results and, at its top, what they come to together: findings are merged by fingerprint.

mod document;
mod failed;
mod kind;
mod merge;

use std::sync::OnceLock;

use reweave_detect::{Kind, Pattern, Prediction};
use reweave_trace::{EventId, Model, Trace};
use reweave_witness::{Claim, Witness};
use serde::{Deserialize, Serialize};

use crate::stack::{self, Origins};
use crate::view::{Harm, Severity, View};

use super::{Counts, Schedule, TraceShape, seconds};

pub use document::{Document, DocumentError};
pub use failed::{FailedRun, LastStep, ending, quoted};
pub use merge::{MergeError, merge};

/// What was found in one trace.
#[derive(Serialize, Deserialize, Clone, PartialEq, Debug)]
pub struct TraceResult {
    /// The trace.
    pub trace: TraceShape,
    /// The model, by its name.
    pub model: String,
    /// The findings, by kind and then by their events.
    pub findings: Vec<Finding>,
    /// What was not settled, in the same order.
    pub undecided: Vec<Undecided>,
    /// How many candidates came to what.
    pub counts: Counts,
    /// What was left out before candidates were made.
    pub dropped: Dropped,
    /// What each model gave, from the strictest to the one that was asked for, where there was more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelCount>,
    /// How many possible candidates were passed over without a look.
    #[serde(default)]
    pub unexamined: u64,
    /// How many atomicity violations, by pattern and sites, were not looked at because they are not likely to be bugs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
    /// What was mended in the trace.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
    /// Libraries without hooks that were taken to order what passes through them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<Library>,
    /// How many more findings there were without that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ordered_by_libraries: u64,
    /// Functions that were called and of which it is not known what they depend on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted: Vec<String>,
    /// The program and its arguments, where findings were replayed on it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program: Vec<String>,
    /// Findings that are not listed because the user knows of them.
    #[serde(default, skip_serializing_if = "Hidden::is_none")]
    pub hidden: Hidden,
    /// Which part of the work this is, if it is not all of it: `1/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    /// Whether the run was stopped before its end.
    #[serde(default)]
    pub partial: bool,
    /// How many seconds the whole search was given, if there was a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// How long it took.
    pub seconds: f64,
}

/// A library without hooks.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Library {
    /// The name of its file.
    pub name: String,
    /// How many steps threads made into it and out of it.
    pub steps: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A bug that another schedule of the same run shows.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The kind of bug.
    #[serde(with = "kind")]
    pub kind: Kind,
    /// What exactly it looks like.
    pub pattern: String,
    /// What identifies it over runs.
    pub fingerprint: String,
    /// The events that make it up.
    pub events: Vec<u32>,
    /// The site of each.
    pub sites: Vec<String>,
    /// Where calls are known: per event, its site and the sites of the calls that led there, the last one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Vec<String>>,
    /// Where calls are known: what its threads and objects come from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<Origin>,
    /// The variable, object, condition variable or locks.
    pub target: String,
    /// The atomicity violations on what races or is used after its free: what goes wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub torn: Vec<Torn>,
    /// The schedule that shows it.
    #[serde(flatten)]
    pub schedule: Schedule,
    /// The strictest model that it was found in, by its name; none in documents that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How many candidates there were with this fingerprint.
    pub instances: u64,
    /// In a document about several traces: the place of the trace that the events are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<u32>,
    /// In a document about several traces: how many of them show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<u64>,
    /// What the schedule shows; none in documents that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<super::Claim>,
    /// How bad it is; none in documents that do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// What came of it on the real program, where that was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// Each run of the program with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<ReplayRun>,
    /// All that can be shown of it; none where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<Box<View>>,
}

/// One run of the program under the schedule of a finding.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct ReplayRun {
    /// Which of the events that can come at once came first: `ab` or `ba`.
    pub order: String,
    /// What came of the finding.
    pub outcome: Replay,
    /// What came of the program.
    pub harm: Harm,
    /// How it ended, in words.
    pub ended: String,
    /// What it wrote, at most the first 4,000 characters.
    pub output: String,
}

/// An atomicity violation that is told with another finding.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Torn {
    /// What exactly it looks like.
    pub pattern: String,
    /// The sites of the two accesses that are meant to be one step.
    pub sites: [String; 2],
}

/// What the search had come to when one model was done.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct ModelCount {
    /// The model, by its name.
    pub model: String,
    /// How many of the findings it and the stricter ones give.
    pub findings: u64,
    /// How many groups of candidates it left undecided.
    #[serde(default)]
    pub unknown: u64,
    /// The same by kind, without those that have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<OpenGroups>,
    /// Whether the search in it was stopped before its end.
    #[serde(default)]
    pub stopped: bool,
}

/// How many groups of candidates of a kind were left undecided.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct OpenGroups {
    /// The kind.
    #[serde(with = "kind")]
    pub kind: Kind,
    /// How many.
    pub groups: u64,
}

/// What came of a finding on the real program; better outcomes first.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Replay {
    /// It happened.
    Confirmed,
    /// The program did something else.
    Diverged,
    /// It waited for something that did not come.
    Hung,
    /// It ended without it.
    Finished,
}

impl Replay {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Replay::Confirmed => "confirmed",
            Replay::Diverged => "diverged",
            Replay::Hung => "hung",
            Replay::Finished => "finished",
        }
    }
}

/// Where a thread was created or an object allocated.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// `thread` or `object`.
    pub what: String,
    /// Its name.
    pub name: String,
    /// The thread that did it.
    pub by: String,
    /// The event.
    pub event: u32,
    /// Its site and those of the calls that led there, the last one first.
    pub stack: Vec<String>,
}

/// A candidate that was not settled.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    /// The kind of bug.
    #[serde(with = "kind")]
    pub kind: Kind,
    /// The events.
    pub events: Vec<u32>,
    /// Why: `budget`, `inconclusive`, `tries` or `stopped`.
    pub reason: String,
    /// In a document about several traces: the place of the trace that the events are of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<u32>,
}

/// Variables where nothing can be found, and those that are left.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Dropped {
    /// Events that cannot matter to any finding.
    #[serde(default)]
    pub events: u64,
    /// One thread alone touches them.
    pub thread_local: u64,
    /// Several threads only read them.
    pub read_only: u64,
    /// No schedule can reorder their conflicting accesses.
    pub ordered: u64,
    /// The rest.
    pub kept: u64,
}

/// One kind of repair.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Repair {
    /// What was wrong.
    pub defect: String,
    /// What was done about it.
    pub remedy: String,
    /// How often.
    pub count: u64,
    /// The first event.
    pub first_event: u32,
    /// Its line; none where the format has no lines.
    pub first_line: Option<u64>,
}

/// How many findings are not listed, and why.
#[derive(Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Hidden {
    /// A suppression matches them.
    pub suppressed: u64,
    /// They are in the baseline.
    pub baseline: u64,
}

impl Hidden {
    /// Whether all are listed.
    pub fn is_none(&self) -> bool {
        *self == Hidden::default()
    }
}

/// Makes findings of a trace as they come.
pub struct Early<'t> {
    trace: &'t Trace,
    /// Made when there is a finding.
    origins: OnceLock<Origins>,
}

impl<'t> Early<'t> {
    /// Of this trace.
    pub fn new(trace: &'t Trace) -> Early<'t> {
        Early { trace, origins: OnceLock::new() }
    }

    /// A finding as it is in documents, without its view.
    pub fn finding(&self, finding: &reweave_detect::Finding) -> Finding {
        let trace = self.trace;
        let origins = self.origins.get_or_init(|| Origins::new(trace));
        Finding {
            kind: finding.kind(),
            pattern: finding.pattern().name().to_owned(),
            fingerprint: finding.fingerprint().to_owned(),
            events: ids(finding.events()),
            sites: finding.sites().iter().map(|&site| trace.site_name(site).to_owned()).collect(),
            stacks: match stack::known(trace) {
                true => finding.events().iter().map(|&event| stack::stack(trace, event)).collect(),
                false => Vec::new(),
            },
            origins: origins.of(trace, finding.events()),
            target: finding.target(trace),
            torn: finding.torn().iter().map(|torn| Torn::new(trace, torn)).collect(),
            schedule: finding.witness().witness().into(),
            model: Some(finding.witness().model().name().to_owned()),
            instances: finding.instances(),
            trace: None,
            traces: None,
            claim: Some(finding.witness().claim().into()),
            severity: Some(Severity::new(finding.kind(), Some(finding.pattern()), None)),
            replay: None,
            replays: Vec::new(),
            view: None,
        }
    }
}

fn ids(events: &[EventId]) -> Vec<u32> {
    events.iter().map(|event| event.0).collect()
}

impl TraceResult {
    /// What `prediction` says about `trace`, which the user calls `path`, after `time` seconds.
    pub fn new(trace: &Trace, path: &str, model: Model, prediction: &Prediction, time: f64) -> TraceResult {
        let early = Early::new(trace);
        let findings = prediction.findings.iter().map(|finding| early.finding(finding));
        let undecided = prediction.undecided.iter().map(|open| Undecided {
            kind: open.kind,
            events: ids(&open.events),
            reason: open.reason.name().to_owned(),
            trace: None,
        });
        let mut undecided: Vec<Undecided> = undecided.collect();
        Undecided::sort(&mut undecided);
        let (counts, dropped) = (prediction.counts, prediction.dropped);
        TraceResult {
            trace: TraceShape::new(trace, path),
            model: model.name().to_owned(),
            findings: findings.collect(),
            undecided,
            counts: Counts {
                candidates: counts.candidates,
                feasible: counts.feasible,
                infeasible: counts.infeasible,
                unknown: counts.unknown,
            },
            dropped: Dropped {
                events: dropped.events,
                thread_local: dropped.thread_local,
                read_only: dropped.read_only,
                ordered: dropped.ordered,
                kept: dropped.kept,
            },
            models: Vec::new(),
            unexamined: prediction.unexamined,
            refused: prediction.refused,
            repairs: Vec::new(),
            libraries: Vec::new(),
            ordered_by_libraries: 0,
            unlisted: trace.ending().map(|ending| ending.unlisted.clone()).unwrap_or_default(),
            program: Vec::new(),
            hidden: Hidden::default(),
            shard: None,
            partial: prediction.partial,
            time_limit: None,
            seconds: seconds(time),
        }
    }
}

impl TraceResult {
    /// Whether every candidate was decided in the models that do not compare values.
    pub fn is_settled(&self) -> bool {
        let by_value = |name: &str| name.parse().is_ok_and(Model::by_value);
        if !by_value(&self.model) {
            return self.counts.unknown == 0 && !self.partial;
        }
        let mut without = self.models.iter().filter(|count| !by_value(&count.model));
        // Where there are branches, `branch` comes after `rf`; a search that was stopped may not have come to it.
        let steps = if self.model == Model::Value.name() { 1 } else { 2 };
        without.clone().count() == steps && without.all(|count| count.unknown == 0 && !count.stopped)
    }
}

impl Torn {
    fn new(trace: &Trace, torn: &reweave_detect::Torn) -> Torn {
        let sites = torn.sites.map(|site| trace.site_name(site).to_owned());
        Torn { pattern: torn.pattern.name().to_owned(), sites }
    }
}

impl Undecided {
    /// Puts candidates into the order of documents, in which equal neighbours cannot be told apart.
    fn sort(list: &mut [Undecided]) {
        list.sort_by(|a, b| (a.kind, &a.events, &a.reason).cmp(&(b.kind, &b.events, &b.reason)));
    }
}

impl Finding {
    /// The schedule, to be checked again.
    pub fn witness(&self, trace: &Trace) -> Witness {
        self.schedule.expand(trace)
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        let by_kind = || Severity::new(self.kind, Pattern::from_name(&self.pattern), None);
        self.severity.clone().unwrap_or_else(by_kind)
    }

    /// What the schedule shows. None where the finding does not have the events that its kind takes.
    pub fn claim(&self) -> Option<Claim> {
        match &self.claim {
            Some(claim) => Some(claim.into()),
            None => self.guessed_claim(),
        }
    }

    /// The claim of a finding in a document that does not store it.
    fn guessed_claim(&self) -> Option<Claim> {
        let events: Vec<EventId> = self.events.iter().copied().map(EventId).collect();
        Some(match (self.kind, &events[..]) {
            (Kind::Order, &[_, wait]) if self.pattern == "lost-wake-up" => Claim::Asleep(wait),
            (Kind::Order, &[read, _]) if self.pattern == "use-before-initialisation" => {
                Claim::Unwritten(read)
            }
            (Kind::Order, &[first, then]) if self.pattern == "call-order" => Claim::Ahead { first, then },
            (Kind::Race, [_, _]) => Claim::CoEnabled(events),
            (Kind::Deadlock, [_, ..]) => Claim::Deadlock(events),
            (Kind::Atomicity, [_, _, _]) => Claim::Sequence { events, adjacent: Vec::new() },
            (Kind::Atomicity, &[i, j, k, l]) => {
                Claim::Before { pairs: vec![(i, j), (k, l)], adjacent: Vec::new() }
            }
            (Kind::Order | Kind::UseAfterFree, &[late, early]) => {
                Claim::Before { pairs: vec![(late, early)], adjacent: Vec::new() }
            }
            _ => return None,
        })
    }
}
