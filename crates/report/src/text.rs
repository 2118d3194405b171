//! Findings for people, in the shape that ThreadSanitizer's users know.
//!
//! ```text
//! WARNING: data race on balance
//!   Write of balance by thread alice
//!     at bank.c:22 (event 5), holding m since bank.c:21
//!   Read of balance by thread bob can happen at the same time
//!     at bank.c:34 (event 10), holding no lock
//!   …
//! ```
//!
//! Where calls are known, `#0 withdraw bank.c:22 (event 5), …` and a line for each call stand in place of `at`.

mod event;
mod group;
mod order;
mod summary;

use anstyle::{AnsiColor, Style};
use reweave_trace::Trace;
use reweave_witness::CheckedWitness;

use crate::event::clean;
use crate::json::predict::{FailedRun, Finding};
use crate::schedule;

pub use group::{Group, groups, more};
pub use summary::summary;

const TITLE: Style = AnsiColor::Red.on_default().bold();
const STRONG: Style = Style::new().bold();

/// How many lines of a schedule a report has; what is furthest from the bug gives way.
const ROWS: usize = 40;

/// A schedule, checked, and its trace.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The schedule.
    pub checked: &'a CheckedWitness,
}

/// How many steps that a race tears are told one by one.
const MOST_TORN: usize = 3;

/// `data race on balance`.
pub fn headline(finding: &Finding) -> String {
    match &finding.view {
        Some(view) => view.title.clone(),
        None => format!("{} on {}", finding.kind, clean(&finding.target)),
    }
}

/// A report of one finding, in lines that each have their end; [`closing`] is its last.
pub fn body(finding: &Finding, shown: Option<Shown<'_>>, color: bool) -> String {
    let view = finding.view.as_deref();
    let mut text = paint(color, TITLE, &format!("WARNING: {}", headline(finding))) + "\n";
    for place in 0..finding.events.len() {
        let role = view.and_then(|view| view.roles.get(place));
        let what = role.map_or_else(|| format!("Event {}", finding.events[place]), |role| role.text.clone());
        text += &format!("  {what}\n");
        for line in event::place(finding, place) {
            text += &format!("    {line}\n");
        }
    }
    if let Some(wrong) = view.and_then(|view| view.wrong.as_ref()) {
        text += &match finding.pattern.as_str() {
            "call-order" => format!("  Rule: {wrong}\n"),
            pattern => format!("  What goes wrong ({}): {wrong}\n", clean(pattern)),
        };
    }
    for torn in finding.torn.iter().take(MOST_TORN) {
        let [first, second] = torn.sites.each_ref().map(|site| clean(site));
        text += &format!("  What goes wrong: {} between {first} and {second}\n", torn.pattern);
    }
    if finding.torn.len() > MOST_TORN {
        text += &format!("  and {} more of this sort\n", finding.torn.len() - MOST_TORN);
    }
    for line in event::creations(finding) {
        text += &format!("  {line}\n");
    }
    text += &schedule(finding, shown, color);
    if let Some(view) = view {
        text += &format!("  Next: {}\n", view.next);
    }
    text
}

/// The schedule of a finding, from its trace where that is at hand, else from its view.
fn schedule(finding: &Finding, shown: Option<Shown<'_>>, color: bool) -> String {
    let (title, lines) = match (shown, finding.view.as_deref()) {
        (Some(Shown { trace, checked }), _) => {
            let options = schedule::Options { rows: ROWS, color, width: 96 };
            let lines = schedule::text(trace, checked, options).lines().map(str::to_owned).collect();
            (format!("A schedule that gets there, checked in the model {}:", checked.model()), lines)
        }
        (None, Some(view)) => match &view.board {
            Some(board) => {
                ("A schedule that gets there, not checked again:".to_owned(), order::lines(view, board))
            }
            None => return String::new(),
        },
        (None, None) => return String::new(),
    };
    let mut text = format!("\n  {}\n", paint(color, STRONG, &title));
    for line in lines {
        text += &format!("    {line}\n");
    }
    text.push('\n');
    text += &news(finding);
    text
}

/// How many reads that observe something new are listed one by one.
const MOST_NEW: usize = 5;

/// What reads observe in the schedule that they did not in the recorded run, and why that does no
/// harm.
fn news(finding: &Finding) -> String {
    let Some(board) = finding.view.as_deref().and_then(|view| view.board.as_ref()) else {
        return String::new();
    };
    let told = board.new_reads.iter().take(MOST_NEW);
    let mut text: String = told.map(|read| format!("  New: {}\n", clean(&read.text))).collect();
    let more = board.new_reads.len().saturating_sub(MOST_NEW) as u64 + board.more_new_reads;
    if more > 0 {
        text += &format!("  and {} like it\n", count(more, "more read", "more reads"));
    }
    text
}

/// The last lines of a report: how bad it is, and how often it was seen, which is known only after all traces.
pub fn closing(finding: &Finding) -> String {
    let replay = finding.replay.map(|replay| format!("  replayed on the program: {}\n", replay.name()));
    let severity = finding.severity();
    format!(
        "{}  severity: {}: {}\n  fingerprint {}, {}\n",
        replay.unwrap_or_default(),
        severity.level.name(),
        clean(&severity.reason),
        finding.fingerprint,
        seen(finding)
    )
}

/// So many lines of what a failed run wrote are shown.
const LINES: usize = 10;

/// The report of a run that failed by itself.
pub fn failed(run: &FailedRun) -> String {
    let mut text = format!("FAILED: {}\n", clean(&run.sentence()));
    for step in &run.threads {
        text += &format!("  {}\n", clean(&step.sentence()));
        for (depth, frame) in step.stack.iter().enumerate() {
            text += &format!("    #{depth} {}\n", clean(frame));
        }
    }
    if let Some(differs) = &run.differs {
        text += &format!("  What is different: {}\n", clean(differs));
    }
    for line in run.output.lines().take(LINES) {
        text += &format!("  | {}\n", clean(line));
    }
    if !run.again.is_empty() {
        text += &format!("  To run it again: {}\n", clean(&run.again));
    }
    text
}

/// The line between reports.
pub const RULE: &str = "==================\n";

/// How often, and in how many traces.
fn seen(finding: &Finding) -> String {
    let often = match finding.instances {
        0 | 1 => "seen once".to_owned(),
        number => format!("seen {} times", grouped(number)),
    };
    match finding.traces {
        Some(1) => format!("{often}, in 1 trace"),
        Some(traces) => format!("{often}, in {} traces", grouped(traces)),
        None => often,
    }
}

fn paint(color: bool, style: Style, text: &str) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// `1 race`, `2,000 races`.
fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}

/// `1,234,567`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
