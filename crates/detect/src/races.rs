//! Candidates for data races.
//!
//! Every pair of conflicting accesses that the must order leaves free and whose locks do not exclude each other is a
//! candidate. Variables that one lock guards have none. For the others, one pass in observed order: each access meets the classes of its variable ([`crate::classes`]) that have
//! accesses that need not come before it, and within a class those accesses, which are the latest ones.
//!
//! Misses nothing: what is filtered out is infeasible by the must order, or because two threads cannot both stand
//! inside critical sections that exclude each other. Where only one finding per pair of sites is wanted, a pair of
//! sites with very many candidates keeps some of them, spread over the trace, and the number of all.

use std::ops::ControlFlow;

use fixedbitset::FixedBitSet;
use hashbrown::HashMap;
use reweave_decide::{Must, Prepared};
use reweave_trace::{Access, EventId, SiteId, Space, ThreadId, VarId};

use crate::classes::{Class, Classes};
use crate::groups::{Candidate, Groups};
use crate::horizon::Horizon;
use crate::locksets::{LocksetId, Locksets};
use crate::variables::{Use, Variables};
use crate::{Kind, Pattern};

/// How many accesses of a class are kept at least: where an earlier one is free, all of these are, and so many candidates
/// of one access are enough.
const RECENT: usize = 64;

/// For how many classes of a variable it is remembered with which others they are done.
const REMEMBERED: usize = 4096;

/// What accesses have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Key {
    thread: ThreadId,
    site: SiteId,
    reads: bool,
    writes: bool,
    atomic: bool,
    locks: LocksetId,
}

impl Key {
    /// Whether accesses so may race.
    fn may_meet(&self, other: &Key, locksets: &Locksets) -> bool {
        (self.writes || other.writes)
            && !(self.atomic && other.atomic)
            && locksets.compatible(self.locks, other.locks)
    }
}

/// The accesses of one variable.
#[derive(Default)]
struct Accesses {
    classes: Classes<Key, EventId>,
    /// Per class, the others that it is done with, as bits: they never race, or have given enough candidates.
    done: Vec<Vec<u64>>,
}

impl Accesses {
    /// Forgets what no access to come can meet.
    fn forget(&mut self, prepared: &Prepared<'_>, horizon: &Horizon<'_>) {
        let passed = |thread| horizon.passed(thread, |_| None);
        self.classes.forget(horizon.threads(), passed, |&event| prepared.position(event));
        self.done.clear();
    }

    fn is_done(&self, place: u32, other: u32) -> bool {
        let word = self.done.get(place as usize).and_then(|words| words.get(other as usize / 64));
        word.is_some_and(|word| word >> (other % 64) & 1 == 1)
    }

    fn set_done(&mut self, place: u32, other: u32) {
        let (row, word) = (place as usize, other as usize / 64);
        if row.max(other as usize) >= REMEMBERED {
            return;
        }
        if self.done.len() <= row {
            self.done.resize_with(row + 1, Vec::new);
        }
        if self.done[row].len() <= word {
            self.done[row].resize(word + 1, 0);
        }
        self.done[row][word] |= 1 << (other % 64);
    }
}

pub(crate) fn candidates(
    prepared: &Prepared<'_>,
    must: &Must<'_>,
    variables: &Variables,
    groups: &mut Groups<'_>,
) {
    let unguarded = unguarded(prepared, variables);
    let mut horizon = Horizon::new(prepared, must);
    let mut all: HashMap<VarId, Accesses> = HashMap::new();
    each_access(prepared, variables, |id, access, variable, locksets| {
        if !unguarded.contains(variable.index()) {
            return ControlFlow::Continue(());
        }
        if groups.stopped() {
            return ControlFlow::Break(());
        }
        let thread = prepared.trace.thread(id);
        horizon.run(thread, id);
        let accesses = all.entry(variable).or_default();
        if accesses.classes.is_crowded() {
            accesses.forget(prepared, &horizon);
        }
        let key = Key {
            thread,
            site: prepared.trace.site(id),
            reads: access.reads,
            writes: access.writes,
            atomic: access.atomic,
            locks: locksets.current(thread),
        };
        Meeting { prepared, must, id, access, variable }.meet(accesses, key, locksets, groups);
        ControlFlow::Continue(())
    });
}

