//! Runs that failed by themselves.

use reweave_trace::{Ending, EventId, Kind, Trace};
use serde::{Deserialize, Serialize};

use crate::stack::{known, stack};

/// A recorded run that failed, before anything was predicted.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct FailedRun {
    /// The program and its arguments; nothing where a trace does not tell.
    pub program: Vec<String>,
    /// The seed of the run, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Its status, as shells say it.
    pub status: u8,
    /// How it ended, in words.
    pub how: String,
    /// The command that runs it again; nothing where a trace does not tell.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub again: String,
    /// Its trace, where that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The threads that waited; else the one that took the last step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<LastStep>,
    /// What is different in it, where it was run under a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
    /// The schedule that it was run under, where that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The beginning of what it wrote, where it was run under a schedule.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// What a thread did last.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct LastStep {
    /// The name of the thread.
    pub thread: String,
    /// What it waited for, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<String>,
    /// Its last event.
    pub event: u32,
    /// Where that was.
    pub site: String,
    /// The calls that were under way, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
}

impl FailedRun {
    /// The run that a trace is of, where that failed.
    pub fn of_trace(trace: &Trace, path: &str) -> Option<FailedRun> {
        let ending = trace.ending().filter(|ending| ending.failed())?;
        let Ending { program, seed, policy, status, waits, unlisted: _ } = ending;
        let policy = policy.as_ref().map(|name| format!(" --policy {}", quoted(name))).unwrap_or_default();
        let words: Vec<String> = program.iter().map(|word| quoted(word)).collect();
        let again = match (seed, words.is_empty()) {
            (Some(seed), false) => {
                format!("reweave record --seed {seed}{policy} -o failed.rw -- {}", words.join(" "))
            }
            _ => String::new(),
        };
        let how = match *status {
            Ending::DEADLOCK if !waits.is_empty() => "in a deadlock".to_owned(),
            status => self::ending(status),
        };
        let threads = if waits.is_empty() {
            let last = last_event(trace, |_| true);
            last.map(|event| LastStep::new(trace, event, None)).into_iter().collect()
        } else {
            let one = |(thread, what): &(String, String)| {
                let event = last_event(trace, |event| trace.thread_name(trace.thread(event)) == thread)?;
                Some(LastStep::new(trace, event, Some(what)))
            };
            waits.iter().filter_map(one).collect()
        };
        let (program, trace) = (program.clone(), Some(path.to_owned()));
        let (differs, schedule, output) = (None, None, String::new());
        let (seed, status) = (*seed, *status);
        Some(FailedRun { program, seed, status, how, again, trace, threads, differs, schedule, output })
    }

    /// What there is to say of it, in a sentence.
    pub fn sentence(&self) -> String {
        let run = match (self.program.is_empty(), &self.trace) {
            (true, Some(trace)) => format!("the run in {trace}"),
            _ => format!("the run of {}", self.program.join(" ")),
        };
        let seed = self.seed.map(|seed| format!(" with seed {seed}")).unwrap_or_default();
        let alone = match self.differs {
            None => "failed by itself",
            Some(_) => "failed in another order of its threads",
        };
        format!("{run}{seed} {alone}: it ended {}", self.how)
    }
}

impl LastStep {
    fn new(trace: &Trace, event: EventId, waits_for: Option<&String>) -> LastStep {
        LastStep {
            thread: trace.thread_name(trace.thread(event)).to_owned(),
            waits_for: waits_for.cloned(),
            event: event.0,
            site: trace.site_name(trace.site(event)).to_owned(),
            stack: if known(trace) { stack(trace, event) } else { Vec::new() },
        }
    }

    /// `T1 waits for a lock, after main.c:12`.
    pub fn sentence(&self) -> String {
        let LastStep { thread, site, .. } = self;
        match &self.waits_for {
            Some(what) => format!("{thread} waits for {what}; its last step was at {site}"),
            None => format!("the last step was {thread}'s, at {site}"),
        }
    }
}

/// The last event of a trace that is wanted.
fn last_event(trace: &Trace, is_wanted: impl Fn(EventId) -> bool) -> Option<EventId> {
    trace.ids().rev().find(|&event| trace.kind(event) != Kind::Skip && is_wanted(event))
}

/// A word as a shell takes it.
pub fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./=:,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// How a run ended that ended with a status, in words.
pub fn ending(status: u8) -> String {
    match status {
        3 => "in a deadlock, or at its time limit (status 3)".to_owned(),
        code @ 129..=192 => format!("by signal {} (status {code})", code - 128),
        code => format!("with status {code}"),
    }
}
