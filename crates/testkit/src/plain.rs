//! The law without a state: everything is looked up in the schedule so far, as the definitions say.
//!
//! Slow on purpose. It shares nothing with the oracle but the text of the law, and checks it on tiny traces.

use reweave_trace::{ConditionId, Dependences, EventId, Kind, LockId, Model, Op, ThreadId, Trace, ValueId};

/// A trace and a model, to judge schedules by.
#[derive(Clone, Copy, Debug)]
pub struct Plain<'a> {
    trace: &'a Trace,
    model: Model,
    dependences: Option<&'a Dependences>,
    /// The events of the trace, in observed order.
    observed: &'a [EventId],
}

/// What became of one step of a schedule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mark {
    /// It was a read that observed something new.
    unclean: bool,
    /// What it wrote is tainted.
    tainted: bool,
}

impl<'a> Plain<'a> {
    /// `observed` is every event of `trace` in order, skipped positions left out; `dependences` is given for the
    /// dependence models.
    pub fn new(
        trace: &'a Trace,
        observed: &'a [EventId],
        model: Model,
        dependences: Option<&'a Dependences>,
    ) -> Plain<'a> {
        Plain { trace, model, dependences, observed }
    }

    /// Calls `visit` with every feasible schedule, once each.
    pub fn visit_all(&self, visit: &mut impl FnMut(&Plain<'a>, &[EventId])) {
        self.visit_from(&mut Vec::new(), visit);
    }

    fn visit_from(&self, done: &mut Vec<EventId>, visit: &mut impl FnMut(&Plain<'a>, &[EventId])) {
        visit(self, done);
        for &event in self.observed {
            if self.may_run(done, event) && self.blockers(done, event).is_empty() {
                done.push(event);
                self.visit_from(done, visit);
                done.pop();
            }
        }
    }

    /// Runs one schedule; the error is the index of the first step that is refused.
    pub fn accepts(&self, schedule: &[EventId]) -> Result<(), usize> {
        let refused = |&step: &usize| {
            let (done, event) = (&schedule[..step], schedule[step]);
            !self.may_run(done, event) || !self.blockers(done, event).is_empty()
        };
        (0..schedule.len()).find(refused).map_or(Ok(()), Err)
    }

    /// Whether `event` may be next after `done`, locks aside for acquires.
    pub fn may_run(&self, done: &[EventId], event: EventId) -> bool {
        let thread = self.trace.thread(event);
        let position = done.iter().filter(|&&e| self.trace.thread(e) == thread).count();
        if self.trace.kind(event) == Kind::Skip || self.of_thread(thread).nth(position) != Some(event) {
            return false;
        }
        self.started(done, thread)
            && self.model_permits(done, event)
            && match self.trace.op(event) {
                Op::Join(joined) => self.joinable(done, joined),
                Op::Wait(condition) => self.may_return(done, event, condition),
                Op::Busy(lock) => self.is_busy(done, event, lock),
                Op::Update(_) => self.model == Model::Sync || self.clean(done, event),
                Op::FailedAttempt(_) => {
                    self.model == Model::Sync || self.clean(done, event) || self.fails(done, event)
                }
                Op::Look(_) => !done.iter().any(|&e| e > event && self.trace.op(e) == self.trace.op(event)),
                Op::Unseen(_) => self.observed.iter().all(|&e| e >= event || done.contains(&e)),
                Op::Call(_) => self.model == Model::Sync || self.in_order_of_calls(done, event),
                _ => true,
            }
    }

    /// Whether another thread's hold makes an attempt fail after `done`: an exclusive one, where that is what it met in σ.
    fn is_busy(&self, done: &[EventId], event: EventId, lock: LockId) -> bool {
        let held = |done: &[EventId], shared: bool| {
            self.other_threads(self.trace.thread(event))
                .any(|other| self.depth(done, other, lock, shared) > 0)
        };
        let before: Vec<EventId> = self.observed.iter().copied().filter(|&other| other < event).collect();
        held(done, false) || !held(&before, false) && held(done, true)
    }

    /// The threads whose holds block an acquire after `done`.
    pub fn blockers(&self, done: &[EventId], event: EventId) -> Vec<ThreadId> {
        let holds = |other: ThreadId| match self.trace.op(event) {
            Op::Acquire(lock) | Op::TryAcquire(lock) => {
                self.depth(done, other, lock, false) > 0 || self.depth(done, other, lock, true) > 0
            }
            Op::SharedAcquire(lock) => self.depth(done, other, lock, false) > 0,
            _ => false,
        };
        self.other_threads(self.trace.thread(event)).filter(|&other| holds(other)).collect()
    }

    /// Whether the two events conflict.
    pub fn conflict(&self, a: EventId, b: EventId) -> bool {
        let plain = [Kind::Read, Kind::Write, Kind::Alloc, Kind::Free];
        let atomic = |e| !plain.contains(&self.trace.kind(e));
        let meet = |a: EventId, b: EventId| {
            self.variable(b).is_some_and(|name| self.writes(a, name))
                || self.variable(a).is_some_and(|name| self.writes(a, name) && self.writes(b, name))
        };
        self.trace.thread(a) != self.trace.thread(b)
            && (meet(a, b) || meet(b, a))
            && !(atomic(a) && atomic(b))
    }

    /// The name of the variable or object that an event is about.
    fn variable(&self, event: EventId) -> Option<&'a str> {
        let op = self.trace.op(event);
        op.access().and_then(|_| self.trace.target_name(op))
    }

    /// Whether an event writes the variable called `name`.
    fn writes(&self, event: EventId, name: &str) -> bool {
        match (self.trace.kind(event), self.variable(event)) {
            (Kind::Write | Kind::AtomicWrite | Kind::Update | Kind::Unseen, Some(written)) => written == name,
            (Kind::Alloc | Kind::Free, Some(object)) => {
                name == object || name.starts_with(&format!("{object}."))
            }
            _ => false,
        }
    }

    fn of_thread(&self, thread: ThreadId) -> impl Iterator<Item = EventId> {
        self.observed.iter().copied().filter(move |&e| self.trace.thread(e) == thread)
    }

    fn other_threads(&self, thread: ThreadId) -> impl Iterator<Item = ThreadId> {
        let count = self.trace.count(reweave_trace::Space::Thread);
        (0..count).map(ThreadId::from_index).filter(move |&other| other != thread)
    }

    fn started(&self, done: &[EventId], thread: ThreadId) -> bool {
        let fork = self.observed.iter().find(|&&e| self.trace.op(e) == Op::Fork(thread));
        fork.is_none_or(|fork| done.contains(fork))
    }

    fn joinable(&self, done: &[EventId], joined: ThreadId) -> bool {
        let clean = match (self.model, self.dependences) {
            (Model::Sync, _) => true,
            (Model::Dep | Model::DepValue, Some(table)) => self.all_clean(done, table.end_needs(joined)),
            _ => !self.thread_tainted(done, joined),
        };
        self.started(done, joined) && self.of_thread(joined).all(|e| done.contains(&e)) && clean
    }

    fn model_permits(&self, done: &[EventId], event: EventId) -> bool {
        let clean = || !self.thread_tainted(done, self.trace.thread(event));
        match (self.model, self.dependences) {
            (Model::Sync, _) => true,
            (Model::Rf | Model::Value, _) => clean(),
            (Model::Branch | Model::BranchValue, _) => {
                let name = crate::text::OPERATIONS.iter().find(|(_, kind)| *kind == self.trace.kind(event));
                let transparent = ["r", "w", "ar", "aw", "acq", "tryacq", "rel", "racq", "rrel"];
                name.is_some_and(|(name, _)| transparent.contains(name)) || clean()
            }
            (Model::Dep | Model::DepValue, table) => {
                table.is_none_or(|table| self.all_clean(done, table.needs(event)))
            }
        }
    }

    /// How often `thread` holds one side of `lock` after `done`.
    fn depth(&self, done: &[EventId], thread: ThreadId, lock: LockId, shared: bool) -> i32 {
        let change = |&e: &EventId| match self.trace.op(e) {
            Op::Acquire(l) | Op::TryAcquire(l) if l == lock && !shared => 1,
            Op::Release(l) if l == lock && !shared => -1,
            Op::SharedAcquire(l) if l == lock && shared => 1,
            Op::SharedRelease(l) if l == lock && shared => -1,
            _ => 0,
        };
        done.iter().filter(|&&e| self.trace.thread(e) == thread).map(change).sum()
    }

    /// The event that a wait starts at.
    fn start(&self, wait: EventId) -> EventId {
        self.of_thread(self.trace.thread(wait)).take_while(|&e| e != wait).last().unwrap_or(wait)
    }

    /// The notification that woke a wait in the trace.
    fn waker(&self, wait: EventId, condition: ConditionId) -> Option<EventId> {
        let start = self.start(wait);
        let earlier = self.observed.iter().filter(|&&e| e < wait && self.trace.op(e) == Op::Wait(condition));
        let taken: Vec<EventId> = earlier.filter_map(|&e| self.waker(e, condition)).collect();
        let wakes = |&&e: &&EventId| {
            start < e
                && e < wait
                && (self.trace.op(e) == Op::NotifyAll(condition)
                    || self.trace.op(e) == Op::Notify(condition) && !taken.contains(&e))
        };
        self.observed.iter().find(wakes).copied()
    }

    fn may_return(&self, done: &[EventId], wait: EventId, condition: ConditionId) -> bool {
        let place = |event: EventId| done.iter().position(|&e| e == event);
        match self.waker(wait, condition) {
            None => self.model == Model::Sync || !self.missed(done, wait, condition),
            Some(waker) => {
                place(waker).is_some_and(|waker| place(self.start(wait)).is_some_and(|s| s < waker))
            }
        }
    }

    fn thread_tainted(&self, done: &[EventId], thread: ThreadId) -> bool {
        let marks = self.marks(done);
        done.iter().zip(marks).any(|(&e, mark)| self.trace.thread(e) == thread && mark.unclean)
    }

    fn all_clean(&self, done: &[EventId], reads: &[EventId]) -> bool {
        let marks = self.marks(done);
        !done.iter().zip(marks).any(|(e, mark)| reads.contains(e) && mark.unclean)
    }

    /// Whether `event`, a read or update, would be clean after `done`.
    fn clean(&self, done: &[EventId], event: EventId) -> bool {
        self.clean_after(done, &self.marks(done), event)
    }

    fn clean_after(&self, done: &[EventId], marks: &[Mark], event: EventId) -> bool {
        let Some(name) = self.variable(event) else { return true };
        let last = |events: &[EventId]| events.iter().rposition(|&e| self.writes(e, name));
        let before: Vec<EventId> = self.observed.iter().copied().filter(|&e| e < event).collect();
        let (then, now) = (last(&before).map(|i| before[i]), last(done).map(|i| done[i]));
        let found = match now {
            Some(write) => self.trace.values(write).written,
            None => self.initial(name),
        };
        let read = self.trace.values(event).read;
        let same_value = self.model.by_value() && read.is_some() && read == found;
        !last(done).is_some_and(|i| marks[i].tainted) && (then == now || same_value)
    }

    /// Whether `event`, an attempt that failed, is known to fail again after `done`.
    fn fails(&self, done: &[EventId], event: EventId) -> bool {
        let Some(name) = self.variable(event) else { return false };
        let last = done.iter().rposition(|&e| self.writes(e, name));
        let found = match last {
            Some(write) => self.trace.values(done[write]).written,
            None => self.initial(name),
        };
        let values = self.trace.values(event);
        let tainted = last.is_some_and(|write| self.marks(done)[write].tainted);
        let known = [values.read, values.written, found].iter().all(Option::is_some);
        self.model.by_value() && known && !tainted && values.read != values.written && found != values.written
    }

    /// Whether the calls before `call` in the trace that it depends on have run, and its arguments are those it had.
    fn in_order_of_calls(&self, done: &[EventId], call: EventId) -> bool {
        let marks = self.marks(done);
        let text = |e: EventId| self.trace.target_name(self.trace.op(e)).unwrap_or_default();
        let own = self.call_objects(call);
        let tainted = self.dependences.filter(|_| self.model.by_dependence()).is_some_and(|table| {
            done.iter().zip(&marks).any(|(e, mark)| mark.unclean && table.feeds(call).contains(e))
        });
        let depends = |e: EventId| {
            let others = self.call_objects(e);
            let alone = own.len() == 1 && others.len() == 1;
            own.iter().any(|object| others.contains(object))
                && !(alone && crate::calls::standing(text(e), text(call)) == crate::calls::Standing::Commute)
        };
        !tainted && self.observed.iter().all(|&e| e >= call || !depends(e) || done.contains(&e))
    }

    /// The objects that a call is on.
    fn call_objects(&self, event: EventId) -> Vec<String> {
        let Op::Call(_) = self.trace.op(event) else { return Vec::new() };
        let receiver = |e: EventId| {
            crate::calls::object_of(self.trace.target_name(self.trace.op(e)).unwrap_or_default()).to_owned()
        };
        let text = self.trace.target_name(self.trace.op(event)).unwrap_or_default();
        let calls = self.observed.iter().filter(|&&e| self.trace.kind(e) == Kind::Call);
        let mut objects: Vec<String> = calls.map(|&e| receiver(e)).collect();
        let mentioned: Vec<&str> =
            text.split(['(', ')', ',', '=']).skip(1).filter(|t| !t.is_empty()).collect();
        objects.retain(|object| *object == receiver(event) || mentioned.contains(&object.as_str()));
        objects.sort();
        objects.dedup();
        objects
    }

    /// The value that reads of a variable observed before any write.
    fn initial(&self, name: &str) -> Option<ValueId> {
        let reads = |&&e: &&EventId| self.trace.kind(e).reads() && self.variable(e) == Some(name);
        let first = self.observed.iter().filter(reads).filter(|&&e| !self.written_before(e, name));
        first.filter_map(|&e| self.trace.values(e).read).next()
    }

    fn written_before(&self, event: EventId, name: &str) -> bool {
        self.observed.iter().any(|&e| e < event && self.writes(e, name))
    }

    /// What became of each step of a feasible schedule.
    fn marks(&self, done: &[EventId]) -> Vec<Mark> {
        let mut marks: Vec<Mark> = Vec::new();
        for (step, &event) in done.iter().enumerate() {
            let before = &done[..step];
            let tainted = before.iter().zip(&marks).any(|(&e, mark)| {
                mark.unclean
                    && match self.dependences {
                        Some(table) if self.model.by_dependence() => table.feeds(event).contains(&e),
                        _ => self.trace.thread(e) == self.trace.thread(event),
                    }
            });
            let unclean = match self.trace.op(event) {
                Op::Read(_) | Op::AtomicRead(_) | Op::Update(_) | Op::FailedAttempt(_) => {
                    !self.clean_after(before, &marks, event)
                }
                _ => false,
            };
            let sync = self.model == Model::Sync;
            marks.push(Mark { unclean: unclean && !sync, tainted: tainted && !sync });
        }
        marks
    }

    /// Whether an unwoken wait ignores a notification since its start.
    fn missed(&self, before: &[EventId], wait: EventId, condition: ConditionId) -> bool {
        let notifies = |&e: &EventId| {
            self.trace.op(e) == Op::Notify(condition) || self.trace.op(e) == Op::NotifyAll(condition)
        };
        let start = before.iter().position(|&e| e == self.start(wait));
        self.waker(wait, condition).is_none()
            && start.is_some_and(|start| before[start + 1..].iter().any(notifies))
    }
}
