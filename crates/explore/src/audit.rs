//! The audit of a proof: runs that no search needed, which show whether the program does as the model says.
//!
//! A search runs a history once, so what is hidden from the model (a static, a std atomic, the clock) may show nowhere in it.
//! The audit runs each schedule of the search again in other orders of its independent steps, one for each thread, in which
//! that thread's steps come as early as they can. Of two steps of different threads that nothing orders, each comes first in one of
//! them, so what the threads do after them is done in either order. What a thread does before its first step is done
//! when it is started, and again, in a further run, as late as it can be. For what steps do order, each
//! thread goes first in one more run and last in another, and some schedules are drawn at random. The same history
//! with another next step, in any of these runs, is an error that names both.
//!
//! A tenth of the work of the search is spent on it, counted in steps and states, and at least `LEAST` steps; so the same
//! search has the same audit.

use std::collections::BTreeSet;

use crate::explore::Explorer;
use crate::footprint::SetId;
use crate::model::{Effect, Model};
use crate::op::{Move, ThreadId};
use crate::options::Limits;
use crate::program::{Error, Guide, Program};
use crate::tree::{NodeId, Tree};

/// Steps that are run in any case.
const LEAST: u64 = 20_000;

/// How many steps of schedules are kept for the audit.
pub(crate) const KEPT: usize = 1 << 20;

/// What an audit came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Its runs.
    pub runs: u64,
    /// How many histories occurred in two runs or more, of the search or the audit.
    pub twice: usize,
}

/// A step of a schedule with what lies before it whatever the order: how many of each thread's steps.
struct Placed {
    step: Move,
    touches: SetId,
    /// The threads that it moves, its own first.
    moves: Vec<usize>,
    /// For each thread, how many of the steps that move it lie before this one, and this one if it does.
    past: Vec<u32>,
}

impl Explorer {
    /// Runs the audit; `work` is what the search did.
    pub(crate) fn audit_proof(
        &mut self,
        program: &mut dyn Program,
        limits: &Limits<'_>,
        work: u64,
    ) -> Result<Audit, Error> {
        let (mut audit, mut left) = (Audit::default(), LEAST.max(work / 10));
        if self.audit == 0 {
            return Ok(audit);
        }
        let kept = std::mem::take(&mut self.model.kept);
        let mut known: BTreeSet<Vec<Move>> = kept.iter().cloned().collect();
        let mut started_late = BTreeSet::new();
        let threads = self.model.layout.threads().to_vec();
        for (first, &thread) in threads.iter().flat_map(|thread| [(true, thread), (false, thread)]) {
            let mut pick = |moves: &[Move]| {
                let wanted = moves.iter().position(|step| (step.thread == thread) == first);
                wanted.unwrap_or(0)
            };
            self.model.run(program, &[], limits.max_steps, Guide::Pick(&mut pick))?;
            audit.runs += 1;
        }
        self.draw(program, limits, &mut audit)?;
        'all: for schedule in &kept {
            let placed = self.model.placed(schedule);
            for &thread in &threads {
                let other = early(&placed, thread);
                // Placing and sorting cost some of what a run does.
                left = left.saturating_sub(other.len() as u64 / 4);
                if left == 0 || (limits.stop)() {
                    break 'all;
                }
                if !known.contains(&other) {
                    left = left.saturating_sub(other.len() as u64);
                    self.model.run(program, &other, limits.max_steps, Guide::News)?;
                    audit.runs += 1;
                }
                if started_late.insert(other.clone()) {
                    left = left.saturating_sub(other.len() as u64);
                    self.model.run_late(program, &other)?;
                    audit.runs += 1;
                }
                known.insert(other);
            }
        }
        self.model.kept.clear();
        audit.twice = self.model.tree.met_twice();
        Ok(audit)
    }

    /// Runs schedules that are drawn at random, always the same ones.
    fn draw(
        &mut self,
        program: &mut dyn Program,
        limits: &Limits<'_>,
        audit: &mut Audit,
    ) -> Result<(), Error> {
        for round in 0..self.audit {
            let mut seed = 0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(u64::from(round) + 1);
            let mut pick = |moves: &[Move]| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                (seed % moves.len().max(1) as u64) as usize
            };
            self.model.run(program, &[], limits.max_steps, Guide::Pick(&mut pick))?;
            audit.runs += 1;
        }
        Ok(())
    }
}

