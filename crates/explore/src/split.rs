//! Parts of a search that can be done apart, on any machine and in any order.
//!
//! The interleavings are unfolded from the start, by breadth and without reductions, until there are enough states to go on from; each is
//! an [`Item`], the moves that lead there. What is wrong on the way is found here. Every execution ends on the way, or goes on from
//! one of the items, so if nothing is wrong here and in any item, nothing is wrong at all. An item is searched as the whole would be, from
//! another first state and knowing nothing; the proof of `saturate` (docs/internals/exploring.md) speaks of any visited state, so also of
//! this one.
//!
//! For the trace engine an item also has the moves that sleep after it: a move that was tried sleeps in what comes after its later siblings
//! until a dependent step wakes it. So the executions of all items together are the classes. What comes after a sleeping
//! move is not seen there, but stubborn sets have to know it: such an item is saturated first.

use std::collections::VecDeque;

use crate::explore::{Counts, Explorer, Report};
use crate::failure::{self, Failure};
use crate::footprint::SetId;
use crate::found::Found;
use crate::model::{Effect, Model};
use crate::op::Move;
use crate::options::Limits;
use crate::program::{Ended, Error, Guide, Program};
use crate::rounds::FOLLOWED;
use crate::saturate::Stopped;
use crate::state::State;
use crate::store::Store;

/// A part of a search: all that begins with some moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// The moves.
    pub prefix: Vec<Move>,
    /// The moves that another part tries first; for the trace engine.
    pub asleep: Vec<Move>,
}

/// A search in parts.
#[derive(Clone, Debug)]
pub struct Split {
    /// The parts; none where something is wrong before them, or where there is nothing left.
    pub items: Vec<Item>,
    /// What came of what lies before them.
    pub report: Report,
}

struct Splitter<'a> {
    model: &'a mut Model,
    program: &'a mut dyn Program,
    limits: &'a Limits<'a>,
    keep_going: bool,
    /// Whether moves sleep; else states are told apart.
    sleeps: bool,
    store: Store,
    counts: Counts,
    found: Found,
    too_long: bool,
}

struct Leaf {
    state: State,
    item: Item,
}

impl Explorer {
    /// Splits the search into so many parts, or a few more; `trace` is whether they are for the trace engine.
    pub fn split(
        &mut self,
        program: &mut dyn Program,
        limits: &Limits<'_>,
        parts: usize,
        trace: bool,
    ) -> Result<Split, Error> {
        let mut splitter = Splitter {
            model: &mut self.model,
            program,
            limits,
            keep_going: self.keep_going,
            sleeps: trace,
            store: Store::default(),
            counts: Counts::default(),
            found: Found::default(),
            too_long: false,
        };
        let (items, stopped) = splitter.split(parts)?;
        let (counts, found) = (splitter.counts, splitter.found);
        let report = self.report(program, limits, stopped, counts, found)?;
        let items = if stopped == Stopped::Complete { items } else { Vec::new() };
        Ok(Split { items, report })
    }
}

impl Model {
    /// The state after moves that were run.
    pub(crate) fn after(&mut self, prefix: &[Move]) -> State {
        let (mut state, mut effect) = (self.initial(), Effect::default());
        for &step in prefix {
            self.step(&mut state, step, &mut effect);
            self.enter(&mut state, &effect);
        }
        state
    }

    /// What a move touches.
    pub(crate) fn touches(&self, state: &State, step: Move) -> SetId {
        let word = self.thread(state, step.thread);
        self.tree.footprint(word.node(), word.phase())
    }

    /// Whether the order of two moves matters; `exits` is whether an exit depends on all.
    pub(crate) fn dependent(&mut self, left: SetId, right: SetId, exits: bool) -> bool {
        let objects = std::rc::Rc::clone(&self.objects);
        self.tree.footprints.conflict(left, right, &*objects, exits)
    }
}

