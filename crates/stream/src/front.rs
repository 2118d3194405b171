//! The way from events to steps, with the check that they can have been observed.
//!
//! One pass, with state per thread, lock, object and pending notification; constant time an event, but for objects and
//! notifications. The rules are those of a whole trace (`docs/semantics.md`), each judged as soon as it can be: a join
//! that came too early when its thread runs again, a misnamed thread when the thread that is meant first runs. Values
//! are not looked at: no analysis here uses them.

mod locks;
mod notifications;
mod objects;
mod ordered;

use reweave_spec::{LiveCalls, Spec};
use reweave_trace::{Defect, Error, EventId, IllFormed, Kind, Names, Op, Rows, Space};

use crate::step::{Code, Step, at};
use locks::Locks;
use notifications::Notifications;
pub(crate) use objects::{Objects, Thing};
use ordered::Ordered;

const NONE: u32 = u32::MAX;

/// How many threads an analysis takes: clocks have an entry a thread, so that the square of this bounds the memory.
const MAX_THREADS: usize = 1 << 15;

/// What the first kinds are to the analyses: the accesses but for those of whole objects.
const ACCESSES: [Code; 5] = [Code::Read, Code::Write, Code::AtomicRead, Code::AtomicWrite, Code::Update];

/// Turns events into steps.
#[derive(Debug)]
pub(crate) struct Front {
    /// The number of events so far.
    events: u64,
    /// The thread of the last event.
    current: u32,
    /// Its last event.
    last: u32,
    threads: Vec<Thread>,
    locks: Locks,
    notifications: Notifications,
    pub(crate) facts: Facts,
    ordered: Ordered,
    views: Views,
}

/// What the events so far tell of names.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) objects: Objects,
    pub(crate) calls: LiveCalls,
}

/// Which views of calls the analyses want.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Views {
    /// Calls that commute may change places.
    pub(crate) commuting: bool,
    /// They keep their order.
    pub(crate) ordered: bool,
}

#[derive(Debug)]
struct Thread {
    runs: bool,
    ended: bool,
    forked: u32,
    /// The first join of it since its last event.
    joined: u32,
    /// The first fork or join of it.
    named: u32,
    /// Its last event, unless it is the current one.
    last: u32,
}

impl Default for Thread {
    fn default() -> Thread {
        Thread { runs: false, ended: false, forked: NONE, joined: NONE, named: NONE, last: NONE }
    }
}

/// A defect of the event at hand, unless it says of which.
struct Found {
    defect: Defect,
    at: Option<(u32, Op, u32)>,
    other: Option<u32>,
}

impl Found {
    fn here(defect: Defect) -> Found {
        Found { defect, at: None, other: None }
    }
}

impl Front {
    pub(crate) fn new(views: Views, spec: Spec) -> Front {
        Front {
            events: 0,
            current: NONE,
            last: NONE,
            threads: Vec::new(),
            locks: Locks::default(),
            notifications: Notifications::default(),
            facts: Facts { objects: Objects::default(), calls: LiveCalls::new(spec) },
            ordered: Ordered::default(),
            views,
        }
    }

    /// How many events there were.
    pub(crate) fn events(&self) -> u64 {
        self.events
    }

    /// Appends the steps of `rows`, the next events, to `steps`.
    pub(crate) fn steps(
        &mut self,
        names: &Names,
        rows: &Rows<'_>,
        steps: &mut Vec<Step>,
    ) -> Result<(), Error> {
        if self.events + rows.kinds.len() as u64 >= u64::from(NONE) {
            return Err(Error::TooMany { what: "events" });
        }
        if names.space(Space::Thread).len() > MAX_THREADS {
            return Err(Error::TooMany { what: "threads for an analysis, which takes 32,768" });
        }
        if !self.facts.objects.is_empty() {
            self.facts.objects.learn(names);
        }
        if self.views.commuting {
            self.facts.objects.name(names);
        }
        steps.reserve(rows.kinds.len());
        let columns = rows.kinds.iter().zip(rows.threads.iter()).zip(rows.targets).zip(rows.sites);
        for (((&kind, thread), &target), site) in columns {
            let event = self.events as u32;
            self.events += 1;
            let mut step = Step { event, thread: thread.0, target, site: site.0, code: Code::Read };
            // Most events are accesses by the thread that ran just before.
            if thread.0 == self.current
                && let Some(&code) = ACCESSES.get(kind as usize)
            {
                step.code = code;
                self.facts.objects.used(target);
                self.last = event;
                steps.push(step);
                continue;
            }
            if kind == Kind::Skip {
                continue;
            }
            let found = match kind {
                Kind::Look | Kind::Call | Kind::Unseen => self.ordered(names, kind, &step, steps),
                Kind::Busy if self.views.commuting => {
                    steps.push(Step { code: Code::Tried, ..step });
                    self.step(names, kind, &mut step)
                }
                Kind::Notify | Kind::NotifyAll if self.views.commuting => {
                    steps.push(Step { code: Code::Signal, ..step });
                    self.step(names, kind, &mut step)
                }
                Kind::Wait if self.views.commuting => {
                    // Which is its thread's last event is known only once that thread runs.
                    let condition = step.target;
                    let switched =
                        if step.thread == self.current { Ok(()) } else { self.switch(names, &step) };
                    let start = if self.last == NONE { event } else { self.last };
                    steps.push(Step { code: Code::Started, target: condition, event: start, ..step });
                    switched.and_then(|()| self.step(names, kind, &mut step))
                }
                _ => self.step(names, kind, &mut step),
            };
            self.last = event;
            match found {
                Ok(Some(code)) => {
                    step.code = code;
                    steps.push(step);
                }
                Ok(None) => {}
                Err(found) => return Err(ill_formed(names, kind, &step, found)),
            }
        }
        Ok(())
    }

