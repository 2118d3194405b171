//! Which variables that stand for state outside of memory matter.
//!
//! One that a single thread used is always as that thread left it, and one that nobody changed is always as it was at first: no
//! schedule can have a call find it otherwise. Both are left out, as memory of that sort is.

use hashbrown::{HashMap, HashSet};

use crate::raw::{RawEvent, StandIn, Target};

#[derive(Clone, Copy)]
struct Use {
    first: u32,
    others: bool,
    changed: bool,
}

/// Who used which of them, and how.
#[derive(Default)]
pub(crate) struct Uses {
    variables: HashMap<u64, Use>,
}

impl Uses {
    /// Notes an event; whether it uses such a variable.
    pub(crate) fn note(&mut self, event: &RawEvent) -> bool {
        let Target::StandIn { at, what: StandIn::Outside } = event.target else { return false };
        let new = Use { first: event.thread, others: false, changed: false };
        let entry = self.variables.entry(at).or_insert(new);
        entry.others |= entry.first != event.thread;
        entry.changed |= event.op.writes();
        true
    }

    /// The variables that matter.
    pub(crate) fn shared(&self) -> HashSet<u64> {
        self.variables.iter().filter(|(_, used)| used.others && used.changed).map(|(&at, _)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use reweave_wire::Op;

    use super::*;

    #[test]
    fn only_what_two_threads_used_and_one_changed_matters() {
        let mut uses = Uses::default();
        let event = |thread, op, at| RawEvent {
            thread,
            op,
            target: Target::StandIn { at, what: StandIn::Outside },
            code: 0,
            part: false,
            in_turn: false,
            read: 0,
            written: 0,
        };
        for (thread, op, at) in [
            (1, Op::Update, 1),
            (1, Op::AtomicRead, 1),
            (1, Op::AtomicRead, 2),
            (2, Op::AtomicRead, 2),
            (1, Op::AtomicRead, 3),
            (2, Op::Update, 3),
            (1, Op::FailedAttempt, 4),
            (2, Op::FailedAttempt, 4),
        ] {
            assert!(uses.note(&event(thread, op, at)));
        }
        assert!(!uses.note(&RawEvent { target: Target::None, ..event(1, Op::Begin, 0) }));
        assert_eq!(uses.shared(), [3].into_iter().collect());
    }
}
