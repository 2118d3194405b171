//! The state of a run as a row of words: where each thread is, and what each object holds.
//!
//! Words beyond the end are 0, and a state never ends in a 0, so that objects and threads that are learned later do not change
//! states that are known already. Two states are equal iff their words are.

use crate::op::{Init, ObjectId, ThreadId};
use crate::tree::NodeId;

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    words: Vec<u64>,
}

impl State {
    pub(crate) fn get(&self, slot: usize) -> u64 {
        self.words.get(slot).copied().unwrap_or(0)
    }

    pub(crate) fn set(&mut self, slot: usize, word: u64) {
        if slot >= self.words.len() {
            if word == 0 {
                return;
            }
            self.words.resize(slot + 1, 0);
        }
        self.words[slot] = word;
        if word == 0 {
            while self.words.last() == Some(&0) {
                self.words.pop();
            }
        }
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn copy(&mut self, from: &State) {
        self.words.clear();
        self.words.extend_from_slice(&from.words);
    }
}

/// Where within a step a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Not started.
    Absent,
    /// The step has not begun.
    At,
    /// It waits to be notified.
    Waiting,
    /// It was woken, and waits for its lock.
    Woken,
    /// A writer that waits, and is known to wait.
    Announced,
    /// A reader that waits for waiting writers.
    Queued,
    /// It waits for the others at a barrier.
    Arrived,
    /// It has ended.
    Ended,
    /// It was alive when the program exited.
    Gone,
}

const PHASES: [Phase; 9] = [
    Phase::Absent,
    Phase::At,
    Phase::Waiting,
    Phase::Woken,
    Phase::Announced,
    Phase::Queued,
    Phase::Arrived,
    Phase::Ended,
    Phase::Gone,
];

/// The word of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ThreadWord(pub(crate) u64);

impl ThreadWord {
    const TOKEN: u64 = 1 << 40;
    const JOINED: u64 = 1 << 41;
    const TIMEOUT: u64 = 1 << 42;

    pub(crate) fn node(self) -> NodeId {
        NodeId(self.0 as u32)
    }

    pub(crate) fn phase(self) -> Phase {
        PHASES.get((self.0 >> 32 & 15) as usize).copied().unwrap_or(Phase::Gone)
    }

    pub(crate) fn token(self) -> bool {
        self.0 & Self::TOKEN != 0
    }

    pub(crate) fn joined(self) -> bool {
        self.0 & Self::JOINED != 0
    }

    /// Whether the wait of a woken thread ended because its time was up.
    pub(crate) fn timeout(self) -> bool {
        self.0 & Self::TIMEOUT != 0
    }

    pub(crate) fn at(self, node: NodeId) -> ThreadWord {
        let rest = self.0 & (Self::TOKEN | Self::JOINED);
        ThreadWord(rest | u64::from(node.0)).in_phase(Phase::At)
    }

    pub(crate) fn in_phase(self, phase: Phase) -> ThreadWord {
        ThreadWord(self.0 & !(15 << 32) | (phase as u64) << 32)
    }

    pub(crate) fn with_token(self, token: bool) -> ThreadWord {
        ThreadWord(self.0 & !Self::TOKEN | if token { Self::TOKEN } else { 0 })
    }

    pub(crate) fn with_joined(self) -> ThreadWord {
        ThreadWord(self.0 | Self::JOINED)
    }

    pub(crate) fn with_timeout(self, timeout: bool) -> ThreadWord {
        ThreadWord(self.0 & !Self::TIMEOUT | if timeout { Self::TIMEOUT } else { 0 })
    }
}

/// Where an object has its words, its class, and in which word its content is.
#[derive(Clone, Copy)]
struct Slot {
    first: u32,
    class: u32,
    content: u32,
}

/// Where threads and objects have their words; it only grows.
#[derive(Default)]
pub(crate) struct Layout {
    threads: Vec<Option<u32>>,
    objects: Vec<Option<Slot>>,
    order: Vec<ThreadId>,
    /// Words that say who holds something.
    owned: Vec<usize>,
    used: u32,
}

impl Layout {
    pub(crate) fn add_thread(&mut self, thread: ThreadId) {
        if self.threads.len() <= thread.index() {
            self.threads.resize(thread.index() + 1, None);
        }
        if self.threads[thread.index()].is_none() {
            self.threads[thread.index()] = Some(self.used);
            self.order.push(thread);
            self.used += 1;
        }
    }

    /// Room for an object; the class of one that follows a specification is remembered.
    pub(crate) fn add_object(&mut self, object: ObjectId, init: Init) {
        if self.objects.len() <= object.index() {
            self.objects.resize(object.index() + 1, None);
        }
        if self.objects[object.index()].is_none() {
            let class = if let Init::Object { class, .. } = init { class } else { 0 };
            let content = match init {
                Init::Lock(_) | Init::Once(_) => 1,
                Init::RwLock(_) => 2,
                _ => 0,
            };
            self.objects[object.index()] = Some(Slot { first: self.used, class, content });
            if matches!(init, Init::Lock(_) | Init::RwLock(_) | Init::Once(_)) {
                self.owned.push(self.used as usize);
            }
            self.used += width(init);
        }
    }

    /// The words that say who holds something.
    pub(crate) fn owned(&self) -> &[usize] {
        &self.owned
    }

    /// All threads, in the order in which they were learned.
    pub(crate) fn threads(&self) -> &[ThreadId] {
        &self.order
    }

    pub(crate) fn thread(&self, thread: ThreadId) -> Option<usize> {
        self.threads.get(thread.index()).copied().flatten().map(|slot| slot as usize)
    }

    fn slot(&self, object: ObjectId) -> Option<Slot> {
        self.objects.get(object.index()).copied().flatten()
    }

    pub(crate) fn object(&self, object: ObjectId) -> Option<usize> {
        self.slot(object).map(|slot| slot.first as usize)
    }

    pub(crate) fn class(&self, object: ObjectId) -> u32 {
        self.slot(object).map_or(0, |slot| slot.class)
    }

    pub(crate) fn content(&self, object: ObjectId) -> usize {
        self.slot(object).map_or(0, |slot| slot.content as usize)
    }
}

fn width(init: Init) -> u32 {
    match init {
        Init::Cell(_) | Init::Data(_) | Init::Semaphore(_) | Init::Object { .. } => 1,
        Init::Lock(_) | Init::Once(_) => 2,
        Init::RwLock(_) | Init::Channel(_) => 3,
        Init::Condition | Init::Barrier => 0,
    }
}