    /// What an event is to the analyses, if anything.
    #[inline]
    fn step(&mut self, names: &Names, kind: Kind, step: &mut Step) -> Result<Option<Code>, Found> {
        if step.thread != self.current {
            self.switch(names, step)?;
        }
        match ACCESSES.get(kind as usize) {
            Some(&code) => {
                self.facts.objects.used(step.target);
                Ok(Some(code))
            }
            None => self.other(names, kind, step),
        }
    }

    fn other(&mut self, names: &Names, kind: Kind, step: &mut Step) -> Result<Option<Code>, Found> {
        let (thread, target) = (step.thread, step.target);
        match kind {
            Kind::Acquire | Kind::TryAcquire => self.locks.acquire(thread, target),
            Kind::Release => self.locks.release(thread, target),
            Kind::SharedAcquire => self.locks.acquire_shared(thread, target),
            Kind::SharedRelease => self.locks.release_shared(thread, target),
            Kind::Busy => self.locks.busy(step).map(Some),
            Kind::Fork => return self.fork(names, step).map(Some),
            Kind::Join => return self.join(names, step).map(Some),
            Kind::Notify | Kind::NotifyAll => {
                self.notify(step, kind == Kind::NotifyAll);
                Ok(Some(Code::Notify))
            }
            Kind::Wait => Ok(self.wait(step)),
            Kind::End => {
                // Whatever comes next has to be looked at, also if it is of the same thread.
                let thread = at(&mut self.threads, thread);
                (thread.ended, thread.last) = (true, step.event);
                self.current = NONE;
                Ok(None)
            }
            Kind::FailedAttempt => {
                self.facts.objects.used(target);
                Ok(Some(Code::Attempt))
            }
            Kind::Alloc | Kind::Free => self
                .facts
                .objects
                .lifetime(names, target, kind == Kind::Alloc)
                .map(|()| Some(if kind == Kind::Alloc { Code::Lifetime } else { Code::Free })),
            _ => Ok(None),
        }
        .map_err(Found::here)
    }

    /// The thread of `step` runs after another.
    fn switch(&mut self, names: &Names, step: &Step) -> Result<(), Found> {
        if self.current != NONE {
            at(&mut self.threads, self.current).last = self.last;
        }
        self.current = step.thread;
        let thread = at(&mut self.threads, step.thread);
        self.last = thread.last;
        if thread.ended {
            return Err(Found::here(Defect::AfterEnd));
        }
        if thread.joined != NONE {
            let join = thread.joined;
            let at = Some((join, Op::Join(reweave_trace::ThreadId(step.thread)), step.thread));
            return Err(Found { defect: Defect::EarlyJoin, at, other: Some(step.event) });
        }
        if !std::mem::replace(&mut thread.runs, true) {
            self.first_run(names, step.thread)?;
        }
        Ok(())
    }

    /// A thread called `T151` runs: forks and joins of `151`, which does not, meant it.
    #[cold]
    fn first_run(&mut self, names: &Names, thread: u32) -> Result<(), Found> {
        let table = names.space(Space::Thread);
        let number = table.get(thread).strip_prefix('T').filter(|name| is_number(name));
        let Some(other) = number.and_then(|name| table.find(name)) else { return Ok(()) };
        let state = at(&mut self.threads, other);
        if state.named == NONE || state.runs {
            return Ok(());
        }
        let at = Some((state.named, Op::Fork(reweave_trace::ThreadId(other)), thread));
        Err(Found { defect: Defect::MisnamedThread, at, other: None })
    }

