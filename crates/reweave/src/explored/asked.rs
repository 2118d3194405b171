//! What the environment asks of a test: one schedule, a split, a part, a sum, or to go on where it was ended.

use std::env::var_os;
use std::io;
use std::path::PathBuf;

use super::{Builder, Exploration, merge};

/// How many parts there are unless `REWEAVE_ITEMS` says otherwise.
const ITEMS: usize = 16;

fn asked(name: &str) -> Option<PathBuf> {
    var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn answered<T>(name: &str, result: io::Result<T>) -> T {
    result.unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn items() -> usize {
    let Some(text) = var_os("REWEAVE_ITEMS") else { return ITEMS };
    let number = text.to_str().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    number.unwrap_or_else(|| panic!("REWEAVE_ITEMS={}: it is a number of parts, from 1", text.display()))
}

impl Builder {
    /// Does what the environment asks for, or explores; none where there is no answer yet.
    pub(super) fn answer_to_environment<F: Fn() + 'static>(self, body: F) -> Option<Exploration> {
        if let Some(file) = asked("REWEAVE_REPLAY") {
            let text = std::fs::read_to_string(&file);
            let text = text.unwrap_or_else(|error| panic!("REWEAVE_REPLAY={}: {error}", file.display()));
            return Some(self.replay(&text, body));
        }
        if let Some(folder) = asked("REWEAVE_SPLIT") {
            let count = answered("REWEAVE_SPLIT", self.split(items(), &folder, body));
            println!("explore: {count} parts in {}", folder.display());
            return (count == 0).then(|| answered("REWEAVE_SPLIT", merge(&folder)));
        }
        if let Some(file) = asked("REWEAVE_ITEM") {
            return Some(answered("REWEAVE_ITEM", self.item(&file, body)));
        }
        if let Some(folder) = asked("REWEAVE_MERGE") {
            return Some(answered("REWEAVE_MERGE", merge(&folder)));
        }
        if let Some(folder) = asked("REWEAVE_CHECKPOINT") {
            return Some(answered("REWEAVE_CHECKPOINT", self.checkpoint(items(), &folder, body)));
        }
        Some(self.explore(body))
    }
}
