//! What came of a run: what the runtime wrote down, with names.

use std::fmt;

use reweave_capture::Lookup;

use crate::plan::{Order, Part, parts};
use crate::schedule::{Named, Schedule, Shape};

/// What came of it, in a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// The bug happened.
    Confirmed,
    /// The program did something else.
    Diverged,
    /// It waited for something that did not come.
    Hung,
    /// It ended, and the bug did not happen.
    Finished,
}

impl Outcome {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Confirmed => "confirmed",
            Outcome::Diverged => "diverged",
            Outcome::Hung => "hung",
            Outcome::Finished => "finished",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A thread with its callers, from the inside out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stack {
    /// The thread.
    pub thread: String,
    /// Where it is, and who called that.
    pub frames: Vec<String>,
}

/// What a thread was doing when it was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Doing {
    /// The thread and where it is.
    pub stack: Stack,
    /// What it waits for, in words; none where it can run.
    pub waits: Option<String>,
}

/// A lock that a thread holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// The thread.
    pub thread: String,
    /// The lock.
    pub lock: String,
    /// Where it was taken.
    pub site: String,
}

/// A step that did not come as planned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GivenUp {
    /// The place of the step, from 1.
    pub step: usize,
    /// What was wanted.
    pub wanted: String,
    /// What happened instead, and why.
    pub instead: String,
}

/// All that is known about a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// In a word.
    pub outcome: Outcome,
    /// How many steps there were.
    pub steps: usize,
    /// Those that did not come as planned.
    pub given_up: Vec<GivenUp>,
    /// Per event of the finding, the stack of its thread.
    pub events: Vec<Option<Stack>>,
    /// What the threads were doing when the bug happened, or when the program was ended without it.
    pub threads: Vec<Doing>,
    /// The locks that were held then.
    pub held: Vec<Held>,
    /// Whether all threads waited for each other in the end.
    pub deadlocked: bool,
    /// Whether the time was up.
    pub timed_out: bool,
    /// The step that the program ended at without the bug, from 1.
    pub stopped_at: Option<usize>,
}

/// Makes a report of the runtime's notes.
pub fn report(schedule: &Schedule, order: Order, notes: &[String], maps: &str) -> Report {
    let parts = parts(schedule, order);
    let mut reader = Reader {
        schedule,
        lookup: Lookup::new(maps),
        confirmed: false,
        report: Report {
            outcome: Outcome::Finished,
            steps: parts.len(),
            given_up: Vec::new(),
            events: vec![None; schedule.events.len()],
            threads: Vec::new(),
            held: Vec::new(),
            deadlocked: false,
            timed_out: false,
            stopped_at: None,
        },
        parts,
    };
    for note in notes {
        reader.note(note);
    }
    reader.finish()
}

/// Makes a report of the notes of a run that followed no schedule.
pub fn without_schedule(notes: &[String]) -> Report {
    let has = |name: &str| notes.iter().any(|note| note == name);
    let (deadlocked, timed_out) = (has("deadlock"), has("timeout"));
    Report {
        outcome: if deadlocked || timed_out { Outcome::Hung } else { Outcome::Finished },
        steps: 0,
        given_up: Vec::new(),
        events: Vec::new(),
        threads: Vec::new(),
        held: Vec::new(),
        deadlocked,
        timed_out,
        stopped_at: None,
    }
}

struct Reader<'s> {
    schedule: &'s Schedule,
    lookup: Lookup,
    confirmed: bool,
    report: Report,
    parts: Vec<Part>,
}

