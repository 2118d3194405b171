//! What steps touch, as interned sets, and which of them depend on each other.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::objects::Objects;
use crate::op::{Early, ObjectId, Op, ThreadId, Watch};
use crate::options::Mutation;
use crate::symmetry::Groups;

/// How something is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Access {
    Read,
    Write,
    /// One owner more: two of these do not see each other, for neither fails or succeeds because of the other.
    Up,
    Call {
        class: u32,
        call: u64,
    },
    /// The end of all threads: depends on every step.
    Exit,
}

/// What is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Object(ObjectId),
    Thread(ThreadId),
    Token(ThreadId),
    All,
}

/// One thing that is touched in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Atom {
    key: Key,
    access: Access,
}

/// An interned set of atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SetId(u32);

impl SetId {
    pub(crate) const EMPTY: SetId = SetId(0);
}

/// The sets, and memories of unions and conflicts.
pub(crate) struct Footprints {
    sets: Vec<Vec<Atom>>,
    ids: HashMap<Vec<Atom>, SetId>,
    unions: HashMap<(SetId, SetId), SetId>,
    conflicts: HashMap<(SetId, SetId), bool>,
    /// For tests.
    pub(crate) mistake: Option<Mutation>,
}

impl Footprints {
    pub(crate) fn new() -> Footprints {
        let mut all = Footprints {
            sets: Vec::new(),
            ids: HashMap::new(),
            unions: HashMap::new(),
            conflicts: HashMap::new(),
            mistake: None,
        };
        all.intern(Vec::new());
        all
    }

    fn intern(&mut self, mut atoms: Vec<Atom>) -> SetId {
        atoms.sort_unstable();
        atoms.dedup();
        match self.ids.entry(atoms) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let id = SetId(self.sets.len() as u32);
                self.sets.push(entry.key().clone());
                *entry.insert(id)
            }
        }
    }

    /// What a step touches; `class` is that of the object of a call.
    pub(crate) fn of(
        &mut self,
        op: &Op,
        thread: ThreadId,
        class: impl Fn(ObjectId) -> u32,
        groups: &Groups,
    ) -> SetId {
        let mut atoms = atoms(op, thread, class, groups);
        match (self.mistake, op) {
            (Some(Mutation::WaitsTouchNoCondition), Op::Wait { condition, .. }) => {
                atoms.retain(|atom| atom.key != Key::Object(*condition));
            }
            (Some(Mutation::LocksOnlyRead), Op::Lock { .. }) => {
                atoms.iter_mut().for_each(|atom| atom.access = Access::Read);
            }
            _ => {}
        }
        self.intern(atoms)
    }

    /// What the two later parts of a wait touch: leaving it unasked, and getting the lock again.
    pub(crate) fn of_wait(&mut self, op: &Op) -> Option<(SetId, SetId)> {
        let Op::Wait { condition, lock, early, .. } = op else { return None };
        let mut leaving = vec![Atom { key: Key::Object(*condition), access: Access::Write }];
        if let Early::Changed(watched) = early {
            let seen = |watch: &Watch| Atom { key: Key::Object(watch.object()), access: Access::Read };
            leaving.extend(watched.iter().map(seen));
        }
        let again = vec![Atom { key: Key::Object(*lock), access: Access::Write }];
        Some((self.intern(leaving), self.intern(again)))
    }

    pub(crate) fn union(&mut self, left: SetId, right: SetId) -> SetId {
        if left == right || right == SetId::EMPTY {
            return left;
        }
        if let Some(&known) = self.unions.get(&(left, right)) {
            return known;
        }
        let mut atoms = self.sets[left.0 as usize].clone();
        atoms.extend_from_slice(&self.sets[right.0 as usize]);
        let id = self.intern(atoms);
        self.unions.insert((left, right), id);
        id
    }

    /// Whether a step that touches `left` may depend on one that touches part of `right`. `exits` is whether an exit depends on
    /// every step; false only to show that it must.
    pub(crate) fn conflict(&mut self, left: SetId, right: SetId, objects: &dyn Objects, exits: bool) -> bool {
        let key = (left.min(right), left.max(right));
        if let Some(&known) = self.conflicts.get(&key) {
            return known;
        }
        let (a, b) = (&self.sets[left.0 as usize], &self.sets[right.0 as usize]);
        let exit = |atoms: &[Atom]| exits && atoms.iter().any(|atom| atom.access == Access::Exit);
        let found =
            exit(a) || exit(b) || a.iter().any(|&one| b.iter().any(|&other| depend(one, other, objects)));
        self.conflicts.insert(key, found);
        found
    }
}

