//! The model of a program: the learned trees, and the law by which their steps act on the shared state.

use std::rc::Rc;

use crate::law::{self, Misuse};
use crate::objects::{NoObjects, Objects};
use crate::op::{Data, Init, Move, Next, ObjectId, Op, Outcome, ThreadId};
use crate::queues::Queues;
use crate::state::{Layout, Phase, State, ThreadWord};
use crate::step;
use crate::symmetry::Groups;
use crate::tree::{Differs, NodeId, Tree};

/// What is possible besides the order of steps. Leaving one out leaves real executions out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Timed waits may end at any time.
    pub timeouts: bool,
    /// Waits may end without cause.
    pub spurious: bool,
    /// Weak exchanges, and tries that may, fail without cause.
    pub weak: bool,
    /// Readers may have to wait for waiting writers, or not; else they never do.
    pub fair_writers: bool,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { timeouts: true, spurious: true, weak: true, fair_writers: true }
    }
}

/// Threads that a step moved on, with what each got; and one that it started.
#[derive(Default)]
pub(crate) struct Effect {
    pub(crate) advanced: Vec<(ThreadId, Outcome)>,
    pub(crate) started: Option<ThreadId>,
    pub(crate) misuse: Option<Misuse>,
    pub(crate) exit: Option<i32>,
}

/// The model.
pub(crate) struct Model {
    pub(crate) tree: Tree,
    pub(crate) layout: Layout,
    pub(crate) queues: Queues,
    pub(crate) objects: Rc<dyn Objects>,
    pub(crate) policy: Policy,
    pub(crate) groups: Groups,
    /// Schedules that were run, for the audit, and how many steps they and all others have.
    pub(crate) kept: Vec<Vec<Move>>,
    pub(crate) steps_kept: usize,
    pub(crate) steps_run: u64,
    /// Whether loops that wait are followed.
    pub(crate) follows: bool,
    /// After how many steps of a run threads came to wait in loops that were not followed, and how
    /// many runs followed loops.
    pub(crate) came_to_wait: Vec<usize>,
    pub(crate) rounds_run: u64,
    /// The thread that made a run too long, where that happened first, and its history.
    pub(crate) too_long: Option<(ThreadId, NodeId)>,
    /// Whether futures reach over spawns; false only to show that they must.
    closed: bool,
}

impl Model {
    pub(crate) fn new(policy: Policy, objects: Option<Rc<dyn Objects>>, closed: bool) -> Model {
        let mut layout = Layout::default();
        layout.add_thread(ThreadId::MAIN);
        let objects = objects.unwrap_or_else(|| Rc::new(NoObjects));
        Model {
            tree: Tree::new(),
            layout,
            queues: Queues::new(),
            objects,
            policy,
            groups: Groups::default(),
            kept: Vec::new(),
            steps_kept: 0,
            steps_run: 0,
            follows: false,
            came_to_wait: Vec::new(),
            rounds_run: 0,
            too_long: None,
            closed,
        }
    }

    /// The state before the first step, once that is known.
    pub(crate) fn initial(&mut self) -> State {
        let mut state = State::default();
        self.set_thread(&mut state, ThreadId::MAIN, ThreadWord(0).at(Tree::ROOT));
        self.make(&mut state, Tree::ROOT);
        state
    }

    /// The next step after a history; whether it was new.
    pub(crate) fn learn(&mut self, node: NodeId, next: Next) -> Result<bool, Differs> {
        for &(object, init) in &next.made {
            self.layout.add_object(object, init);
        }
        match next.op {
            Op::Spawn { thread }
            | Op::SpawnSame { thread, .. }
            | Op::Unpark { thread }
            | Op::Join { thread } => self.layout.add_thread(thread),
            Op::JoinAll { ref threads } => threads.iter().for_each(|&thread| self.layout.add_thread(thread)),
            _ => {}
        }
        if self.groups.learn(&next.op) {
            // States were taken for one that are not.
            self.tree.grew();
        }
        let (layout, groups) = (&self.layout, &self.groups);
        self.tree.learn(node, next, self.closed, |object| layout.class(object), groups)
    }

    pub(crate) fn thread(&self, state: &State, thread: ThreadId) -> ThreadWord {
        ThreadWord(self.layout.thread(thread).map_or(0, |slot| state.get(slot)))
    }

