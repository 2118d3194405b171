//! The witness of a view as lines of text: what can be shown of a schedule without its trace.

use crate::event::clean;
use crate::view::{Board, Row, View};

/// The rows of the witness, one a line, those of the bug marked.
pub(super) fn lines(view: &View, board: &Board) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &board.witness {
        lines.push(match row {
            Row::Fold(fold) => format!("        … {} events", fold.folded),
            Row::Step(step) => {
                let mark = if step.bug { "▶" } else { " " };
                let thread = view.threads.get(step.thread as usize).map_or("", |thread| &thread.name);
                let target = step.target.and_then(|target| view.targets.get(target as usize));
                let target = target.map_or_else(String::new, |target| format!("({})", target.name));
                let site =
                    step.site.and_then(|site| view.sites.get(site as usize)).map_or("", |site| &site.text);
                let what = format!("{mark} {:>4}  {thread} {}{target}  {site}", step.event, step.op);
                clean(what.trim_end()).into_owned()
            }
        });
    }
    lines.push(format!("▶ {}", clean(&board.moment)));
    lines
}
