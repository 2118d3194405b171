//! Calls that depend on several states, at one moment.
//!
//! `stat` finds the file that a name leads to, and what is in that file: it depends on both as they are at the same time. Recorded
//! as one event for each they could be taken apart: in a schedule with the name as it was before it was removed, and the file
//! as it was after it was written to, though the one came before the other. So all but the last are looked at once more
//! behind it. A look runs only where its state is the same as in the recorded run; so nobody changes the
//! first states between their two events, and when the last one comes all are as they were.

use reweave_wire::Op;

use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};
use crate::sched::forced::PART;

/// The most states of one call that are kept together.
const MOST: usize = 8;

/// The states of the call that a thread is in.
#[derive(Clone, Copy, Default)]
pub(crate) struct Together {
    /// The thread, plus one; 0 where there is none.
    thread: usize,
    /// What they stand for, and where.
    states: [(u64, usize); MOST],
    count: usize,
}

impl Together {
    /// Notes a state, unless it is the one that was noted last.
    fn add(&mut self, what: u64, at: usize) {
        let before = self.count.checked_sub(1).and_then(|last| self.states.get(last));
        if before != Some(&(what, at))
            && let Some(room) = self.states.get_mut(self.count)
        {
            *room = (what, at);
            self.count += 1;
        }
    }

    /// All but the last, each once.
    fn first(&self) -> impl Iterator<Item = (u64, usize)> {
        let known = self.states.iter().take(self.count);
        let last = known.clone().next_back().copied();
        let states = self.states;
        known.copied().enumerate().filter_map(move |(place, state)| {
            let is_again = states.iter().take(place).any(|&other| other == state);
            (!is_again && Some(state) != last).then_some(state)
        })
    }
}

impl Inside {
    /// Records what one call depends on and changes, as it is at one moment.
    pub(crate) fn at_once(&mut self, code: usize, record: impl FnOnce(&mut Inside)) {
        let me = self.me.index() + 1;
        if self.core().together.thread == me {
            return record(self);
        }
        self.core().together = Together { thread: me, ..Together::default() };
        record(self);
        let together = core::mem::take(&mut self.core().together);
        // Else another thread ran in between: this one waited for a stream.
        if together.thread != me {
            return;
        }
        for (what, at) in together.first() {
            let about = if what == stands_for::CHANNEL { About::Sent } else { About::State };
            let value = self.core().numbers.get(about, at).map_or(0, |count| *count);
            self.stand_in(Op::FailedAttempt, at, what, code | PART, (value, value));
        }
    }

    /// Notes a state that the call at hand uses.
    pub(crate) fn uses_together(&mut self, what: u64, at: usize) {
        let is_state = matches!(what, stands_for::OUTSIDE | stands_for::CHANNEL);
        if is_state && self.core().together.thread == self.me.index() + 1 {
            self.core().together.add(what, at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_last_are_looked_at_once_more() {
        let first = |states: &[(u64, usize)]| {
            let mut together = Together::default();
            states.iter().for_each(|&(what, at)| together.add(what, at));
            together.first().collect::<Vec<_>>()
        };
        assert_eq!(first(&[]), []);
        assert_eq!(first(&[(30, 1)]), []);
        assert_eq!(first(&[(30, 1), (30, 2), (20, 2)]), [(30, 1), (30, 2)]);
        assert_eq!(first(&[(30, 1), (30, 2), (30, 1)]), [(30, 2)]);
        assert_eq!(first(&[(30, 1), (30, 1), (30, 2), (30, 1), (30, 3)]), [(30, 1), (30, 2)]);
        assert_eq!(first(&[(30, 7); 20]), []);
    }
}
