//! The locks that threads hold, as shared trees.
//!
//! A set is a binary tree over the bits of its locks' numbers (the big-endian Patricia trees of Okasaki and Gill, *Fast Mergeable
//! Integer Maps*), and equal trees are one tree: each node is looked up before it is made. So equal sets have the same id, a lock
//! more or less costs a path and not a copy, and what two sets have in common is seen without a walk through it. A
//! thread that nests n locks leaves O(n log n) nodes, and to compare its sets with those of another thread takes little
//! more, since answers about nodes are remembered.

use std::cell::{Cell, RefCell};

use hashbrown::HashMap;
use reweave_trace::{LockId, Op, ThreadId};

/// A set of holds: the root of its tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct LocksetId(u32);

impl LocksetId {
    /// The set without a hold.
    pub(crate) const EMPTY: LocksetId = LocksetId(EMPTY);
}

/// One lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Hold {
    pub(crate) lock: LockId,
    pub(crate) shared: bool,
}

impl Hold {
    /// Whether two threads cannot have the two holds at once.
    pub(crate) fn excludes(self, other: Hold) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }

    fn mode(self) -> u32 {
        if self.shared { SHARED } else { EXCLUSIVE }
    }
}

const EXCLUSIVE: u32 = 1;
const SHARED: u32 = 2;

const EMPTY: u32 = 0;

/// Nodes of fewer holds are compared anew each time.
const SMALL: u32 = 8;

/// So many answers are remembered at once.
const MOST_ANSWERS: usize = 1 << 20;

/// A lock with its modes, or two trees that differ in a bit of their locks first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Empty,
    Leaf { lock: u32, modes: u32 },
    Branch { prefix: u32, bit: u32, children: [u32; 2] },
}

/// What is known of a node without a look below it.
#[derive(Clone, Copy)]
struct Summary {
    holds: u32,
    /// Whether a lock is held exclusively, and whether every one is.
    any_exclusive: bool,
    all_exclusive: bool,
}

/// The holds of every thread at one moment of the observed run, and all sets that occurred.
pub(crate) struct Locksets {
    nodes: Vec<Node>,
    summaries: Vec<Summary>,
    ids: HashMap<Node, u32>,
    /// Where an outermost acquire or release leads.
    changes: HashMap<(u32, Hold, bool), u32>,
    current: Vec<u32>,
    /// Whether two trees exclude each other.
    clashes: RefCell<HashMap<[u32; 2], bool>>,
    /// What is left of guards at an access.
    guards: HashMap<(u32, u32, bool), u32>,
    /// How many pairs of nodes have been compared.
    compared: Cell<u64>,
}

impl Locksets {
    pub(crate) fn new(threads: usize) -> Locksets {
        Locksets {
            nodes: vec![Node::Empty],
            summaries: vec![Summary { holds: 0, any_exclusive: false, all_exclusive: true }],
            ids: HashMap::new(),
            changes: HashMap::new(),
            current: vec![EMPTY; threads],
            clashes: RefCell::default(),
            guards: HashMap::new(),
            compared: Cell::new(0),
        }
    }

    /// What `thread` holds now.
    pub(crate) fn current(&self, thread: ThreadId) -> LocksetId {
        LocksetId(self.current[thread.index()])
    }

    /// The holds of a set, in the order of their locks.
    pub(crate) fn holds(&self, set: LocksetId) -> impl Iterator<Item = Hold> {
        let mut open = vec![set.0];
        let mut second = None;
        std::iter::from_fn(move || {
            if let Some(hold) = second.take() {
                return Some(hold);
            }
            while let Some(node) = open.pop() {
                match self.nodes[node as usize] {
                    Node::Empty => {}
                    Node::Branch { children: [low, high], .. } => open.extend([high, low]),
                    Node::Leaf { lock, modes } => {
                        let hold = |shared| Hold { lock: LockId(lock), shared };
                        second = (modes == EXCLUSIVE | SHARED).then_some(hold(true));
                        return Some(hold(modes == SHARED));
                    }
                }
            }
            None
        })
    }