    pub(crate) fn set_thread(&self, state: &mut State, thread: ThreadId, word: ThreadWord) {
        if let Some(slot) = self.layout.thread(thread) {
            state.set(slot, word.0);
        }
    }

    /// The next step of a thread that has one.
    pub(crate) fn op(&self, state: &State, thread: ThreadId) -> Option<&Op> {
        let word = self.thread(state, thread);
        match word.phase() {
            Phase::Absent | Phase::Ended | Phase::Gone => None,
            _ => self.tree.op(word.node()),
        }
    }

    pub(crate) fn word(&self, state: &State, object: ObjectId, at: usize) -> u64 {
        self.layout.object(object).map_or(0, |slot| state.get(slot + at))
    }

    pub(crate) fn set_word(&self, state: &mut State, object: ObjectId, at: usize, word: u64) {
        if let Some(slot) = self.layout.object(object) {
            state.set(slot + at, word);
        }
    }

    /// The value of a cell, or the data of a lock.
    pub(crate) fn content(&self, state: &State, object: ObjectId) -> u64 {
        self.word(state, object, self.layout.content(object))
    }

    /// What a thread can do in a state.
    pub(crate) fn moves(&self, state: &State, thread: ThreadId, into: &mut Vec<Move>) {
        law::moves(self, state, thread, |choice| into.push(Move { thread, choice }));
    }

    /// Does a step; the threads that it moved on are at new histories, whose objects are not made yet.
    pub(crate) fn step(&mut self, state: &mut State, step: Move, effect: &mut Effect) {
        effect.advanced.clear();
        effect.started = None;
        effect.misuse = None;
        effect.exit = None;
        let node = self.thread(state, step.thread).node();
        step::step(self, state, step, effect);
        for &(thread, outcome) in &effect.advanced {
            let word = self.thread(state, thread);
            let next = self.tree.child(word.node(), outcome);
            self.set_thread(state, thread, word.at(next));
        }
        if let Some(thread) = effect.started {
            let first = match self.tree.op(node) {
                Some(&Op::SpawnSame { like, .. }) => self.tree.start_like(node, thread, like, self.closed),
                _ => self.tree.start(node, thread),
            };
            let word = self.thread(state, thread);
            self.set_thread(state, thread, word.at(first));
        }
    }

    /// Makes the objects of the histories that a step led to; false if one of them is not known.
    pub(crate) fn enter(&mut self, state: &mut State, effect: &Effect) -> bool {
        let mut known = true;
        let threads = effect.advanced.iter().map(|&(thread, _)| thread).chain(effect.started);
        for thread in threads {
            let node = self.thread(state, thread).node();
            known &= self.make(state, node);
        }
        known
    }

    fn make(&mut self, state: &mut State, node: NodeId) -> bool {
        let Some(next) = self.tree.next(node) else { return false };
        let resolve = |data: Data| match data {
            Data::Value(value) => value,
            Data::Version => version(node),
        };
        for &(object, init) in &next.made {
            let Some(slot) = self.layout.object(object) else { continue };
            match init {
                Init::Cell(value) | Init::Semaphore(value) => state.set(slot, value),
                Init::Object { state: first, .. } => state.set(slot, first),
                Init::Data(data) => state.set(slot, resolve(data)),
                Init::Lock(data) => {
                    state.set(slot, 0);
                    state.set(slot + 1, resolve(data));
                }
                Init::RwLock(data) => {
                    state.set(slot, 0);
                    state.set(slot + 1, 0);
                    state.set(slot + 2, resolve(data));
                }
                Init::Once(done) => {
                    state.set(slot, if done.is_some() { law::DONE } else { 0 });
                    state.set(slot + 1, done.map_or(0, resolve));
                }
                Init::Channel(capacity) => {
                    state.set(slot, 0);
                    state.set(slot + 1, capacity.map_or(0, |capacity| u64::from(capacity) + 1));
                    state.set(slot + 2, law::RECEIVER | 1);
                }
                Init::Condition | Init::Barrier => {}
            }
        }
        true
    }
}

/// What stands for data that is a function of this history: no value that a program is likely to have.
pub(crate) fn version(node: NodeId) -> u64 {
    0xA5C3_96F1 << 32 | u64::from(node.0)
}
