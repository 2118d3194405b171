//! The flags of `spec`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Show and check specifications of data types
///
/// A specification says which calls of a type commute, which must not change places, and what each touches. It has a
/// model that is executed, so that nothing of it has to be believed.
#[derive(Args)]
#[command(after_help = SPEC_HELP)]
pub(crate) struct SpecArgs {
    #[command(subcommand)]
    pub(crate) command: SpecCommand,
}

const SPEC_HELP: &str = "\
docs/specifications.md has the language.

Example: see what is known of a set
  reweave spec show set";

#[derive(Subcommand)]
pub(crate) enum SpecCommand {
    /// Print the specification of a built-in type, or the names of all
    Show {
        /// The type
        #[arg(value_name = "TYPE")]
        name: Option<String>,
    },
    /// Print reweave.h, with which programs of C and C++ record calls on their own data structures
    ///
    /// `reweave cc` and `reweave c++` find it by themselves. Other compilers need a copy beside the sources; with them its macros
    /// record nothing.
    Header,
    /// Check specifications: every claim on all small states, by both orders of two calls
    ///
    /// Exits with 0 when all claims hold, with 1 when one does not, with 2 when a file is no specification.
    Check {
        /// Files of specifications, usually *.rwspec
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
    },
}
