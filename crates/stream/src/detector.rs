//! The part that the analyses with a partial order have in common: everything but the order of critical sections.
//!
//! Each event is compared with the earlier accesses of its cell by the order that an [`Order`] keeps. Edges that every
//! order has, because no reordering can escape them, are added here: from a fork to the thread, from a thread's end to
//! its joins, from a notification to the wait that it woke, from an acquire to an attempt that it made fail, and between
//! conflicting atomic accesses.

use crate::clock::{Stamp, time};
use crate::front::{Facts, Objects};
use crate::frontier::{Access, Accesses, Frontier};
use crate::history::History;
use crate::run::{Analyse, Race, Sink};
use crate::step::{Cell, Cells, Code, Step, Touch, at};

/// A partial order that grows with the events.
pub(crate) trait Order: Default {
    /// The present time of a thread and, for each other thread, up to which time its events are ordered before what
    /// `thread` does now.
    fn present(&mut self, thread: u32) -> (u32, &[u32]);

    /// Stamps the present event, and advances its thread's time.
    fn stamp(&mut self, thread: u32, stamp: &mut Stamp);

    /// Orders the event of `stamp` before what `thread` does from now on.
    fn follow(&mut self, thread: u32, stamp: &Stamp);

    /// `thread` acquires `lock`.
    fn acquire(&mut self, thread: u32, lock: u32, shared: bool);

    /// `thread` releases `lock`.
    fn release(&mut self, thread: u32, lock: u32, shared: bool);

    /// The acquire of `lock` by `thread` is ordered before an attempt that failed because of it.
    fn observed(&mut self, _thread: u32, _lock: u32, _shared: bool) {}

    /// `thread` is about to access `cell`, which meets `others`.
    #[inline]
    fn before_access(&mut self, _thread: u32, _cell: Cell, _others: &[Cell], _touch: Touch) {}

    /// `thread` has accessed `cell` with this event.
    #[inline]
    fn after_access(&mut self, _thread: u32, _cell: Cell, _others: &[Cell], _touch: Touch, _event: u32) {}
}

/// An analysis of racy events by a partial order.
#[derive(Debug)]
pub(crate) struct Detector<O> {
    pub(crate) order: O,
    accesses: Accesses,
    atomics: Cells<Atomics>,
    acquires: Vec<Acquires>,
    notifications: Vec<Stamp>,
    scratch: Stamp,
    pub(crate) others: Vec<Cell>,
}

/// The atomic accesses of a cell that later ones follow: the last write, and the reads since. The reads are kept apart,
/// as what a thread's own read knows need not precede what the thread does later.
#[derive(Default, Debug)]
struct Atomics {
    write: Stamp,
    reads: Vec<Stamp>,
}

/// The open acquires of a lock.
#[derive(Default, Debug)]
struct Acquires {
    exclusive: Stamp,
    shared: Vec<(u32, Stamp)>,
}

impl<O: Order> Detector<O> {
    /// An analysis that finds every partner of a racy event, or one.
    pub(crate) fn new(all: bool) -> Detector<O> {
        let accesses = match all {
            true => Accesses::History(History::default()),
            false => Accesses::Frontier(Frontier::default()),
        };
        Detector {
            order: O::default(),
            accesses,
            atomics: Cells::default(),
            acquires: Vec::new(),
            notifications: Vec::new(),
            scratch: Stamp::default(),
            others: Vec::new(),
        }
    }

    #[inline(always)]
    pub(crate) fn access(&mut self, step: &Step, touch: Touch, objects: &Objects, sink: &mut Sink<'_>) {
        self.others.clear();
        if !objects.is_empty() {
            meets(Cell::of(step), objects, &mut self.others);
        }
        self.access_among(step, touch, sink);
    }

    /// An access that meets the accesses of `others` and of its own cell.
    #[inline(always)]
    pub(crate) fn access_among(&mut self, step: &Step, touch: Touch, sink: &mut Sink<'_>) {
        let cell = Cell::of(step);
        let thread = step.thread;
        if touch.atomic {
            self.follow_atomics(thread, cell, touch);
        }
        self.order.before_access(thread, cell, &self.others, touch);
        let (now, clock) = self.order.present(thread);
        let access = Access::new(step, now, touch);
        match &mut self.accesses {
            Accesses::Frontier(frontier) => {
                let ordered = |e: &Access| time(clock, e.thread()) >= e.time;
                if let Some(earlier) = frontier.access(cell, &self.others, access, touch, ordered) {
                    sink(Race::new(&earlier, &access));
                }
            }
            Accesses::History(history) => {
                let known = |other| time(clock, other);
                for earlier in history.access(cell, &self.others, access, touch, known) {
                    sink(Race::new(&earlier, &access));
                }
            }
        }
        self.order.after_access(thread, cell, &self.others, touch, step.event);
        if touch.atomic {
            self.lead_atomics(thread, cell, touch);
        }
    }

