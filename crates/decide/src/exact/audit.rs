//! The audit of a schedule: which rules of the machine does it break?
//!
//! The schedule is run to its end, whatever it breaks on the way. Each rule that is broken becomes clauses that are
//! false in the solver's present assignment; so every round of search and audit excludes at least one assignment,
//! and the rounds come to an end. A schedule that breaks nothing is a witness.

mod calls;
mod memory;

use std::ops::Range;

use hashbrown::{HashMap, HashSet};
use reweave_trace::{ConditionId, Dependences, EventId, Kind, LockId, Model, Op, ThreadId, VarId};

use super::Goal;
use super::encode::{Encoding, Point, Term};
use super::solver::{Lit, Solver};
use crate::Limits;
use crate::asked::spoilers;
use crate::prepare::Section;
use crate::verdict::Demand;

/// How many events are audited between two looks at whether to stop: each may become many clauses.
const LOOK: usize = 1 << 8;

/// The state of a schedule that is being audited.
pub(super) struct Audit<'a, 'p, S> {
    pub(super) code: &'a mut Encoding<'p, S>,
    prefix: u32,
    time: u32,
    /// Whether a rule was broken.
    pub(super) broken: bool,
    pub(super) threads: Vec<ThreadAudit>,
    /// The last write after the prefix, per variable and per object, and when it ran.
    writes: HashMap<VarId, (u32, EventId)>,
    lifetimes: HashMap<VarId, (u32, EventId)>,
    /// What is behind each tainted write.
    taints: HashMap<EventId, Taint>,
    unclean: HashSet<EventId>,
    pub(super) open: HashMap<LockId, Vec<Section>>,
    notified: HashMap<EventId, u32>,
    notifications: HashMap<ConditionId, Vec<(u32, EventId)>>,
    /// The latest look, in observed order, at each clock.
    looks: HashMap<VarId, EventId>,
    /// The call that goes ahead of others.
    ahead: Option<EventId>,
}

/// The unclean reads behind a write.
enum Taint {
    /// Those of its thread at these places of the list: a copy for each write would take memory by the square of the
    /// schedule.
    Thread(ThreadId, Range<usize>),
    /// Those that feed it.
    Reads(Vec<EventId>),
}

#[derive(Clone, Default)]
pub(super) struct ThreadAudit {
    pub(super) ran: u32,
    pub(super) last_step: u32,
    /// The reads that observed something new.
    unclean: Vec<EventId>,
    /// How many of them were complained about: they would only be complained about again by each later event.
    told: usize,
}

impl ThreadAudit {
    /// The unclean reads that nothing has complained about.
    fn open(&self) -> &[EventId] {
        &self.unclean[self.told..]
    }
}

impl<'a, 'p, S: Solver> Audit<'a, 'p, S> {
    pub(super) fn new(
        code: &'a mut Encoding<'p, S>,
        prefix: u32,
        ahead: Option<EventId>,
    ) -> Audit<'a, 'p, S> {
        let (prepared, model) = (code.prepared, code.model);
        let threads = (0..prepared.order.threads())
            .map(|thread| {
                let events = prepared.order.of(ThreadId::from_index(thread));
                let ran = events.partition_point(|event| event.0 < prefix) as u32;
                ThreadAudit { ran, ..ThreadAudit::default() }
            })
            .collect();
        let mut open: HashMap<LockId, Vec<Section>> = HashMap::new();
        for section in prepared.open_at(EventId(prefix)) {
            open.entry(section.lock).or_default().push(section);
        }
        Audit {
            code,
            prefix,
            time: 0,
            broken: false,
            threads,
            writes: HashMap::new(),
            lifetimes: HashMap::new(),
            taints: HashMap::new(),
            unclean: HashSet::new(),
            open,
            notified: HashMap::new(),
            notifications: HashMap::new(),
            looks: HashMap::new(),
            ahead: ahead.filter(|_| model != Model::Sync),
        }
    }

