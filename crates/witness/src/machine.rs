//! The machine: runs a schedule's events one after another, by the rules of `docs/semantics.md`.

use hashbrown::{HashMap, HashSet};
use reweave_trace::{
    ConditionId, Dependences, EventId, Holds, Kind, Links, LockId, Memory, Model, Op, ProgramOrder, Space,
    ThreadId, Trace,
};

/// Why an event cannot be the next step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The trace has no event at this position.
    #[error("the trace has no event there")]
    NoEvent,
    /// The event has run already.
    #[error("it has run already")]
    AlreadyRan,
    /// The thread has an earlier event that has not run.
    #[error("event {} of its thread has to come first", .next.0)]
    NotNext {
        /// The event that is next in the thread.
        next: EventId,
    },
    /// The thread has not been forked yet.
    #[error("its thread has not been forked yet, by event {}", .fork.0)]
    NotForked {
        /// The fork.
        fork: EventId,
    },
    /// The joined thread has not started or has not run all its events.
    #[error("the joined thread has not ended")]
    NotEnded,
    /// The joined thread may have gone another way, because it has read something new.
    #[error("the joined thread has observed something new, at event {}, and may not end as it did", .read.0)]
    JoinsTainted {
        /// The unclean read.
        read: EventId,
    },
    /// Another thread holds the lock.
    #[error("another thread holds the lock")]
    Locked,
    /// No other thread holds the lock that the attempt failed at.
    #[error("no other thread holds the lock, so the attempt would not fail")]
    NotBusy,
    /// The notification that woke the wait has not run.
    #[error("event {}, which woke the wait, has not run", .waker.0)]
    NotWoken {
        /// The notification.
        waker: EventId,
    },
    /// The notification that woke the wait ran before the wait started.
    #[error("event {}, which woke the wait, ran before the wait started: the wake-up is lost", .waker.0)]
    WokenTooEarly {
        /// The notification.
        waker: EventId,
    },
    /// The update would observe something new.
    #[error("the update would not observe what it did")]
    UncleanUpdate,
    /// The event may depend on something new that was read, and the model does not let it run.
    #[error("it may depend on event {}, which observed something new", .read.0)]
    Tainted {
        /// The unclean read.
        read: EventId,
    },
}

/// The state after some steps of a schedule.
#[derive(Clone, Debug)]
pub struct Machine<'t> {
    trace: &'t Trace,
    links: &'t Links,
    order: &'t ProgramOrder,
    model: Model,
    dependences: Option<&'t Dependences>,
    /// How many steps have run.
    time: u32,
    threads: Vec<Thread>,
    holds: Holds,
    memory: Memory,
    tainted_writes: HashSet<EventId>,
    /// The reads, and waits, that observed something new. The `dep` models keep them instead of tainted threads.
    unclean: HashSet<EventId>,
    /// When each notification ran.
    notified: HashMap<EventId, u32>,
    /// When each condition variable was notified last.
    last_notified: HashMap<ConditionId, u32>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Thread {
    /// How many of its events have run.
    ran: usize,
    /// When the last of them ran.
    last_step: u32,
    /// The first unclean read.
    tainted: Option<EventId>,
    /// Whether its recorded end has run.
    ended: bool,
}

