//! What can be wrong in a state.

use crate::law::{self, Misuse};
use crate::model::{Effect, Model};
use crate::op::{Move, Op, ThreadId};
use crate::state::{Phase, State};
use crate::tree::NodeId;

/// A thread with its history.
pub type At = (ThreadId, NodeId);

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the fields are what the failure says of them")]
pub enum Failure {
    /// A thread says that it failed: an assertion, a panic.
    Failed { at: At, site: u32 },
    /// A thread panicked, and nobody joined it.
    Panicked { at: At },
    /// These threads wait for each other, or for nobody.
    Deadlock { waiting: Vec<At> },
    /// The same, and some spin: what they watch never changes.
    Livelock { waiting: Vec<At> },
    /// Two conflicting accesses, not both atomic, are next at the same time.
    Race { at: (At, At) },
    /// A step that no correct program takes.
    Misuse { at: At, what: Misuse },
    /// The program ends with a code that is not 0.
    Exit { at: At, code: i32 },
}

impl Failure {
    /// Whether both are the same kind of failure, in the same threads; their histories may differ.
    pub(crate) fn alike(&self, other: &Failure) -> bool {
        let threads = |waiting: &[At]| waiting.iter().map(|at| at.0).collect::<Vec<_>>();
        match (self, other) {
            (Failure::Failed { at, site }, Failure::Failed { at: second, site: other }) => {
                at.0 == second.0 && site == other
            }
            (Failure::Panicked { at }, Failure::Panicked { at: other }) => at.0 == other.0,
            (Failure::Deadlock { waiting }, Failure::Deadlock { waiting: other })
            | (Failure::Livelock { waiting }, Failure::Livelock { waiting: other }) => {
                threads(waiting) == threads(other)
            }
            (Failure::Race { at }, Failure::Race { at: other }) => (at.0.0, at.1.0) == (other.0.0, other.1.0),
            (Failure::Misuse { at, what }, Failure::Misuse { at: second, what: other }) => {
                at.0 == second.0 && what == other
            }
            (Failure::Exit { code, .. }, Failure::Exit { code: other, .. }) => code == other,
            _ => false,
        }
    }
}

/// Finds what is wrong with a state that a step led to; `before` is the state before it.
pub(crate) fn failures(
    model: &Model,
    before: &State,
    state: &State,
    effect: &Effect,
    found: &mut dyn FnMut(Failure),
) {
    let at = |thread| (thread, model.thread(state, thread).node());
    if let Some(what) = effect.misuse
        && let Some(&thread) = model.layout.threads().iter().find(|&&thread| {
            model.thread(state, thread).phase() == Phase::Gone
                && model.thread(before, thread).phase() != Phase::Gone
        })
    {
        found(Failure::Misuse { at: at(thread), what });
    }
    for thread in effect.advanced.iter().map(|&(thread, _)| thread).chain(effect.started) {
        if let Some(&Op::Fail { site }) = model.op(state, thread) {
            found(Failure::Failed { at: at(thread), site });
        }
    }
    if let Some(code) = effect.exit {
        if let Some(waiting) = locked_up(model, before) {
            found(Failure::Deadlock { waiting });
        }
        let thread = model.layout.threads().iter().copied().find(|&thread| {
            model.thread(state, thread).phase() == Phase::Ended
                && model.thread(before, thread).phase() == Phase::At
        });
        if let (Some(thread), true) = (thread, code != 0) {
            found(Failure::Exit { at: at(thread), code });
        }
    }
    races(model, state, found);
}

/// Finds what is wrong with the state before the first step: the main thread may fail, or wait for ever, right away.
pub(crate) fn at_first(model: &Model, state: &State, found: &mut dyn FnMut(Failure)) {
    if let Some(&Op::Fail { site }) = model.op(state, ThreadId::MAIN) {
        found(Failure::Failed { at: (ThreadId::MAIN, model.thread(state, ThreadId::MAIN).node()), site });
    }
    let mut moves = Vec::new();
    model.all_moves(state, &mut moves);
    if still(model, state, &moves) {
        stuck(model, state, found);
    }
}