impl Reader<'_> {
    fn note(&mut self, note: &str) {
        let words: Vec<&str> = note.split(' ').collect();
        match words[..] {
            ["confirmed"] => self.confirmed = true,
            ["deadlock"] => self.report.deadlocked = true,
            ["timeout"] => self.report.timed_out = true,
            ["stopped-at", item] => self.report.stopped_at = item.parse().ok().map(|item: usize| item + 1),
            ["stands" | "did", event, _, ref frames @ ..] => {
                let Some(event) = number(event).map(|event| event as usize) else { return };
                let thread = self.schedule.events.get(event).map_or(0, |event| event.thread);
                let stack = Stack { thread: self.planned(thread), frames: self.frames(frames) };
                if let Some(room) = self.report.events.get_mut(event) {
                    *room = Some(stack);
                }
            }
            ["given-up", item, why, index, code] => {
                let item = number(item).unwrap_or(0) as usize;
                let given_up = GivenUp {
                    step: item + 1,
                    wanted: self.wanted(item),
                    instead: self.instead(why, index, number(code).unwrap_or(0)),
                };
                self.report.given_up.push(given_up);
            }
            ["thread", index, planned, doing, key, ref frames @ ..] => {
                let stack = Stack { thread: self.thread(index, planned), frames: self.frames(frames) };
                let waits = self.waits(doing, number(key).unwrap_or(0));
                self.report.threads.push(Doing { stack, waits });
            }
            ["holds", index, planned, at, code] => {
                let held = Held {
                    thread: self.thread(index, planned),
                    lock: self.memory(number(at).unwrap_or(0)),
                    site: self.lookup.code(number(code).unwrap_or(0)),
                };
                self.report.held.push(held);
            }
            _ => {}
        }
    }

    fn planned(&self, thread: usize) -> String {
        self.schedule.threads.get(thread).map_or_else(|| "?".to_owned(), |thread| thread.name.clone())
    }

    /// A thread of the schedule by its name there, another one by its number in the run.
    fn thread(&self, index: &str, planned: &str) -> String {
        match number(planned).and_then(|planned| planned.checked_sub(1)) {
            Some(planned) => self.planned(planned as usize),
            None => format!("thread {index}"),
        }
    }

    fn memory(&self, at: u64) -> String {
        self.lookup.variable(at).unwrap_or_else(|| format!("memory {at:#x}"))
    }

    /// Names of frames; what lies outside of the program is not of interest at the end.
    fn frames(&self, frames: &[&str]) -> Vec<String> {
        let mut names: Vec<String> =
            frames.iter().filter_map(|frame| number(frame)).map(|code| self.lookup.code(code)).collect();
        while names.len() > 1 && names.last().is_some_and(|name| !has_line(name)) {
            names.pop();
        }
        names
    }

    fn waits(&self, doing: &str, at: u64) -> Option<String> {
        Some(match doing {
            "lock" => format!("the lock {}", self.memory(at)),
            "condition" => format!("the condition variable {}", self.memory(at)),
            "semaphore" => format!("the semaphore {}", self.memory(at)),
            "barrier" => format!("the barrier {}", self.memory(at)),
            "once" => format!("the initialisation {}", self.memory(at)),
            "futex" => format!("the futex {}", self.memory(at)),
            "end" => "the end of another thread".to_owned(),
            "away" => "something outside of the program".to_owned(),
            "sleep" => "its time to come".to_owned(),
            _ => return None,
        })
    }

    fn step(&self, item: usize) -> Option<&Named> {
        match *self.parts.get(item)? {
            Part::Segment(place) => self.schedule.segments.get(place),
            Part::Stand(event) | Part::Block(event) | Part::Sleep(event) | Part::Then(event) => {
                self.schedule.events.get(event)
            }
            Part::Look => None,
        }
    }

    fn wanted(&self, item: usize) -> String {
        let Some(step) = self.step(item) else { return "the finding's events, in order".to_owned() };
        let thread = self.planned(step.thread);
        let times = if step.occurrence == 1 { String::new() } else { format!(", time {}", step.occurrence) };
        match self.parts.get(item) {
            Some(Part::Stand(_)) => format!("{thread} stands before: {}{times}", step.note),
            Some(Part::Block(_) | Part::Sleep(_)) => format!("{thread} waits: {}{times}", step.note),
            _ => format!("{thread} does: {}{times}", step.note),
        }
    }

    fn instead(&self, why: &str, index: &str, code: u64) -> String {
        let at = if code == 0 { String::new() } else { format!(" at {}", self.lookup.code(code)) };
        let _ = index;
        match why {
            "not-created" => "the thread was never made".to_owned(),
            "ended" => {
                format!("the thread ended without it: another branch, or other input; it was last{at}")
            }
            "blocked" => format!("the thread waits{at} for what no other thread gives it"),
            "spinning" => format!("the thread runs in circles{at}"),
            "passed" => "it came before it was wanted".to_owned(),
            "late" => format!("the thread took another branch, or had other input, and is{at}"),
            "early" => format!("steps before it are missing: another branch, or other input{at}"),
            "clock" => {
                format!("another thread knows of a later time than the one that this thread was told{at}")
            }
            "not-blocked" => "the lock was free".to_owned(),
            "woken" => "somebody notified it, or its time had come".to_owned(),
            _ => {
                "it was not the same memory, or not the same block any more, or not in that order".to_owned()
            }
        }
    }

    fn finish(self) -> Report {
        let mut report = self.report;
        // One read alone is where it should be only if all before it came as planned.
        let shows = self.schedule.shape != Shape::Sequence
            || !self.schedule.order.is_empty()
            || report.given_up.is_empty();
        report.outcome = if self.confirmed && shows {
            Outcome::Confirmed
        } else if !report.given_up.is_empty() {
            Outcome::Diverged
        } else if report.timed_out || report.deadlocked {
            Outcome::Hung
        } else {
            Outcome::Finished
        };
        report
    }
}

