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
mod headline;
mod summary;
mod words;

use anstyle::{AnsiColor, Style};
use reweave_trace::EventId;
use reweave_witness::CheckedWitness;

use crate::json::predict::Finding;
use crate::scene::Scene;
use crate::schedule;

pub use headline::headline;
pub use summary::summary;

const TITLE: Style = AnsiColor::Red.on_default().bold();
const STRONG: Style = Style::new().bold();

/// How many lines of a schedule a report has; what is furthest from the bug gives way.
const ROWS: usize = 40;

/// What the trace adds to a finding: without it only sites and events can be told.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The trace.
    pub scene: &'a Scene<'a>,
    /// The schedule, checked.
    pub checked: &'a CheckedWitness,
}

/// A report of one finding, in lines that each have their end; [`closing`] is its last.
pub fn body(finding: &Finding, shown: Option<Shown<'_>>, color: bool) -> String {
    let scene = shown.map(|shown| shown.scene);
    let mut text = paint(color, TITLE, &format!("WARNING: {}", headline(finding, scene))) + "\n";
    for (place, part) in words::parts(finding, scene).iter().enumerate() {
        text += &format!("  {part}\n");
        let event = finding.events.get(place).copied().unwrap_or_default();
        let site = finding.sites.get(place).map_or("", String::as_str);
        let stack = finding.stacks.get(place).map_or(&[][..], Vec::as_slice);
        for line in event::place(scene, EventId(event), site, stack) {
            text += &format!("    {line}\n");
        }
    }
    if let Some(sense) = words::sense(finding, scene) {
        text += &format!("  {sense}\n");
    }
    for line in event::creations(scene, finding) {
        text += &format!("  {line}\n");
    }
    if let Some(Shown { scene, checked }) = shown {
        let title = format!("A schedule that gets there, checked in the model {}:", checked.model());
        text += &format!("\n  {}\n", paint(color, STRONG, &title));
        let options = schedule::Options { rows: ROWS, color, width: 96 };
        for line in schedule::text(scene.trace, checked, options).lines() {
            text += &format!("    {line}\n");
        }
        text.push('\n');
    }
    text += &format!("  Next: {}\n", words::advice(finding));
    text
}

/// The last line of a report: it tells how often the finding was seen, which is known only after all traces.
pub fn closing(finding: &Finding) -> String {
    let replay = finding.replay.map(|replay| format!("  replayed on the program: {}\n", replay.name()));
    format!("{}  fingerprint {}, {}\n", replay.unwrap_or_default(), finding.fingerprint, seen(finding))
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
