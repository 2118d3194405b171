//! The patterns over one variable.
//!
//! One pass in observed order. Local pairs with the same sites that fit the same pattern are of one *shape*, and within
//! it of one class where thread and locks are the same too; remote accesses have classes likewise. Each local pair meets
//! the latest remote accesses so far, and each remote access the latest local pairs, as far as the must order leaves
//! them free. A shape that has given enough candidates, or met more often than [`MEETINGS`] times, is done, so that the
//! work for a variable does not depend on how often it is accessed. Where every candidate is wanted, nothing is done
//! and everything is kept.

use hashbrown::{HashMap, HashSet};
use reweave_decide::Section;
use reweave_trace::{EventId, SiteId, ThreadId};

use super::local::Steps;
use super::{Search, Touch, is};
use crate::classes::Classes;
use crate::groups::{Candidate, Groups};
use crate::horizon::Horizon;
use crate::locksets::{LocksetId, Locksets};
use crate::{Kind, Pattern};

/// How many instances of a class are kept at least, where not all are.
const RECENT: usize = 4;

/// How often a shape meets classes before it is given up.
pub(super) const MEETINGS: u32 = 16_384;

/// The accesses of one variable.
#[derive(Default)]
pub(super) struct OneVariable {
    /// Per thread, its last access.
    last: HashMap<ThreadId, Touch>,
    shapes: HashMap<ShapeKey, Shape>,
    locals: Classes<LocalKey, [EventId; 2]>,
    remotes: Classes<RemoteKey, EventId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ShapeKey {
    sites: [SiteId; 2],
    pattern: &'static str,
}

#[derive(Default)]
struct Shape {
    meetings: u32,
    done: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct LocalKey {
    shape: ShapeKey,
    thread: ThreadId,
    /// The locks held all the time from the one to the other.
    held: LocksetId,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RemoteKey {
    thread: ThreadId,
    site: SiteId,
    kinds: [bool; 2],
    locks: LocksetId,
}

impl OneVariable {
    /// Runs the next access to the variable.
    pub(super) fn access(
        &mut self,
        search: &Search<'_>,
        (steps, horizon): (&Steps<'_>, &Horizon<'_>),
        touch: Touch,
        locksets: &Locksets,
        groups: &mut Groups<'_>,
    ) {
        self.forget(search, horizon);
        self.come_between(search, touch, locksets, groups);
        if let Some(i) = self.last.insert(touch.thread, touch) {
            let (thread, now) = (touch.thread, touch.event);
            if steps.is_meant(thread, i.event) || steps.is_near(i.event, now) {
                let held = steps.held_since(thread, i.event);
                let halves = |pattern: &[u8]| is(i.kinds, pattern[0]) && is(touch.kinds, pattern[2]);
                let sections = search.sections([&i, &touch], locksets);
                for &pattern in search.one.iter().filter(|pattern| halves(pattern.as_bytes())) {
                    if !search.is_local(pattern, [&i, &touch], &sections) {
                        groups.refuse(Pattern::OneVariable(pattern), [i.event, touch.event]);
                        continue;
                    }
                    self.local_pair(search, (pattern, [i, touch]), held, locksets, groups);
                }
            }
        }
        let site = search.prepared.trace.site(touch.event);
        let key = RemoteKey { thread: touch.thread, site, kinds: touch.kinds, locks: touch.locks };
        let place = self.remotes.place(key);
        self.remotes.push(touch.thread, place, touch.event, recent(groups));
    }

    /// Forgets what nothing to come can meet. A local pair to come may start with the last access of its thread.
    fn forget(&mut self, search: &Search<'_>, horizon: &Horizon<'_>) {
        let position = |event: EventId| search.prepared.position(event);
        if self.remotes.is_crowded() {
            let since = |thread: ThreadId| self.last.get(&thread).map(|last| last.event);
            let passed = |thread| horizon.passed(thread, since);
            self.remotes.forget(horizon.threads(), passed, |&j| position(j));
        }
        if self.locals.is_crowded() {
            let passed = |thread| horizon.passed(thread, |_| None);
            self.locals.forget(horizon.threads(), passed, |&[_, k]| position(k));
            let used: HashSet<ShapeKey> = self.locals.keys().map(|key| key.shape).collect();
            self.shapes.retain(|key, shape| shape.done || used.contains(key));
        }
    }

    /// A new remote access meets the local pairs so far that need not be over before it.
    fn come_between(&mut self, search: &Search<'_>, j: Touch, locksets: &Locksets, groups: &mut Groups<'_>) {
        for (n, thread) in self.locals.threads().enumerate().filter(|(_, thread)| *thread != j.thread) {
            let needed = search.must.needed(j.event, thread);
            let open = |pair: &[EventId; 2]| search.prepared.position(pair[1]) >= needed;
            for (_, class) in
                self.locals.of(n).take_while(|(_, class)| class.instances.last().is_some_and(open))
            {
                let pattern = class.key.shape.pattern;
                let shape = self.shapes.entry(class.key.shape).or_default();
                if shape.done || !is(j.kinds, pattern.as_bytes()[1]) {
                    continue;
                }
                shape.meetings += 1;
                let mut enough = false;
                if locksets.compatible(class.key.held, j.locks) {
                    for &[i, k] in class.instances.iter().rev().take_while(|&pair| open(pair)) {
                        enough = search.add_one(pattern, [i, j.event, k], groups);
                    }
                }
                shape.settle(enough, groups);
            }
        }
    }

    /// A new local pair meets the remote accesses so far that need not come before it.
    fn local_pair(
        &mut self,
        search: &Search<'_>,
        (pattern, [i, k]): (&'static str, [Touch; 2]),
        held: LocksetId,
        locksets: &Locksets,
        groups: &mut Groups<'_>,
    ) {
        let key = ShapeKey { sites: [i, k].map(|touch| search.prepared.trace.site(touch.event)), pattern };
        let shape = self.shapes.entry(key).or_default();
        if shape.done {
            return;
        }
        let mut enough = false;
        for (n, thread) in self.remotes.threads().enumerate().filter(|(_, thread)| *thread != k.thread) {
            let needed = search.must.needed(i.event, thread);
            let open = |j: &EventId| search.prepared.position(*j) >= needed;
            let met = self.remotes.of(n).take_while(|(_, class)| class.instances.last().is_some_and(open));
            for (_, class) in met.filter(|(_, class)| is(class.key.kinds, pattern.as_bytes()[1])) {
                shape.meetings += 1;
                if locksets.compatible(held, class.key.locks) {
                    for &j in class.instances.iter().rev().take_while(|&j| open(j)) {
                        enough = search.add_one(pattern, [i.event, j, k.event], groups);
                    }
                }
            }
        }
        shape.settle(enough, groups);
        let local = self.locals.place(LocalKey { shape: key, thread: k.thread, held });
        self.locals.push(k.thread, local, [i.event, k.event], recent(groups));
    }
}

impl Shape {
    /// Ends a shape that has enough candidates, or has met too often for none.
    fn settle(&mut self, enough: bool, groups: &mut Groups<'_>) {
        if groups.all() {
            return;
        }
        let given_up = self.meetings > MEETINGS;
        groups.unexamined += u64::from(given_up && !enough);
        self.done = enough || given_up;
    }
}

/// How many instances of a class are kept at least; none is all.
pub(super) fn recent(groups: &Groups<'_>) -> Option<usize> {
    (!groups.all()).then_some(RECENT)
}

impl Search<'_> {
    /// The critical sections around two accesses, where that matters.
    pub(super) fn sections(&self, halves: [&Touch; 2], locksets: &Locksets) -> [Vec<Section>; 2] {
        halves.map(|touch| {
            self.likely.as_ref().map_or_else(Vec::new, |likely| likely.sections(touch, locksets))
        })
    }

    /// Whether two accesses of a thread are looked at as the local ones of a pattern.
    pub(super) fn is_local(&self, pattern: &str, halves: [&Touch; 2], sections: &[Vec<Section>; 2]) -> bool {
        let [first, second] = sections;
        self.likely.as_ref().is_none_or(|likely| likely.is_local(pattern, halves, [first, second]))
    }

    /// Adds a candidate; whether there are enough like it.
    fn add_one(&self, pattern: &'static str, events: [EventId; 3], groups: &mut Groups<'_>) -> bool {
        if self.likely.as_ref().is_some_and(|likely| !likely.is_intruded(pattern, &events)) {
            groups.refuse(Pattern::OneVariable(pattern), [events[0], events[2]]);
            return false;
        }
        let candidate = Candidate::sequence(events.to_vec());
        let group = groups.add(Kind::Atomicity, Pattern::OneVariable(pattern), candidate);
        groups.is_saturated(group)
    }
}
