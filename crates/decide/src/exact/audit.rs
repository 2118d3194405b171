//! The audit of a schedule: which rules of the machine does it break?
//!
//! The schedule is run to its end, whatever it breaks on the way. Each rule that is broken becomes clauses that are
//! false in the solver's present assignment; so every round of search and audit excludes at least one assignment,
//! and the rounds come to an end. A schedule that breaks nothing is a witness.

use hashbrown::{HashMap, HashSet};
use reweave_trace::{ConditionId, Dependences, EventId, Kind, LockId, Model, Op, ThreadId, VarId};

use super::encode::{Encoding, Point, Term};
use super::solver::Solver;
use crate::Limits;
use crate::prepare::Section;
use crate::verdict::Demand;

/// How many events are audited between two looks at whether to stop: each may become many clauses.
const LOOK: usize = 1 << 8;

/// The state of a schedule that is being audited.
pub(super) struct Audit<'a, 'p, S> {
    code: &'a mut Encoding<'p, S>,
    prefix: u32,
    time: u32,
    /// Whether a rule was broken.
    broken: bool,
    threads: Vec<ThreadAudit>,
    /// The last write after the prefix, per variable and per object, and when it ran.
    writes: HashMap<VarId, (u32, EventId)>,
    lifetimes: HashMap<VarId, (u32, EventId)>,
    /// The unclean reads behind each tainted write.
    taints: HashMap<EventId, Vec<EventId>>,
    unclean: HashSet<EventId>,
    open: HashMap<LockId, Vec<Section>>,
    notified: HashMap<EventId, u32>,
    notifications: HashMap<ConditionId, Vec<(u32, EventId)>>,
}

#[derive(Clone, Default)]
struct ThreadAudit {
    ran: u32,
    last_step: u32,
    unclean: Vec<EventId>,
}

impl<'a, 'p, S: Solver> Audit<'a, 'p, S> {
    pub(super) fn new(code: &'a mut Encoding<'p, S>, prefix: u32) -> Audit<'a, 'p, S> {
        let prepared = code.prepared;
        let threads = (0..prepared.order.threads())
            .map(|thread| {
                let events = prepared.order.of(ThreadId::from_index(thread));
                let ran = events.partition_point(|event| event.0 < prefix) as u32;
                ThreadAudit { ran, last_step: 0, unclean: Vec::new() }
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
        }
    }

    /// Runs the schedule after the prefix, then looks at the events that should be next; says whether all is well, or nothing
    /// where it was stopped on the way.
    pub(super) fn run(mut self, schedule: &[EventId], next: &[EventId], limits: &Limits) -> Option<bool> {
        for events in schedule.chunks(LOOK) {
            if limits.stopped() {
                return None;
            }
            events.iter().for_each(|&event| self.step(event));
        }
        for &event in next {
            self.conditions(Point::Next(event));
        }
        Some(!self.broken)
    }

    fn step(&mut self, event: EventId) {
        self.time += 1;
        let thread = self.code.prepared.trace.thread(event);
        self.conditions(Point::Run(event));
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
            Op::Wait(_) => self.is_woken(point, thread),
            Op::Update(_) if !self.is_clean(event) => {
                if self.code.must_be_clean(point) {
                    self.explain_unclean(point);
                } else {
                    let clean = self.code.clean(point);
                    self.require(point, clean.into(), Demand::Needs { event, read: event });
                }
            }
            _ => {}
        }
    }

