//! `reweave merge`: the results of shards, joined.

use std::path::Path;

use anyhow::Context;
use reweave_report::json::predict::{self, Document};

use super::reports;
use crate::args::MergeArgs;
use crate::console::Console;
use crate::document;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plural;

pub(crate) fn run(args: &MergeArgs, console: &Console) -> anyhow::Result<Exit> {
    let documents = args.findings.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let merged = predict::merge(documents).map_err(|error| {
        Failure::new(error.to_string()).hint(
            "give the JSON of every shard of a run, each once; results of different traces may be mixed",
        )
    })?;
    document::write_json(&args.output, &merged, console)?;
    let findings = plural::count(merged.findings().len() as u64, "finding");
    let traces = plural::count(merged.results.len() as u64, "trace");
    console.note(format_args!("{findings} in {traces}"));
    Ok(reports::exit(&merged))
}

/// Reads what `reweave predict --json` wrote.
pub(super) fn read(path: &Path) -> anyhow::Result<Document> {
    let text = match path.as_os_str() == "-" {
        true => {
            let mut text = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin(), &mut text).map(|_| text)
        }
        false => std::fs::read(path),
    };
    let text = text.with_context(|| path.display().to_string())?;
    Document::parse(&text).map_err(|error| {
        Failure::new(format!("{}: {error}", path.display()))
            .hint("`reweave predict TRACE --json FILE` writes such a file")
            .into()
    })
}
