//! The program under exploration, and its runs along a schedule.

use crate::audit::KEPT;
use crate::model::{Effect, Model};
use crate::op::{Move, Next, Op, Outcome, ThreadId};
use crate::rounds::FOLLOWED;
use crate::state::State;
use crate::tree::{Differs, NodeId};

/// A program that can be run again and again, one step of one thread at a time.
///
/// Its threads have to be functions of what they get: the same results, the same next step. Names of threads and objects are
/// functions of their creator's history.
pub trait Program {
    /// Begins a run: the main thread goes on to its first step.
    fn start(&mut self) -> Next;

    /// A thread that was spawned goes on to its first step.
    fn begin(&mut self, thread: ThreadId) -> Next;

    /// A thread whose step gave this goes on to its next step.
    fn resume(&mut self, thread: ThreadId, outcome: Outcome) -> Next;

    /// Whether loops that wait have to be followed: they may not be what the program takes them
    /// for.
    fn guesses_waits(&self) -> bool {
        false
    }

    /// A thread that waits at an [`Op::Await`] goes round its loop `rounds` times with what it saw;
    /// `same` is whether that is still so. The run is then ended.
    fn go_round(&mut self, _thread: ThreadId, _rounds: u32, _same: bool) -> Rounds {
        Rounds::Same
    }

    /// Ends a run, whose threads may be anywhere.
    fn finish(&mut self);
}

/// What came of going round a loop that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// Each round was as the one before.
    Same,
    /// One was not: the thread does not wait, it counts.
    Other,
    /// The loop can be followed only where what it saw is still so.
    Later,
}

/// Why there is no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program is not a function of what its threads observe.
    #[error("the same thread did different things after the same observations")]
    Differs(Differs),
    /// A thread that was taken for one that waits does something else after some rounds.
    #[error("a thread that was taken for one that waits counts its rounds")]
    Counts(NodeId),
    /// A step of a schedule is not possible.
    #[error("step {0} of the schedule is not possible")]
    Impossible(usize),
    /// Calls do not commute that a specification says do.
    #[error("{0}")]
    Specification(String),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// No thread can move.
    Still,
    /// It took more steps than it may.
    TooLong,
}

/// How many of the last steps say which thread it is that a run is too long for.
const LAST: usize = 64;

/// How a run goes on after its schedule.
pub(crate) enum Guide<'a> {
    /// To what no thread has observed yet, if it is one step away; else with the same thread, as long as it can.
    News,
    /// With the move at the index that this gives.
    Pick(&'a mut dyn FnMut(&[Move]) -> usize),
}

impl Model {
    /// Runs the program along a schedule and then on to its end, and learns each step that a thread comes to.
    pub(crate) fn run(
        &mut self,
        program: &mut dyn Program,
        forced: &[Move],
        max_steps: usize,
        guide: Guide<'_>,
    ) -> Result<Ended, Error> {
        self.follows = program.guesses_waits();
        let mut schedule = Vec::with_capacity(forced.len() + 16);
        let mut result = self.run_on(program, forced, max_steps, guide, &mut schedule);
        program.finish();
        for length in std::mem::take(&mut self.came_to_wait) {
            if let Ok(ended) = result {
                result = self.run_round(program, &schedule[..length], FOLLOWED).map(|()| ended);
            }
        }
        self.steps_run += schedule.len() as u64;
        if self.steps_kept + schedule.len() <= KEPT {
            self.steps_kept += schedule.len();
            self.kept.push(schedule);
        }
        result
    }

