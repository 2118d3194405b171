//! Synchronization-preserving races.
//!
//! Mathur, Pavlogiannis and Viswanathan, "Optimal prediction of synchronization-preserving races" (POPL 2021). Two
//! conflicting events race when neither is in the least set that has all events before them in their threads and is
//! closed: with an event, those before it in its thread; with a read, the write that it observed; with an acquire, every
//! earlier section of that lock which it excludes and which has an acquire in the set, up to its release; and the
//! sources of the edges that all analyses have (conflicting atomic accesses keep their order without any). The set in
//! observed order is the witness.
//!
//! Each thread has the closure of what it has done so far, with the sections that are open in it: closed sets are
//! united by joining their clocks, and only sections open in one of them can then ask for more. An access keeps the
//! closure of what came before it. For a racy event only one partner is needed. A partner that fails for an event fails
//! for all later events of the thread, so that it is looked at once a thread; and of accesses of a thread with nothing
//! in between only the last is kept.
//!
//! An update runs only when it observes what it did: its closure has that write, and no later one. A wait that returned
//! although others had taken the notifications since its start cannot be explained; what needs it is not reported.
//!
//! **Guarantee:** every race is real.
//! **Misses:** races that need critical sections, or atomic accesses, in another order.
//! **Cost:** the paper's bound is linear in events, with powers of threads, locks and variables; here mostly O(threads) an
//! event. Memory: grows with the events, a clock for each access that follows news.

mod closed;
mod locks;
mod partners;

use std::rc::Rc;

use crate::detector::meets;
use crate::front::{Facts, Objects};
use crate::run::{Analyse, Sink};
use crate::step::{Cell, Cells, Code, Step, Touch, at};
use closed::{Closed, Point};
use locks::Locks;
use partners::{Entry, Kept, Search};

/// The analysis.
#[derive(Default, Debug)]
pub(crate) struct SyncP {
    all: bool,
    threads: Vec<Thread>,
    locks: Locks,
    cells: Cells<Entry>,
    /// The last write of each cell.
    writes: Cells<Option<(u32, Point)>>,
    notifications: Vec<Option<Point>>,
    others: Vec<Cell>,
    scratch: Closed,
}

/// What a thread has done: its closure, with the number of its own events apart.
#[derive(Debug)]
struct Thread {
    count: u32,
    closed: Rc<Closed>,
}

impl Default for Thread {
    fn default() -> Thread {
        // Its start counts: a thread that does nothing can be joined, and then its fork is needed.
        Thread { count: 1, closed: Rc::default() }
    }
}

impl SyncP {
    /// An analysis that finds every partner of a racy event, or one.
    pub(crate) fn new(all: bool) -> SyncP {
        SyncP { all, ..SyncP::default() }
    }

    /// The present end of a thread's events.
    fn point(&mut self, thread: u32) -> Point {
        let state = at(&mut self.threads, thread);
        Point { thread, count: state.count, closed: Rc::clone(&state.closed) }
    }

    fn advance(&mut self, thread: u32) {
        at(&mut self.threads, thread).count += 1;
    }

    /// What `thread` does from now on needs `point`.
    fn follow(&mut self, thread: u32, point: &Point) {
        let state = at(&mut self.threads, thread);
        if point.thread == thread || state.closed.count(point.thread) >= point.count {
            return;
        }
        let closed = Rc::make_mut(&mut state.closed);
        closed.raise(thread, state.count);
        closed.add(point, &self.locks);
        closed.close(&self.locks);
    }

