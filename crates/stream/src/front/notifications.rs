//! Notifications that can still wake a wait.
//!
//! A wait takes the earliest free notification after its start, which is its thread's event before it. So a
//! notification is of no use to a thread that has run since, and of those that are, each thread takes one of the first
//! few at most: there can be as many takers as threads. What no thread can take any more is forgotten, which bounds the
//! memory by the square of the threads per condition variable.

use super::NONE;
use crate::step::at;

#[derive(Default, Debug)]
pub(super) struct Notifications {
    conditions: Vec<Condition>,
    free_slots: Vec<u32>,
    slots: u32,
}

#[derive(Default, Debug)]
struct Condition {
    pending: Vec<Pending>,
    /// The last notification of all.
    last: Option<u32>,
    /// How many there were after the last look for those that can be forgotten.
    kept: usize,
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    event: u32,
    slot: u32,
    all: bool,
}

/// What a wait finds.
pub(super) enum Taken {
    /// It was woken by the notification in this slot.
    Slot(u32),
    /// There were notifications since its start, but others took them.
    Missed,
    /// There was none since its start.
    Nothing,
}

impl Notifications {
    /// Adds a notification and answers its slot. `lasts` has the last event of each thread that may still run.
    pub(super) fn add(
        &mut self,
        condition: u32,
        event: u32,
        all: bool,
        lasts: impl Iterator<Item = u32>,
    ) -> u32 {
        let condition = at(&mut self.conditions, condition);
        if condition.pending.len() >= 2 + 2 * condition.kept {
            condition.forget(lasts.filter(|&last| last != NONE).collect(), &mut self.free_slots);
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        condition.pending.push(Pending { event, slot, all });
        condition.last = Some(event);
        slot
    }

    /// A slot that no notification gets.
    pub(super) fn reserve(&mut self) -> u32 {
        self.slots += 1;
        self.slots - 1
    }

    /// Takes the notification that woke a wait which started at event `start`.
    ///
    /// Its slot may be used again for the next notification, not before.
    pub(super) fn take(&mut self, condition: u32, start: u32) -> Taken {
        let condition = at(&mut self.conditions, condition);
        let found = condition.pending.partition_point(|pending| pending.event <= start);
        match condition.pending.get(found).copied() {
            Some(pending) => {
                if !pending.all {
                    condition.pending.remove(found);
                    self.free_slots.push(pending.slot);
                }
                Taken::Slot(pending.slot)
            }
            None if condition.last.is_some_and(|last| last > start) => Taken::Missed,
            None => Taken::Nothing,
        }
    }
}

impl Condition {
    /// Forgets what none of the threads with these last events can take.
    fn forget(&mut self, lasts: Vec<u32>, free_slots: &mut Vec<u32>) {
        let mut keep = vec![false; self.pending.len()];
        for &last in &lasts {
            let first = self.pending.partition_point(|pending| pending.event <= last);
            for (keep, pending) in keep[first..].iter_mut().zip(&self.pending[first..]).take(lasts.len()) {
                *keep = true;
                if pending.all {
                    break;
                }
            }
        }
        let mut keeps = keep.iter();
        self.pending.retain(|pending| {
            let keep = keeps.next().is_some_and(|&keep| keep);
            if !keep {
                free_slots.push(pending.slot);
            }
            keep
        });
        self.kept = self.pending.len();
    }
}