    fn run_on(
        &mut self,
        program: &mut dyn Program,
        forced: &[Move],
        max_steps: usize,
        mut guide: Guide<'_>,
        schedule: &mut Vec<Move>,
    ) -> Result<Ended, Error> {
        let first = program.start();
        self.learn(crate::tree::Tree::ROOT, first).map_err(Error::Differs)?;
        let mut state = self.initial();
        let mut effect = Effect::default();
        let mut moves = Vec::new();
        loop {
            if schedule.len() >= max_steps.max(forced.len()) {
                self.was_too_long(&state, schedule);
                return Ok(Ended::TooLong);
            }
            let step = match forced.get(schedule.len()) {
                Some(&step) => {
                    moves.clear();
                    self.moves(&state, step.thread, &mut moves);
                    if !moves.contains(&step) {
                        return Err(Error::Impossible(schedule.len()));
                    }
                    step
                }
                None => {
                    self.all_moves(&state, &mut moves);
                    if moves.is_empty() {
                        self.go_round(program, &state, FOLLOWED)?;
                        return Ok(Ended::Still);
                    }
                    let index = match &mut guide {
                        Guide::News => self.news_among(&state, &moves, schedule.last().copied()),
                        Guide::Pick(pick) => pick(&moves),
                    };
                    moves[index.min(moves.len() - 1)]
                }
            };
            schedule.push(step);
            self.step(&mut state, step, &mut effect);
            self.follow(program, &state, &effect)?;
            self.enter(&mut state, &effect);
            if effect.advanced.iter().any(|&(thread, _)| self.is_new_wait(&state, thread)) {
                self.came_to_wait.push(schedule.len());
            }
        }
    }

    /// Keeps which thread took most of the last steps of a schedule that is too long, and where it
    /// is.
    pub(crate) fn was_too_long(&mut self, state: &State, schedule: &[Move]) {
        let last = &schedule[schedule.len().saturating_sub(LAST)..];
        let steps = |thread: ThreadId| last.iter().filter(|step| step.thread == thread).count();
        let most = last.iter().map(|step| step.thread).max_by_key(|&thread| (steps(thread), thread));
        if let Some(thread) = most {
            self.too_long.get_or_insert((thread, self.thread(state, thread).node()));
        }
    }

    /// The index of a move to a history that is not known, or of one of the thread that moved last.
    fn news_among(&mut self, state: &State, moves: &[Move], last: Option<Move>) -> usize {
        let mut effect = Effect::default();
        for (index, &step) in moves.iter().enumerate() {
            if moves.len() > 1 && !self.unasked(state, step) {
                let mut next = state.clone();
                self.step(&mut next, step, &mut effect);
                if !self.enter(&mut next, &effect) {
                    return index;
                }
            }
        }
        moves.iter().position(|step| Some(step.thread) == last.map(|last| last.thread)).unwrap_or(0)
    }

    /// Has the program do what a step of the model did.
    pub(crate) fn follow(
        &mut self,
        program: &mut dyn Program,
        state: &State,
        effect: &Effect,
    ) -> Result<(), Error> {
        for &(thread, outcome) in &effect.advanced {
            let next = program.resume(thread, outcome);
            let node = self.thread(state, thread).node();
            self.learn(node, next).map_err(Error::Differs)?;
        }
        if let Some(thread) = effect.started {
            let next = program.begin(thread);
            let node = self.thread(state, thread).node();
            self.learn(node, next).map_err(Error::Differs)?;
        }
        Ok(())
    }

    /// What can happen in a state; what ends a wait without cause comes last.
    pub(crate) fn all_moves(&self, state: &State, into: &mut Vec<Move>) {
        into.clear();
        let mut index = 0;
        while let Some(&thread) = self.layout.threads().get(index) {
            self.moves(state, thread, into);
            index += 1;
        }
        into.sort_by_key(|step| self.unasked(state, *step));
    }

    /// Whether a move ends a wait without cause: it can happen, but nothing says that it ever will.
    pub(crate) fn spurious(&self, state: &State, step: Move) -> bool {
        let phase = self.thread(state, step.thread).phase();
        match self.op(state, step.thread) {
            Some(Op::Wait { .. }) => phase == crate::state::Phase::Waiting && step.choice == 2,
            Some(Op::Park { timed, .. }) => step.choice == 1 && !timed,
            _ => false,
        }
    }

    /// Whether a move ends a wait without anything having happened that ends it, or holds a reader up.
    fn unasked(&self, state: &State, step: Move) -> bool {
        let waiting = self.thread(state, step.thread).phase() == crate::state::Phase::Waiting;
        let op = self.op(state, step.thread);
        waiting
            || step.choice > 0 && !matches!(op, Some(Op::Notify { .. } | Op::Choose { .. } | Op::Call { .. }))
    }
}
