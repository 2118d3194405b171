//! Loops that wait, followed: what the program takes for a round that changes nothing is gone round
//! again and again.
//!
//! A thread that comes back to where it was, knowing no more, waits ([`Op::Await`]) instead of
//! going round for ever. Whether it *is* where it was, a program may not be able to see: a loop may
//! count its rounds where no step shows. So each history that waits is followed once, in a run of
//! its own or at the end of one that ends there: the thread goes round with what it saw, and has to
//! do the same each time. Before a livelock is reported, its loops are followed for much longer.

use crate::law;
use crate::model::{Effect, Model};
use crate::op::{Move, Op, ThreadId};
use crate::program::{Error, Program, Rounds};
use crate::state::{Phase, State};
use crate::tree::{Followed, NodeId, Tree};

/// How many rounds a loop that waits is followed.
pub const FOLLOWED: u32 = 256;

/// How many rounds before a livelock is reported.
pub const FOLLOWED_LONG: u32 = 1_000_000;

impl Model {
    /// A thread that waits in a loop, with its history, and whether nothing changed that it saw.
    fn waits(&self, state: &State, thread: ThreadId) -> Option<(NodeId, bool)> {
        let word = self.thread(state, thread);
        let is_there = matches!(word.phase(), Phase::At | Phase::Waiting);
        let Some(Op::Await { .. }) = self.tree.op(word.node()).filter(|_| is_there) else { return None };
        let mut changed = false;
        law::moves(self, state, thread, |_| changed = true);
        Some((word.node(), !changed))
    }

    fn has_unfollowed(&self) -> bool {
        self.follows && self.tree.unfollowed() > 0
    }

    /// How many histories wait in a loop that was to be followed and was not.
    pub(crate) fn left_unfollowed(&self) -> usize {
        if self.follows { self.tree.unfollowed() } else { 0 }
    }

    /// Whether a thread has come to wait in a loop that was never followed.
    pub(crate) fn is_new_wait(&self, state: &State, thread: ThreadId) -> bool {
        self.has_unfollowed()
            && self.waits(state, thread).is_some_and(|(node, _)| self.tree.followed(node) == Followed::No)
    }

    /// Whether a thread waits in a loop that was not followed, and can be.
    pub(crate) fn unfollowed(&self, state: &State) -> bool {
        self.has_unfollowed()
            && self.layout.threads().iter().any(|&thread| {
                self.waits(state, thread).is_some_and(|(node, same)| match self.tree.followed(node) {
                    Followed::No => true,
                    Followed::Later => same,
                    Followed::Yes => false,
                })
            })
    }

    /// Follows the loops that wait in the state that a run has come to; those that were followed
    /// only where more rounds are asked for.
    pub(crate) fn go_round(
        &mut self,
        program: &mut dyn Program,
        state: &State,
        rounds: u32,
    ) -> Result<(), Error> {
        let threads = if self.follows { self.layout.threads().len() } else { 0 };
        for index in 0..threads {
            let thread = self.layout.threads()[index];
            let Some((node, same)) = self.waits(state, thread) else { continue };
            if rounds == FOLLOWED && self.tree.followed(node) == Followed::Yes {
                continue;
            }
            match program.go_round(thread, rounds, same) {
                Rounds::Same => self.tree.set_followed(node, Followed::Yes),
                Rounds::Other => return Err(Error::Counts(node)),
                Rounds::Later => self.tree.set_followed(node, Followed::Later),
            }
        }
        Ok(())
    }

    /// Runs the program along a schedule whose steps are known, and follows the loops that wait
    /// there.
    pub(crate) fn run_round(
        &mut self,
        program: &mut dyn Program,
        schedule: &[Move],
        rounds: u32,
    ) -> Result<(), Error> {
        let result = self.round(program, schedule, rounds);
        program.finish();
        result
    }

    fn round(&mut self, program: &mut dyn Program, schedule: &[Move], rounds: u32) -> Result<(), Error> {
        let first = program.start();
        self.learn(Tree::ROOT, first).map_err(Error::Differs)?;
        let (mut state, mut effect) = (self.initial(), Effect::default());
        for &step in schedule {
            self.step(&mut state, step, &mut effect);
            self.follow(program, &state, &effect)?;
            self.enter(&mut state, &effect);
        }
        self.steps_run += schedule.len() as u64;
        self.rounds_run += 1;
        self.go_round(program, &state, rounds)
    }
}
