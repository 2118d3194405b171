//! A progress bar that keeps still for the first second.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Console;

/// What takes less than this is not worth a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// A bar on standard error; gone when dropped.
pub(crate) struct Progress {
    what: String,
    unit: Unit,
    start: Instant,
    /// None where there is to be no bar.
    bar: Option<OnceLock<ProgressBar>>,
}

/// What is counted.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Bytes,
    Events,
    Candidates,
}

impl Progress {
    pub(crate) fn new(what: impl Into<String>, unit: Unit, console: &Console) -> Progress {
        let bar = console.shows_progress().then(OnceLock::new);
        Progress { what: what.into(), unit, start: Instant::now(), bar }
    }

    /// So much is done, of so much where that is known.
    pub(crate) fn update(&self, done: u64, total: Option<u64>) {
        let Some(bar) = &self.bar else { return };
        if self.start.elapsed() < PATIENCE {
            return;
        }
        let bar = bar.get_or_init(|| self.bar(total));
        bar.set_position(done);
    }

    fn bar(&self, total: Option<u64>) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        let bar = bar.with_elapsed(self.start.elapsed());
        let template = match (self.unit, total) {
            (Unit::Bytes, Some(_)) => "{prefix} [{wide_bar}] {bytes}/{total_bytes}, {eta} left",
            (Unit::Bytes, None) => "{prefix} {bytes}, {bytes_per_sec}",
            (Unit::Events, Some(_)) => "{prefix} [{wide_bar}] {human_pos}/{human_len} events, {eta} left",
            (Unit::Candidates, _) => {
                "{prefix} [{wide_bar}] {human_pos}/{human_len} groups of candidates, {eta} left"
            }
            (Unit::Events, None) => "{prefix} {human_pos} events",
        };
        // A template that does not parse costs the look, not the command.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style.progress_chars("=> "));
        bar.set_prefix(self.what.clone());
        bar
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.as_ref().and_then(OnceLock::get) {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_parses() {
        for unit in [Unit::Bytes, Unit::Events, Unit::Candidates] {
            for total in [None, Some(10)] {
                let progress = Progress {
                    what: "reading".to_owned(),
                    unit,
                    start: Instant::now(),
                    bar: Some(OnceLock::new()),
                };
                progress.bar(total).set_position(3);
            }
        }
    }
}
