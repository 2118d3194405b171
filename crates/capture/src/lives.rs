//! Which lives of semaphores, open files and the like matter.
//!
//! One that did not end, or that a single thread had to do with, cannot be used after its end in another schedule: its uses are
//! left out.

use hashbrown::{HashMap, HashSet};
use reweave_wire::Life;

use crate::raw::{RawEvent, Target};

/// A life: of what, where, and its index there.
pub(crate) type Thing = (Life, u64, u32);

#[derive(Clone, Copy)]
struct Had {
    first: u32,
    others: bool,
    ended: bool,
}

/// Who had to do with which.
#[derive(Default)]
pub(crate) struct Lives {
    things: HashMap<Thing, Had>,
}

impl Lives {
    /// Notes an event; whether it is one of a life.
    pub(crate) fn note(&mut self, event: &RawEvent) -> bool {
        let Target::Life { of, at, ends, generation } = event.target else { return false };
        let new = Had { first: event.thread, others: false, ended: false };
        let had = self.things.entry((of, at, generation)).or_insert(new);
        had.others |= had.first != event.thread;
        had.ended |= ends;
        true
    }

    /// The lives that matter. Of locks and condition variables only the end is recorded as such.
    pub(crate) fn shared(&self) -> HashSet<Thing> {
        let matters =
            |(of, had): (&Thing, &Had)| (had.ended && (had.others || !of.0.has_uses())).then_some(*of);
        self.things.iter().filter_map(matters).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::NOTHING;

    #[test]
    fn only_what_ended_and_two_threads_used_matters() {
        let mut lives = Lives::default();
        let event = |thread, of, at, ends| RawEvent {
            thread,
            target: Target::Life { of, at, ends, generation: 0 },
            ..NOTHING
        };
        for (thread, of, at, ends) in [
            (1, Life::File, 1, false),
            (2, Life::File, 1, false),
            (1, Life::File, 2, false),
            (1, Life::File, 2, true),
            (1, Life::File, 3, false),
            (2, Life::File, 3, true),
            (1, Life::Mutex, 4, true),
            (1, Life::Semaphore, 1, true),
        ] {
            assert!(lives.note(&event(thread, of, at, ends)));
        }
        assert!(!lives.note(&NOTHING));
        assert_eq!(lives.shared(), [(Life::File, 3, 0), (Life::Mutex, 4, 0)].into_iter().collect());
    }
}
