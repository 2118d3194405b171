//! Objects and their fields, as they become known.
//!
//! The variable `p.next` is part of the object `p`, whichever of the two is met first. Until the first birth or death
//! there are no objects, and all that is kept is one bit a variable; from then on there is a tree of names.

use fixedbitset::FixedBitSet;
use hashbrown::{Equivalent, HashMap};
use reweave_trace::{Defect, Names, Space};
use smallvec::SmallVec;

use super::NONE;
use crate::step::grow;

/// How many dots of a name are looked at: as in a trace that is loaded whole, where more are refused.
const MAX_DOTS: usize = 64;

#[derive(Default, Debug)]
pub(crate) struct Objects {
    /// A bit a variable.
    used: Vec<u64>,
    allocated: FixedBitSet,
    /// The variables that are part of something, or were born.
    parts: FixedBitSet,
    named: usize,
    freed: FixedBitSet,
    /// By the node above and the part of the name after its dot: every dotted beginning of a variable's name has one.
    nodes: HashMap<Key, u32>,
    tree: Vec<Node>,
    /// Per variable, its node.
    of_variable: Vec<u32>,
    /// How many names of locks and of condition variables were added to the tree.
    added: [usize; 2],
    /// The locks whose names say that they may lie in something.
    dotted: FixedBitSet,
}

/// Locks or condition variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Thing {
    Lock(u32),
    Condition(u32),
}

#[derive(PartialEq, Eq, Hash, Debug)]
struct Key(u32, Box<str>);

#[derive(Hash)]
struct Sought<'n>(u32, &'n str);

impl Equivalent<Key> for Sought<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.0 == key.0 && *self.1 == *key.1
    }
}

#[derive(Debug)]
struct Node {
    parent: u32,
    children: Vec<u32>,
    variable: u32,
    lifetime: bool,
    /// The locks and condition variables of this name.
    things: SmallVec<[Thing; 1]>,
}

impl Objects {
    /// Whether there is no object yet.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.tree.is_empty()
    }

    /// The objects with a birth or death that `variable` is or is part of.
    pub(crate) fn around(&self, variable: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.of_variable.get(variable as usize).copied();
        std::iter::successors(first, |&node| Some(self.tree[node as usize].parent).filter(|&up| up != NONE))
            .map(|node| &self.tree[node as usize])
            .filter(|node| node.lifetime)
            .map(|node| node.variable)
    }

    /// Every variable that is `object` or part of it.
    pub(crate) fn below(&self, object: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let mut open: Vec<u32> = self.of_variable.get(object as usize).copied().into_iter().collect();
        while let Some(node) = open.pop() {
            let node = &self.tree[node as usize];
            if node.variable != NONE {
                found.push(node.variable);
            }
            open.extend(&node.children);
        }
        found
    }

    /// Every lock and condition variable that lies in `object`.
    pub(crate) fn things_in(&self, object: u32) -> Vec<Thing> {
        let mut found = Vec::new();
        let node = self.of_variable.get(object as usize);
        let mut open: Vec<u32> =
            node.map(|&node| self.tree[node as usize].children.clone()).unwrap_or_default();
        while let Some(node) = open.pop() {
            let node = &self.tree[node as usize];
            found.extend_from_slice(&node.things);
            open.extend(&node.children);
        }
        found
    }

    /// Whether a lock may lie in an object.
    #[inline]
    pub(crate) fn may_have(&self, lock: u32) -> bool {
        self.dotted.contains(lock as usize)
    }

    /// Notes an access of `variable`.
    #[inline]
    pub(super) fn used(&mut self, variable: u32) {
        let (word, bit) = (variable as usize / 64, variable % 64);
        if word >= self.used.len() {
            grow(&mut self.used, word);
        }
        self.used[word] |= 1 << bit;
    }

    fn is_used(&self, variable: u32) -> bool {
        self.used.get(variable as usize / 64).is_some_and(|word| word >> (variable % 64) & 1 == 1)
    }

    /// Whether `variable` is a field, or an object that was born: what its death makes a bug of if it comes too late.
    #[inline]
    pub(crate) fn is_part(&self, variable: u32) -> bool {
        self.parts.contains(variable as usize)
    }

    /// Looks at the names of variables that have come up since the last time.
    pub(super) fn name(&mut self, names: &Names) {
        let variables = names.space(Space::Variable);
        for id in self.named..variables.len() {
            if variables.get(id as u32).contains('.') {
                self.parts.grow_and_insert(id);
            }
        }
        self.named = variables.len();
        let locks = names.space(Space::Lock);
        for id in self.dotted.len()..locks.len() {
            self.dotted.grow(id + 1);
            self.dotted.set(id, locks.get(id as u32).contains('.'));
        }
    }

    /// Runs the birth or death of `object`, if nothing is wrong with it.
    pub(super) fn lifetime(&mut self, names: &Names, object: u32, birth: bool) -> Result<(), Defect> {
        self.learn(names);
        let index = object as usize;
        if birth && self.allocated.contains(index) {
            return Err(Defect::SecondAlloc);
        }
        if birth && self.below(object).iter().any(|&variable| self.is_used(variable)) {
            return Err(Defect::UseBeforeAlloc);
        }
        if !birth && self.freed.contains(index) {
            return Err(Defect::SecondFree);
        }
        let done = if birth { &mut self.allocated } else { &mut self.freed };
        done.grow_and_insert(index);
        if birth {
            self.parts.grow_and_insert(index);
        }
        self.used(object);
        if let Some(&node) = self.of_variable.get(index) {
            self.tree[node as usize].lifetime = true;
        }
        Ok(())
    }

    /// Adds the variables that have come up since the last time.
    pub(super) fn learn(&mut self, names: &Names) {
        let variables = names.space(Space::Variable);
        for id in self.of_variable.len()..variables.len() {
            let mut node = NONE;
            for part in variables.get(id as u32).splitn(MAX_DOTS + 1, '.') {
                node = self.node(node, part);
            }
            self.tree[node as usize].variable = id as u32;
            self.of_variable.push(node);
        }
        for (place, space) in [Space::Lock, Space::Condition].into_iter().enumerate() {
            let table = names.space(space);
            for id in self.added[place]..table.len() {
                let name = table.get(id as u32);
                if !name.contains('.') {
                    continue;
                }
                let mut node = NONE;
                for part in name.splitn(MAX_DOTS + 1, '.') {
                    node = self.node(node, part);
                }
                let id = id as u32;
                let thing = if space == Space::Lock { Thing::Lock(id) } else { Thing::Condition(id) };
                self.tree[node as usize].things.push(thing);
            }
            self.added[place] = table.len();
        }
    }

    fn node(&mut self, parent: u32, part: &str) -> u32 {
        if let Some(&node) = self.nodes.get(&Sought(parent, part)) {
            return node;
        }
        let node = self.tree.len() as u32;
        self.tree.push(Node {
            parent,
            children: Vec::new(),
            variable: NONE,
            lifetime: false,
            things: SmallVec::new(),
        });
        self.nodes.insert(Key(parent, part.into()), node);
        if parent != NONE {
            self.tree[parent as usize].children.push(node);
        }
        node
    }
}
