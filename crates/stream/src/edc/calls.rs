//! The order of calls that do not commute, and the calls that a later one may overtake.

use hashbrown::HashMap;
use reweave_spec::{LiveCalls, Mode, Resolved};
use reweave_trace::Relation;
use smallvec::SmallVec;

use super::uses::{Use, Uses};
use crate::clock::Shared;
use crate::step::{Step, at};
use crate::threads::Threads;

/// So many different calls on an object are compared with the next one, which then counts as one that conflicts with all.
const MOST: usize = 64;

const MODES: [Mode; 4] = [Mode::IS, Mode::IX, Mode::S, Mode::X];

/// The calls so far.
#[derive(Default, Debug)]
pub(super) struct Called {
    /// By access point.
    cells: Vec<Point>,
    objects: Vec<Object>,
    relations: HashMap<(u32, u32), Relation>,
}

/// Per mode, the calls that touched an access point and that later ones may not follow yet.
#[derive(Default, Debug)]
struct Point {
    modes: [SmallVec<[Shared; 2]>; 4],
}

#[derive(Default, Debug)]
struct Object {
    /// Of each thread and text the last, since one that conflicts with all others.
    recent: Vec<Recent>,
    /// Calls that come before others by a rule.
    uses: Uses,
}

#[derive(Debug)]
struct Recent {
    call: u32,
    alone: bool,
    stamp: Shared,
}

impl Called {
    /// Orders a call after those that it does not commute with.
    pub(super) fn follow(&mut self, threads: &mut Threads, step: &Step, calls: &LiveCalls) {
        let clock = &mut threads.of(step.thread).clock;
        let call = calls.of(step.target);
        for &(cell, mode) in &call.points {
            let point = at(&mut self.cells, cell);
            for other in MODES.into_iter().filter(|other| !mode.fits(*other)) {
                for stamp in &point.modes[other as usize] {
                    stamp.join_into(step.thread, clock);
                }
            }
        }
        for &object in &call.objects {
            let recent = &at(&mut self.objects, object).recent;
            let many = recent.len() >= MOST;
            for each in recent.iter().filter(|each| each.stamp.thread != step.thread) {
                let relation = match each.alone || !call.is_compared() {
                    true => Relation::Conflict,
                    false => *self
                        .relations
                        .entry((each.call, step.target))
                        .or_insert_with(|| calls.relation(each.call, step.target)),
                };
                if relation == Relation::Conflict || many && relation == Relation::Commute {
                    each.stamp.join_into(step.thread, clock);
                }
            }
        }
    }

    /// The earlier calls that must not come after this one, but may.
    pub(super) fn overtaken(&mut self, step: &Step, calls: &LiveCalls) -> Vec<Use> {
        let mut found = Vec::new();
        let call = calls.of(step.target);
        for &object in call.objects.iter().filter(|_| call.overtakes) {
            let uses = &at(&mut self.objects, object).uses.list;
            let ordered = |used: &&Use| calls.relation(used.call, step.target) == Relation::Ordered;
            found.extend(uses.iter().filter(ordered).cloned());
        }
        found
    }

    /// Keeps a call that later ones may overtake.
    pub(super) fn note(&mut self, call: &Resolved, used: &Use, all: bool) {
        for &object in &call.objects {
            at(&mut self.objects, object).uses.add(used.clone(), all);
        }
    }

    /// Later calls may have to follow this one. `known` says up to which time of a thread its events are ordered before it.
    pub(super) fn lead(&mut self, step: &Step, calls: &LiveCalls, stamp: Shared, known: impl Fn(u32) -> u32) {
        let call = calls.of(step.target);
        let before = |old: &Shared| known(old.thread) >= old.time;
        for &(cell, mode) in &call.points {
            let point = &mut at(&mut self.cells, cell).modes;
            if mode == Mode::X {
                // It follows all, and all follow it.
                point.iter_mut().for_each(SmallVec::clear);
            }
            let same = &mut point[mode as usize];
            match same.iter_mut().find(|old| old.thread == stamp.thread) {
                Some(old) => *old = stamp.clone(),
                None => {
                    // Those that this one follows add nothing to it; looking for them each time
                    // takes long where threads are many.
                    same.retain(|old| !before(old));
                    same.push(stamp.clone());
                }
            }
        }
        let alone = call.stands_alone();
        for &object in call.objects.iter().filter(|_| alone || call.is_compared()) {
            let recent = &mut at(&mut self.objects, object).recent;
            let alone = alone || recent.len() >= MOST;
            match alone {
                true => recent.clear(),
                false => recent.retain(|each| each.call != step.target || each.stamp.thread != step.thread),
            }
            recent.push(Recent { call: step.target, alone, stamp: stamp.clone() });
        }
    }
}
