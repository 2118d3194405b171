//! What is being done and how far it is, on a terminal, once it has taken a second.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

use crate::console::Console;
use crate::plain::plain;

/// What takes less than this is not worth a line.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line is drawn anew while nothing is reported.
const TICK: Duration = Duration::from_millis(200);

/// A line on standard error; gone when dropped.
///
/// It says what is done and for how long; from the first update on, also how far it is and how long it will take.
pub(crate) struct Progress {
    /// None where there is to be no line.
    line: Option<Line>,
}

struct Line {
    bar: ProgressBar,
    unit: Unit,
    /// Whether an update has come.
    counts: AtomicBool,
    /// Shows the bar when it has taken long enough, unless the channel closes before.
    shower: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Events,
    Candidates,
    Pairs,
    Findings,
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Events => "events",
            Unit::Candidates => "groups of candidates",
            Unit::Pairs => "pairs of accesses",
            Unit::Findings => "findings",
        }
    }

    fn template(self, has_total: bool) -> String {
        match (self, has_total) {
            (Unit::Bytes, true) => "{prefix} [{wide_bar}] {bytes}/{total_bytes}, {eta} left".to_owned(),
            (Unit::Bytes, false) => "{prefix} {bytes}, {bytes_per_sec}".to_owned(),
            (unit, true) => {
                format!("{{prefix}} [{{wide_bar}}] {{human_pos}}/{{human_len}} {}, {{eta}} left", unit.name())
            }
            (unit, false) => format!("{{prefix}} {{human_pos}} {}", unit.name()),
        }
    }
}

/// How a line looks that counts nothing.
const WAITING: &str = "{spinner} {prefix}, for {elapsed} so far";

/// The same where the work is over at some time, whatever comes of it.
const ENDING: &str = "{spinner} {prefix}, for {elapsed} so far, {left}";

impl Progress {
    /// Work that reports how far it is.
    pub(crate) fn new(what: impl Into<String>, unit: Unit, console: &Console) -> Progress {
        Progress { line: console.shows_progress().then(|| Line::new(plain(what.into()), unit, PATIENCE)) }
    }

    /// Work that cannot say how far it is.
    pub(crate) fn waiting(what: impl Into<String>, console: &Console) -> Progress {
        Progress::new(what, Unit::Events, console)
    }

    /// Work that cannot say how far it is, but is over at the latest at that time.
    pub(crate) fn until(what: impl Into<String>, end: Option<Instant>, console: &Console) -> Progress {
        let progress = Progress::waiting(what, console);
        if let (Some(line), Some(end)) = (&progress.line, end) {
            line.bar.set_style(ending(end));
        }
        progress
    }

    /// Says what is being done now.
    pub(crate) fn say(&self, what: impl Into<String>) {
        if let Some(line) = &self.line {
            line.bar.set_prefix(plain(what.into()));
        }
    }

    /// Says something above the line.
    pub(crate) fn above(&self, say: impl FnOnce()) {
        match &self.line {
            Some(line) => line.bar.suspend(say),
            None => say(),
        }
    }

    /// So much is done, of so much where that is known.
    pub(crate) fn update(&self, done: u64, total: Option<u64>) {
        let Some(line) = &self.line else { return };
        if !line.counts.swap(true, Ordering::Relaxed) {
            line.bar.set_style(style(&line.unit.template(total.is_some())));
        }
        if let Some(total) = total.filter(|&total| line.bar.length() != Some(total)) {
            line.bar.set_length(total);
        }
        line.bar.set_position(done);
    }
}

impl Line {
    fn new(what: String, unit: Unit, patience: Duration) -> Line {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style(WAITING));
        bar.set_prefix(what);
        let (alive, ended) = mpsc::channel();
        let shown = bar.clone();
        let show = move || {
            if ended.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        };
        // Where no thread can be started there is no line.
        let shower = thread::Builder::new().spawn(show).ok().map(|thread| (alive, thread));
        Line { bar, unit, counts: AtomicBool::new(false), shower }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if let Some((alive, thread)) = self.shower.take() {
            drop(alive);
            // A line that could not be drawn is no reason to fail.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// How a line looks that knows when its work is over at the latest.
fn ending(end: Instant) -> ProgressStyle {
    let left = move |_: &ProgressState, text: &mut dyn fmt::Write| {
        let left = end.saturating_duration_since(Instant::now());
        // A line that cannot be written is not drawn.
        let _ = write!(text, "at most {} left", HumanDuration(Duration::from_secs(left.as_secs())));
    };
    style(ENDING).with_key("left", left)
}

/// A template that does not parse costs the look, not the command.
fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: [Unit; 5] = [Unit::Bytes, Unit::Events, Unit::Candidates, Unit::Pairs, Unit::Findings];

    #[test]
    fn every_template_parses() {
        let templates = UNITS.iter().flat_map(|unit| [unit.template(false), unit.template(true)]);
        for template in templates.chain([WAITING, ENDING].map(str::to_owned)) {
            assert!(ProgressStyle::with_template(&template).is_ok(), "{template}");
        }
    }

    #[test]
    fn a_line_counts_from_its_first_update_and_ends_at_once() {
        // Should the end wait for the line to be shown, this takes an hour.
        let line = Line::new("deciding".to_owned(), Unit::Pairs, Duration::from_secs(3600));
        let progress = Progress { line: Some(line) };
        progress.update(3, Some(10));
        progress.update(4, Some(12));
        let bar = &progress.line.as_ref().expect("a line").bar;
        assert_eq!((bar.position(), bar.length(), bar.prefix()), (4, Some(12), "deciding".to_owned()));
        drop(progress);
    }
}
