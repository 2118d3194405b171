//! The trace engine: one execution of each class.
//!
//! Two executions are in one class if they differ in the order of independent steps only. The search goes along paths, with
//! nothing kept but the path: in each state it tries the moves of a stubborn set of threads, and a move that was tried
//! sleeps in the subtrees of its later siblings until a dependent step wakes it (Godefroid 1996, chapters 4 and 5). So each class
//! has exactly one complete execution. Dependence is of operations, whatever their results, so a sleeping move is possible
//! for as long as it sleeps, with the same outcomes.
//!
//! Not optimal in the sense of Abdulla et al. (2014): paths are begun whose continuations all sleep. They are counted.

use crate::failure::{self, Failure};
use crate::footprint::SetId;
use crate::found::Found;
use crate::model::{Effect, Model};
use crate::op::Move;
use crate::options::{Limits, Mutation, Progress, REPORT, share};
use crate::program::{Ended, Error, Guide, Program};
use crate::rounds::FOLLOWED;
use crate::saturate::Stopped;
use crate::split::Item;
use crate::state::State;
use crate::stubborn::Stubborn;

/// What a search along traces has met.
pub(crate) struct Traces<'a> {
    pub(crate) model: &'a mut Model,
    pub(crate) program: &'a mut dyn Program,
    pub(crate) limits: &'a Limits<'a>,
    pub(crate) keep_going: bool,
    pub(crate) mutation: Option<Mutation>,
    /// Where to begin.
    pub(crate) item: Item,
    pub(crate) runs: u64,
    pub(crate) executions: u64,
    pub(crate) blocked: u64,
    pub(crate) states: u64,
    pub(crate) found: Found,
    /// How far it was when a limit ended it.
    pub(crate) left_at: Option<Progress>,
    passes: u64,
    steps: u64,
    too_long: bool,
    stubborn: Stubborn,
}

/// A move that sleeps, with what it touches.
#[derive(Clone, Copy)]
struct Sleeper {
    step: Move,
    touches: SetId,
}

#[derive(Default)]
struct Frame {
    state: State,
    moves: Vec<Move>,
    asleep: Vec<Sleeper>,
    next: usize,
}

