//! Candidates for deadlocks.
//!
//! A *dependency* is an acquire that waits for a lock while its thread holds others; dependencies of one thread on one
//! lock with the same locks held are alike, and are treated as one. Cycles are searched among these, after the lock
//! graphs of Goodlock and the abstract deadlock patterns of SPDOffline: each waits for a lock that the next one holds,
//! all threads are different, and no two hold locks that exclude each other (a gate). Two dependencies are linked only
//! if some of their events can come in either order, as far as the must order tells ([`links`]). Only dependencies whose
//! locks are on a cycle of the lock graph count ([`graph`]); each cycle is found once, from its least dependency, and short
//! ones before long ones.
//!
//! Try-locks never wait, but what they hold counts. The shared side of a reader/writer lock blocks exclusive acquires
//! only. Cycles are found at any length up to the number of threads; their number can be exponential, so the search
//! ends after [`MAX_STEPS`], and says that it did.

mod graph;
mod links;
mod waits;

use fixedbitset::FixedBitSet;
use hashbrown::{HashMap, HashSet};
use reweave_decide::{Must, Prepared};
use reweave_trace::{EventId, Kind as OpKind, LockId, SiteId, ThreadId};

use crate::groups::{Candidate, Groups};
use crate::locksets::{Hold, LocksetId, Locksets, Vertex};
use crate::{Kind, Pattern};

/// How many steps the search for cycles takes at most.
const MAX_STEPS: usize = 2_000_000;

/// How many choices of events are made for one choice of sites.
const CHOICES: usize = 64;

/// How many choices of sites are made for one cycle.
const SITE_CHOICES: u32 = 1024;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    thread: ThreadId,
    waits_for: Hold,
    locks: LocksetId,
}

struct Dependency {
    key: Key,
    events: Vec<EventId>,
}

pub(crate) fn candidates(prepared: &Prepared<'_>, must: &Must<'_>, groups: &mut Groups<'_>) {
    let mut locksets = Locksets::new(prepared.order.threads());
    let mut dependencies = dependencies(prepared, &mut locksets);
    leave_cyclic(&mut dependencies, &locksets);
    let links = links::links(prepared, must, &dependencies, &mut locksets, &|| groups.stopped());
    groups.unexamined += u64::from(links.is_partial());
    let mut search = Search {
        prepared,
        must,
        dependencies: &dependencies,
        successors: links.successors,
        locksets,
        path: Vec::new(),
        steps: 0,
        unexamined: 0,
    };
    let threads = dependencies.iter().map(|one| one.key.thread).collect::<HashSet<_>>().len();
    for length in 2..=threads {
        let mut longer = false;
        for start in 0..dependencies.len() {
            search.path.push(start);
            longer |= search.extend(length, groups);
            search.path.pop();
        }
        if !longer || search.steps >= MAX_STEPS || groups.stopped() {
            break;
        }
    }
    groups.unexamined += search.unexamined + u64::from(search.steps >= MAX_STEPS);
    dead_holders(prepared, groups);
    waits::candidates(prepared, must, groups);
}

fn dependencies(prepared: &Prepared<'_>, locksets: &mut Locksets) -> Vec<Dependency> {
    let trace = prepared.trace;
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut found: Vec<Dependency> = Vec::new();
    for (id, event) in trace.events() {
        let outermost = prepared.links.is_outermost(id);
        let kind = event.op.kind();
        if outermost && matches!(kind, OpKind::Acquire | OpKind::SharedAcquire) {
            let locks = locksets.current(event.thread);
            let lock = LockId(event.op.target());
            let exclusive = Hold { lock, shared: false };
            // What its thread holds exclusively already cannot make it wait.
            if locks != LocksetId::EMPTY && !locksets.contains(locks, exclusive) {
                let waits_for = Hold { lock, shared: kind == OpKind::SharedAcquire };
                let key = Key { thread: event.thread, waits_for, locks };
                let place = *places.entry(key).or_insert_with(|| {
                    found.push(Dependency { key, events: Vec::new() });
                    found.len() - 1
                });
                found[place].events.push(id);
            }
        }
        locksets.run(event.thread, event.op, outermost);
    }
    found
}

/// Leaves the dependencies whose locks are on a cycle of the lock graph.
fn leave_cyclic(dependencies: &mut Vec<Dependency>, locksets: &Locksets) {
    let ends = |key: &Key| [Vertex::Set(key.locks), Vertex::Lock(key.waits_for.lock)];
    let mut edges: Vec<[Vertex; 2]> = dependencies.iter().map(|one| ends(&one.key)).collect();
    let mut seen = FixedBitSet::new();
    for one in &*dependencies {
        locksets.edges(one.key.locks, &mut seen, |from, to| edges.push([from, to]));
    }
    let components = graph::components(&edges);
    // Only its own locks lead to a set: one of them is reached from what is awaited where the set is.
    dependencies.retain(|one| {
        let [held, wanted] = ends(&one.key).map(|vertex| components[&vertex]);
        held == wanted
    });
}

struct Search<'a> {
    prepared: &'a Prepared<'a>,
    must: &'a Must<'a>,
    dependencies: &'a [Dependency],
    /// Per dependency, those that may hold what it waits for at the same time.
    successors: Vec<Vec<usize>>,
    locksets: Locksets,
    path: Vec<usize>,
    steps: usize,
    /// How many cycles were given up after some choices of their sites.
    unexamined: u64,
}