    /// Runs the schedule after the prefix, then looks at the events that should be next; says whether all is well, or nothing
    /// where it was stopped on the way.
    pub(super) fn run(mut self, schedule: &[EventId], goal: &Goal, limits: &Limits) -> Option<bool> {
        for events in schedule.chunks(LOOK) {
            if limits.stopped() {
                return None;
            }
            for &event in events {
                if let Some((_, literal)) = goal.unwritten.filter(|&(read, _)| read == event) {
                    self.finds_nothing_written(event, literal);
                }
                self.step(event);
            }
        }
        for &event in &goal.next {
            self.conditions(Point::Next(event));
        }
        for &wait in &goal.asleep {
            self.broken |= !self.sleeps(wait);
        }
        if let Some(rest) = goal.rest {
            self.rest(rest);
        }
        Some(!self.broken)
    }

    fn step(&mut self, event: EventId) {
        self.time += 1;
        let thread = self.code.prepared.trace.thread(event);
        self.conditions(Point::Run(event));
        self.goes_on_after_ahead(event);
        self.effects(event, thread);
        let state = &mut self.threads[thread.index()];
        state.ran += 1;
        state.last_step = self.time;
    }

    /// What has to hold for the event of `point` to happen there; locks are looked at where it runs.
    fn conditions(&mut self, point: Point) {
        let event = point.event();
        let trace = self.code.prepared.trace;
        let (thread, op) = (trace.thread(event), trace.op(event));
        self.model_permits(point, thread, op);
        match op {
            Op::Busy(lock) => self.attempt_fails(point, thread, lock),
            Op::Join(child) => self.has_ended(point, child),
            Op::Wait(condition) => {
                self.is_woken(point, thread);
                self.is_not_notified(point, thread, condition);
            }
            Op::Update(_) if !self.is_clean(event) => self.should_observe(point, false),
            Op::FailedAttempt(_) if !self.is_clean(event) => {
                let failing = self.code.prepared.can_fail_otherwise(self.code.model, event);
                if !(failing && self.would_fail(event)) {
                    self.should_observe(point, failing);
                }
            }
            Op::Look(clock) => self.is_latest_look(point, clock),
            Op::Unseen(_) => {
                let before: Vec<EventId> = self.code.prepared.last_before(event).collect();
                for earlier in before {
                    self.comes_after(point, earlier, Demand::Unseen { write: event, earlier });
                }
            }
            Op::Call(_) if self.code.model != Model::Sync => self.follows_calls(point),
            _ => {}
        }
    }

    /// Wherever the event of `point` happens, `earlier` came before it in the trace and in every schedule.
    fn comes_after(&mut self, point: Point, earlier: EventId, demand: Demand) {
        let (event, trace) = (point.event(), self.code.prepared.trace);
        if self.has_run(earlier) {
            return;
        }
        if trace.thread(earlier) != trace.thread(event) {
            self.code.always_before(earlier, event);
        }
        let runs = self.code.runs(earlier);
        self.require(point, runs.into(), demand);
    }

    fn is_latest_look(&mut self, point: Point, clock: VarId) {
        let look = point.event();
        let Some(&later) = self.looks.get(&clock).filter(|&&later| later > look) else { return };
        self.broken = true;
        let (happens, runs) = (self.code.happens(point), self.code.runs(later));
        let before = self.code.before(point, Point::Run(later));
        self.code.rule(&[(!happens).into(), (!runs).into(), before], Demand::Looked { look, later });
    }

    fn effects(&mut self, event: EventId, thread: ThreadId) {
        let trace = self.code.prepared.trace;
        let op = trace.op(event);
        match op {
            Op::Read(_) | Op::AtomicRead(_) | Op::FailedAttempt(_) if !self.is_clean(event) => {
                self.observed_new(event, thread);
            }
            Op::Look(clock) => {
                let latest = self.looks.entry(clock).or_insert(event);
                *latest = event.max(*latest);
            }
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => self.enter(event, lock),
            Op::Release(lock) | Op::SharedRelease(lock) => self.leave(event, lock),
            Op::Notify(condition) | Op::NotifyAll(condition) => {
                self.notified.insert(event, self.time);
                self.notifications.entry(condition).or_default().push((self.time, event));
            }
            _ => {}
        }
        match op.access().filter(|access| access.writes) {
            Some(access) => {
                let writes = if access.lifetime { &mut self.lifetimes } else { &mut self.writes };
                writes.insert(access.variable, (self.time, event));
            }
            None => return,
        }
        let taint = match self.dependences() {
            Some(table) => {
                let feeds = table.feeds(event).iter().copied();
                let behind: Vec<EventId> = feeds.filter(|read| self.unclean.contains(read)).collect();
                (!behind.is_empty()).then_some(Taint::Reads(behind))
            }
            None => {
                let state = &self.threads[thread.index()];
                let open = state.told..state.unclean.len();
                (!open.is_empty()).then_some(Taint::Thread(thread, open))
            }
        };
        if let Some(taint) = taint {
            self.taints.insert(event, taint);
        }
    }

