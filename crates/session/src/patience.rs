//! What a request to end means for a program that is under way.

use std::time::{Duration, Instant};

use signal_hook::consts::SIGINT;

use crate::interrupt::{self, Request};

/// What to do with the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Nothing new.
    Nothing,
    /// Pass this signal on.
    Forward(i32),
    /// It had its time: end it.
    End,
}

/// How long the program may take to end once it was asked to.
pub(crate) struct Patience {
    /// None where it may take any time.
    limit: Option<Duration>,
    /// Whether the program gets what the terminal sends.
    shares_terminal: bool,
    /// The requests that were dealt with. One that came before the program started is for it as well.
    seen: u64,
    asked: Option<(Instant, i32)>,
}

impl Patience {
    pub(crate) fn new(limit: Option<Duration>, shares_terminal: bool) -> Patience {
        Patience { limit, shares_terminal, seen: 0, asked: None }
    }

    /// The signal that asked for the end, if one did.
    pub(crate) fn asked(&self) -> Option<i32> {
        self.asked.map(|(_, signal)| signal)
    }

    pub(crate) fn look(&mut self) -> Step {
        let from_terminal = |request: Request| request.from_terminal && self.shares_terminal;
        let request = interrupt::last();
        let request = request.map(|request| Request { from_terminal: from_terminal(request), ..request });
        self.next(request, Instant::now())
    }

    fn next(&mut self, request: Option<Request>, now: Instant) -> Step {
        if let Some(request) = request.filter(|request| request.count > self.seen) {
            self.seen = request.count;
            if self.asked.is_some() && self.limit.is_some() {
                return Step::End;
            }
            let first = self.asked.is_none();
            self.asked = self.asked.or(Some((now, request.signal)));
            if request.from_terminal {
                return Step::Nothing;
            }
            return if first || self.limit.is_none() { Step::Forward(request.signal) } else { Step::Nothing };
        }
        match (self.asked, self.limit) {
            // A program may have its own idea of an interrupt from the terminal: it goes on until the next one.
            (Some((_, SIGINT)), _) if request.is_some_and(|request| request.from_terminal) => Step::Nothing,
            (Some((since, _)), Some(limit)) if now.duration_since(since) > limit => Step::End,
            _ => Step::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signal_hook::consts::SIGTERM;

    const LIMIT: Duration = Duration::from_secs(3);

    fn request(count: u64, signal: i32, from_terminal: bool) -> Option<Request> {
        Some(Request { count, signal, from_terminal })
    }

    #[test]
    fn a_signal_is_passed_on_once_and_ends_the_program_when_its_time_is_up_or_at_the_second() {
        let start = Instant::now();
        let mut patience = Patience::new(Some(LIMIT), true);
        assert_eq!(patience.next(None, start), Step::Nothing);
        assert_eq!(patience.next(request(1, SIGTERM, false), start), Step::Forward(SIGTERM));
        assert_eq!(patience.next(request(1, SIGTERM, false), start + LIMIT), Step::Nothing);
        assert_eq!(patience.next(request(1, SIGTERM, false), start + 2 * LIMIT), Step::End);
        let mut patience = Patience::new(Some(LIMIT), true);
        patience.next(request(1, SIGTERM, false), start);
        assert_eq!(patience.next(request(2, SIGTERM, false), start), Step::End);
    }

    #[test]
    fn an_interrupt_from_the_terminal_is_the_programs_own_until_the_second() {
        let start = Instant::now();
        let mut patience = Patience::new(Some(LIMIT), true);
        assert_eq!(patience.next(request(1, SIGINT, true), start), Step::Nothing);
        assert_eq!(patience.next(request(1, SIGINT, true), start + 9 * LIMIT), Step::Nothing);
        assert_eq!(patience.next(request(2, SIGINT, true), start + 9 * LIMIT), Step::End);
        // That the terminal is gone is no interrupt.
        let mut patience = Patience::new(Some(LIMIT), true);
        patience.next(request(1, signal_hook::consts::SIGHUP, true), start);
        assert_eq!(
            patience.next(request(1, signal_hook::consts::SIGHUP, true), start + 2 * LIMIT),
            Step::End
        );
    }

    #[test]
    fn a_command_that_looks_after_its_own_programs_gets_every_signal_and_any_time() {
        let start = Instant::now();
        let mut patience = Patience::new(None, true);
        assert_eq!(patience.next(request(1, SIGTERM, false), start), Step::Forward(SIGTERM));
        assert_eq!(patience.next(request(1, SIGTERM, false), start + 9 * LIMIT), Step::Nothing);
        assert_eq!(patience.next(request(2, SIGTERM, false), start + 9 * LIMIT), Step::Forward(SIGTERM));
    }
}
