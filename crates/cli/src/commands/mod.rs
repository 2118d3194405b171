//! The commands, one module each.

mod bug_report;
pub(crate) mod cargo;
pub(crate) mod cc;
pub(crate) mod check;
mod clock;
pub(crate) mod convert;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod generate;
pub(crate) mod hunt;
pub(crate) mod manual;
pub(crate) mod merge;
mod model;
pub(crate) mod predict;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod replay;
pub(crate) mod report;
mod reports;
pub(crate) mod spec;
pub(crate) mod stats;
pub(crate) mod stream;
pub(crate) mod validate;
pub(crate) mod verify;
mod views;

use std::path::{Path, PathBuf};

use reweave_format::Format;
use reweave_trace::Capabilities;

use crate::console::Console;
use crate::exit::Exit;
use crate::failure::{self, Failure};
use crate::input;

/// Does `work` for each trace. One that fails is reported, and the others still get their turn.
fn for_each(
    paths: &[PathBuf],
    console: &Console,
    mut work: impl FnMut(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<Exit> {
    let mut worst = Exit::Yes;
    for path in paths {
        if let Err(error) = work(path) {
            match failure::report(&error, console) {
                // The reader of our output has gone.
                Exit::Yes => return Ok(Exit::Yes),
                exit => worst = worst.max(exit),
            }
        }
    }
    Ok(worst)
}

/// Makes sure that the format to write is known: now, not after a long read.
fn require_format(output: &Path, to: Option<Format>) -> anyhow::Result<()> {
    if to.or_else(|| Format::from_path(output)).is_some() {
        return Ok(());
    }
    let message = if input::is_standard(output) {
        "standard output has no name to tell the format by".to_owned()
    } else {
        format!("{}: the format is not known from the name", output.display())
    };
    Err(Failure::new(message).hint("give --to, one of std, rapidbin and rw").into())
}

/// The capabilities in words.
fn stated(capabilities: Capabilities) -> String {
    if capabilities == Capabilities::default() { "none".to_owned() } else { capabilities.to_string() }
}
