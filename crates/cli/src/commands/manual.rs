//! `reweave completions` and `reweave man`, made from the definitions of the flags.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::CommandFactory;
use clap_mangen::Man;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::plural::count;

/// Prints the completions of a shell.
pub(crate) fn completions(args: &CompletionsArgs, console: &Console) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "reweave", &mut script);
    let mut out = console.out();
    out.write_all(&script)?;
    out.flush()?;
    Ok(Exit::Yes)
}

/// Writes the pages of the manual.
pub(crate) fn man(args: &ManArgs, console: &Console) -> anyhow::Result<Exit> {
    let folder = &args.folder;
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let mut command = Cli::command();
    command.build();
    let pages = write_pages(&command, folder)?;
    console.note(format_args!("{}: {}", folder.display(), count(pages, "page")));
    Ok(Exit::Yes)
}

/// Writes the page of a command and those of the commands below it; how many there are.
fn write_pages(command: &clap::Command, folder: &Path) -> anyhow::Result<u64> {
    write_page(command, folder)?;
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help");
    shown.map(|sub| write_pages(sub, folder)).try_fold(1, |pages, more| Ok(pages + more?))
}

fn write_page(command: &clap::Command, folder: &Path) -> anyhow::Result<()> {
    // `reweave predict` has the page reweave-predict.
    let name = command.get_bin_name().unwrap_or(command.get_name()).replace(' ', "-");
    let page = Man::new(command.clone().name(name.clone()).version(env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    let path = folder.join(format!("{name}.1"));
    fs::write(&path, text).with_context(|| path.display().to_string())
}