    /// The unclean reads behind a write.
    fn behind(&self, write: EventId) -> Vec<EventId> {
        match self.taints.get(&write) {
            Some(Taint::Thread(thread, range)) => {
                self.threads[thread.index()].unclean[range.clone()].to_vec()
            }
            Some(Taint::Reads(reads)) => reads.clone(),
            None => Vec::new(),
        }
    }

    fn require(&mut self, point: Point, term: Term, demand: Demand) {
        self.broken = true;
        let happens = self.code.happens(point);
        self.code.rule(&[(!happens).into(), term], demand);
    }

    fn dependences(&self) -> Option<&'p Dependences> {
        self.code.prepared.dependences.filter(|_| self.code.model.by_dependence())
    }

    fn model_permits(&mut self, point: Point, thread: ThreadId, op: Op) {
        let event = point.event();
        let reads = self.unclean_for(event);
        if self.dependences().is_none() && self.code.restricts(op) {
            let state = &mut self.threads[thread.index()];
            state.told = state.unclean.len();
        }
        for read in reads {
            let clean = self.code.clean(Point::Run(read));
            self.require(point, clean.into(), Demand::Needs { event, read });
        }
    }

    fn has_ended(&mut self, point: Point, child: ThreadId) {
        let join = point.event();
        let prepared = self.code.prepared;
        let fork = prepared.links.fork(child);
        let Some(last) = prepared.last(child).or(fork) else { return };
        if prepared.trace.thread(last) != prepared.trace.thread(join) {
            self.code.always_before(last, join);
        }
        if !self.has_run(last) {
            let runs = self.code.runs(last);
            self.require(point, runs.into(), Demand::Join { join, last });
            return;
        }
        for read in self.unclean_at_end(child) {
            let clean = self.code.clean(Point::Run(read));
            self.require(point, clean.into(), Demand::Needs { event: join, read });
        }
    }

    /// The unclean reads that the end of a thread depends on.
    pub(super) fn unclean_at_end(&self, thread: ThreadId) -> Vec<EventId> {
        match self.dependences() {
            Some(table) => {
                table.end_needs(thread).iter().copied().filter(|read| self.unclean.contains(read)).collect()
            }
            None => self.threads[thread.index()].open().to_vec(),
        }
    }

    /// The unclean reads that keep an event from running.
    pub(super) fn unclean_for(&self, event: EventId) -> Vec<EventId> {
        let trace = self.code.prepared.trace;
        match self.dependences() {
            Some(table) => {
                // A call runs with the arguments that it had, or not at all.
                let feeds = if trace.kind(event) == Kind::Call { table.feeds(event) } else { &[] };
                let reads = table.needs(event).iter().chain(feeds).copied();
                reads.filter(|read| self.unclean.contains(read)).collect()
            }
            None if self.code.restricts(trace.op(event)) => {
                self.threads[trace.thread(event).index()].open().to_vec()
            }
            None => Vec::new(),
        }
    }

    /// The read, which comes now, should find nothing written.
    fn finds_nothing_written(&mut self, read: EventId, literal: Lit) {
        let writes: Vec<EventId> =
            spoilers(self.code.prepared, read).filter(|&write| self.has_run(write)).collect();
        for other in writes {
            self.broken = true;
            let runs = self.code.runs(other);
            let later = self.code.before(Point::Run(read), Point::Run(other));
            let demand = Demand::NotBetween { read, write: None, other };
            self.code.rule(&[(!literal).into(), (!runs).into(), later], demand);
        }
    }

    pub(super) fn has_run(&self, event: EventId) -> bool {
        let prepared = self.code.prepared;
        prepared.position(event) < self.threads[prepared.trace.thread(event).index()].ran
    }

    fn attempt_fails(&mut self, point: Point, thread: ThreadId, lock: LockId) {
        let exclusively = self.code.prepared.links.failed_exclusively(point.event());
        let makes_it_fail = |section: &Section| section.thread != thread && !(exclusively && section.shared);
        let held = self.open.get(&lock).is_some_and(|open| open.iter().any(makes_it_fail));
        if !held {
            self.broken = true;
            self.code.attempt_fails(point, lock);
        }
    }

    fn enter(&mut self, acquire: EventId, lock: LockId) {
        let prepared = self.code.prepared;
        if !prepared.links.is_outermost(acquire) {
            return;
        }
        let Some(section) = prepared.section(lock, acquire) else { return };
        let open = self.open.entry(lock).or_default();
        let clashes: Vec<Section> = open.iter().filter(|other| section.excludes(other)).copied().collect();
        open.push(section);
        for other in clashes {
            self.broken = true;
            self.code.exclude(&section, &other);
        }
    }

    fn leave(&mut self, release: EventId, lock: LockId) {
        if self.code.prepared.links.is_outermost(release)
            && let Some(open) = self.open.get_mut(&lock)
        {
            open.retain(|section| section.release != Some(release));
        }
    }

    fn is_woken(&mut self, point: Point, thread: ThreadId) {
        let wait = point.event();
        let prepared = self.code.prepared;
        let Some(link) = prepared.links.wait(wait).copied() else { return };
        let Some(waker) = link.waker else { return };
        let demand = Demand::Woken { wait, waker };
        let (start, end) = (Point::Run(link.start), Point::Run(waker));
        let woken_at = if waker.0 < self.prefix { Some(0) } else { self.notified.get(&waker).copied() };
        let in_time = woken_at.is_some_and(|at| at > self.threads[thread.index()].last_step);
        // With both in the prefix, they are in their observed order.
        if in_time || waker.0 < self.prefix && link.start.0 < self.prefix {
            return;
        }
        let runs = self.code.runs(waker);
        self.require(point, runs.into(), demand);
        let before = self.code.before(end, point);
        self.require(point, before, demand);
        let after = self.code.before(start, end);
        self.require(point, after, demand);
    }

    /// A wait that nothing woke in the trace must not see a notification since its start: it would be woken.
    fn is_not_notified(&mut self, point: Point, thread: ThreadId, condition: ConditionId) {
        let wait = point.event();
        let prepared = self.code.prepared;
        let Some(link) = prepared.links.wait(wait).filter(|link| link.waker.is_none()).copied() else {
            return;
        };
        if self.code.model == Model::Sync || link.start == wait {
            return;
        }
        let started = self.threads[thread.index()].last_step;
        let seen = self.notifications_since(condition, link.start, started);
        for notification in seen {
            self.broken = true;
            let (happens, runs) = (self.code.happens(point), self.code.runs(notification));
            let early = self.code.before(Point::Run(notification), Point::Run(link.start));
            let late = self.code.before(point, Point::Run(notification));
            let demand = Demand::NotNotified { wait, notification };
            self.code.rule(&[(!happens).into(), (!runs).into(), early, late], demand);
        }
    }

    /// The notifications since a wait started, at this event and time.
    pub(super) fn notifications_since(
        &self,
        condition: ConditionId,
        start: EventId,
        started: u32,
    ) -> Vec<EventId> {
        let after_prefix = self.notifications.get(&condition).into_iter().flatten();
        let mut seen: Vec<EventId> =
            after_prefix.filter(|&&(time, _)| time > started).map(|&(_, event)| event).collect();
        if start.0 < self.prefix {
            let end = EventId(self.prefix);
            seen.extend(self.code.prepared.notifications_between(condition, start, end));
        }
        seen
    }
}
