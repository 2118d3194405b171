//! `reweave hunt`: record, predict and replay in one go.

mod deepen;
pub(crate) mod driven;
mod runs;

use std::path::Path;

use anyhow::Context;
use reweave_report::json::predict::{FailedRun, ending, quoted};
use reweave_session::{Folder, interrupt};

use super::clock::Clock;
use super::predict::{self, Hunted};
use crate::args::{Global, HuntArgs, PredictArgs, Reading};
use crate::console::Console;
use crate::exit::Exit;
use deepen::Deepened;
use runs::{Recorded, Run};

pub(crate) fn run(args: &HuntArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let temporary = Folder::temporary()?;
    let folder = match &args.keep {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
            folder.as_path()
        }
        None => temporary.path(),
    };
    let clock = Clock::start(args.time());
    let Recorded { runs, cut } = runs::record_all(args, folder, &clock, console)?;
    let mut deepened = match interrupt::requested() {
        true => Deepened::default(),
        false => deepen::deepen(args, &runs, folder, &clock, global, console)?,
    };
    if interrupt::requested() {
        // What failed until then is reported all the same.
        deepened.cut = Some("no trace was searched, because of an interrupt".to_owned());
    }
    let failed_runs = runs.iter().filter(|run| run.failed).map(|run| failed(args, run));
    let hunted = Hunted {
        is_one: true,
        failed_runs: failed_runs.chain(deepened.failed).collect(),
        keep: args.keep.as_deref(),
        clock: Some(clock),
        cut: cut.into_iter().chain(deepened.cut).collect(),
    };
    let traces = runs.iter().filter_map(|run| run.trace.clone()).filter(|trace| trace.exists());
    let traces = traces.chain(deepened.traces);
    let predicting = PredictArgs {
        traces: traces.collect(),
        searching: args.searching.clone(),
        shard: None,
        confirm: true,
        replaying: args.replaying.clone(),
        reading: Reading::default(),
        program: args.program.clone(),
    };
    predict::hunted(&predicting, hunted, global, console)
}

/// What is said of a run that failed by itself.
fn failed(args: &HuntArgs, run: &Run) -> FailedRun {
    let words: Vec<String> = run.program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let status = run.ended.code();
    let mut again = format!("reweave record --seed {}", run.seed);
    if args.policy.name() != "random" {
        again += &format!(" --policy {}", args.policy.name());
    }
    if let Some(folder) = &run.folder {
        again = format!("cd {} && {again}", quoted(&folder.to_string_lossy()));
    }
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let again = format!("{again} -o failed.rw -- {}", quoted.join(" "));
    let shown = |path: &Path| path.display().to_string();
    FailedRun {
        seed: Some(run.seed),
        threads: Vec::new(),
        status,
        how: ending(status),
        again,
        trace: run.trace.as_deref().filter(|path| args.keep.is_some() && path.exists()).map(shown),
        program: words,
        differs: None,
        schedule: None,
        output: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        let words = ["a", "--n=3", "", "two words", "it's", "$HOME"];
        assert_eq!(words.map(quoted), ["a", "--n=3", "''", "'two words'", "'it'\\''s'", "'$HOME'"]);
    }
}