    #[inline(never)]
    pub(crate) fn rare_access(&mut self, step: &Step, touch: Touch, objects: &Objects, sink: &mut Sink<'_>) {
        self.access(step, touch, objects, sink);
    }

    fn follow_atomics(&mut self, thread: u32, cell: Cell, touch: Touch) {
        let atomics = self.atomics.get(cell);
        self.order.follow(thread, &atomics.write);
        if touch.writes {
            for read in &atomics.reads {
                self.order.follow(thread, read);
            }
        }
    }

    fn lead_atomics(&mut self, thread: u32, cell: Cell, touch: Touch) {
        let atomics = self.atomics.get(cell);
        if touch.writes {
            self.order.stamp(thread, &mut atomics.write);
            atomics.reads.clear();
        } else {
            let (_, clock) = self.order.present(thread);
            let known = |read: &Stamp| read.thread == thread || time(clock, read.thread) >= read.time;
            atomics.reads.retain(|read| !known(read));
            let mut read = Stamp::default();
            self.order.stamp(thread, &mut read);
            atomics.reads.push(read);
        }
    }

    fn acquired(&mut self, thread: u32, lock: u32, shared: bool) {
        let acquires = at(&mut self.acquires, lock);
        if !shared {
            return self.order.stamp(thread, &mut acquires.exclusive);
        }
        let mut stamp = Stamp::default();
        self.order.stamp(thread, &mut stamp);
        acquires.shared.push((thread, stamp));
    }

    fn busy(&mut self, step: &Step, shared: bool) {
        let acquires = at(&mut self.acquires, step.target);
        let stamp = if shared {
            let of_holder = acquires.shared.iter().find(|(thread, _)| *thread == step.holder());
            of_holder.map(|(_, stamp)| stamp)
        } else {
            Some(&acquires.exclusive)
        };
        if let Some(stamp) = stamp {
            self.order.follow(step.thread, stamp);
            self.order.observed(step.holder(), step.target, shared);
        }
    }

    pub(crate) fn other(&mut self, step: &Step) {
        let (thread, target) = (step.thread, step.target);
        match step.code {
            Code::Acquire | Code::SharedAcquire => {
                let shared = step.code == Code::SharedAcquire;
                self.order.acquire(thread, target, shared);
                self.acquired(thread, target, shared);
            }
            Code::Release => self.order.release(thread, target, false),
            Code::SharedRelease => {
                self.order.release(thread, target, true);
                at(&mut self.acquires, target).shared.retain(|(sharer, _)| *sharer != thread);
            }
            Code::Busy => self.busy(step, false),
            Code::SharedBusy => self.busy(step, true),
            Code::Fork => {
                self.order.stamp(thread, &mut self.scratch);
                self.order.follow(target, &self.scratch);
            }
            Code::Join => {
                self.order.stamp(target, &mut self.scratch);
                self.order.follow(thread, &self.scratch);
            }
            Code::Notify | Code::CallNotify => self.order.stamp(thread, at(&mut self.notifications, target)),
            Code::Wake | Code::CallWake => self.order.follow(thread, at(&mut self.notifications, target)),
            _ => {}
        }
    }
}

impl<O: Order> Analyse for Detector<O> {
    fn steps(&mut self, steps: &[Step], facts: &Facts, sink: &mut Sink<'_>) {
        let objects = &facts.objects;
        for step in steps {
            match step.code {
                Code::Read => {
                    let touch = Touch { reads: true, writes: false, atomic: false, conditional: false };
                    self.access(step, touch, objects, sink);
                }
                Code::Write => {
                    let touch = Touch { reads: false, writes: true, atomic: false, conditional: false };
                    self.access(step, touch, objects, sink);
                }
                code => match code.access() {
                    Some(touch) => self.rare_access(step, touch, objects, sink),
                    None => self.other(step),
                },
            }
        }
    }
}

/// Puts the other cells whose accesses can conflict with those of `cell` into `others`.
pub(crate) fn meets(cell: Cell, objects: &Objects, others: &mut Vec<Cell>) {
    let (lifetime, variable) = cell.split();
    let variable = variable as u32;
    others.extend(objects.around(variable).map(Cell::lifetime).filter(|&other| other != cell));
    if lifetime {
        for below in objects.below(variable) {
            others.push(Cell::variable(below));
            if below != variable {
                others.push(Cell::lifetime(below));
            }
        }
    }
}