/// Whether no thread has to move: all that can happen, if anything, is that a wait ends without cause, which may never be.
pub(crate) fn still(model: &Model, state: &State, moves: &[Move]) -> bool {
    moves.iter().all(|&step| model.spurious(state, step))
}

/// Finds what is wrong with a state that is [`still`].
pub(crate) fn stuck(model: &Model, state: &State, found: &mut dyn FnMut(Failure)) {
    let mut waiting = Vec::new();
    let (mut spins, mut failed, mut exited) = (false, false, false);
    for &thread in model.layout.threads() {
        let word = model.thread(state, thread);
        match word.phase() {
            Phase::Absent => {}
            Phase::Gone => exited = true,
            Phase::Ended => {
                if !word.joined()
                    && matches!(model.tree.op(word.node()), Some(Op::End { panicked: true, .. }))
                {
                    found(Failure::Panicked { at: (thread, word.node()) });
                    failed = true;
                }
            }
            _ => match model.tree.op(word.node()) {
                Some(Op::Fail { .. }) => failed = true,
                // Time passes, also where the search leaves it out.
                Some(
                    Op::Wait { timed: true, .. }
                    | Op::Receive { timed: true, .. }
                    | Op::Park { timed: true, .. },
                ) if word.phase() != Phase::Woken => {
                    failed = true;
                }
                op => {
                    spins |= matches!(op, Some(Op::Await { .. }));
                    waiting.push((thread, word.node()));
                }
            },
        }
    }
    if waiting.is_empty() || failed || exited {
        return;
    }
    found(if spins { Failure::Livelock { waiting } } else { Failure::Deadlock { waiting } });
}

/// Pairs of conflicting accesses that are next at the same time.
fn races(model: &Model, state: &State, found: &mut dyn FnMut(Failure)) {
    let access = |thread: ThreadId| match model.op(state, thread) {
        Some(&Op::Read { cell, plain }) => Some((cell, false, plain)),
        Some(&Op::Write { cell, plain, .. }) => Some((cell, true, plain)),
        Some(&Op::Touch { cell }) => Some((cell, true, true)),
        Some(&Op::Update { cell, .. } | &Op::Exchange { cell, .. } | &Op::Count { cell, .. }) => {
            Some((cell, true, false))
        }
        _ => None,
    };
    let threads = model.layout.threads();
    for (index, &left) in threads.iter().enumerate() {
        let Some((cell, writes, plain)) = access(left) else { continue };
        for &right in &threads[index + 1..] {
            let Some((other, second, bare)) = access(right) else { continue };
            if cell == other && (writes || second) && (plain || bare) {
                let node = |thread| (thread, model.thread(state, thread).node());
                found(Failure::Race { at: (node(left.min(right)), node(left.max(right))) });
            }
        }
    }
}

/// Threads in a circle, each waiting for a lock that the next one holds. It is there for good.
fn locked_up(model: &Model, state: &State) -> Option<Vec<(ThreadId, NodeId)>> {
    let awaited = |thread: ThreadId| {
        let phase = model.thread(state, thread).phase();
        let lock = match (phase, model.op(state, thread)?) {
            (Phase::At, Op::Lock { lock, .. } | Op::ReadLock { lock } | Op::WriteLock { lock })
            | (Phase::Woken, Op::Wait { lock, .. })
            | (Phase::Announced, Op::WriteLock { lock })
            | (Phase::Queued, Op::ReadLock { lock }) => *lock,
            _ => return None,
        };
        let mut able = false;
        law::moves(model, state, thread, |_| able = true);
        if able { None } else { law::holder(model, state, lock) }
    };
    model.layout.threads().iter().find_map(|&first| {
        let mut circle = vec![first];
        let mut at = awaited(first)?;
        while at != first {
            if circle.contains(&at) {
                return None;
            }
            circle.push(at);
            at = awaited(at)?;
        }
        circle.sort_unstable();
        Some(circle.into_iter().map(|thread| (thread, model.thread(state, thread).node())).collect())
    })
}
