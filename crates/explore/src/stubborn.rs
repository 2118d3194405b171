//! Stubborn sets of threads: which of them have to be tried in a state.
//!
//! A set S is closed under two rules, both by what threads are known to touch from here on (their *futures*, which reach over
//! the threads that they may yet create): if a thread of S can move, every thread is in S whose future depends on its next
//! step; if it cannot, every thread whose future touches what its next step waits for. What threads outside of S do then
//! neither changes the next steps of S, nor is it changed by them. Whole threads, and not single steps, are in a set: finer
//! sets lose races. The proof is in docs/internals/exploring.md.

use crate::model::Model;
use crate::op::{Move, Op, ThreadId};
use crate::state::{Phase, State};

/// Buffers, and what is left out to show that it is needed.
#[derive(Default)]
pub(crate) struct Stubborn {
    alive: Vec<Alive>,
    inside: Vec<bool>,
    todo: Vec<usize>,
    best: Vec<bool>,
}

struct Alive {
    thread: ThreadId,
    /// Where its moves are.
    moves: std::ops::Range<usize>,
    /// How many of them do not sleep.
    cost: usize,
}

impl Stubborn {
    /// The moves of a smallest closed set of threads; those that sleep do not count.
    pub(crate) fn reduce(
        &mut self,
        model: &mut Model,
        state: &State,
        moves: &mut Vec<Move>,
        asleep: &[Move],
        exits: bool,
    ) {
        self.gather(model, state, moves, asleep);
        let able = self.alive.iter().filter(|alive| !alive.moves.is_empty()).count();
        if able < 2 {
            return;
        }
        let mut least = usize::MAX;
        for seed in 0..self.alive.len() {
            // A wait that ends without cause is no reason to put others off: they may wait for ever meanwhile.
            if !moves[self.alive[seed].moves.clone()].iter().any(|&step| !model.spurious(state, step)) {
                continue;
            }
            let cost = self.close(model, state, seed, least, exits);
            if cost < least {
                least = cost;
                std::mem::swap(&mut self.best, &mut self.inside);
                if least <= usize::from(asleep.is_empty()) {
                    break;
                }
            }
        }
        if least < usize::MAX {
            let chosen = self.alive.iter().zip(&self.best).filter(|(_, inside)| **inside);
            let kept: Vec<Move> =
                chosen.flat_map(|(alive, _)| moves[alive.moves.clone()].iter().copied()).collect();
            *moves = kept;
        }
    }

    fn gather(&mut self, model: &Model, state: &State, moves: &mut Vec<Move>, asleep: &[Move]) {
        moves.clear();
        self.alive.clear();
        for &thread in model.layout.threads() {
            let phase = model.thread(state, thread).phase();
            if matches!(phase, Phase::Absent | Phase::Ended | Phase::Gone) {
                continue;
            }
            let start = moves.len();
            model.moves(state, thread, moves);
            let cost = moves[start..].iter().filter(|step| !asleep.contains(step)).count();
            self.alive.push(Alive { thread, moves: start..moves.len(), cost });
        }
    }

    /// Closes the set of one thread; how many moves it has, or `least` as soon as it has no fewer.
    fn close(&mut self, model: &mut Model, state: &State, seed: usize, least: usize, exits: bool) -> usize {
        self.inside.clear();
        self.inside.resize(self.alive.len(), false);
        self.inside[seed] = true;
        self.todo.clear();
        self.todo.push(seed);
        let mut cost = 0;
        while let Some(at) = self.todo.pop() {
            cost += self.alive[at].cost;
            if cost >= least {
                return least;
            }
            let word = model.thread(state, self.alive[at].thread);
            let node = word.node();
            if matches!(model.tree.op(node), Some(Op::Fail { .. })) {
                continue;
            }
            let footprint = model.tree.footprint(node, word.phase());
            for other in 0..self.alive.len() {
                if self.inside[other] {
                    continue;
                }
                let future = model.tree.future(model.thread(state, self.alive[other].thread).node());
                if model.tree.footprints.conflict(footprint, future, &*model.objects, exits) {
                    self.inside[other] = true;
                    self.todo.push(other);
                }
            }
        }
        cost
    }
}