    /// Whether a set has a hold.
    pub(crate) fn contains(&self, set: LocksetId, hold: Hold) -> bool {
        self.modes(set.0, hold.lock.0) & hold.mode() != 0
    }

    /// Runs an operation; only outermost acquires and releases count.
    pub(crate) fn run(&mut self, thread: ThreadId, op: Op, outermost: bool) {
        let (lock, shared, enters) = match op {
            Op::Acquire(lock) | Op::TryAcquire(lock) => (lock, false, true),
            Op::SharedAcquire(lock) => (lock, true, true),
            Op::Release(lock) => (lock, false, false),
            Op::SharedRelease(lock) => (lock, true, false),
            _ => return,
        };
        if outermost {
            let from = LocksetId(self.current[thread.index()]);
            self.current[thread.index()] = self.changed(from, Hold { lock, shared }, enters).0;
        }
    }

    /// A set with one hold more, or less.
    pub(crate) fn changed(&mut self, from: LocksetId, hold: Hold, enters: bool) -> LocksetId {
        if let Some(&to) = self.changes.get(&(from.0, hold, enters)) {
            return LocksetId(to);
        }
        let to = match enters {
            true => self.with(from.0, hold.lock.0, hold.mode()),
            false => self.without(from.0, hold.lock.0, hold.mode()),
        };
        self.changes.insert((from.0, hold, enters), to);
        LocksetId(to)
    }

    /// Whether two threads can be inside both sets at once.
    pub(crate) fn compatible(&self, a: LocksetId, b: LocksetId) -> bool {
        !self.clash(a.0, b.0)
    }

    /// Of the locks that guarded all accesses so far, those that guard one more: they are held at it, and not only shared
    /// where it writes. `None` is all locks.
    pub(crate) fn guarding(&mut self, so_far: Option<LocksetId>, held: LocksetId, writes: bool) -> LocksetId {
        let guards = so_far.unwrap_or(held);
        LocksetId(self.kept(guards.0, held.0, writes))
    }

    /// How many nodes all sets have, and how many pairs of nodes have been compared.
    #[cfg(test)]
    pub(crate) fn work(&self) -> (u64, u64) {
        (self.nodes.len() as u64, self.compared.get())
    }

    /// The edges of a set's tree, up to the root: from each lock to its leaf, and from each node to the one above it. What is in
    /// `seen` has been visited before.
    pub(crate) fn edges(
        &self,
        set: LocksetId,
        seen: &mut fixedbitset::FixedBitSet,
        mut edge: impl FnMut(Vertex, Vertex),
    ) {
        seen.grow(self.nodes.len());
        let mut open = vec![set.0];
        while let Some(node) = open.pop() {
            if seen.put(node as usize) {
                continue;
            }
            match self.nodes[node as usize] {
                Node::Empty => {}
                Node::Leaf { lock, .. } => edge(Vertex::Lock(LockId(lock)), Vertex::Set(LocksetId(node))),
                Node::Branch { children, .. } => {
                    for child in children {
                        edge(Vertex::Set(LocksetId(child)), Vertex::Set(LocksetId(node)));
                        open.push(child);
                    }
                }
            }
        }
    }
}

/// A lock, or a part of a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Vertex {
    Lock(LockId),
    Set(LocksetId),
}

/// The trees.
impl Locksets {
    fn node(&mut self, node: Node) -> u32 {
        let next = self.nodes.len() as u32;
        let id = *self.ids.entry(node).or_insert(next);
        if id == next {
            let summary = self.summary(node);
            self.nodes.push(node);
            self.summaries.push(summary);
        }
        id
    }

    fn summary(&self, node: Node) -> Summary {
        match node {
            Node::Empty => self.summaries[EMPTY as usize],
            Node::Leaf { modes, .. } => {
                let exclusive = modes & EXCLUSIVE != 0;
                Summary { holds: modes.count_ones(), any_exclusive: exclusive, all_exclusive: exclusive }
            }
            Node::Branch { children, .. } => {
                let [low, high] = children.map(|child| self.summaries[child as usize]);
                Summary {
                    holds: low.holds + high.holds,
                    any_exclusive: low.any_exclusive || high.any_exclusive,
                    all_exclusive: low.all_exclusive && high.all_exclusive,
                }
            }
        }
    }

