//! Saturation: the search for what a thread has never observed.
//!
//! An explicit search over states, each of which has the history of every thread and all that is shared. Where a step leads to
//! a history whose next step is unknown, the program is run along the path, and the trees grow. Stubborn sets are computed from
//! what is known of the futures of threads; so a pass in which a future grew is followed by another, until none does.
//! Histories only get longer, so states make no circles and no thread is put off for ever. The proof is in
//! docs/internals/exploring.md.

use crate::failure::{self, Failure};
use crate::found::Found;
use crate::model::{Effect, Model};
use crate::op::Move;
use crate::options::{Limits, Mutation, Progress, REPORT, share};
use crate::program::{Ended, Error, Guide, Program};
use crate::rounds::FOLLOWED;
use crate::state::State;
use crate::store::Store;
use crate::stubborn::Stubborn;

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// There is nothing left to search.
    Complete,
    /// A failure was found, and the search was not to go on.
    Failure,
    /// So many states.
    States,
    /// So many executions.
    Executions,
    /// So many runs.
    Runs,
    /// A run that takes too many steps, so the program may not end.
    Steps,
    /// So many schedules were drawn.
    Sampled,
    /// Somebody asked for it.
    Asked,
}

/// What a search has met.
pub(crate) struct Search<'a> {
    pub(crate) model: &'a mut Model,
    pub(crate) program: &'a mut dyn Program,
    pub(crate) limits: &'a Limits<'a>,
    pub(crate) reduce: bool,
    pub(crate) symmetry: bool,
    pub(crate) keep_going: bool,
    pub(crate) mutation: Option<Mutation>,
    pub(crate) runs: u64,
    pub(crate) passes: u64,
    pub(crate) states: u64,
    pub(crate) found: Found,
    pub(crate) too_long: bool,
    /// The moves before the first state.
    pub(crate) prefix: Vec<Move>,
    /// How far it was when a limit ended it.
    pub(crate) left_at: Option<Progress>,
    steps: u64,
    store: Store,
    canonical: State,
    stubborn: Stubborn,
}