impl<'t> Machine<'t> {
    /// Nothing has run. `links` and `order` are those of `trace`; the `dep` models take a table of dependences.
    pub fn new(
        trace: &'t Trace,
        links: &'t Links,
        order: &'t ProgramOrder,
        model: Model,
        dependences: Option<&'t Dependences>,
    ) -> Machine<'t> {
        Machine {
            trace,
            links,
            order,
            model,
            dependences,
            time: 0,
            threads: vec![Thread::default(); trace.count(Space::Thread)],
            holds: Holds::new(),
            memory: Memory::new(),
            tainted_writes: HashSet::new(),
            unclean: HashSet::new(),
            notified: HashMap::new(),
            last_notified: HashMap::new(),
        }
    }

    /// Runs `event`, if it can be the next step.
    pub fn step(&mut self, event: EventId) -> Result<(), Refusal> {
        self.may_run(event)?;
        self.lock_permits(event)?;
        self.run(event);
        Ok(())
    }

    /// How many steps have run.
    pub fn steps(&self) -> usize {
        self.time as usize
    }

    /// Whether `event` may run: it could be the next step, locks aside where it is an acquire.
    pub fn may_run(&self, event: EventId) -> Result<(), Refusal> {
        self.is_next(event)?;
        self.model_permits(event)?;
        let thread = self.trace.thread(event);
        match self.trace.op(event) {
            Op::Join(child) => self.has_ended(child),
            Op::Busy(lock) if !self.holds.held_elsewhere(thread, lock) => Err(Refusal::NotBusy),
            Op::Wait(_) => self.has_been_woken(event),
            Op::Update(_) if !self.would_be_clean(event) => Err(Refusal::UncleanUpdate),
            _ => Ok(()),
        }
    }

    /// Whether `event`, an acquire, is blocked by a hold of `thread`.
    pub fn is_blocked_by(&self, event: EventId, thread: ThreadId) -> bool {
        let exclusive = |lock: LockId| self.holds.exclusive_depth(thread, lock) > 0;
        thread != self.trace.thread(event)
            && match self.trace.op(event) {
                Op::Acquire(lock) => exclusive(lock) || self.holds.shared_depth(thread, lock) > 0,
                Op::SharedAcquire(lock) => exclusive(lock),
                _ => false,
            }
    }

    /// The threads whose recorded end has run.
    pub fn ended_threads(&self) -> impl Iterator<Item = ThreadId> {
        let ended = self.threads.iter().enumerate().filter(|(_, thread)| thread.ended);
        ended.map(|(index, _)| ThreadId::from_index(index))
    }

    /// Whether `event` has run.
    pub fn has_run(&self, event: EventId) -> bool {
        // A thread's events have increasing ids.
        self.next(self.trace.thread(event)).is_none_or(|next| event < next)
    }

    /// The read that tainted a thread.
    pub(crate) fn taint(&self, thread: ThreadId) -> Option<EventId> {
        self.threads[thread.index()].tainted
    }

    fn next(&self, thread: ThreadId) -> Option<EventId> {
        self.order.of(thread).get(self.threads[thread.index()].ran).copied()
    }

    fn is_next(&self, event: EventId) -> Result<(), Refusal> {
        if event.index() >= self.trace.len() || self.trace.kind(event) == Kind::Skip {
            return Err(Refusal::NoEvent);
        }
        let thread = self.trace.thread(event);
        match self.next(thread) {
            Some(next) if next == event => self.has_started(thread),
            Some(next) if next < event => Err(Refusal::NotNext { next }),
            _ => Err(Refusal::AlreadyRan),
        }
    }

    fn has_started(&self, thread: ThreadId) -> Result<(), Refusal> {
        match self.links.fork(thread) {
            Some(fork) if !self.has_run(fork) => Err(Refusal::NotForked { fork }),
            _ => Ok(()),
        }
    }

    fn has_ended(&self, thread: ThreadId) -> Result<(), Refusal> {
        if self.has_started(thread).is_err() || self.next(thread).is_some() {
            return Err(Refusal::NotEnded);
        }
        let read = if self.model.by_dependence() {
            self.first_unclean(|table| table.end_needs(thread))
        } else {
            self.threads[thread.index()].tainted
        };
        read.map_or(Ok(()), |read| Err(Refusal::JoinsTainted { read }))
    }

    fn model_permits(&self, event: EventId) -> Result<(), Refusal> {
        let tainted = self.threads[self.trace.thread(event).index()].tainted;
        let obstacle = match self.model {
            Model::Sync => None,
            Model::Rf | Model::Value => tainted,
            Model::Branch | Model::BranchValue => {
                tainted.filter(|_| !self.trace.kind(event).is_transparent())
            }
            Model::Dep | Model::DepValue => self.first_unclean(|table| table.needs(event)),
        };
        obstacle.map_or(Ok(()), |read| Err(Refusal::Tainted { read }))
    }

    fn first_unclean(&self, reads: impl Fn(&'t Dependences) -> &'t [EventId]) -> Option<EventId> {
        self.dependences.map_or(&[][..], reads).iter().copied().find(|read| self.unclean.contains(read))
    }

    fn lock_permits(&self, event: EventId) -> Result<(), Refusal> {
        let thread = self.trace.thread(event);
        let blocked = match self.trace.op(event) {
            Op::Acquire(lock) | Op::TryAcquire(lock) => self.holds.held_elsewhere(thread, lock),
            Op::SharedAcquire(lock) => self.holds.exclusive_elsewhere(thread, lock),
            _ => false,
        };
        if blocked { Err(Refusal::Locked) } else { Ok(()) }
    }

    fn has_been_woken(&self, wait: EventId) -> Result<(), Refusal> {
        let Some(waker) = self.links.wait(wait).and_then(|link| link.waker) else { return Ok(()) };
        match self.notified.get(&waker) {
            None => Err(Refusal::NotWoken { waker }),
            Some(&time) if time < self.start_of_wait(wait) => Err(Refusal::WokenTooEarly { waker }),
            Some(_) => Ok(()),
        }
    }

    /// When the wait that is next in its thread started: at the last step of the thread, or now if it has none.
    fn start_of_wait(&self, wait: EventId) -> u32 {
        let thread = self.threads[self.trace.thread(wait).index()];
        if thread.ran == 0 { self.time } else { thread.last_step }
    }

    /// Whether a read in the place of `event` would be clean now.
    fn would_be_clean(&self, event: EventId) -> bool {
        if self.model == Model::Sync {
            return true;
        }
        let Some(access) = self.trace.op(event).access() else { return true };
        let seen = self.memory.last_write(self.trace.objects(), access.variable);
        if seen.is_some_and(|write| self.tainted_writes.contains(&write)) {
            return false;
        }
        if seen == self.links.observed(event) {
            return true;
        }
        let value = match seen {
            Some(write) => self.trace.values(write).written,
            None => self.links.initial_value(access.variable),
        };
        self.model.by_value() && value.is_some() && value == self.trace.values(event).read
    }

    fn run(&mut self, event: EventId) {
        let (thread, op) = (self.trace.thread(event), self.trace.op(event));
        match op {
            Op::Read(_) | Op::AtomicRead(_) if !self.would_be_clean(event) => self.set_taint(thread, event),
            Op::Acquire(lock) | Op::TryAcquire(lock) => self.holds.acquire(thread, lock),
            Op::SharedAcquire(lock) => self.holds.acquire_shared(thread, lock),
            Op::Release(lock) => self.holds.release(thread, lock),
            Op::SharedRelease(lock) => self.holds.release_shared(thread, lock),
            Op::Wait(condition) if self.observes_new_notification(event, condition) => {
                self.set_taint(thread, event);
            }
            Op::End => self.threads[thread.index()].ended = true,
            _ => {}
        }
        self.time += 1;
        if let Op::Notify(condition) | Op::NotifyAll(condition) = op {
            self.notified.insert(event, self.time);
            self.last_notified.insert(condition, self.time);
        }
        self.run_write(event, thread, op);
        let thread = &mut self.threads[thread.index()];
        thread.ran += 1;
        thread.last_step = self.time;
    }

    fn run_write(&mut self, event: EventId, thread: ThreadId, op: Op) {
        let Some(access) = op.access().filter(|access| access.writes) else { return };
        if access.lifetime {
            self.memory.write_object(access.variable, event);
        } else {
            self.memory.write(access.variable, event);
        }
        let tainted = if self.model.by_dependence() {
            self.first_unclean(|table| table.feeds(event)).is_some()
        } else {
            self.threads[thread.index()].tainted.is_some()
        };
        if tainted {
            self.tainted_writes.insert(event);
        }
    }

    /// Whether a wait that nothing woke in the trace now sees a notification since its start.
    fn observes_new_notification(&self, wait: EventId, condition: ConditionId) -> bool {
        let woken = self.links.wait(wait).is_some_and(|link| link.waker.is_some());
        let notified = self.last_notified.get(&condition).is_some_and(|&at| at > self.start_of_wait(wait));
        self.model != Model::Sync && !woken && notified
    }

    fn set_taint(&mut self, thread: ThreadId, read: EventId) {
        self.unclean.insert(read);
        self.threads[thread.index()].tainted.get_or_insert(read);
    }
}