    /// A branch, or the only child that has something.
    fn branch(&mut self, prefix: u32, bit: u32, children: [u32; 2]) -> u32 {
        match children {
            [EMPTY, only] | [only, EMPTY] => only,
            _ => self.node(Node::Branch { prefix, bit, children }),
        }
    }

    fn with(&mut self, tree: u32, lock: u32, mode: u32) -> u32 {
        let leaf = Node::Leaf { lock, modes: mode };
        match self.nodes[tree as usize] {
            Node::Empty => self.node(leaf),
            Node::Leaf { lock: other, modes } if other == lock => {
                self.node(Node::Leaf { lock, modes: modes | mode })
            }
            Node::Branch { prefix, bit, mut children } if below(lock, bit) == prefix => {
                let side = side(lock, bit);
                children[side] = self.with(children[side], lock, mode);
                self.branch(prefix, bit, children)
            }
            Node::Leaf { lock: other, .. } | Node::Branch { prefix: other, .. } => {
                let bit = 1 << (lock ^ other).ilog2();
                let mut children = [tree; 2];
                children[side(lock, bit)] = self.node(leaf);
                self.branch(below(lock, bit), bit, children)
            }
        }
    }

    fn without(&mut self, tree: u32, lock: u32, mode: u32) -> u32 {
        match self.nodes[tree as usize] {
            Node::Leaf { lock: other, modes } if other == lock => match modes & !mode {
                0 => EMPTY,
                modes => self.node(Node::Leaf { lock, modes }),
            },
            Node::Branch { prefix, bit, mut children } if below(lock, bit) == prefix => {
                let side = side(lock, bit);
                children[side] = self.without(children[side], lock, mode);
                self.branch(prefix, bit, children)
            }
            Node::Empty | Node::Leaf { .. } | Node::Branch { .. } => tree,
        }
    }

    /// How a lock is held in a tree.
    fn modes(&self, mut tree: u32, lock: u32) -> u32 {
        loop {
            match self.nodes[tree as usize] {
                Node::Leaf { lock: other, modes } if other == lock => return modes,
                Node::Branch { prefix, bit, children } if below(lock, bit) == prefix => {
                    tree = children[side(lock, bit)];
                }
                Node::Empty | Node::Leaf { .. } | Node::Branch { .. } => return 0,
            }
        }
    }

    /// Whether a hold in one tree excludes one in the other.
    fn clash(&self, a: u32, b: u32) -> bool {
        self.compared.set(self.compared.get() + 1);
        let [one, other] = [a, b].map(|tree| self.summaries[tree as usize]);
        if one.holds == 0 || other.holds == 0 || !(one.any_exclusive || other.any_exclusive) {
            return false;
        }
        if a == b {
            return true;
        }
        let is_large = one.holds.min(other.holds) > SMALL;
        let key = [a.min(b), a.max(b)];
        if let Some(&known) = is_large.then(|| self.clashes.borrow().get(&key).copied()).flatten().as_ref() {
            return known;
        }
        let clash = match (self.nodes[a as usize], self.nodes[b as usize]) {
            (Node::Empty, _) | (_, Node::Empty) => false,
            (Node::Leaf { lock, modes }, _) => excludes(modes, self.modes(b, lock)),
            (_, Node::Leaf { lock, modes }) => excludes(modes, self.modes(a, lock)),
            (
                Node::Branch { prefix: pa, bit: ba, children: ca },
                Node::Branch { prefix: pb, bit: bb, children: cb },
            ) => {
                if ba == bb && pa == pb {
                    self.clash(ca[0], cb[0]) || self.clash(ca[1], cb[1])
                } else if ba > bb && below(pb, ba) == pa {
                    self.clash(ca[side(pb, ba)], b)
                } else if bb > ba && below(pa, bb) == pb {
                    self.clash(a, cb[side(pa, bb)])
                } else {
                    false
                }
            }
        };
        if is_large {
            let mut clashes = self.clashes.borrow_mut();
            if clashes.len() >= MOST_ANSWERS {
                clashes.clear();
            }
            clashes.insert(key, clash);
        }
        clash
    }