/// A state whose moves are being tried.
struct Frame {
    state: State,
    moves: Vec<Move>,
    next: usize,
    preemptions: u32,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        model: &'a mut Model,
        program: &'a mut dyn Program,
        limits: &'a Limits<'a>,
    ) -> Search<'a> {
        Search {
            model,
            program,
            limits,
            reduce: true,
            symmetry: true,
            keep_going: false,
            mutation: None,
            runs: 0,
            passes: 0,
            states: 0,
            found: Found::default(),
            too_long: false,
            prefix: Vec::new(),
            left_at: None,
            steps: 0,
            store: Store::default(),
            canonical: State::default(),
            stubborn: Stubborn::default(),
        }
    }

    /// Searches until there is no news.
    pub(crate) fn saturate(&mut self) -> Result<Stopped, Error> {
        let prefix = self.prefix.clone();
        self.run(&prefix)?;
        loop {
            let growths = self.model.tree.growths();
            self.passes += 1;
            let stopped = self.pass()?;
            let grown = self.model.tree.growths() != growths && self.mutation != Some(Mutation::OnePass);
            if stopped != Stopped::Complete || !grown || !(self.reduces() || self.merges()) {
                return Ok(if stopped == Stopped::Complete && self.too_long {
                    Stopped::Steps
                } else {
                    stopped
                });
            }
        }
    }

    /// A bound on preemptions and a reduced search do not go together.
    fn reduces(&self) -> bool {
        self.reduce && self.limits.preemptions.is_none()
    }

    /// So does a bound and taking threads for each other: it counts the steps of one.
    fn merges(&self) -> bool {
        self.symmetry && self.limits.preemptions.is_none() && !self.model.groups.is_empty()
    }

    /// Keeps a state; whether it, and all that it stands for, is new.
    fn seen(&mut self, state: &State, extra: &[u64]) -> bool {
        if !self.merges() {
            return self.store.insert(state, extra);
        }
        self.model.canonical(state, &mut self.canonical);
        self.store.insert(&self.canonical, extra)
    }

    /// Runs the program along a path.
    fn run(&mut self, path: &[Move]) -> Result<(), Error> {
        self.runs += 1;
        let ended = self.model.run(self.program, path, self.limits.max_steps, Guide::News)?;
        self.too_long |= ended == Ended::TooLong;
        Ok(())
    }

    fn pass(&mut self) -> Result<Stopped, Error> {
        self.store.clear();
        let mut stack: Vec<Frame> = Vec::new();
        let mut spare: Vec<(State, Vec<Move>)> = Vec::new();
        let mut effect = Effect::default();
        let initial = self.model.after(&self.prefix);
        let mut met = Vec::new();
        if self.prefix.is_empty() {
            failure::at_first(self.model, &initial, &mut |failure| met.push(failure));
        }
        if self.note(met, &[]) {
            return Ok(Stopped::Failure);
        }
        let first = self.frame(initial, Vec::new(), 0);
        self.seen(&first.state, &[]);
        stack.push(first);
        while let Some(frame) = stack.last_mut() {
            let Some(&step) = frame.moves.get(frame.next) else {
                if let Some(frame) = stack.pop() {
                    spare.push((frame.state, frame.moves));
                }
                continue;
            };
            frame.next += 1;
            if let Some(stopped) = self.limit(&stack) {
                return Ok(stopped);
            }
            let (mut state, moves) = spare.pop().unwrap_or_default();
            let Some(frame) = stack.last() else { break };
            state.copy(&frame.state);
            self.model.step(&mut state, step, &mut effect);
            self.enter(&stack, &mut state, &effect)?;
            let Some(preemptions) = self.preempted(&stack, step) else {
                spare.push((state, moves));
                continue;
            };
            let extra = self.limits.preemptions.map(|_| [u64::from(preemptions), u64::from(step.thread.0)]);
            if !self.seen(&state, extra.as_ref().map_or(&[], |words| &words[..])) {
                spare.push((state, moves));
                continue;
            }
            self.states += 1;
            let Some(frame) = stack.last() else { break };
            let mut met = Vec::new();
            failure::failures(self.model, &frame.state, &state, &effect, &mut |failure| met.push(failure));
            let frame = self.frame(state, moves, preemptions);
            if failure::still(self.model, &frame.state, &frame.moves) {
                failure::stuck(self.model, &frame.state, &mut |failure| met.push(failure));
            }
            if self.note(met, &stack) {
                return Ok(Stopped::Failure);
            }
            stack.push(frame);
        }
        Ok(Stopped::Complete)
    }

    /// Makes the objects of a state; the program is run where a history is new, or a loop that
    /// waits was not followed.
    fn enter(&mut self, stack: &[Frame], state: &mut State, effect: &Effect) -> Result<(), Error> {
        if !self.model.enter(state, effect) {
            let path = self.path(stack);
            self.run(&path)?;
            self.model.enter(state, effect);
        }
        if self.model.unfollowed(state) {
            let path = self.path(stack);
            self.model.run_round(self.program, &path, FOLLOWED)?;
        }
        Ok(())
    }

    /// A frame for a state, with the moves that have to be tried.
    fn frame(&mut self, state: State, mut moves: Vec<Move>, preemptions: u32) -> Frame {
        if self.reduces() {
            let exits = self.mutation != Some(Mutation::ExitTouchesNothing);
            self.stubborn.reduce(self.model, &state, &mut moves, &[], exits);
        } else {
            self.model.all_moves(&state, &mut moves);
        }
        Frame { state, moves, next: 0, preemptions }
    }

    /// How many preemptions a path has with one more step; none if that is too many.
    fn preempted(&self, stack: &[Frame], step: Move) -> Option<u32> {
        let frame = stack.last()?;
        let Some(bound) = self.limits.preemptions else { return Some(0) };
        let before = stack.len().checked_sub(2).and_then(|index| {
            let frame = stack.get(index)?;
            frame.moves.get(frame.next.checked_sub(1)?)
        });
        let preempts = before.is_some_and(|last| {
            last.thread != step.thread && frame.moves.iter().any(|other| other.thread == last.thread)
        });
        let preemptions = frame.preemptions + u32::from(preempts);
        (preemptions <= bound).then_some(preemptions)
    }

    fn limit(&mut self, stack: &[Frame]) -> Option<Stopped> {
        self.steps += 1;
        if self.steps.is_multiple_of(REPORT) {
            (self.limits.progress)(&self.progress(stack));
        }
        let stopped = self.stops(stack.len());
        if stopped == Some(Stopped::Steps)
            && let Some(frame) = stack.last()
        {
            self.model.was_too_long(&frame.state, &self.path(stack));
        }
        if stopped.is_some() {
            self.left_at = Some(self.progress(stack));
        }
        stopped
    }

    fn progress(&self, stack: &[Frame]) -> Progress {
        Progress {
            runs: self.runs,
            states: self.states,
            executions: 0,
            histories: self.model.tree.known(),
            passes: self.passes,
            share: share(stack.iter().map(|frame| (frame.next, frame.moves.len()))),
        }
    }

    fn stops(&mut self, depth: usize) -> Option<Stopped> {
        if self.prefix.len() + depth > self.limits.max_steps {
            self.too_long = true;
            return Some(Stopped::Steps);
        }
        if self.states >= self.limits.max_states {
            return Some(Stopped::States);
        }
        if self.runs >= self.limits.max_runs {
            return Some(Stopped::Runs);
        }
        (self.limits.stop)().then_some(Stopped::Asked)
    }

    /// Keeps the failures of the state that the path leads to; whether the search is over.
    fn note(&mut self, met: Vec<Failure>, stack: &[Frame]) -> bool {
        if !met.is_empty() {
            self.found.note(met, self.path(stack));
        }
        !self.found.all.is_empty() && !self.keep_going
    }
}

impl Search<'_> {
    /// The moves that led to the last frame, with the one that is being tried there.
    fn path(&self, stack: &[Frame]) -> Vec<Move> {
        let taken = stack.iter().filter_map(|frame| frame.moves.get(frame.next.checked_sub(1)?));
        self.prefix.iter().chain(taken).copied().collect()
    }
}
