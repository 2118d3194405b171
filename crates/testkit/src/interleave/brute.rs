//! Everything that the interleavings of a small program can do.

use std::collections::{BTreeSet, HashSet};

use super::world::{Mode, World};
use super::{History, Instr, Small};

/// What some interleaving does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Everything {
    /// What threads can have observed.
    pub histories: BTreeSet<History>,
    /// Where threads fail.
    pub failures: BTreeSet<(History, u32)>,
    /// The threads that can never go on; those that spin are among them.
    pub deadlocks: BTreeSet<Vec<History>>,
    /// Threads in a circle of locks while the program exits.
    pub lockups: BTreeSet<Vec<History>>,
    /// Pairs of conflicting accesses, not both atomic, that are next at the same time.
    pub races: BTreeSet<(History, History)>,
    /// The codes of exits.
    pub codes: BTreeSet<i32>,
    /// How many states there are.
    pub states: usize,
}

/// Everything, unless there are more states than that.
pub fn everything(program: &Small, limit: usize) -> Option<Everything> {
    let first = World::new(program);
    let mut seen = HashSet::from([first.clone()]);
    let mut todo = vec![first];
    let mut all = Everything::default();
    while let Some(world) = todo.pop() {
        look(program, &world, &mut all);
        let mut still = true;
        for thread in 0..world.locals.len() {
            let after = world.after(program, thread);
            still &= after.is_empty() || world.only_by_chance(program, thread);
            if let (Mode::Ready, Some(Instr::Exit { code })) =
                (world.locals[thread].mode, world.instr(program, thread))
            {
                all.codes.insert(code);
                all.lockups.extend(lockup(program, &world));
            }
            for next in after {
                if !seen.contains(&next) {
                    seen.insert(next.clone());
                    todo.push(next);
                }
            }
        }
        if still {
            all.deadlocks.extend(deadlock(program, &world));
        }
        if seen.len() > limit {
            return None;
        }
    }
    all.states = seen.len();
    Some(all)
}

fn history(world: &World, thread: usize) -> History {
    (thread, world.locals[thread].history.clone())
}

fn look(program: &Small, world: &World, all: &mut Everything) {
    for thread in 0..world.locals.len() {
        if world.locals[thread].mode == Mode::Unborn {
            continue;
        }
        all.histories.insert(history(world, thread));
        if let (Mode::Failed, Some(Instr::Fail { site })) =
            (world.locals[thread].mode, world.instr(program, thread))
        {
            all.failures.insert((history(world, thread), site));
        }
        for other in thread + 1..world.locals.len() {
            if let (Some(left), Some(right)) = (access(program, world, thread), access(program, world, other))
                && left.0 == right.0
                && (left.1 || right.1)
                && (left.2 || right.2)
            {
                all.races.insert((history(world, thread), history(world, other)));
            }
        }
    }
}

/// The cell that a thread touches next, whether it writes, and whether the access is plain.
fn access(program: &Small, world: &World, thread: usize) -> Option<(usize, bool, bool)> {
    if world.locals[thread].mode != Mode::Ready {
        return None;
    }
    match world.instr(program, thread)? {
        Instr::Load { cell, plain, .. } => Some((cell, false, plain)),
        Instr::Store { cell, plain, .. } => Some((cell, true, plain)),
        Instr::Add { cell, .. } | Instr::Swap { cell, .. } | Instr::Cas { cell, .. } => {
            Some((cell, true, false))
        }
        // A spin that would see nothing new stands still.
        Instr::Spin { cell, .. } if world.sees_news(thread, cell) => Some((cell, false, false)),
        _ => None,
    }
}

fn deadlock(program: &Small, world: &World) -> Option<Vec<History>> {
    // Time passes, also where no wait of the program's ends by it.
    let timed = |thread: usize| {
        world.locals[thread].mode == Mode::Asleep
            && matches!(world.instr(program, thread), Some(Instr::Wait { timed: true, .. }))
    };
    let over = |thread: usize| matches!(world.locals[thread].mode, Mode::Failed | Mode::Killed);
    if (0..world.locals.len()).any(|thread| over(thread) || timed(thread)) {
        return None;
    }
    let waits = |thread: &usize| !matches!(world.locals[*thread].mode, Mode::Unborn | Mode::Done);
    let waiting: Vec<History> =
        (0..world.locals.len()).filter(waits).map(|thread| history(world, thread)).collect();
    (!waiting.is_empty()).then_some(waiting)
}

/// Threads each of which waits for a lock that the next one holds.
fn lockup(program: &Small, world: &World) -> Option<Vec<History>> {
    let awaits = |thread: usize| match (world.locals[thread].mode, world.instr(program, thread)?) {
        (Mode::Ready, Instr::Lock { lock }) | (Mode::Awake { .. }, Instr::Wait { lock, .. }) => {
            world.owners[lock]
        }
        (Mode::Ready | Mode::QueuedReader, Instr::Read { lock })
        | (Mode::QueuedWriter, Instr::Write { lock }) => world.writers[lock],
        _ => None,
    };
    (0..world.locals.len()).find_map(|first| {
        let mut circle = vec![first];
        let mut at = awaits(first)?;
        while at != first {
            if circle.contains(&at) {
                return None;
            }
            circle.push(at);
            at = awaits(at)?;
        }
        circle.sort_unstable();
        Some(circle.into_iter().map(|thread| history(world, thread)).collect())
    })
}