impl<'a> Traces<'a> {
    pub(crate) fn new(
        model: &'a mut Model,
        program: &'a mut dyn Program,
        limits: &'a Limits<'a>,
    ) -> Traces<'a> {
        Traces {
            model,
            program,
            limits,
            keep_going: false,
            mutation: None,
            item: Item::default(),
            runs: 0,
            executions: 0,
            blocked: 0,
            states: 0,
            found: Found::default(),
            left_at: None,
            passes: 0,
            steps: 0,
            too_long: false,
            stubborn: Stubborn::default(),
        }
    }

    /// Goes along every class. Where the futures of threads grew, stubborn sets were too small: then it starts again.
    pub(crate) fn search(&mut self) -> Result<Stopped, Error> {
        let prefix = self.item.prefix.clone();
        self.run(&prefix)?;
        loop {
            let growths = self.model.tree.growths();
            (self.executions, self.blocked) = (0, 0);
            self.passes += 1;
            let stopped = self.pass()?;
            let grown = self.model.tree.growths() != growths;
            if stopped != Stopped::Complete || !grown {
                return Ok(if stopped == Stopped::Complete && self.too_long {
                    Stopped::Steps
                } else {
                    stopped
                });
            }
        }
    }

    fn run(&mut self, path: &[Move]) -> Result<(), Error> {
        self.runs += 1;
        let ended = self.model.run(self.program, path, self.limits.max_steps, Guide::News)?;
        self.too_long |= ended == Ended::TooLong;
        Ok(())
    }

    fn pass(&mut self) -> Result<Stopped, Error> {
        let mut stack: Vec<Frame> = Vec::new();
        let mut spare: Vec<Frame> = Vec::new();
        let mut effect = Effect::default();
        let state = self.model.after(&self.item.prefix);
        let asleep = self.item.asleep.iter();
        let asleep =
            asleep.map(|&step| Sleeper { step, touches: self.model.touches(&state, step) }).collect();
        let mut first = Frame { state, asleep, ..Frame::default() };
        let mut met = Vec::new();
        if self.item.prefix.is_empty() {
            failure::at_first(self.model, &first.state, &mut |failure| met.push(failure));
        }
        if self.note(met, &stack) {
            return Ok(Stopped::Failure);
        }
        self.expand(&mut first);
        self.executions += u64::from(first.moves.is_empty());
        let asleep = |step: &Move| first.asleep.iter().any(|sleeper| sleeper.step == *step);
        self.blocked += u64::from(!first.moves.is_empty() && first.moves.iter().all(asleep));
        stack.push(first);
        while let Some(frame) = stack.last_mut() {
            let Some(&step) = frame.moves.get(frame.next) else {
                spare.extend(stack.pop());
                continue;
            };
            frame.next += 1;
            if frame.asleep.iter().any(|sleeper| sleeper.step == step) {
                continue;
            }
            if let Some(stopped) = self.limit(&stack) {
                return Ok(stopped);
            }
            let mut next = spare.pop().unwrap_or_default();
            self.follow(&mut stack, step, &mut next, &mut effect)?;
            self.states += 1;
            if self.look(&stack, &next, &effect) {
                return Ok(Stopped::Failure);
            }
            self.expand(&mut next);
            if self.over(&stack, &next) {
                return Ok(Stopped::Failure);
            }
            stack.push(next);
        }
        Ok(Stopped::Complete)
    }

    /// Does a move in the last frame, and has it sleep there from now on.
    fn follow(
        &mut self,
        stack: &mut [Frame],
        step: Move,
        next: &mut Frame,
        effect: &mut Effect,
    ) -> Result<(), Error> {
        let Some(frame) = stack.last_mut() else { return Ok(()) };
        let touches = self.model.touches(&frame.state, step);
        next.asleep.clear();
        for sleeper in &frame.asleep {
            let exits = self.mutation != Some(Mutation::ExitTouchesNothing);
            let depends = self.model.dependent(sleeper.touches, touches, exits);
            let awake = sleeper.step.thread == step.thread || depends;
            if !awake {
                next.asleep.push(*sleeper);
            }
        }
        frame.asleep.push(Sleeper { step, touches });
        next.state.copy(&frame.state);
        self.model.step(&mut next.state, step, effect);
        if !self.model.enter(&mut next.state, effect) {
            let path = self.path(stack);
            self.run(&path)?;
            self.model.enter(&mut next.state, effect);
        }
        if self.model.unfollowed(&next.state) {
            let path = self.path(stack);
            self.model.run_round(self.program, &path, FOLLOWED)?;
        }
        Ok(())
    }

    /// The moves of a frame.
    fn expand(&mut self, frame: &mut Frame) {
        frame.next = 0;
        let asleep: Vec<Move> = frame.asleep.iter().map(|sleeper| sleeper.step).collect();
        let exits = self.mutation != Some(Mutation::ExitTouchesNothing);
        self.stubborn.reduce(self.model, &frame.state, &mut frame.moves, &asleep, exits);
    }

    /// Counts an execution that is over; whether the search is.
    fn over(&mut self, stack: &[Frame], frame: &Frame) -> bool {
        self.executions += u64::from(frame.moves.is_empty());
        if failure::still(self.model, &frame.state, &frame.moves) {
            let mut met = Vec::new();
            failure::stuck(self.model, &frame.state, &mut |failure| met.push(failure));
            if self.note(met, stack) {
                return true;
            }
        }
        if frame.moves.is_empty() {
            return false;
        }
        let asleep = |step: &Move| frame.asleep.iter().any(|sleeper| sleeper.step == *step);
        if frame.moves.iter().all(asleep) {
            self.blocked += 1;
        }
        false
    }

    fn look(&mut self, stack: &[Frame], next: &Frame, effect: &Effect) -> bool {
        let Some(frame) = stack.last() else { return false };
        let mut met = Vec::new();
        failure::failures(self.model, &frame.state, &next.state, effect, &mut |failure| met.push(failure));
        self.note(met, stack)
    }

    fn note(&mut self, met: Vec<Failure>, stack: &[Frame]) -> bool {
        if !met.is_empty() {
            self.found.note(met, self.path(stack));
        }
        !self.found.all.is_empty() && !self.keep_going
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
            executions: self.executions,
            histories: self.model.tree.known(),
            passes: self.passes,
            share: share(stack.iter().map(|frame| (frame.next, frame.moves.len()))),
        }
    }

    fn stops(&self, depth: usize) -> Option<Stopped> {
        if self.item.prefix.len() + depth > self.limits.max_steps {
            return Some(Stopped::Steps);
        }
        if self.states >= self.limits.max_states {
            return Some(Stopped::States);
        }
        if self.executions >= self.limits.max_executions {
            return Some(Stopped::Executions);
        }
        if self.runs >= self.limits.max_runs {
            return Some(Stopped::Runs);
        }
        (self.limits.stop)().then_some(Stopped::Asked)
    }
}

impl Traces<'_> {
    fn path(&self, stack: &[Frame]) -> Vec<Move> {
        let taken = stack.iter().filter_map(|frame| frame.moves.get(frame.next.checked_sub(1)?));
        self.item.prefix.iter().chain(taken).copied().collect()
    }
}