    /// The part of `guards` whose locks are `held`, exclusively if that is asked for.
    fn kept(&mut self, guards: u32, held: u32, exclusively: bool) -> u32 {
        if guards == EMPTY || held == EMPTY {
            return EMPTY;
        }
        if guards == held && (!exclusively || self.summaries[held as usize].all_exclusive) {
            return guards;
        }
        if let Some(&known) = self.guards.get(&(guards, held, exclusively)) {
            return known;
        }
        let wanted = if exclusively { EXCLUSIVE } else { EXCLUSIVE | SHARED };
        let kept = match (self.nodes[guards as usize], self.nodes[held as usize]) {
            (Node::Empty, _) | (_, Node::Empty) => EMPTY,
            (Node::Leaf { lock, .. }, _) => match self.modes(held, lock) & wanted {
                0 => EMPTY,
                _ => guards,
            },
            (Node::Branch { .. }, Node::Leaf { lock, modes }) => {
                match (self.modes(guards, lock), modes & wanted) {
                    (0, _) | (_, 0) => EMPTY,
                    (modes, _) => self.node(Node::Leaf { lock, modes }),
                }
            }
            (
                Node::Branch { prefix: pg, bit: bg, children: cg },
                Node::Branch { prefix: ph, bit: bh, children: ch },
            ) => {
                if bg == bh && pg == ph {
                    let low = self.kept(cg[0], ch[0], exclusively);
                    let high = self.kept(cg[1], ch[1], exclusively);
                    self.branch(pg, bg, [low, high])
                } else if bg > bh && below(ph, bg) == pg {
                    self.kept(cg[side(ph, bg)], held, exclusively)
                } else if bh > bg && below(pg, bh) == ph {
                    self.kept(guards, ch[side(pg, bh)], exclusively)
                } else {
                    EMPTY
                }
            }
        };
        self.guards.insert((guards, held, exclusively), kept);
        kept
    }
}

/// The bits of a lock above one of them.
fn below(lock: u32, bit: u32) -> u32 {
    lock & !(bit | (bit - 1))
}

/// The side of a lock at a branch.
fn side(lock: u32, bit: u32) -> usize {
    usize::from(lock & bit != 0)
}

/// Whether a lock that is held so keeps out one who wants to hold it otherwise.
fn excludes(modes: u32, others: u32) -> bool {
    modes != 0 && others != 0 && (modes | others) & EXCLUSIVE != 0
}

#[cfg(test)]
mod tests {
    use reweave_testkit::Rng;

    use super::*;

    fn hold(rng: &mut Rng, locks: usize) -> Hold {
        // Numbers with bits all over: some locks are neighbours and some are far from each other.
        let number = rng.below(locks) as u32;
        Hold { lock: LockId(number.wrapping_mul(0x0101) ^ (number << 28)), shared: rng.below(3) == 0 }
    }

    /// Sets that came to be in many ways, each beside a list of its holds.
    fn sets(rng: &mut Rng, locksets: &mut Locksets, locks: usize) -> Vec<(LocksetId, Vec<Hold>)> {
        let mut sets = vec![(LocksetId::EMPTY, Vec::new())];
        for _ in 0..60 {
            let (set, mut plain) = sets[rng.below(sets.len())].clone();
            let change = hold(rng, locks);
            let enters = rng.below(3) > 0;
            if enters {
                plain.push(change);
                plain.sort_unstable();
                plain.dedup();
            } else {
                plain.retain(|other| *other != change);
            }
            sets.push((locksets.changed(set, change, enters), plain));
        }
        sets
    }