impl Search<'_> {
    /// Of a thread's events, those that may come before and after `event`.
    fn free<'e>(&self, event: EventId, thread: ThreadId, events: &'e [EventId]) -> &'e [EventId] {
        let needed = self.must.needed(event, thread);
        let from = events.partition_point(|&e| self.prepared.position(e) < needed);
        let to = from + events[from..].partition_point(|&e| !self.must.before(event, e));
        &events[from..to]
    }

    /// Finds the cycles of so many dependencies that begin with the path; whether there may be longer ones.
    fn extend(&mut self, length: usize, groups: &mut Groups<'_>) -> bool {
        let (start, last) = (self.path[0], self.path[self.path.len() - 1]);
        let mut longer = false;
        for at in 0..self.successors[last].len() {
            let next = self.successors[last][at];
            self.steps += 1;
            if self.steps >= MAX_STEPS || groups.stopped() {
                return false;
            }
            if next == start && self.path.len() == length {
                self.choose_events(groups);
            } else if next > start && self.fits(next) {
                if self.path.len() == length {
                    longer = true;
                    continue;
                }
                self.path.push(next);
                longer |= self.extend(length, groups);
                self.path.pop();
            }
        }
        longer
    }

    fn fits(&self, next: usize) -> bool {
        let key = self.dependencies[next].key;
        self.path.iter().all(|&place| {
            let other = self.dependencies[place].key;
            other.thread != key.thread && self.locksets.compatible(other.locks, key.locks)
        })
    }

    /// The events of a cycle: all choices or, for each choice of sites, the nearest to some events of the first.
    fn choose_events(&mut self, groups: &mut Groups<'_>) {
        let lists = self.path.iter().map(|&place| &self.dependencies[place].events[..]);
        if groups.all() {
            let lists: Vec<&[EventId]> = lists.collect();
            choices(&lists, |events| {
                groups.add(Kind::Deadlock, Pattern::Cycle, Candidate::deadlock(events));
                true
            });
            return;
        }
        let by_site: Vec<Vec<Vec<EventId>>> = lists.map(|events| self.split_by_site(events)).collect();
        let sites: Vec<Vec<usize>> = by_site.iter().map(|lists| (0..lists.len()).collect()).collect();
        let sites: Vec<&[usize]> = sites.iter().map(Vec::as_slice).collect();
        let mut left = SITE_CHOICES;
        choices(&sites, |chosen| {
            let lists: Vec<&[EventId]> =
                chosen.iter().zip(&by_site).map(|(&at, lists)| &lists[at][..]).collect();
            self.nearest_events(&lists, groups);
            left -= 1;
            left > 0
        });
        self.unexamined += u64::from(left == 0);
    }

    fn split_by_site(&self, events: &[EventId]) -> Vec<Vec<EventId>> {
        let mut places: HashMap<SiteId, usize> = HashMap::new();
        let mut lists: Vec<Vec<EventId>> = Vec::new();
        for &event in events {
            let place = *places.entry(self.prepared.trace.site(event)).or_insert_with(|| {
                lists.push(Vec::new());
                lists.len() - 1
            });
            lists[place].push(event);
        }
        lists
    }

    fn nearest_events(&self, lists: &[&[EventId]], groups: &mut Groups<'_>) {
        for first in spread(lists[0], CHOICES) {
            let mut events = vec![first];
            for (&place, list) in self.path[1..].iter().zip(&lists[1..]) {
                let thread = self.dependencies[place].key.thread;
                events.extend(nearest(self.free(first, thread, list), first));
            }
            if events.len() == lists.len() {
                groups.add(Kind::Deadlock, Pattern::Cycle, Candidate::deadlock(events));
            }
        }
    }
}

/// Every choice of one item from each list, until `take` has had enough.
fn choices<T: Copy>(lists: &[&[T]], mut take: impl FnMut(Vec<T>) -> bool) {
    let mut chosen = vec![0; lists.len()];
    while take(chosen.iter().zip(lists).map(|(&at, list)| list[at]).collect()) {
        let Some(turn) = (0..lists.len()).find(|&i| chosen[i] + 1 < lists[i].len()) else { return };
        chosen[..turn].fill(0);
        chosen[turn] += 1;
    }
}

/// At most so many of the events, evenly.
fn spread(events: &[EventId], most: usize) -> impl Iterator<Item = EventId> {
    events.iter().copied().step_by(events.len().div_ceil(most).max(1))
}

fn nearest(events: &[EventId], to: EventId) -> Option<EventId> {
    let after = events.partition_point(|&event| event < to);
    let candidates =
        [after.checked_sub(1), Some(after)].into_iter().flatten().filter_map(|at| events.get(at));
    candidates.copied().min_by_key(|event| event.0.abs_diff(to.0))
}

/// Acquires of locks that some thread never gives back before its end.
fn dead_holders(prepared: &Prepared<'_>, groups: &mut Groups<'_>) {
    let trace = prepared.trace;
    let mut ends: HashMap<ThreadId, EventId> = HashMap::new();
    for id in trace.ids().filter(|&id| trace.kind(id) == OpKind::End) {
        ends.entry(trace.thread(id)).or_insert(id);
    }
    for lock in (0..trace.count(reweave_trace::Space::Lock)).map(LockId::from_index) {
        let open = prepared.sections(lock).filter(|section| {
            let end = ends.get(&section.thread);
            end.is_some_and(|&end| section.release.is_none_or(|release| release > end))
        });
        let open: Vec<_> = open.collect();
        if open.is_empty() {
            continue;
        }
        for section in prepared.sections(lock) {
            let waits = matches!(trace.kind(section.acquire), OpKind::Acquire | OpKind::SharedAcquire);
            if waits && open.iter().any(|other| other.excludes(&section)) {
                groups.add(Kind::Deadlock, Pattern::DeadHolder, Candidate::deadlock(vec![section.acquire]));
            }
        }
    }
}
