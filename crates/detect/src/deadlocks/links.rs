//! Which dependencies may hold what another one waits for, at the same time.
//!
//! Most pairs of dependencies exclude each other, and are never looked at. The locks of a thread, in the order in which it took
//! them, are a path of a tree: what is held in a node is held in all nodes below it. Who waits for a lock starts at the nodes that
//! took it, and turns back at each that holds something that its own thread holds. So the search visits the pairs that
//! are links, as far as locks say, and those next to them: two threads that nest n locks in opposite orders have n links, and
//! not n² pairs. A pair that is left is a link if an event of the one can come before an event of the other, and after it, as far
//! as the must order says.
//!
//! Misses nothing, unless it takes more than [`MAX_STEPS`]; then it says so.

use hashbrown::HashMap;
use reweave_decide::{Must, Prepared};
use reweave_trace::{EventId, LockId, Op};

use super::{Dependency, Key};
use crate::locksets::{Hold, LocksetId, Locksets};

/// How many steps are taken at most: some seconds.
const MAX_STEPS: u64 = 1 << 26;

/// What a link counts: there are to be no more than a search for cycles can walk along.
const LINK: u64 = 16;

/// What was found.
pub(super) struct Links {
    /// Per dependency, those that may hold what it waits for.
    pub(super) successors: Vec<Vec<usize>>,
    steps: u64,
}

impl Links {
    /// Whether the search was given up before its end.
    pub(super) fn is_partial(&self) -> bool {
        self.steps >= MAX_STEPS
    }
}

pub(super) fn links(
    prepared: &Prepared<'_>,
    must: &Must<'_>,
    dependencies: &[Dependency],
    locksets: &mut Locksets,
    stopped: &dyn Fn() -> bool,
) -> Links {
    let mut links = Links { successors: vec![Vec::new(); dependencies.len()], steps: 0 };
    if dependencies.is_empty() {
        return links;
    }
    let nests = Nests::new(prepared, dependencies, locksets);
    for (place, one) in dependencies.iter().enumerate() {
        if links.is_partial() || stopped() {
            break;
        }
        let mut found = nests.blocking(&one.key, dependencies, locksets, &mut links.steps);
        found.retain(|&other| is_free(prepared, must, [one, &dependencies[other]], &mut links.steps));
        links.steps += LINK * found.len() as u64;
        links.successors[place] = found;
    }
    links
}

/// What is held, in the order in which it was taken.
struct Nest {
    /// The nest that it was taken in.
    outer: u32,
    hold: Hold,
    locks: LocksetId,
    inner: Vec<u32>,
    /// The dependencies that hold just this.
    dependencies: Vec<usize>,
    /// Whether there is a dependency here or in a nest within.
    leads_on: bool,
}

/// All nests of a trace; the first holds nothing.
struct Nests {
    list: Vec<Nest>,
    places: HashMap<(u32, Hold), u32>,
    /// Per lock, the nests that begin with taking it and lead to a dependency.
    of: HashMap<LockId, Vec<u32>>,
}

const NONE: u32 = 0;

impl Nests {
    fn new(prepared: &Prepared<'_>, dependencies: &[Dependency], locksets: &mut Locksets) -> Nests {
        let nothing = Hold { lock: LockId(0), shared: false };
        let outermost = Nest {
            outer: NONE,
            hold: nothing,
            locks: LocksetId::EMPTY,
            inner: Vec::new(),
            dependencies: Vec::new(),
            leads_on: false,
        };
        let mut nests = Nests { list: vec![outermost], places: HashMap::new(), of: HashMap::new() };
        let events = dependencies.iter().enumerate();
        let events = events.flat_map(|(place, one)| one.events.iter().map(move |&event| (event, place)));
        let mut events: Vec<(EventId, usize)> = events.collect();
        events.sort_unstable();
        let mut next = events.into_iter().peekable();
        let mut current = vec![NONE; prepared.order.threads()];
        let mut left: HashMap<(u32, Hold), u32> = HashMap::new();
        for (id, event) in prepared.trace.events() {
            if let Some((_, place)) = next.next_if(|(at, _)| *at == id) {
                let here = &mut nests.list[current[event.thread.index()] as usize].dependencies;
                if here.last() != Some(&place) {
                    here.push(place);
                }
            }
            if prepared.links.is_outermost(id) {
                let at = &mut current[event.thread.index()];
                *at = nests.run(*at, event.op, locksets, &mut left);
            }
        }
        nests.finish();
        nests
    }

