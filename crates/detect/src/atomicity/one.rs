//! The patterns over one variable.
//!
//! One pass in observed order. Local pairs with the same sites that fit the same pattern are of one *shape*, and within
//! it of one class where thread and locks are the same too; remote accesses have classes likewise. Each local pair meets the latest remote
//! accesses of every class so far, and each remote access the latest local pairs. A shape that has given enough
//! candidates, or met more often than [`MEETINGS`] times, is done, so that the work for a variable does not depend on
//! how often it is accessed. Where every candidate is wanted, nothing is done and everything is kept.

use hashbrown::HashMap;
use reweave_trace::{EventId, SiteId, ThreadId};

use super::local::Steps;
use super::{Search, Touch, is};
use crate::groups::{Candidate, Groups};
use crate::locksets::{LocksetId, Locksets};
use crate::{Kind, Pattern};

/// How many instances of a class are kept.
pub(super) const RECENT: usize = 4;

/// How often a shape meets classes before it is given up.
pub(super) const MEETINGS: u32 = 16_384;

/// The accesses of one variable.
#[derive(Default)]
pub(super) struct OneVariable {
    /// Per thread, its last access.
    last: Vec<(ThreadId, Touch)>,
    places: HashMap<ShapeKey, usize>,
    shapes: Vec<Shape>,
    remote_places: HashMap<RemoteKey, usize>,
    remotes: Vec<Remote>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ShapeKey {
    sites: [SiteId; 2],
    pattern: &'static str,
}

struct Shape {
    pattern: &'static str,
    classes: Vec<LocalClass>,
    meetings: u32,
    done: bool,
}

struct LocalClass {
    thread: ThreadId,
    /// The locks held all the time from the one to the other.
    held: LocksetId,
    recent: Vec<[EventId; 2]>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct RemoteKey {
    thread: ThreadId,
    site: SiteId,
    kinds: [bool; 2],
    locks: LocksetId,
}

struct Remote {
    key: RemoteKey,
    recent: Vec<EventId>,
}

/// Keeps an instance, in place of the oldest where not all are wanted.
pub(super) fn keep<T>(recent: &mut Vec<T>, instance: T, all: bool) {
    if !all && recent.len() == RECENT {
        recent.remove(0);
    }
    recent.push(instance);
}

impl OneVariable {
    /// Runs the next access to the variable.
    pub(super) fn access(
        &mut self,
        search: &Search<'_>,
        steps: &Steps<'_>,
        touch: Touch,
        locksets: &mut Locksets,
        groups: &mut Groups<'_>,
    ) {
        self.come_between(search, touch, locksets, groups);
        if let Some(i) = self.last_of(touch) {
            let (thread, now) = (touch.thread, touch.event);
            if steps.is_meant(thread, i.event) || steps.is_near(i.event, now) {
                let held = steps.held_since(thread, i.event, locksets);
                let halves = |pattern: &[u8]| is(i.kinds, pattern[0]) && is(touch.kinds, pattern[2]);
                for &pattern in search.one.iter().filter(|pattern| halves(pattern.as_bytes())) {
                    self.local_pair(search, (pattern, [i, touch]), held, locksets, groups);
                }
            }
        }
        let site = search.prepared.trace.site(touch.event);
        let key = RemoteKey { thread: touch.thread, site, kinds: touch.kinds, locks: touch.locks };
        let next = self.remotes.len();
        let place = *self.remote_places.entry(key).or_insert(next);
        if place == next {
            self.remotes.push(Remote { key, recent: Vec::new() });
        }
        keep(&mut self.remotes[place].recent, touch.event, groups.all());
    }

    /// The thread's access before `touch`, which is its last one from now on.
    fn last_of(&mut self, touch: Touch) -> Option<Touch> {
        match self.last.iter_mut().find(|(thread, _)| *thread == touch.thread) {
            Some((_, last)) => Some(std::mem::replace(last, touch)),
            None => {
                self.last.push((touch.thread, touch));
                None
            }
        }
    }

    /// A new remote access meets the local pairs so far.
    fn come_between(
        &mut self,
        search: &Search<'_>,
        j: Touch,
        locksets: &mut Locksets,
        groups: &mut Groups<'_>,
    ) {
        for shape in
            self.shapes.iter_mut().filter(|shape| !shape.done && is(j.kinds, shape.pattern.as_bytes()[1]))
        {
            let mut enough = false;
            for class in shape.classes.iter().filter(|class| class.thread != j.thread) {
                shape.meetings += 1;
                if !locksets.compatible(class.held, j.locks) {
                    continue;
                }
                for &[i, k] in class.recent.iter().rev() {
                    // What comes before k comes before j too: the earlier pairs are no better.
                    if search.must.before(k, j.event) {
                        break;
                    }
                    enough = add(shape.pattern, [i, j.event, k], groups);
                }
            }
            shape.settle(enough, groups);
        }
    }

    /// A new local pair meets the remote accesses so far.
    fn local_pair(
        &mut self,
        search: &Search<'_>,
        (pattern, [i, k]): (&'static str, [Touch; 2]),
        held: LocksetId,
        locksets: &mut Locksets,
        groups: &mut Groups<'_>,
    ) {
        let key = ShapeKey { sites: [i, k].map(|touch| search.prepared.trace.site(touch.event)), pattern };
        let next = self.shapes.len();
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.shapes.push(Shape { pattern, classes: Vec::new(), meetings: 0, done: false });
        }
        let shape = &mut self.shapes[place];
        if shape.done {
            return;
        }
        let mut enough = false;
        let comes_between =
            |remote: &&Remote| remote.key.thread != k.thread && is(remote.key.kinds, pattern.as_bytes()[1]);
        for remote in self.remotes.iter().filter(comes_between) {
            shape.meetings += 1;
            if !locksets.compatible(held, remote.key.locks) {
                continue;
            }
            let needed = search.must.needed(i.event, remote.key.thread);
            let free = remote.recent.iter().rev().take_while(|&&j| search.prepared.position(j) >= needed);
            for &j in free {
                enough = add(pattern, [i.event, j, k.event], groups);
            }
        }
        let class = shape.classes.iter_mut().find(|class| class.thread == k.thread && class.held == held);
        let instance = [i.event, k.event];
        match class {
            Some(class) => keep(&mut class.recent, instance, groups.all()),
            None => shape.classes.push(LocalClass { thread: k.thread, held, recent: vec![instance] }),
        }
        shape.settle(enough, groups);
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
        if enough || given_up {
            *self = Shape { classes: Vec::new(), done: true, ..*self };
        }
    }
}

/// Adds a candidate; whether there are enough like it.
fn add(pattern: &'static str, events: [EventId; 3], groups: &mut Groups<'_>) -> bool {
    let candidate = Candidate::sequence(events.to_vec());
    let group = groups.add(Kind::Atomicity, Pattern::OneVariable(pattern), candidate);
    groups.is_saturated(group)
}