fn has_line(frame: &str) -> bool {
    frame.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok())
}

fn number(word: &str) -> Option<u64> {
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::text;

    /// What writes the notes that are read here.
    const WRITER: &str = include_str!("../../runtime/src/record/note.rs");

    fn schedule() -> Schedule {
        let text = "reweave schedule 1\nprogram p 1\nfinding ff race x\nshows race\n\
                    thread T1 by main at p+0x1#1\nthread T2 by main at p+0x2#1\n\
                    event a T1 p+0x3#1 @1 # w(x), f a.c:1\nevent b T2 p+0x4#2 @1 # r(x), g a.c:2\n";
        text::read(text).unwrap_or_else(|error| panic!("{error}"))
    }

    fn read(notes: &[String]) -> Report {
        report(&schedule(), Order::Ab, notes, "")
    }

    /// The words that the writer has for the variants of a type.
    fn words(of: &str) -> BTreeSet<&'static str> {
        let lines = WRITER.lines().filter(|line| line.contains(of));
        lines.filter_map(|line| line.split_once("=> b\"")?.1.split('"').next()).collect()
    }

    #[test]
    fn every_reason_of_the_runtime_is_said_in_words_of_its_own() {
        let reasons = words("Why::");
        assert!(reasons.len() > 8, "{reasons:?}");
        let said: BTreeSet<String> = reasons
            .iter()
            .map(|why| read(&[format!("given-up 0 {why} 1 0")]).given_up.remove(0).instead)
            .collect();
        assert_eq!(said.len(), reasons.len(), "{reasons:?} are {said:#?}");
        assert_eq!(read(&["given-up 0 late 1 0".to_owned()]).outcome, Outcome::Diverged);
    }

    #[test]
    fn every_state_of_a_thread_is_said_in_words_of_its_own() {
        let states = words("::").into_iter().filter(|word| !words("Why::").contains(word));
        let states: Vec<&str> = states.chain(["sleep"]).filter(|word| *word != "ready").collect();
        assert!(states.len() > 8, "{states:?}");
        let waits = |state: &str| read(&[format!("thread 3 2 {state} 64 0")]).threads.remove(0);
        let said: BTreeSet<_> = states.iter().filter_map(|state| waits(state).waits).collect();
        assert_eq!(said.len(), states.len(), "{states:?} are {said:#?}");
        assert_eq!(waits("ready").waits, None);
        assert_eq!((waits("lock").stack.thread.as_str(), waits("lock").stack.frames.len()), ("T1", 1));
    }

    #[test]
    fn notes_that_make_no_sense_change_nothing() {
        let nothing = read(&[]);
        for note in
            ["", "stands", "stands 9 1 1", "did x 1", "holds 1", "thread", "stopped-at x", "deadlocks"]
        {
            assert_eq!(read(&[note.to_owned()]), nothing, "{note}");
        }
        let notes = ["stands 1 5 77", "holds 5 3 4096 77", "confirmed"].map(str::to_owned);
        let report = read(&notes);
        assert_eq!(report.outcome, Outcome::Confirmed);
        assert_eq!(report.events[1].as_ref().map(|stack| stack.thread.as_str()), Some("T2"));
        assert_eq!((report.held[0].thread.as_str(), report.held[0].lock.as_str()), ("T2", "memory 0x1000"));
    }
}
