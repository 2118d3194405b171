//! The flags of `report` and `merge`.

use std::path::PathBuf;

use clap::Args;

use super::Reading;

/// Show the findings of an earlier run again, in another form
///
/// Reads what `reweave predict --json` has written. With the trace at hand, every witness is checked again and shown;
/// without it, sites and events are all there is to tell. Of the JSON of `reweave verify` and of explorations it makes
/// pages.
#[derive(Args)]
#[command(after_help = REPORT_HELP)]
pub(crate) struct ReportArgs {
    /// The JSON of `reweave predict`, of `reweave verify` or of an exploration; - for standard input
    #[arg(value_name = "FINDINGS")]
    pub(crate) findings: PathBuf,
    /// The trace; one for each where the findings are of several [default: the path in the findings, if it is there]
    #[arg(long, value_name = "TRACE")]
    pub(crate) trace: Vec<PathBuf>,
    /// Write the findings as JSON to this file instead of text; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write the findings as SARIF 2.1.0 to this file instead of text; - for standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Write the findings as a page of HTML to this file instead of text
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) showing: Showing,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

/// What is shown of the source.
#[derive(Args, Clone)]
pub(crate) struct Showing {
    /// The root of the sources: paths are shown from here, and excerpts are read below it [default: the nearest repository]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) source_root: Option<PathBuf>,
    /// Leave the source out of JSON and pages
    #[arg(long)]
    pub(crate) no_source: bool,
}

const REPORT_HELP: &str = "\
Exits with 0 whatever the findings are.

Example: search once, and report twice
  reweave predict run.rw --json findings.json --quiet
  reweave report findings.json
  reweave report findings.json --sarif findings.sarif
Example: look at them in a browser
  reweave report findings.json --open";

/// Join the JSON of all shards, or of runs on different traces
///
/// The result is what one process would have written, but for `seconds`, which is the sum.
#[derive(Args)]
#[command(after_help = MERGE_HELP)]
pub(crate) struct MergeArgs {
    /// The JSON files of `reweave predict`
    #[arg(value_name = "FINDINGS", required = true)]
    pub(crate) findings: Vec<PathBuf>,
    /// The file to write; - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
    /// Findings of level warning count in the exit code, too
    #[arg(long)]
    pub(crate) strict: bool,
}

const MERGE_HELP: &str = "\
Exits as `reweave predict` would have: 0 nothing found, 1 findings, 3 nothing found but not everything decided.

Example: share the work between two machines
  reweave predict run.rw --shard 1/2 --json 1.json    # on the one
  reweave predict run.rw --shard 2/2 --json 2.json    # on the other
  reweave merge 1.json 2.json -o findings.json";
