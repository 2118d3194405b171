//! `reweave merge`: the results of shards, joined.

use std::path::{Path, PathBuf};

use reweave_report::json::predict::{self, Document};

use super::reports;
use crate::args::MergeArgs;
use crate::console::Console;
use crate::document;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::limited;
use crate::plural;

pub(crate) fn run(args: &MergeArgs, console: &Console) -> anyhow::Result<Exit> {
    limited::refuse_same(args.findings.iter().map(PathBuf::as_path), [args.output.as_path()])?;
    let documents = args.findings.iter().map(|path| read(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let merged = predict::merge(documents).map_err(|error| {
        Failure::new(error.to_string()).hint(
            "give the JSON of every shard of a run, each once; results of different traces may be mixed",
        )
    })?;
    document::write_dense_json(&args.output, &merged, document::FINDINGS, console)?;
    let findings = plural::count(merged.findings().len() as u64, "finding");
    let traces = plural::count(merged.results.len() as u64, "trace");
    console.note(format_args!("{findings} in {traces}"));
    Ok(reports::exit(&merged, args.strict))
}

/// Reads what `reweave predict --json` wrote.
pub(super) fn read(path: &Path) -> anyhow::Result<Document> {
    parse(path, &limited::read(path, limited::DOCUMENT)?)
}

/// The same of a text that was read from there.
pub(super) fn parse(path: &Path, text: &[u8]) -> anyhow::Result<Document> {
    Document::parse(text).map_err(|error| {
        Failure::new(format!("{}: {error}", path.display()))
            .hint("`reweave predict TRACE --json FILE` writes such a file")
            .into()
    })
}
