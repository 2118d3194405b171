//! Why a schedule can run, in sentences that a person can follow.
//!
//! The machine of the law runs the schedule once more, and each sentence says what it found on the way: which locks
//! are taken in another order, what reads observe, where threads stop. Nothing is concluded that the machine does not say.

use std::collections::BTreeMap;

use reweave_trace::{EventId, Kind, Links, LockId, Model, Op, ProgramOrder, ThreadId, Trace};
use reweave_witness::{CheckedWitness, Checker, Claim, Machine};

use crate::claim::{self, and};
use crate::event;
use crate::schedule::observed;

/// How many locks, and how many reads, are named one by one.
const NAMED: usize = 3;

/// How many acquires are looked at for one that was first in the recorded run.
const FAR: usize = 10_000;

/// Why the schedule can run and shows what it claims; a sentence each.
pub fn why(trace: &Trace, links: &Links, checked: &CheckedWitness) -> Vec<String> {
    let order = ProgramOrder::new(trace);
    let checker = Checker::new(trace, links, &order);
    let (prefix, tail) = observed(trace, checked.witness());
    let mut story = Story { trace, links, checked, prefix, tail, sentences: Vec::new() };
    let Ok(mut machine) = checker.machine(checked.model()) else { return story.sentences };
    for id in (0..prefix).map(EventId).filter(|&id| trace.kind(id) != Kind::Skip) {
        if machine.step(id).is_err() {
            return story.sentences;
        }
    }
    story.start(&machine, prefix);
    let run = story.run(&mut machine);
    story.locks(&run);
    story.reads(&run);
    if run.whole {
        story.end(&machine);
    }
    story.sentences
}

/// What was seen on the way.
#[derive(Default)]
struct Run {
    /// Locks that a thread takes before another that was first in the recorded run: who was first, and now is.
    swapped: BTreeMap<LockId, (EventId, EventId)>,
    /// Reads that observe what they did.
    same: u64,
    /// Reads that observe another write of the same value.
    equal: Vec<EventId>,
    /// Reads that observe something else, with what their thread does after it.
    changed: Vec<(EventId, u64)>,
    /// Whether the machine ran all of it.
    whole: bool,
}

struct Story<'s> {
    trace: &'s Trace,
    links: &'s Links,
    checked: &'s CheckedWitness,
    /// How many positions run as observed.
    prefix: u32,
    /// What follows.
    tail: &'s [EventId],
    sentences: Vec<String>,
}

