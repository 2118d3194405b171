//! The machine: runs a schedule's events one after another, by the rules of `docs/semantics.md`.

mod taint;

use hashbrown::{HashMap, HashSet};

use crate::Refusal;
use reweave_trace::{
    ConditionId, Dependences, EventId, EventValues, Holds, Kind, Links, LockId, Memory, Model, Op,
    ProgramOrder, Space, ThreadId, Trace, ValueId, VarId,
};

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
    /// The reads that observed something new. The `dep` models keep them instead of tainted threads.
    unclean: HashSet<EventId>,
    /// When each notification ran.
    notified: HashMap<EventId, u32>,
    /// When each condition variable was notified last.
    last_notified: HashMap<ConditionId, u32>,
    /// The latest look, in observed order, at each clock that has run.
    looks: HashMap<VarId, EventId>,
    /// The call that may go ahead of some that came before it.
    ahead: Option<EventId>,
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
            looks: HashMap::new(),
            ahead: None,
        }
    }

    /// Lets `call` go ahead of the calls before it that it is known to be able to overtake. What it returns then, and what is left of
    /// its objects, is not known: no other call on them runs any more, and its thread stops there unless it is void.
    pub(crate) fn let_go_ahead(&mut self, call: EventId) {
        self.ahead = Some(call);
    }

    /// Whether `event` could be the next step but for the call that went ahead.
    pub(crate) fn may_run_too_late(&self, event: EventId) -> Result<(), Refusal> {
        let mut without = self.clone();
        without.ahead = None;
        if self.ahead.is_some_and(|ahead| self.trace.thread(ahead) == self.trace.thread(event)) {
            return Err(Refusal::StoppedAhead);
        }
        without.may_run(event)
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
        self.goes_on_after_ahead(event)?;
        let thread = self.trace.thread(event);
        match self.trace.op(event) {
            Op::Join(child) => self.has_ended(child),
            Op::Busy(lock) if !self.would_be_busy(event, thread, lock) => Err(Refusal::NotBusy),
            Op::Wait(_) => self.has_been_woken(event),
            Op::Call(_) => self.calls_before_have_run(event),
            Op::Update(_) if !self.would_be_clean(event) => Err(Refusal::UncleanUpdate),
            Op::FailedAttempt(_) if !self.would_be_clean(event) && !self.would_fail(event) => {
                Err(Refusal::UncleanAttempt)
            }
            Op::Look(clock) => self.is_latest_look(event, clock),
            Op::Unseen(_) => self.all_before_have_run(event),
            _ => Ok(()),
        }
    }

    /// Whether another thread's hold makes an attempt fail: an exclusive one, where it failed of that.
    fn would_be_busy(&self, event: EventId, thread: ThreadId, lock: LockId) -> bool {
        if self.links.failed_exclusively(event) {
            return self.holds.exclusive_elsewhere(thread, lock);
        }
        self.holds.held_elsewhere(thread, lock)
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

    /// The next event of a thread; none where all of them have run.
    pub fn next(&self, thread: ThreadId) -> Option<EventId> {
        self.order.of(thread).get(self.threads[thread.index()].ran).copied()
    }

    /// Whether `thread` holds `lock`, in any way.
    pub fn holds(&self, thread: ThreadId, lock: LockId) -> bool {
        self.holds.exclusive_depth(thread, lock) > 0 || self.holds.shared_depth(thread, lock) > 0
    }

    /// The last write of `variable`; none where the initial value is still there.
    pub fn last_write(&self, variable: VarId) -> Option<EventId> {
        self.memory.last_write(self.trace.objects(), variable)
    }

    /// The value of `variable`, where the trace gives it and no changed observation can have led to another.
    pub fn value(&self, variable: VarId) -> Option<ValueId> {
        let write = self.last_write(variable);
        let tainted = write.is_some_and(|write| self.tainted_writes.contains(&write));
        self.value_left(write, variable).filter(|_| !tainted)
    }

    pub(crate) fn trace(&self) -> &'t Trace {
        self.trace
    }

    pub(crate) fn links(&self) -> &'t Links {
        self.links
    }

    pub(crate) fn order(&self) -> &'t ProgramOrder {
        self.order
    }

    /// The last write of what `read` reads.
    pub(crate) fn last_write_of(&self, read: EventId) -> Option<EventId> {
        let access = self.trace.op(read).access()?;
        self.memory.last_write(self.trace.objects(), access.variable)
    }

    pub(crate) fn is_next(&self, event: EventId) -> Result<(), Refusal> {
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

    pub(crate) fn has_started(&self, thread: ThreadId) -> Result<(), Refusal> {
        match self.links.fork(thread) {
            Some(fork) if !self.has_run(fork) => Err(Refusal::NotForked { fork }),
            _ => Ok(()),
        }
    }

    pub(crate) fn has_ended(&self, thread: ThreadId) -> Result<(), Refusal> {
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

    pub(crate) fn model_permits(&self, event: EventId) -> Result<(), Refusal> {
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

    pub(crate) fn lock_permits(&self, event: EventId) -> Result<(), Refusal> {
        let thread = self.trace.thread(event);
        let blocked = match self.trace.op(event) {
            Op::Acquire(lock) | Op::TryAcquire(lock) => self.holds.held_elsewhere(thread, lock),
            Op::SharedAcquire(lock) => self.holds.exclusive_elsewhere(thread, lock),
            _ => false,
        };
        if blocked { Err(Refusal::Locked) } else { Ok(()) }
    }

    pub(crate) fn has_been_woken(&self, wait: EventId) -> Result<(), Refusal> {
        let Some(waker) = self.links.wait(wait).and_then(|link| link.waker) else {
            let Op::Wait(condition) = self.trace.op(wait) else { return Ok(()) };
            let woken = self.model != Model::Sync && self.notified_since_start(wait, condition);
            return if woken { Err(Refusal::WouldBeWoken) } else { Ok(()) };
        };
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
        let value = self.value_left(seen, access.variable);
        self.model.by_value() && value.is_some() && value == self.trace.values(event).read
    }

    /// The value that `write` left in `variable`, or its initial one, where it is known.
    fn value_left(&self, write: Option<EventId>, variable: VarId) -> Option<ValueId> {
        match write {
            Some(write) => self.trace.values(write).written,
            None => self.links.initial_value(variable),
        }
    }

    /// Whether an attempt that failed, whatever it would observe now, is known to fail: the value there, which is not
    /// tainted, is not the one that it needs.
    fn would_fail(&self, event: EventId) -> bool {
        let Some(access) = self.trace.op(event).access() else { return false };
        let seen = self.memory.last_write(self.trace.objects(), access.variable);
        let tainted = seen.is_some_and(|write| self.tainted_writes.contains(&write));
        let value = self.value_left(seen, access.variable);
        let EventValues { read, written: expected } = self.trace.values(event);
        // One that failed at the very value it expected failed for another reason, which is not known.
        let by_value = read.is_some() && expected.is_some() && read != expected;
        self.model.by_value() && by_value && !tainted && value.is_some() && value != expected
    }

    fn calls_before_have_run(&self, call: EventId) -> Result<(), Refusal> {
        if self.model == Model::Sync {
            return Ok(());
        }
        let tainted = self.model.by_dependence().then(|| self.first_unclean(|table| table.feeds(call)));
        if let Some(read) = tainted.flatten() {
            return Err(Refusal::TaintedArguments { read });
        }
        let before = match self.ahead == Some(call) {
            true => self.links.firmly_before(call),
            false => self.links.calls_before(call),
        };
        let missing = before.iter().copied().find(|&earlier| !self.has_run(earlier));
        missing.map_or(Ok(()), |earlier| Err(Refusal::CallTooEarly { earlier }))
    }

    /// Whether the call that went ahead lets `event` run.
    fn goes_on_after_ahead(&self, event: EventId) -> Result<(), Refusal> {
        let ahead = self.ahead.filter(|&ahead| ahead != event && self.has_run(ahead));
        let Some(ahead) = ahead.filter(|_| self.model != Model::Sync) else { return Ok(()) };
        let void = self.links.call(ahead).is_some_and(|link| link.void);
        if !void && self.trace.thread(ahead) == self.trace.thread(event) {
            return Err(Refusal::StoppedAhead);
        }
        match (self.trace.op(event), self.trace.op(ahead)) {
            (Op::Call(one), Op::Call(other)) if self.links.call_objects().meet(one, other) => {
                Err(Refusal::CallAfterAhead { ahead })
            }
            _ => Ok(()),
        }
    }

    fn is_latest_look(&self, event: EventId, clock: VarId) -> Result<(), Refusal> {
        match self.looks.get(&clock) {
            Some(&later) if later > event => Err(Refusal::LookedAlready { later }),
            _ => Ok(()),
        }
    }

    fn all_before_have_run(&self, event: EventId) -> Result<(), Refusal> {
        let threads = (0..self.threads.len()).map(ThreadId::from_index);
        let missing = threads.filter_map(|thread| self.next(thread)).min().filter(|&next| next < event);
        missing.map_or(Ok(()), |missing| Err(Refusal::UnseenTooEarly { missing }))
    }

    fn run(&mut self, event: EventId) {
        let (thread, op) = (self.trace.thread(event), self.trace.op(event));
        match op {
            Op::Read(_) | Op::AtomicRead(_) | Op::FailedAttempt(_) if !self.would_be_clean(event) => {
                self.set_taint(thread, event);
            }
            Op::Look(clock) => {
                self.looks.insert(clock, event);
            }
            Op::Acquire(lock) | Op::TryAcquire(lock) => self.holds.acquire(thread, lock),
            Op::SharedAcquire(lock) => self.holds.acquire_shared(thread, lock),
            Op::Release(lock) => self.holds.release(thread, lock),
            Op::SharedRelease(lock) => self.holds.release_shared(thread, lock),
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

    /// What the event leaves behind, if it writes.
    fn run_write(&mut self, event: EventId, thread: ThreadId, op: Op) {
        match op.access().filter(|access| access.writes) {
            Some(access) if access.lifetime => self.memory.write_object(access.variable, event),
            Some(access) => self.memory.write(access.variable, event),
            None => return,
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

    /// Whether the condition variable of a wait that is next in its thread was notified since that started.
    pub(crate) fn notified_since_start(&self, wait: EventId, condition: ConditionId) -> bool {
        self.last_notified.get(&condition).is_some_and(|&at| at > self.start_of_wait(wait))
    }

    fn set_taint(&mut self, thread: ThreadId, read: EventId) {
        self.unclean.insert(read);
        self.threads[thread.index()].tainted.get_or_insert(read);
    }
}