    fn effects(&mut self, event: EventId, thread: ThreadId) {
        let trace = self.code.prepared.trace;
        let op = trace.op(event);
        match op {
            Op::Read(_) | Op::AtomicRead(_) if !self.is_clean(event) => self.observed_new(event, thread),
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => self.enter(event, lock),
            Op::Release(lock) | Op::SharedRelease(lock) => self.leave(event, lock),
            Op::Wait(condition) => self.wait(event, thread, condition),
            Op::Notify(condition) | Op::NotifyAll(condition) => {
                self.notified.insert(event, self.time);
                self.notifications.entry(condition).or_default().push((self.time, event));
            }
            _ => {}
        }
        let Some(access) = op.access().filter(|access| access.writes) else { return };
        let writes = if access.lifetime { &mut self.lifetimes } else { &mut self.writes };
        writes.insert(access.variable, (self.time, event));
        let behind: Vec<EventId> = match self.dependences() {
            Some(table) => {
                table.feeds(event).iter().copied().filter(|read| self.unclean.contains(read)).collect()
            }
            None => self.threads[thread.index()].unclean.clone(),
        };
        if !behind.is_empty() {
            self.taints.insert(event, behind);
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
        let reads: Vec<EventId> = match self.dependences() {
            Some(table) => {
                table.needs(event).iter().copied().filter(|read| self.unclean.contains(read)).collect()
            }
            // Once complained about, they would only be complained about again by each later event.
            None if self.code.restricts(op) => std::mem::take(&mut self.threads[thread.index()].unclean),
            None => Vec::new(),
        };
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
        let reads: Vec<EventId> = match self.dependences() {
            Some(table) => {
                table.end_needs(child).iter().copied().filter(|read| self.unclean.contains(read)).collect()
            }
            None => self.threads[child.index()].unclean.clone(),
        };
        for read in reads {
            let clean = self.code.clean(Point::Run(read));
            self.require(point, clean.into(), Demand::Needs { event: join, read });
        }
    }

    fn has_run(&self, event: EventId) -> bool {
        let prepared = self.code.prepared;
        prepared.position(event) < self.threads[prepared.trace.thread(event).index()].ran
    }

    fn attempt_fails(&mut self, point: Point, thread: ThreadId, lock: LockId) {
        let held =
            self.open.get(&lock).is_some_and(|open| open.iter().any(|section| section.thread != thread));
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

    /// A wait that nothing woke in the trace is as a read: it must not see a notification since its start.
    fn wait(&mut self, wait: EventId, thread: ThreadId, condition: ConditionId) {
        let prepared = self.code.prepared;
        let Some(link) = prepared.links.wait(wait).filter(|link| link.waker.is_none()).copied() else {
            return;
        };
        if self.code.model == Model::Sync || link.start == wait {
            return;
        }
        let started = self.threads[thread.index()].last_step;
        let after_prefix = self.notifications.get(&condition).into_iter().flatten();
        let mut seen: Vec<EventId> =
            after_prefix.filter(|&&(time, _)| time > started).map(|&(_, event)| event).collect();
        if link.start.0 < self.prefix {
            seen.extend(prepared.notifications_between(condition, link.start, EventId(self.prefix)));
        }
        if seen.is_empty() {
            return;
        }
        if !self.code.must_be_clean(Point::Run(wait)) {
            self.threads[thread.index()].unclean.push(wait);
            self.unclean.insert(wait);
            return;
        }
        let clean = self.code.clean(Point::Run(wait));
        for notification in seen {
            self.broken = true;
            let runs = self.code.runs(notification);
            let early = self.code.before(Point::Run(notification), Point::Run(link.start));
            let late = self.code.before(Point::Run(wait), Point::Run(notification));
            let demand = Demand::NotNotified { wait, notification };
            self.code.rule(&[(!clean).into(), (!runs).into(), early, late], demand);
        }
    }

    /// What a read of the variable of `event` would observe now.
    fn seen_by(&self, event: EventId) -> Option<EventId> {
        let prepared = self.code.prepared;
        let variable = prepared.trace.op(event).access()?.variable;
        let own = self.writes.get(&variable).copied();
        let around = prepared.trace.objects().around(variable);
        let lifetimes = around.filter_map(|object| self.lifetimes.get(&object).copied());
        match lifetimes.chain(own).max() {
            Some((_, write)) => Some(write),
            None => prepared.last_write_before(variable, EventId(self.prefix)),
        }
    }

    /// Whether a read in the place of `event` would be clean now.
    fn is_clean(&self, event: EventId) -> bool {
        let prepared = self.code.prepared;
        if self.code.model == Model::Sync {
            return true;
        }
        let seen = self.seen_by(event);
        if seen.is_some_and(|write| self.taints.contains_key(&write)) {
            return false;
        }
        if seen == prepared.links.observed(event) {
            return true;
        }
        let value = match seen {
            Some(write) => prepared.trace.values(write).written,
            None => {
                let access = prepared.trace.op(event).access();
                access.and_then(|access| prepared.links.initial_value(access.variable))
            }
        };
        self.code.model.by_value() && value.is_some() && value == prepared.trace.values(event).read
    }

    fn observed_new(&mut self, read: EventId, thread: ThreadId) {
        if self.code.must_be_clean(Point::Run(read)) {
            self.explain_unclean(Point::Run(read));
        } else {
            self.threads[thread.index()].unclean.push(read);
            self.unclean.insert(read);
        }
    }

    /// The read at `point` should be clean and is not: adds the rules that keep it from what it sees now.
    fn explain_unclean(&mut self, point: Point) {
        self.broken = true;
        let read = point.event();
        debug_assert_ne!(self.code.prepared.trace.kind(read), Kind::Wait);
        let seen = self.seen_by(read);
        let chosen = self.code.chosen_writes(point);
        if chosen.is_empty() {
            self.code.offer_more(point);
        }
        for (write, observes) in chosen {
            match seen {
                Some(seen) if Some(seen) == write => {
                    for by in self.taints.get(&seen).cloned().unwrap_or_default() {
                        let clean = self.code.clean(Point::Run(by));
                        let demand = Demand::Untainted { read, write: seen, by };
                        self.code.rule(&[(!observes).into(), clean.into()], demand);
                    }
                }
                Some(other) => {
                    let runs = self.code.runs(other);
                    let earlier = match write {
                        Some(write) => self.code.before(Point::Run(other), Point::Run(write)),
                        None => Term::False,
                    };
                    let later = self.code.before(point, Point::Run(other));
                    let demand = Demand::NotBetween { read, write, other };
                    self.code.rule(&[(!observes).into(), (!runs).into(), earlier, later], demand);
                }
                // The initial value cannot be seen once the chosen write has run.
                None => {}
            }
        }
    }
}
