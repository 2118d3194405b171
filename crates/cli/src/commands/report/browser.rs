//! The user's browser.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::console::Console;
use crate::failure::Failure;

/// Shows a page, with what `BROWSER` names or else the desktop's own way.
pub(super) fn open(path: &Path, console: &Console) -> anyhow::Result<()> {
    console.note(format_args!("{}: the page", path.display()));
    let named = std::env::var_os("BROWSER").filter(|name| !name.is_empty());
    let programs = named.into_iter().chain(["xdg-open", "open"].map(Into::into));
    for program in programs {
        let mut command = Command::new(program);
        command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if command.status().is_ok_and(|status| status.success()) {
            return Ok(());
        }
    }
    Err(Failure::new("no browser could be started")
        .hint("open the file yourself, or name a browser in BROWSER")
        .into())
}