/// The same steps in an order in which those of one thread come as early as they can; all others are where they were.
fn early(placed: &[Placed], thread: ThreadId) -> Vec<Move> {
    let mut done = vec![false; placed.len()];
    let mut order = Vec::with_capacity(placed.len());
    for own in placed.iter().filter(|own| own.step.thread == thread) {
        for (index, other) in placed.iter().enumerate() {
            if !done[index] && before(other, own) {
                done[index] = true;
                order.push(other.step);
            }
        }
    }
    order.extend(placed.iter().zip(&done).filter(|(_, done)| !**done).map(|(other, _)| other.step));
    order
}

/// Whether a step lies before another in every order, or is that one.
fn before(step: &Placed, other: &Placed) -> bool {
    let Some(&own) = step.moves.first() else { return true };
    step.past.get(own).copied().unwrap_or(0) <= other.past.get(own).copied().unwrap_or(0)
}

impl Model {
    /// Runs the program along a schedule whose steps are known, and lets each thread go to its first step only when that is to come.
    fn run_late(&mut self, program: &mut dyn Program, schedule: &[Move]) -> Result<(), Error> {
        let result = self.started_late(program, schedule);
        program.finish();
        result
    }

    fn started_late(&mut self, program: &mut dyn Program, schedule: &[Move]) -> Result<(), Error> {
        let first = program.start();
        self.learn(Tree::ROOT, first).map_err(Error::Differs)?;
        let (mut state, mut effect) = (self.initial(), Effect::default());
        let mut late: Vec<(ThreadId, NodeId)> = Vec::new();
        for (index, &step) in schedule.iter().enumerate() {
            let mut moves = Vec::new();
            self.moves(&state, step.thread, &mut moves);
            if !moves.contains(&step) {
                return Err(Error::Impossible(index));
            }
            if let Some(place) = late.iter().position(|(thread, _)| *thread == step.thread) {
                let (thread, node) = late.remove(place);
                self.learn(node, program.begin(thread)).map_err(Error::Differs)?;
            }
            self.step(&mut state, step, &mut effect);
            let started = effect.started.take();
            self.follow(program, &state, &effect)?;
            effect.started = started;
            late.extend(started.map(|thread| (thread, self.thread(&state, thread).node())));
            self.enter(&mut state, &effect);
        }
        for (thread, node) in late {
            self.learn(node, program.begin(thread)).map_err(Error::Differs)?;
        }
        Ok(())
    }

    /// The steps of a schedule that was run, each with what lies before it.
    fn placed(&mut self, schedule: &[Move]) -> Vec<Placed> {
        let (mut state, mut effect) = (self.initial(), Effect::default());
        let mut all: Vec<Placed> = Vec::with_capacity(schedule.len());
        let mut of_thread: Vec<Vec<usize>> = Vec::new();
        for &step in schedule {
            let (before, touches) = (state.clone(), self.touches(&state, step));
            self.step(&mut state, step, &mut effect);
            self.enter(&mut state, &effect);
            let mut moves = vec![step.thread.index()];
            let words = |thread: ThreadId| (self.thread(&before, thread).0, self.thread(&state, thread).0);
            moves.extend(self.layout.threads().iter().filter_map(|&thread| {
                let (old, new) = words(thread);
                (thread != step.thread && old != new).then_some(thread.index())
            }));
            let most = moves.iter().max().map_or(0, |most| most + 1);
            of_thread.resize(of_thread.len().max(most), Vec::new());
            let mut past = vec![0; of_thread.len()];
            for (thread, steps) in of_thread.iter().enumerate() {
                let last = if moves.contains(&thread) {
                    steps.last()
                } else {
                    steps.iter().rev().find(|&&index| self.dependent(all[index].touches, touches, true))
                };
                for (most, &count) in past.iter_mut().zip(last.map_or(&[][..], |&index| &all[index].past)) {
                    *most = count.max(*most);
                }
            }
            for &thread in &moves {
                of_thread[thread].push(all.len());
                past[thread] += 1;
            }
            all.push(Placed { step, touches, moves, past });
        }
        all
    }
}
