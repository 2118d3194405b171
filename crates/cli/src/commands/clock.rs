//! The time that a command has for all that it does, and how it is shared out.

use std::time::{Duration, Instant};

/// Runs from the start of a command.
#[derive(Clone, Copy)]
pub(super) struct Clock {
    start: Instant,
    total: Option<Duration>,
}

/// What a hunt does one after another. What one leaves of its time is the next one's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Runs are recorded.
    Record,
    /// Runs are made that have something new.
    Deepen,
    /// Traces are searched, and findings are to be replayed.
    Search,
    /// The last one.
    Last,
}

impl Phase {
    /// When it is over, in twelfths of the whole time.
    fn end(self) -> u32 {
        match self {
            Phase::Record => 4,
            Phase::Deepen => 6,
            Phase::Search => 9,
            Phase::Last => 12,
        }
    }
}

impl Clock {
    pub(super) fn start(total: Option<Duration>) -> Clock {
        Clock { start: Instant::now(), total }
    }

    /// All the time there is, if there is a limit.
    pub(super) fn total(&self) -> Option<Duration> {
        self.total
    }

    /// When a phase is over at the latest.
    pub(super) fn end(&self, phase: Phase) -> Option<Instant> {
        self.total.and_then(|total| self.start.checked_add(total / 12 * phase.end()))
    }

    /// Whether a phase is over.
    pub(super) fn is_over(&self, phase: Phase) -> bool {
        self.left(phase).is_some_and(|left| left.is_zero())
    }

    /// How long a phase may still take.
    pub(super) fn left(&self, phase: Phase) -> Option<Duration> {
        self.end(phase).map(|end| end.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_ends_after_the_one_before_it_and_the_last_with_the_time() {
        let clock = Clock::start(Some(Duration::from_secs(120)));
        let ends = [Phase::Record, Phase::Deepen, Phase::Search, Phase::Last].map(|phase| clock.end(phase));
        assert!(ends.is_sorted() && ends[3] == clock.start.checked_add(Duration::from_secs(120)));
        assert!(!clock.is_over(Phase::Record));
        let over = Clock::start(Some(Duration::ZERO));
        assert!(over.is_over(Phase::Record) && over.is_over(Phase::Last));
        let endless = Clock::start(None);
        assert!(!endless.is_over(Phase::Last) && endless.left(Phase::Record).is_none());
    }
}