    /// The nest that an outermost operation leads to; `left` has where releases led before.
    fn run(&mut self, at: u32, op: Op, locksets: &mut Locksets, left: &mut HashMap<(u32, Hold), u32>) -> u32 {
        match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => {
                self.within(at, Hold { lock, shared: false }, locksets)
            }
            Op::SharedAcquire(lock) => self.within(at, Hold { lock, shared: true }, locksets),
            Op::Release(lock) | Op::SharedRelease(lock) => {
                let hold = Hold { lock, shared: matches!(op, Op::SharedRelease(_)) };
                if let Some(&to) = left.get(&(at, hold)) {
                    return to;
                }
                let to = self.without(at, hold, locksets);
                left.insert((at, hold), to);
                to
            }
            _ => at,
        }
    }

    fn within(&mut self, outer: u32, hold: Hold, locksets: &mut Locksets) -> u32 {
        let next = self.list.len() as u32;
        let place = *self.places.entry((outer, hold)).or_insert(next);
        if place == next {
            let locks = locksets.changed(self.list[outer as usize].locks, hold, true);
            let (inner, dependencies) = (Vec::new(), Vec::new());
            self.list.push(Nest { outer, hold, locks, inner, dependencies, leads_on: false });
        }
        place
    }

    /// The nest without a hold: those that were taken later are taken again. A thread that lets go of the last one first has none.
    fn without(&mut self, at: u32, hold: Hold, locksets: &mut Locksets) -> u32 {
        let (mut later, mut nest) = (Vec::new(), at);
        while nest != NONE && self.list[nest as usize].hold != hold {
            later.push(self.list[nest as usize].hold);
            nest = self.list[nest as usize].outer;
        }
        if nest == NONE {
            return at;
        }
        let outer = self.list[nest as usize].outer;
        later.into_iter().rev().fold(outer, |nest, hold| self.within(nest, hold, locksets))
    }

    /// Links each nest that leads to a dependency with the one around it.
    fn finish(&mut self) {
        // A nest comes after the one around it.
        for place in (1..self.list.len()).rev() {
            let nest = &mut self.list[place];
            nest.dependencies.sort_unstable();
            nest.dependencies.dedup();
            nest.leads_on |= !nest.dependencies.is_empty();
            if nest.leads_on {
                let (outer, lock) = (nest.outer, nest.hold.lock);
                self.of.entry(lock).or_default().push(place as u32);
                let outer = &mut self.list[outer as usize];
                outer.leads_on = true;
                outer.inner.push(place as u32);
            }
        }
    }

    /// The dependencies that may hold what one waits for, as far as locks say, in order.
    fn blocking(
        &self,
        key: &Key,
        dependencies: &[Dependency],
        locksets: &Locksets,
        steps: &mut u64,
    ) -> Vec<usize> {
        let mut found = Vec::new();
        let none: &[u32] = &[];
        let begin = self.of.get(&key.waits_for.lock).map_or(none, Vec::as_slice).iter().copied();
        let mut open: Vec<u32> =
            begin.filter(|&place| self.list[place as usize].hold.excludes(key.waits_for)).collect();
        while let Some(place) = open.pop() {
            *steps += 1;
            let nest = &self.list[place as usize];
            if !locksets.compatible(nest.locks, key.locks) {
                continue;
            }
            let other = |place: &usize| dependencies[*place].key.thread != key.thread;
            *steps += nest.dependencies.len() as u64;
            found.extend(nest.dependencies.iter().copied().filter(other));
            open.extend(&nest.inner);
        }
        // A lock may be held in both ways, one within the other.
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether an event of one dependency can come both before and after one of the other, as far as the must order says.
///
/// It is enough to ask about neighbours in observed order: what must not come before an event need not come before an earlier one.
fn is_free(
    prepared: &Prepared<'_>,
    must: &Must<'_>,
    [one, other]: [&Dependency; 2],
    steps: &mut u64,
) -> bool {
    let (mut a, mut b) = (&one.events[..], &other.events[..]);
    while let (Some(first), Some(second)) = (a.first(), b.first()) {
        *steps += 1;
        if second < first {
            std::mem::swap(&mut a, &mut b);
            continue;
        }
        let (before, after) = a.split_at(a.partition_point(|event| event < second));
        if let Some(&earlier) = before.last()
            && prepared.position(earlier) >= must.needed(*second, prepared.trace.thread(earlier))
        {
            return true;
        }
        a = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use reweave_decide::Decider;
    use reweave_testkit::{Shape, generate, show};
    use reweave_trace::{Builder, Event, EventValues, Model, Trace};

    use super::super::{dependencies, leave_cyclic};
    use super::*;

    /// The dependencies of a trace that may be on cycles, and what else there is to ask about them.
    fn linked(trace: &Trace, check: impl FnOnce(&Prepared<'_>, &Must<'_>, &[Dependency], &Locksets, Links)) {
        let prepared = Prepared::new(trace, None);
        let decider = Decider::new(&prepared, Model::Rf).expect("the model is sound");
        let mut locksets = Locksets::new(prepared.order.threads());
        let mut dependencies = dependencies(&prepared, &mut locksets);
        leave_cyclic(&mut dependencies, &locksets);
        let links = links(&prepared, decider.must(), &dependencies, &mut locksets, &|| false);
        check(&prepared, decider.must(), &dependencies, &locksets, links);
    }

    #[test]
    fn links_are_those_of_all_pairs() {
        let mut count = 0;
        let presets = Shape::presets();
        for seed in 0..6_000 {
            let (_, shape) = presets[seed as usize % presets.len()].clone();
            let trace = generate(&Shape { events: (10, 60), ..shape }, seed);
            linked(&trace, |prepared, must, dependencies, locksets, links| {
                for (place, one) in dependencies.iter().enumerate() {
                    let is_link = |other: &Dependency| {
                        let [mine, theirs] =
                            [one, other].map(|one| locksets.holds(one.key.locks).collect::<Vec<_>>());
                        let free = |a: EventId, b: EventId| {
                            let (earlier, later) = (a.min(b), a.max(b));
                            prepared.position(earlier) >= must.needed(later, trace.thread(earlier))
                        };
                        one.key.thread != other.key.thread
                            && theirs.iter().any(|hold| hold.excludes(one.key.waits_for))
                            && !mine.iter().any(|hold| theirs.iter().any(|other| hold.excludes(*other)))
                            && one.events.iter().any(|&a| other.events.iter().any(|&b| free(a, b)))
                    };
                    let expected: Vec<usize> =
                        (0..dependencies.len()).filter(|&other| is_link(&dependencies[other])).collect();
                    assert_eq!(links.successors[place], expected, "seed {seed} {place}\n{}", show(&trace));
                    count += expected.len();
                }
            });
        }
        assert!(count > 1_000, "{count}");
    }

    /// Two threads that nest so many locks, each in its own order.
    fn nests(orders: [Vec<u32>; 2]) -> Trace {
        let mut builder = Builder::new();
        for (name, order) in ["one", "two"].into_iter().zip(&orders) {
            let thread = builder.thread(name).expect("there is room");
            let takes = order.iter().map(|lock| (Op::Acquire as fn(LockId) -> Op, lock));
            let leaves = order.iter().rev().map(|lock| (Op::Release as fn(LockId) -> Op, lock));
            for (op, lock) in takes.chain(leaves) {
                let lock = builder.lock(&format!("l{lock}")).expect("there is room");
                let site = builder.site("a.c:1").expect("there is room");
                let event = Event { thread, op: op(lock), site };
                builder.push(event, EventValues::NONE).expect("it is well formed");
            }
        }
        builder.finish().expect("it is well formed")
    }

    const DEPTH: u32 = 2_000;

    #[test]
    fn nests_in_opposite_orders_have_a_link_for_each_depth() {
        linked(&nests([(0..DEPTH).collect(), (0..DEPTH).rev().collect()]), |_, _, all, locksets, links| {
            let count: usize = links.successors.iter().map(Vec::len).sum();
            assert_eq!((all.len(), count), (2 * DEPTH as usize - 2, 2 * DEPTH as usize - 2));
            let (nodes, compared) = locksets.work();
            let most = u64::from(DEPTH) * 200;
            assert!(
                links.steps < most && nodes < most && compared < most,
                "{} {nodes} {compared}",
                links.steps
            );
        });
    }

    #[test]
    fn nests_in_one_order_are_on_no_cycle() {
        linked(&nests([(0..DEPTH).collect(), (0..DEPTH).collect()]), |_, _, all, locksets, links| {
            assert_eq!((all.len(), links.steps), (0, 0));
            let (nodes, _) = locksets.work();
            assert!(nodes < u64::from(DEPTH) * 20, "{nodes}");
        });
    }
}
