//! How far a search is, as a line each second.

use std::cell::Cell;
use std::env::var_os;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use reweave_explore::Progress;

const EVERY: Duration = Duration::from_secs(1);

/// Prints the lines.
pub(super) struct Lines {
    wanted: bool,
    started: Instant,
    last: Cell<Instant>,
}

impl Lines {
    pub(super) fn new(wanted: bool, started: Instant) -> Lines {
        let asked = var_os("REWEAVE_PROGRESS").is_some_and(|value| !value.is_empty() && value != "0");
        Lines { wanted: wanted || asked, started, last: Cell::new(started) }
    }

    pub(super) fn report(&self, now: &Progress) {
        if !self.wanted || self.last.get().elapsed() < EVERY {
            return;
        }
        self.last.set(Instant::now());
        // Tests keep what is printed; this is for whoever waits.
        let _ = writeln!(io::stderr(), "explore: {} s, {}", self.started.elapsed().as_secs(), far(now));
    }
}

/// `1204 runs, 310 histories, 1200000 states, 12.5% of pass 2`.
pub(super) fn far(now: &Progress) -> String {
    let executions = match now.executions {
        0 => String::new(),
        count => format!(", {count} executions"),
    };
    format!(
        "{} runs, {} histories, {} states{executions}, some {:.1}% of pass {}",
        now.runs,
        now.histories,
        now.states,
        100.0 * now.share,
        now.passes
    )
}