    fn access(&mut self, step: &Step, touch: Touch, objects: &Objects, sink: &mut Sink<'_>) {
        let (cell, thread) = (Cell::of(step), step.thread);
        self.others.clear();
        if !objects.is_empty() {
            let mut others = std::mem::take(&mut self.others);
            meets(cell, objects, &mut others);
            self.others = others;
        }
        let observed = if touch.reads { self.observed(cell) } else { None };
        let update = touch.conditional;
        if let Some(write) = observed.as_ref().filter(|_| update) {
            self.follow(thread, write);
        }
        let before = self.point(thread);
        self.advance(thread);
        let count = before.count + 1;
        let scratch = std::mem::take(&mut self.scratch);
        let mut search = Search { touch, before: &before, objects, scratch, found: Vec::new() };
        self.compare(step, cell, &mut search, sink);
        self.scratch = search.scratch;
        let kept = Kept {
            event: step.event,
            site: step.site,
            count,
            atomic: touch.atomic,
            update,
            before: before.closed,
        };
        self.cells.get(cell).add(thread, touch.writes, kept, self.all);
        if let Some(write) = observed.filter(|_| !update) {
            self.follow(thread, &write);
        }
        if touch.writes {
            *self.writes.get(cell) = Some((step.event, self.point(thread)));
        }
    }

    /// The write that a read of `cell` observes now: its own last one, or that of an object around it.
    fn observed(&mut self, cell: Cell) -> Option<Point> {
        let mut last = self.writes.get(cell).as_ref();
        let mut event = last.map(|(event, _)| *event);
        let mut best = cell;
        for &other in &self.others {
            let write = self.writes.get(other).as_ref().map(|(event, _)| *event);
            if write > event {
                (event, best) = (write, other);
            }
        }
        last = self.writes.get(best).as_ref();
        last.map(|(_, point)| point.clone())
    }

    fn acquire(&mut self, step: &Step, shared: bool) {
        self.advance(step.thread);
        let state = at(&mut self.threads, step.thread);
        let section = self.locks.acquire(step, state.count, shared);
        let closed = Rc::make_mut(&mut state.closed);
        closed.raise(step.thread, state.count);
        closed.open(section);
        closed.close(&self.locks);
        self.locks.acquired(section, Rc::clone(&state.closed));
    }

    fn release(&mut self, step: &Step, shared: bool) {
        self.advance(step.thread);
        let state = at(&mut self.threads, step.thread);
        if let Some(section) = self.locks.holding(step.thread, step.target, shared) {
            Rc::make_mut(&mut state.closed).forget(section);
            self.locks.release(section, state.count, Rc::clone(&state.closed));
        }
    }

    fn other(&mut self, step: &Step) {
        let (thread, target) = (step.thread, step.target);
        match step.code {
            Code::Acquire => self.acquire(step, false),
            Code::SharedAcquire => self.acquire(step, true),
            Code::Release => self.release(step, false),
            Code::SharedRelease => self.release(step, true),
            Code::Busy | Code::SharedBusy => {
                if let Some(point) =
                    self.locks.acquire_point(step.holder(), target, step.code == Code::SharedBusy)
                {
                    self.follow(thread, &point);
                }
                self.advance(thread);
            }
            Code::Fork => {
                self.advance(thread);
                let fork = self.point(thread);
                self.follow(target, &fork);
            }
            Code::Join => {
                let end = self.point(target);
                self.follow(thread, &end);
                self.advance(thread);
            }
            Code::Notify | Code::CallNotify => {
                self.advance(thread);
                *at(&mut self.notifications, target) = Some(self.point(thread));
            }
            Code::Wake | Code::CallWake => {
                if let Some(waker) = at(&mut self.notifications, target).clone() {
                    self.follow(thread, &waker);
                }
                self.advance(thread);
            }
            Code::Missed => {
                self.advance(thread);
                Rc::make_mut(&mut at(&mut self.threads, thread).closed).spoil();
            }
            _ => {}
        }
    }
}

impl Analyse for SyncP {
    fn steps(&mut self, steps: &[Step], facts: &Facts, sink: &mut Sink<'_>) {
        let objects = &facts.objects;
        for step in steps {
            match step.code.access() {
                Some(touch) => self.access(step, touch, objects, sink),
                None => self.other(step),
            }
        }
    }
}