impl Splitter<'_> {
    fn split(&mut self, parts: usize) -> Result<(Vec<Item>, Stopped), Error> {
        self.run(&[])?;
        let state = self.model.initial();
        let mut met = Vec::new();
        failure::at_first(self.model, &state, &mut |failure| met.push(failure));
        let mut stopped = self.note(met, &[]).then_some(Stopped::Failure);
        self.store.insert(&state, &[]);
        let mut leaves = VecDeque::from([Leaf { state, item: Item::default() }]);
        while stopped.is_none() && leaves.len() < parts {
            let Some(leaf) = leaves.pop_front() else { break };
            stopped = self.expand(leaf, &mut leaves)?;
        }
        let complete = if self.too_long { Stopped::Steps } else { Stopped::Complete };
        Ok((leaves.into_iter().map(|leaf| leaf.item).collect(), stopped.unwrap_or(complete)))
    }

    fn run(&mut self, path: &[Move]) -> Result<(), Error> {
        self.counts.runs += 1;
        let ended = self.model.run(self.program, path, self.limits.max_steps, Guide::News)?;
        self.too_long |= ended == Ended::TooLong;
        Ok(())
    }

    /// Tries all moves of a state; why to stop, if so.
    fn expand(&mut self, leaf: Leaf, leaves: &mut VecDeque<Leaf>) -> Result<Option<Stopped>, Error> {
        let Leaf { state, item } = leaf;
        let (mut moves, mut effect) = (Vec::new(), Effect::default());
        self.model.all_moves(&state, &mut moves);
        self.counts.executions += u64::from(self.sleeps && moves.is_empty());
        let mut asleep = item.asleep.clone();
        let awake: Vec<Move> = moves.iter().copied().filter(|step| !asleep.contains(step)).collect();
        self.counts.blocked += u64::from(!moves.is_empty() && awake.is_empty());
        for step in awake {
            if let Some(stopped) = self.limit(item.prefix.len()) {
                return Ok(Some(stopped));
            }
            let mut prefix = item.prefix.clone();
            prefix.push(step);
            let mut next = state.clone();
            self.model.step(&mut next, step, &mut effect);
            if !self.model.enter(&mut next, &effect) {
                self.run(&prefix)?;
                self.model.enter(&mut next, &effect);
            }
            if self.model.unfollowed(&next) {
                self.model.run_round(self.program, &prefix, FOLLOWED)?;
            }
            let sleeping = if self.sleeps { self.sleeping(&state, &asleep, step) } else { Vec::new() };
            asleep.push(step);
            if !self.sleeps && !self.store.insert(&next, &[]) {
                continue;
            }
            self.counts.states += 1;
            if self.look(&state, &next, &effect, &prefix) {
                return Ok(Some(Stopped::Failure));
            }
            leaves.push_back(Leaf { state: next, item: Item { prefix, asleep: sleeping } });
        }
        Ok(None)
    }

    /// What still sleeps after a step.
    fn sleeping(&mut self, state: &State, asleep: &[Move], step: Move) -> Vec<Move> {
        let touches = self.model.touches(state, step);
        let mut left = Vec::new();
        for &sleeper in asleep.iter().filter(|sleeper| sleeper.thread != step.thread) {
            let other = self.model.touches(state, sleeper);
            if !self.model.dependent(other, touches, true) {
                left.push(sleeper);
            }
        }
        left
    }

    fn look(&mut self, before: &State, state: &State, effect: &Effect, prefix: &[Move]) -> bool {
        let (mut met, mut moves) = (Vec::new(), Vec::new());
        failure::failures(self.model, before, state, effect, &mut |failure| met.push(failure));
        self.model.all_moves(state, &mut moves);
        if failure::still(self.model, state, &moves) {
            failure::stuck(self.model, state, &mut |failure| met.push(failure));
        }
        self.note(met, prefix)
    }

    fn note(&mut self, met: Vec<Failure>, prefix: &[Move]) -> bool {
        if !met.is_empty() {
            self.found.note(met, prefix.to_vec());
        }
        !self.found.all.is_empty() && !self.keep_going
    }

    fn limit(&self, depth: usize) -> Option<Stopped> {
        if depth >= self.limits.max_steps {
            return Some(Stopped::Steps);
        }
        (self.limits.stop)().then_some(Stopped::Asked)
    }
}