/// The contended variables that no lock guards. Where one lock is held at every access, and not shared at any that
/// writes, no two that conflict can be next at once: most variables of most programs are so.
fn unguarded(prepared: &Prepared<'_>, variables: &Variables) -> FixedBitSet {
    let mut guards: HashMap<VarId, LocksetId> = HashMap::new();
    let mut unguarded = FixedBitSet::with_capacity(prepared.trace.count(Space::Variable));
    each_access(prepared, variables, |id, access, variable, locksets| {
        if unguarded.contains(variable.index()) {
            return ControlFlow::Continue(());
        }
        let held = locksets.current(prepared.trace.thread(id));
        let left = locksets.guarding(guards.get(&variable).copied(), held, access.writes);
        guards.insert(variable, left);
        unguarded.set(variable.index(), left == LocksetId::EMPTY);
        ControlFlow::Continue(())
    });
    unguarded
}

/// Calls `visit` with each access, in observed order, and each contended variable that it touches.
fn each_access(
    prepared: &Prepared<'_>,
    variables: &Variables,
    mut visit: impl FnMut(EventId, Access, VarId, &mut Locksets) -> ControlFlow<()>,
) {
    let mut locksets = Locksets::new(prepared.order.threads());
    for (id, event) in prepared.trace.events() {
        locksets.run(event.thread, event.op, prepared.links.is_outermost(id));
        let Some(access) = event.op.access() else { continue };
        let mut flow = ControlFlow::Continue(());
        variables.each_touched(access.variable, access.lifetime, |variable| {
            if flow.is_continue() && variables.use_of(variable) == Use::Contended {
                flow = visit(id, access, variable, &mut locksets);
            }
        });
        if flow.is_break() {
            return;
        }
    }
}

struct Meeting<'a> {
    prepared: &'a Prepared<'a>,
    must: &'a Must<'a>,
    id: EventId,
    access: Access,
    /// The variable that is looked at: the one that the access names, or a field of the object that it names.
    variable: VarId,
}

impl Meeting<'_> {
    fn meet(&self, accesses: &mut Accesses, key: Key, locksets: &Locksets, groups: &mut Groups<'_>) {
        let place = accesses.classes.place(key);
        let mut done = Vec::new();
        for (n, thread) in accesses.classes.threads().enumerate().filter(|(_, thread)| *thread != key.thread)
        {
            let needed = self.must.needed(self.id, thread);
            let free = |event: &EventId| self.prepared.position(*event) >= needed;
            let open =
                accesses.classes.of(n).take_while(|(_, class)| class.instances.last().is_some_and(free));
            for (other, class) in open.filter(|(other, _)| !accesses.is_done(place, *other)) {
                if !key.may_meet(&class.key, locksets) || self.pair_up(class, needed, groups) {
                    done.push(other);
                }
            }
        }
        for other in done {
            accesses.set_done(place, other);
            accesses.set_done(other, place);
        }
        let limit = (!groups.all()).then_some(RECENT);
        accesses.classes.push(key.thread, place, self.id, limit);
    }

    /// Adds the candidates with the accesses of a class that are free; whether there are enough like them.
    fn pair_up(&self, class: &Class<Key, EventId>, needed: u32, groups: &mut Groups<'_>) -> bool {
        let free = class.instances.partition_point(|&event| self.prepared.position(event) < needed);
        // The nearest first: it is the likeliest.
        for &event in class.instances[free..].iter().rev() {
            if self.counted_elsewhere(event) {
                continue;
            }
            let group = groups.add(Kind::Race, Pattern::Race, Candidate::coenabled(event, self.id));
            if groups.is_saturated(group) {
                return true;
            }
        }
        false
    }

    /// Whether the pair meets in another variable too, and is counted there: two lifetimes meet in every field of
    /// the inner object, and count for that object alone.
    fn counted_elsewhere(&self, other: EventId) -> bool {
        let Some(theirs) = self.prepared.trace.op(other).access() else { return false };
        let both = theirs.lifetime && self.access.lifetime;
        both && self.variable != theirs.variable && self.variable != self.access.variable
    }
}
