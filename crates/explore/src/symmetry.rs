//! Threads that are alike: states that differ in which of them is where are one to the search.
//!
//! The threads of a group are started one right after the other, by the same code with the same arguments, and have one tree
//! of histories. From the state on in which all of them are there, exchanging two of them is an automorphism of the law, as long as
//! no step tells them apart: none may name one of them, but all of them at once. Who holds a lock, or initialises, is
//! renamed with them. The proof is in docs/internals/exploring.md.

use crate::law::{DONE, HOLDER};
use crate::model::Model;
use crate::op::{Op, ThreadId};
use crate::state::{Phase, State};

/// The groups, and the threads that steps name.
#[derive(Default)]
pub(crate) struct Groups {
    groups: Vec<Vec<ThreadId>>,
    named: Vec<Vec<ThreadId>>,
    /// Whether names of single threads count; false only to show that they must.
    pub(crate) careless: bool,
}

impl Groups {
    /// The thread whose tree this one has: the first of its group.
    pub(crate) fn like(&self, thread: ThreadId) -> ThreadId {
        self.group(thread).and_then(|group| group.first().copied()).unwrap_or(thread)
    }

    pub(crate) fn group(&self, thread: ThreadId) -> Option<&Vec<ThreadId>> {
        self.groups.iter().find(|group| group.contains(&thread))
    }

    /// What a step says of groups; whether a group is no longer one for it.
    pub(crate) fn learn(&mut self, op: &Op) -> bool {
        match op {
            Op::SpawnSame { thread, like } => {
                match self.groups.iter_mut().find(|group| group.first() == Some(like)) {
                    Some(group) if !group.contains(thread) => group.push(*thread),
                    None if thread == like => self.groups.push(vec![*thread]),
                    _ => {}
                }
                false
            }
            Op::Join { thread } | Op::Unpark { thread } => self.name(vec![*thread]),
            Op::JoinAll { threads } => {
                let mut threads = threads.clone();
                threads.sort_unstable();
                self.name(threads)
            }
            _ => false,
        }
    }

    fn name(&mut self, threads: Vec<ThreadId>) -> bool {
        if self.careless || self.named.contains(&threads) {
            return false;
        }
        let parts = self.groups.iter().any(|group| group.len() > 1 && parts(group, &threads));
        self.named.push(threads);
        parts
    }

    /// The groups that no step tells apart.
    fn alike(&self) -> impl Iterator<Item = &Vec<ThreadId>> {
        self.groups
            .iter()
            .filter(|group| group.len() > 1 && !self.named.iter().any(|named| parts(group, named)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }
}

/// Whether naming these threads tells the threads of a group apart.
fn parts(group: &[ThreadId], named: &[ThreadId]) -> bool {
    group.iter().any(|thread| named.contains(thread)) && !group.iter().all(|thread| named.contains(thread))
}

impl Model {
    /// The state that stands for all that differ from this one in which of some threads that are alike is where.
    pub(crate) fn canonical(&self, state: &State, into: &mut State) {
        into.copy(state);
        for group in self.groups.alike() {
            if group.iter().any(|&thread| self.thread(state, thread).phase() == Phase::Absent) {
                continue;
            }
            let mut places: Vec<(u64, Vec<usize>)> = group
                .iter()
                .map(|&thread| (self.thread(state, thread).0, self.held(state, thread)))
                .collect();
            places.sort_unstable();
            for (&thread, (word, held)) in group.iter().zip(places) {
                self.set_thread(into, thread, crate::state::ThreadWord(word));
                for slot in held {
                    let rest = state.get(slot) & !HOLDER;
                    into.set(slot, rest | (u64::from(thread.0) + 1));
                }
            }
        }
    }

    /// The words that say that a thread holds something.
    fn held(&self, state: &State, thread: ThreadId) -> Vec<usize> {
        let own = u64::from(thread.0) + 1;
        let holds = |slot: &usize| {
            let word = state.get(*slot);
            word != DONE && word & HOLDER == own
        };
        self.layout.owned().iter().copied().filter(holds).collect()
    }
}
