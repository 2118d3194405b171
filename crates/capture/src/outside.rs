//! Which variables that stand for state outside of memory matter.
//!
//! One that a single thread used is always as that thread left it, and one that nobody changed is always as it was at first: no
//! schedule can have a call find it otherwise. Both are left out, as memory of that sort is.
//!
//! So is what Rust's standard library maps by itself: where each thread handles signals about its
//! stack. No other code touches that memory or learns where it is, and no result of the calls but an
//! address depends on what else is mapped.

use hashbrown::{HashMap, HashSet};
use reweave_wire::outside::State;

use crate::modules::Modules;
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
    /// Which places of code that map something are in Rust's standard library.
    library: HashMap<u64, bool>,
}

/// Whether an event is about what is mapped.
pub(crate) fn maps(event: &RawEvent) -> bool {
    let Target::StandIn { at, what: StandIn::Outside } = event.target else { return false };
    State::of_variable(at).is_some_and(|(state, _)| state == State::Mappings)
}

impl Uses {
    /// Notes an event; whether it uses such a variable.
    pub(crate) fn note(&mut self, modules: &Modules, event: &RawEvent) -> bool {
        let Target::StandIn { at, what: StandIn::Outside } = event.target else { return false };
        let of_library = |code| event.code != 0 && modules.place(code).is_library();
        if maps(event) && *self.library.entry(event.code).or_insert_with_key(|&code| of_library(code)) {
            return true;
        }
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
        let (mut uses, modules) = (Uses::default(), Modules::new(""));
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
            assert!(uses.note(&modules, &event(thread, op, at)));
        }
        assert!(!uses.note(&modules, &RawEvent { target: Target::None, ..event(1, Op::Begin, 0) }));
        assert_eq!(uses.shared(), [3].into_iter().collect());
    }
}