    #[test]
    fn sets_are_what_lists_are() {
        let mut rng = Rng::new(5);
        let mut clashes = 0;
        for round in 0..400 {
            let mut locksets = Locksets::new(1);
            let sets = sets(&mut rng, &mut locksets, [3, 12, 40][round % 3]);
            for (a, x) in &sets {
                assert_eq!(&locksets.holds(*a).collect::<Vec<_>>(), x);
                assert_eq!(locksets.summaries[a.0 as usize].holds as usize, x.len());
                let some = hold(&mut rng, 12);
                assert_eq!(locksets.contains(*a, some), x.contains(&some));
                for (b, y) in &sets {
                    assert_eq!(a == b, x == y, "{x:?} {y:?}");
                    let clash = x.iter().any(|hold| y.iter().any(|other| hold.excludes(*other)));
                    assert_eq!(locksets.compatible(*a, *b), !clash, "{x:?} {y:?}");
                    clashes += usize::from(clash);
                }
            }
        }
        assert!(clashes > 10_000, "{clashes}");
    }

    #[test]
    fn guards_are_the_locks_of_all_accesses() {
        let mut rng = Rng::new(6);
        let mut left = 0;
        for round in 0..2_000 {
            let mut locksets = Locksets::new(1);
            let sets = sets(&mut rng, &mut locksets, [2, 6, 20][round % 3]);
            let mut guards = None;
            let mut plain: Option<Vec<LockId>> = None;
            for _ in 0..4 {
                let ((held, holds), writes) = (&sets[rng.below(sets.len())], rng.below(2) == 0);
                guards = Some(locksets.guarding(guards, *held, writes));
                let guarding = holds.iter().filter(|hold| !(writes && hold.shared)).map(|hold| hold.lock);
                let guarding: Vec<LockId> = guarding.collect();
                let all = plain.get_or_insert_with(|| guarding.clone());
                all.retain(|lock| guarding.contains(lock));
                all.dedup();
                let found: Vec<Hold> = guards.iter().flat_map(|set| locksets.holds(*set)).collect();
                let mut found: Vec<LockId> = found.iter().map(|hold| hold.lock).collect();
                found.dedup();
                assert_eq!(Some(&found), plain.as_ref());
            }
            left += plain.map_or(0, |locks| locks.len());
        }
        assert!(left > 100, "{left}");
    }

    #[test]
    fn the_edges_of_a_set_lead_from_its_locks_to_its_root() {
        let mut rng = Rng::new(7);
        let mut locksets = Locksets::new(1);
        for (set, holds) in sets(&mut rng, &mut locksets, 30) {
            let mut edges = Vec::new();
            locksets.edges(set, &mut Default::default(), |from, to| edges.push((from, to)));
            let mut reached = vec![Vertex::Set(set)];
            let mut next = 0;
            while let Some(&vertex) = reached.get(next) {
                reached.extend(edges.iter().filter(|(_, to)| *to == vertex).map(|(from, _)| *from));
                next += 1;
            }
            let mut locks: Vec<LockId> = reached
                .iter()
                .filter_map(|vertex| match vertex {
                    Vertex::Lock(lock) => Some(*lock),
                    Vertex::Set(_) => None,
                })
                .collect();
            locks.sort_unstable();
            let mut expected: Vec<LockId> = holds.iter().map(|hold| hold.lock).collect();
            expected.dedup();
            assert_eq!(locks, expected);
        }
    }

    #[test]
    fn a_deep_nest_shares_its_sets() {
        const DEPTH: u32 = 4_000;
        let mut locksets = Locksets::new(1);
        let mut nests = [Vec::new(), Vec::new()];
        for (place, nest) in nests.iter_mut().enumerate() {
            let mut set = LocksetId::EMPTY;
            for n in 0..DEPTH {
                // One takes the locks in their order, the other from the last to the first.
                let lock = LockId(if place == 0 { n } else { DEPTH - 1 - n });
                set = locksets.changed(set, Hold { lock, shared: false }, true);
                nest.push(set);
            }
        }
        assert_eq!(nests[0].last(), nests[1].last());
        for n in 0..DEPTH as usize - 1 {
            assert!(locksets.compatible(nests[0][n], nests[1][DEPTH as usize - 2 - n]));
            assert!(!locksets.compatible(nests[0][n], nests[1][DEPTH as usize - 1 - n]));
        }
        let (nodes, compared) = locksets.work();
        let most = u64::from(2 * DEPTH) * 13;
        assert!(nodes < most && compared < 4 * most, "{nodes} {compared}");
    }
}
