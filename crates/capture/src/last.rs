//! The last events of a run: what holds when they begin, so that they are a trace of their own.
//!
//! Whatever came before leaves threads that run, locks that are held and blocks of the heap that are there. Slots at the
//! start say so: threads are forked by the first one, locks acquired by their holders, blocks allocated.

use std::collections::BTreeMap;

use reweave_wire::Op;
use reweave_wire::ring::{Slot, kind};

#[derive(Clone, Copy, Default)]
struct Thread {
    begun: bool,
    ended: bool,
    stack: Option<Slot>,
}

/// What holds at some time of a recording.
#[derive(Default)]
pub(crate) struct State {
    running: u64,
    /// Those that nobody awaited yet.
    threads: BTreeMap<u64, Thread>,
    /// By address and generation, who holds a lock, and whether shared; as often as they do.
    locks: BTreeMap<(u64, u64), Vec<(u64, bool)>>,
    blocks: BTreeMap<u64, (u64, Slot)>,
}

impl State {
    /// Takes note of a slot that is no access.
    #[cold]
    pub(crate) fn note(&mut self, slot: Slot) {
        let (thread, target) = (self.running, slot.target());
        match slot.kind() {
            kind::SWITCH => self.running = target,
            kind::STACK => self.threads.entry(thread).or_default().stack = Some(slot),
            other => match Op::from_code(other.wrapping_sub(kind::OPERATION)) {
                Some(Op::Fork) => _ = self.threads.insert(target, Thread::default()),
                Some(Op::Begin) => self.threads.entry(thread).or_default().begun = true,
                Some(Op::End) => self.threads.entry(thread).or_default().ended = true,
                Some(Op::Join) => _ = self.threads.remove(&target),
                Some(Op::Alloc) => _ = self.blocks.insert(target, (thread, slot)),
                Some(Op::Free) => _ = self.blocks.remove(&target),
                Some(op) => self.lock(op, (target, slot.0[2]), thread),
                None => {}
            },
        }
    }

    fn lock(&mut self, op: Op, lock: (u64, u64), thread: u64) {
        let shared = match op {
            Op::Acquire | Op::TryAcquire | Op::Release => false,
            Op::SharedAcquire | Op::SharedRelease => true,
            _ => return,
        };
        let holders = self.locks.entry(lock).or_default();
        if matches!(op, Op::Release | Op::SharedRelease) {
            let place = holders.iter().rposition(|&holder| holder == (thread, shared));
            place.map(|place| holders.remove(place));
        } else {
            holders.push((thread, shared));
        }
        if holders.is_empty() {
            self.locks.remove(&lock);
        }
    }

    /// The slots that say what holds.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        let mut by = |thread: u64, slot: Slot| slots.extend([switch(thread), slot]);
        by(0, Slot::operation(Op::Begin, 0, 0, 0));
        for (&number, thread) in &self.threads {
            if number != 0 {
                by(0, Slot::operation(Op::Fork, 0, number, 0));
                if thread.begun {
                    by(number, Slot::operation(Op::Begin, 0, 0, 0));
                }
            }
            if let Some(stack) = thread.stack {
                by(number, stack);
            }
        }
        for &(owner, block) in self.blocks.values() {
            // Whoever is gone can have no event any more.
            by(if self.runs(owner) { owner } else { 0 }, block);
        }
        for (&(at, generation), holders) in &self.locks {
            // One who was awaited and still holds it is gone with it.
            for &(holder, shared) in holders.iter().filter(|(holder, _)| self.threads.contains_key(holder)) {
                let op = if shared { Op::SharedAcquire } else { Op::Acquire };
                by(holder, Slot::operation(op, 0, at, generation));
            }
        }
        for (&number, _) in self.threads.iter().filter(|(_, thread)| thread.ended) {
            by(number, Slot::operation(Op::End, 0, 0, 0));
        }
        slots.push(switch(self.running));
        slots
    }

    fn runs(&self, thread: u64) -> bool {
        self.threads.get(&thread).is_some_and(|thread| thread.begun && !thread.ended)
    }
}

fn switch(thread: u64) -> Slot {
    Slot::new(kind::SWITCH, 0, 0, thread, 0)
}

/// Passes on the last `keep` events of `total`, which come in `slots`, after what held before.
pub(crate) struct Tail {
    state: State,
    skip: u64,
    started: bool,
}

impl Tail {
    pub(crate) fn new(total: u64, keep: u64) -> Tail {
        Tail { state: State::default(), skip: total.saturating_sub(keep), started: total <= keep }
    }

    /// What becomes of the next slot.
    pub(crate) fn next(&mut self, slot: Slot, each: &mut dyn FnMut(Slot)) {
        if self.started {
            return each(slot);
        }
        // Parts of an event, and switches, that come before the first event that is kept.
        if slot.is_event() && self.skip == 0 {
            self.started = true;
            self.state.slots().into_iter().for_each(&mut *each);
            return each(slot);
        }
        self.skip -= u64::from(slot.is_event());
        if slot.kind() >= kind::OTHERS {
            self.state.note(slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(op: Op, target: u64) -> Slot {
        Slot::operation(op, 0, target, 0)
    }

    #[test]
    fn what_holds_comes_first() {
        let slots = [
            switch(0),
            op(Op::Begin, 0),
            op(Op::Fork, 1),
            op(Op::Fork, 2),
            switch(1),
            op(Op::Begin, 0),
            op(Op::Acquire, 64),
            op(Op::Alloc, 4096),
            op(Op::Acquire, 72),
            op(Op::Release, 72),
            switch(2),
            op(Op::Begin, 0),
            op(Op::SharedAcquire, 80),
            op(Op::End, 0),
            switch(0),
            op(Op::Join, 2),
            switch(1),
            op(Op::Release, 64),
        ];
        let events = slots.iter().filter(|slot| slot.is_event()).count() as u64;
        let mut tail = Tail::new(events, 1);
        let mut kept = Vec::new();
        for slot in slots {
            tail.next(slot, &mut |slot| kept.push(slot));
        }
        let expected = [
            (0, op(Op::Begin, 0)),
            (0, op(Op::Fork, 1)),
            (1, op(Op::Begin, 0)),
            (1, op(Op::Alloc, 4096)),
            (1, op(Op::Acquire, 64)),
        ];
        let mut expected: Vec<Slot> =
            expected.iter().flat_map(|&(thread, slot)| [switch(thread), slot]).collect();
        expected.extend([switch(1), op(Op::Release, 64)]);
        assert_eq!(kept, expected);
        let mut all = Vec::new();
        let mut tail = Tail::new(events, events);
        slots.iter().for_each(|&slot| tail.next(slot, &mut |slot| all.push(slot)));
        assert_eq!(all, slots);
    }
}
