//! The flags of what helps to install Reweave: `doctor`, `completions` and `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;

/// Say what this machine has for recording, replaying and debugging, and what it lacks
///
/// Compiles, records and predicts on a small program with each compiler that can be used, and looks at what
/// recording needs of the system. Each row says what was found, what it means, and what to install.
#[derive(Args)]
#[command(after_help = DOCTOR_HELP)]
pub(crate) struct DoctorArgs {
    /// Write it as JSON to this file; - for standard output, and nothing else there
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

const DOCTOR_HELP: &str = "\
Exits with 0 when C programs can be recorded, with 1 when they cannot.

Example: what a continuous integration machine lacks, by name
  reweave doctor --json - | jq -r '.checks[] | select(.state == \"missing\") | .name'";

/// Print the completions of a shell
#[derive(Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

const COMPLETIONS_HELP: &str = "\
Example: complete commands and options in bash from now on
  reweave completions bash > ~/.local/share/bash-completion/completions/reweave";

/// Write the manual: a page for `reweave` and one for each command
#[derive(Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct ManArgs {
    /// The folder for the pages; it is made if it is missing
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

const MAN_HELP: &str = "\
Example: read the page of one command
  reweave man ~/.local/share/man/man1 && man reweave-predict";
