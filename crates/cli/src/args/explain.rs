//! The flags of `explain`.

use std::path::PathBuf;

use clap::Args;

use super::Reading;

/// Explain a finding, a kind of bug, or a term of reports
///
/// For a finding: why its schedule can run, step by step in words, what that assumes, and what to do. For a kind or
/// pattern of bug, a model or another term: what it means. Without a name: what there is to explain.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct ExplainArgs {
    /// The fingerprint of a finding or the beginning of it, a kind such as race, or a topic such as models
    #[arg(value_name = "KIND|FINGERPRINT|TOPIC")]
    pub(crate) what: Option<String>,
    /// The trace of the finding
    #[arg(value_name = "TRACE")]
    pub(crate) trace: Option<PathBuf>,
    /// The JSON of `reweave predict` that has the finding [default: look for it in the trace again]
    #[arg(long, value_name = "FILE")]
    pub(crate) findings: Option<PathBuf>,
    /// A file of specifications that the finding was found with
    #[arg(long, value_name = "FILE")]
    pub(crate) spec: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

const HELP: &str = "\
Example: why can this happen?
  reweave explain fb79 examples/bank.std
Example: what does that word mean?
  reweave explain lost-wake-up";
