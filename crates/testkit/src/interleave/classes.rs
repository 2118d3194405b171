//! The classes of a small program's executions.
//!
//! Two executions are in one class if each thread takes the same steps, and the steps that touch one object, not all of them
//! reading, come in the same order; for calls, those whose order can be told. An execution's class is written down as what each step of each thread was, and how many
//! writing steps came before it at each object that it touches.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::world::{Mode, World};
use super::{Called, Instr, Small};

/// An object: its kind and its number.
type Object = (&'static str, usize);

/// A step: which of the possible ones, and per object the number of writing steps before it.
type Step = (usize, Vec<(Object, usize)>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Prefix {
    steps: Vec<Vec<Step>>,
    writes: BTreeMap<Object, usize>,
    /// The calls, each with its thread and its place there.
    calls: BTreeSet<(usize, usize, Called)>,
}

/// How many classes the maximal executions have, unless there are more prefixes than that. No thread may spin.
pub fn classes(program: &Small, limit: usize) -> Option<usize> {
    let first = Prefix {
        steps: vec![Vec::new(); program.threads.len()],
        writes: BTreeMap::new(),
        calls: BTreeSet::new(),
    };
    let mut seen = HashSet::from([first.clone()]);
    let mut todo = vec![(World::new(program), first)];
    let mut count = 0;
    while let Some((world, prefix)) = todo.pop() {
        let mut still = true;
        for thread in 0..world.locals.len() {
            for (choice, next) in world.after(program, thread).into_iter().enumerate() {
                still = false;
                let mut longer = prefix.clone();
                let mut orders = Vec::new();
                for (object, writes) in touched(program, &world, thread) {
                    let before = longer.writes.entry(object).or_insert(0);
                    orders.push((object, *before));
                    *before += usize::from(writes);
                }
                if let Some(Instr::Call { called, .. }) = world.instr(program, thread) {
                    let before = longer.calls.iter().filter(|earlier| earlier.2.depends(called));
                    orders.extend(before.map(|&(other, place, _)| (("call", other), place)));
                    longer.calls.insert((thread, longer.steps[thread].len(), called));
                }
                longer.steps[thread].push((choice, orders));
                if seen.insert(longer.clone()) {
                    todo.push((next, longer));
                }
            }
        }
        count += usize::from(still);
        if seen.len() > limit {
            return None;
        }
    }
    Some(count)
}

/// What the next step of a thread touches, and whether it writes.
fn touched(program: &Small, world: &World, thread: usize) -> Vec<(Object, bool)> {
    let Some(instr) = world.instr(program, thread) else { return vec![(("thread", thread), true)] };
    match instr {
        Instr::Load { cell, .. } | Instr::Spin { cell, .. } => vec![(("cell", cell), false)],
        Instr::Store { cell, .. }
        | Instr::Add { cell, .. }
        | Instr::Swap { cell, .. }
        | Instr::Cas { cell, .. } => {
            vec![(("cell", cell), true)]
        }
        Instr::Lock { lock } | Instr::TryLock { lock, .. } | Instr::Unlock { lock } => {
            vec![(("lock", lock), true)]
        }
        Instr::Read { lock } | Instr::TryRead { lock, .. } | Instr::ReadEnd { lock } => {
            vec![(("shared", lock), false)]
        }
        Instr::Write { lock }
        | Instr::TryWrite { lock, .. }
        | Instr::WriteEnd { lock }
        | Instr::Downgrade { lock } => {
            vec![(("shared", lock), true)]
        }
        Instr::Wait { condition, lock, .. } => match world.locals[thread].mode {
            Mode::Asleep => vec![(("condition", condition), true)],
            Mode::Awake { .. } => vec![(("lock", lock), true)],
            _ => vec![(("condition", condition), true), (("lock", lock), true)],
        },
        Instr::Notify { condition, .. } => vec![(("condition", condition), true)],
        Instr::Down { semaphore } | Instr::TryDown { semaphore, .. } | Instr::Up { semaphore } => {
            vec![(("semaphore", semaphore), true)]
        }
        Instr::Barrier { barrier, .. } => vec![(("barrier", barrier), true)],
        Instr::OnceBegin { once, .. } | Instr::OnceEnd { once } => vec![(("once", once), true)],
        Instr::Send { channel, .. }
        | Instr::TrySend { channel, .. }
        | Instr::Receive { channel, .. }
        | Instr::TryReceive { channel, .. } => vec![(("channel", channel), true)],
        Instr::Park => vec![(("token", thread), true)],
        Instr::Unpark { thread: other } => vec![(("token", other), true)],
        Instr::Spawn { thread: other } | Instr::Join { thread: other } => vec![(("thread", other), true)],
        Instr::JoinAll => (1..program.threads.len()).map(|other| (("thread", other), true)).collect(),
        Instr::Choose { .. }
        | Instr::Call { .. }
        | Instr::SkipIf { .. }
        | Instr::Fail { .. }
        | Instr::Exit { .. } => Vec::new(),
    }
}
