//! Places in the source: where a step is, and what a loop is called.

use std::panic::Location;

/// What stands before the names of this crate's own files.
fn own() -> &'static str {
    file!().trim_end_matches("explored/places.rs")
}

/// `src/queue.rs:12`; none for what is not the user's.
pub(super) fn show(place: Option<&'static Location<'static>>) -> Option<String> {
    let place = place?;
    let file = place.file();
    (!file.starts_with(own()) && !file.starts_with("/rustc/")).then(|| format!("{file}:{}", place.line()))
}

/// A name without spaces.
pub(super) fn name(place: &'static Location<'static>) -> String {
    let file = place.file().replace(char::is_whitespace, "?").replace(',', "?");
    format!("{file}:{}:{}", place.line(), place.column())
}

/// The word that begins a schedule, where loops are not taken for waiting.
pub(super) const COUNTS: &str = "counts=";

/// The loops that a schedule names, and the rest of it.
pub(super) fn counting(schedule: &str) -> (Vec<String>, &str) {
    let text = schedule.trim_start();
    let Some(names) = text.strip_prefix(COUNTS) else { return (Vec::new(), text) };
    let (names, rest) = names.split_once(char::is_whitespace).unwrap_or((names, ""));
    (names.split(',').map(str::to_owned).collect(), rest)
}