impl Story<'_> {
    fn say(&mut self, sentence: String) {
        self.sentences.push(sentence);
    }

    fn name(&self, thread: ThreadId) -> String {
        event::clean(self.trace.thread_name(thread)).into_owned()
    }

    fn start(&mut self, machine: &Machine<'_>, prefix: u32) {
        let Some(&first) = self.tail.first() else {
            return self.say("The schedule is a beginning of the recorded run, so it can happen.".to_owned());
        };
        let began = (0..prefix).filter(|&id| self.trace.kind(EventId(id)) != Kind::Skip).count();
        let opening = match began {
            0 => "The schedule departs from the recorded run at its start".to_owned(),
            1 => "The first event runs as recorded".to_owned(),
            count => format!("The first {count} events run as recorded"),
        };
        let held_back = (prefix..first.0)
            .map(EventId)
            .find(|&id| self.trace.kind(id) != Kind::Skip && !machine.has_run(id));
        let then = self.name(self.trace.thread(first));
        self.say(match held_back {
            Some(id) if self.trace.thread(id) != self.trace.thread(first) => format!(
                "{opening}. Then {then} goes first, and {} is held back before {}: a scheduler may do that at any point.",
                self.name(self.trace.thread(id)),
                event::numbered(self.trace, id)
            ),
            _ => format!("{opening}, and then {then} goes on."),
        });
    }

    /// Runs the part of the schedule that is in another order.
    fn run(&self, machine: &mut Machine<'_>) -> Run {
        let mut run = Run::default();
        let by_value = self.checked.model().by_value();
        let behind = (self.prefix..self.trace.len() as u32).map(EventId);
        let acquires: Vec<EventId> = behind.filter(|&id| lock_of(self.trace, id).is_some()).collect();
        for &id in self.tail {
            let thread = self.trace.thread(id);
            if let Some(last) =
                run.changed.iter_mut().rev().find(|(read, _)| self.trace.thread(*read) == thread)
            {
                last.1 += 1;
            }
            self.acquire(machine, &acquires, id, &mut run);
            if let Some(access) = self.trace.op(id).access().filter(|access| access.reads) {
                let writer = machine.last_write(access.variable);
                let known = machine.value(access.variable);
                if writer == self.links.observed(id) {
                    run.same += 1;
                } else if by_value && known.is_some() && known == self.trace.values(id).read {
                    run.equal.push(id);
                } else {
                    run.changed.push((id, 0));
                }
            }
            if machine.step(id).is_err() {
                return run;
            }
        }
        run.whole = true;
        run
    }

    /// Notes whether another thread took the lock before in the recorded run, and has not yet.
    fn acquire(&self, machine: &Machine<'_>, acquires: &[EventId], id: EventId, run: &mut Run) {
        let Some(lock) = lock_of(self.trace, id).filter(|lock| !run.swapped.contains_key(lock)) else {
            return;
        };
        let is_other = |&other: &EventId| {
            lock_of(self.trace, other) == Some(lock)
                && self.trace.thread(other) != self.trace.thread(id)
                && !machine.has_run(other)
        };
        let before = acquires.iter().copied().take_while(|&other| other < id);
        if let Some(earlier) = before.take(FAR).find(is_other) {
            run.swapped.insert(lock, (earlier, id));
        }
    }

    fn locks(&mut self, run: &Run) {
        for (&lock, &(was_first, now_first)) in run.swapped.iter().take(NAMED) {
            let lock = event::clean(self.trace.lock_name(lock)).into_owned();
            let (other, thread) = (self.trace.thread(was_first), self.trace.thread(now_first));
            self.say(format!(
                "{} may take {lock} (event {}) before {} does (event {}), although {} was first in the recorded run: \
                 a lock keeps its critical sections apart, and not in any order. It can be taken there.",
                self.name(thread),
                now_first.0,
                self.name(other),
                was_first.0,
                self.name(other),
            ));
        }
        if run.swapped.len() > NAMED {
            self.say(format!("The same holds for {} more locks.", run.swapped.len() - NAMED));
        }
    }

    fn reads(&mut self, run: &Run) {
        if run.same > 0 {
            let only = run.equal.is_empty() && run.changed.is_empty();
            let lead = match (run.same, only) {
                (1, _) => "One read after that observes".to_owned(),
                (count, true) => format!("All {count} reads after that observe"),
                (count, false) => format!("{count} reads after that observe"),
            };
            self.say(format!(
                "{lead} the same write as in the recorded run, so that the threads go the same way."
            ));
        }
        for &read in run.equal.iter().take(NAMED) {
            self.say(format!(
                "{} observes another write of the same value, which makes no difference to its thread.",
                upper(&event::numbered(self.trace, read))
            ));
        }
        for &(read, after) in run.changed.iter().take(NAMED) {
            self.say(self.changed(read, after));
        }
        let more = run.equal.len().saturating_sub(NAMED) + run.changed.len().saturating_sub(NAMED);
        if more > 0 {
            self.say(format!("{more} more reads observe another write, too."));
        }
    }

    fn changed(&self, read: EventId, after: u64) -> String {
        let event = upper(&event::numbered(self.trace, read));
        let thread = self.name(self.trace.thread(read));
        match (after, self.checked.model()) {
            (0, _) => format!(
                "{event} observes another write than it did. Nothing of {thread} runs after it, so that does not matter."
            ),
            (_, Model::Branch | Model::BranchValue) => format!(
                "{event} observes another write than it did. {thread} decides nothing between it and the last event that \
                 it runs here, so that it gets there all the same."
            ),
            (_, Model::Dep | Model::DepValue) => format!(
                "{event} observes another write than it did. No event that {thread} runs after it needs what it read."
            ),
            _ => format!("{event} observes another write than it did."),
        }
    }

    fn end(&mut self, machine: &Machine<'_>) {
        let next = claim::next(self.checked.claim()).to_vec();
        match self.checked.claim() {
            Claim::CoEnabled(_) => {
                let each: Vec<String> = next.iter().map(|&id| event::numbered(self.trace, id)).collect();
                let held: Vec<String> = next.iter().map(|&id| self.held(machine, self.trace.thread(id))).collect();
                self.say(format!(
                    "Now {} are the next steps of their threads, and none has to wait for the other: {}.",
                    and(&each),
                    and(&held)
                ));
            }
            Claim::Deadlock(_) => {
                for &id in &next {
                    let thread = self.trace.thread(id);
                    let (held, waits) = (self.held(machine, thread), event::numbered(self.trace, id));
                    self.say(format!("In the end {held} and waits at {waits}."));
                }
            }
            Claim::Asleep(wait) => self.say(format!(
                "The notification that woke {} is over before it waits, and every other thread has ended or waits.",
                event::numbered(self.trace, *wait)
            )),
            Claim::Unwritten(read) => self.say(format!(
                "No write to {} comes before {}.",
                event::target(self.trace, *read),
                event::numbered(self.trace, *read)
            )),
            claim => {
                let each = claim::events(claim);
                let each: Vec<String> = each.iter().map(|&id| event::numbered(self.trace, id)).collect();
                self.say(format!("So these come in this order: {}.", each.join(", then ")));
            }
        }
    }

    fn held(&self, machine: &Machine<'_>, thread: ThreadId) -> String {
        let all = (0..self.trace.count(reweave_trace::Space::Lock)).map(LockId::from_index);
        let held: Vec<String> = all
            .filter(|&lock| machine.holds(thread, lock))
            .map(|lock| event::clean(self.trace.lock_name(lock)).into_owned())
            .collect();
        match held.is_empty() {
            true => format!("{} holds no lock", self.name(thread)),
            false => format!("{} holds {}", self.name(thread), and(&held)),
        }
    }
}

fn lock_of(trace: &Trace, id: EventId) -> Option<LockId> {
    match trace.op(id) {
        Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => Some(lock),
        _ => None,
    }
}

fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