    /// Refuses a fork or join of `151` where `T151` is the one that runs.
    fn named(&mut self, names: &Names, step: &Step) -> Result<(), Found> {
        let table = names.space(Space::Thread);
        if !at(&mut self.threads, step.target).runs && is_number(table.get(step.target)) {
            let meant = table.find(&format!("T{}", table.get(step.target)));
            if meant.is_some_and(|meant| at(&mut self.threads, meant).runs) {
                return Err(Found::here(Defect::MisnamedThread));
            }
        }
        let state = at(&mut self.threads, step.target);
        state.named = state.named.min(step.event);
        Ok(())
    }

    fn fork(&mut self, names: &Names, step: &Step) -> Result<Code, Found> {
        self.named(names, step)?;
        let child = at(&mut self.threads, step.target);
        if child.forked != NONE {
            return Err(Found { defect: Defect::SecondFork, at: None, other: Some(child.forked) });
        }
        if child.runs || step.target == step.thread {
            return Err(Found::here(Defect::ForkAfterEvents));
        }
        if child.joined != NONE {
            let at = Some((child.joined, Op::Join(reweave_trace::ThreadId(step.target)), step.thread));
            return Err(Found { defect: Defect::EarlyJoin, at, other: Some(step.event) });
        }
        child.forked = step.event;
        Ok(Code::Fork)
    }

    fn join(&mut self, names: &Names, step: &Step) -> Result<Code, Found> {
        if step.target == step.thread {
            return Err(Found::here(Defect::EarlyJoin));
        }
        self.named(names, step)?;
        let child = at(&mut self.threads, step.target);
        child.joined = child.joined.min(step.event);
        Ok(Code::Join)
    }

    fn notify(&mut self, step: &mut Step, all: bool) {
        let (condition, event) = (step.target, step.event);
        at(&mut self.threads, step.thread).last = event;
        let lasts = self.threads.iter().filter(|thread| thread.joined == NONE).map(|thread| thread.last);
        step.target = self.notifications.add(condition, event, all, lasts);
    }

    fn wait(&mut self, step: &mut Step) -> Option<Code> {
        // A wait that is its thread's first event starts at itself.
        let start = if self.last == NONE { step.event } else { self.last };
        match self.notifications.take(step.target, start) {
            notifications::Taken::Slot(slot) => {
                step.target = slot;
                Some(Code::Wake)
            }
            notifications::Taken::Missed => Some(Code::Missed),
            notifications::Taken::Nothing => None,
        }
    }
}

fn is_number(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
}

/// The refusal of a trace, in the words of one that is loaded whole.
#[cold]
fn ill_formed(names: &Names, kind: Kind, step: &Step, found: Found) -> Error {
    let here = (step.event, Op::new(kind, step.target), step.thread);
    let (event, op, thread) = found.at.unwrap_or(here);
    let thread = names.space(Space::Thread).get(thread);
    let target = op.kind().space().map_or("", |space| names.space(space).get(op.target()));
    let message = match found.defect {
        Defect::MisnamedThread => {
            format!("fork or join of `{target}`, but that thread is called `T{target}`")
        }
        Defect::SecondFork => format!("second fork of thread `{target}`"),
        Defect::ForkAfterEvents => format!("fork of thread `{target}`, which has run already"),
        Defect::BeforeFork => format!("`{thread}` runs before its fork"),
        Defect::EarlyJoin => format!("join of thread `{target}`, which still runs afterwards"),
        Defect::AfterEnd => format!("`{thread}` runs on after its `end`"),
        Defect::HeldByAnother => format!("`{thread}` acquires lock `{target}`, which another thread holds"),
        Defect::ReleaseWithoutAcquire => format!("`{thread}` releases lock `{target}` without holding it"),
        Defect::BusyWithoutHolder => format!("lock `{target}` is busy, but no other thread holds it"),
        Defect::SecondAlloc => format!("second alloc of `{target}`: each allocation is a new object"),
        Defect::UseBeforeAlloc => format!("alloc of `{target}`, which was used before"),
        Defect::SecondFree => format!("second free of `{target}`"),
        other => other.to_string(),
    };
    let other = found.other.map(EventId);
    Error::IllFormed(IllFormed { event: EventId(event), other, defect: found.defect, message })
}