fn depend(left: Atom, right: Atom, objects: &dyn Objects) -> bool {
    left.key == right.key
        && match (left.access, right.access) {
            (Access::Read, Access::Read) | (Access::Up, Access::Up) => false,
            (Access::Call { class, call }, Access::Call { class: other, call: second }) => {
                class != other || !objects.commute(class, call, second)
            }
            _ => true,
        }
}

/// Threads that have one tree are touched as one; their starts and ends do not depend on each other.
fn atoms(op: &Op, thread: ThreadId, class: impl Fn(ObjectId) -> u32, groups: &Groups) -> Vec<Atom> {
    let key = |thread: ThreadId| Key::Thread(groups.like(thread));
    let token = |thread: ThreadId| Atom { key: Key::Token(groups.like(thread)), access: Access::Write };
    let read = |object: ObjectId| Atom { key: Key::Object(object), access: Access::Read };
    let write = |object: ObjectId| Atom { key: Key::Object(object), access: Access::Write };
    let early = |early: &Early| match early {
        Early::Always => Vec::new(),
        Early::Changed(watched) => watched.iter().map(|watch| read(watch.object())).collect(),
    };
    match op {
        Op::Read { cell, .. } => vec![read(*cell)],
        Op::Write { cell, .. } | Op::Touch { cell } | Op::Update { cell, .. } | Op::Exchange { cell, .. } => {
            vec![write(*cell)]
        }
        Op::Count { cell, up } => {
            let access = if *up { Access::Up } else { Access::Write };
            vec![Atom { key: Key::Object(*cell), access }]
        }
        Op::Await { watched } => watched.iter().map(|watch| read(watch.object())).collect(),
        // Readers do not change what another reader can do: they are counted, and only writers look at the number.
        Op::ReadLock { lock }
        | Op::TryReadLock { lock }
        | Op::ReadUnlock { lock }
        | Op::IsPoisoned { lock } => {
            vec![read(*lock)]
        }
        Op::Lock { lock, .. }
        | Op::TryLock { lock, .. }
        | Op::Unlock { lock, .. }
        | Op::ClearPoison { lock }
        | Op::WriteLock { lock }
        | Op::TryWriteLock { lock }
        | Op::WriteUnlock { lock, .. }
        | Op::Downgrade { lock, .. } => vec![write(*lock)],
        Op::Wait { condition, lock, early: when, .. } => {
            let mut atoms = early(when);
            atoms.extend([write(*condition), write(*lock)]);
            atoms
        }
        Op::Notify { condition, .. } => vec![write(*condition)],
        Op::Acquire { semaphore } | Op::TryAcquire { semaphore } | Op::Release { semaphore, .. } => {
            vec![write(*semaphore)]
        }
        Op::Barrier { barrier, .. } => vec![write(*barrier)],
        Op::Initialise { once } | Op::Initialised { once, .. } => vec![write(*once)],
        Op::IsInitialised { once } => vec![read(*once)],
        Op::Receive { channel, early: when, .. } => {
            let mut atoms = early(when);
            atoms.push(write(*channel));
            atoms
        }
        Op::Send { channel, .. }
        | Op::TrySend { channel, .. }
        | Op::TryReceive { channel }
        | Op::AddSender { channel }
        | Op::DropSender { channel }
        | Op::DropReceiver { channel } => vec![write(*channel)],
        Op::Park { early: when, .. } => {
            let mut atoms = early(when);
            atoms.push(token(thread));
            atoms
        }
        Op::Unpark { thread } => vec![token(*thread)],
        Op::Spawn { thread } | Op::Join { thread } => {
            vec![Atom { key: key(*thread), access: Access::Write }]
        }
        Op::JoinAll { threads } => {
            threads.iter().map(|&thread| Atom { key: key(thread), access: Access::Write }).collect()
        }
        Op::SpawnSame { thread, .. } => vec![Atom { key: key(*thread), access: Access::Read }],
        Op::End { .. } => {
            let access = if groups.group(thread).is_some() { Access::Read } else { Access::Write };
            vec![Atom { key: key(thread), access }]
        }
        Op::Call { object, call } => {
            vec![Atom {
                key: Key::Object(*object),
                access: Access::Call { class: class(*object), call: *call },
            }]
        }
        Op::Exit { .. } => vec![Atom { key: Key::All, access: Access::Exit }],
        Op::Choose { .. } | Op::Yield | Op::Fail { .. } => Vec::new(),
    }
}
