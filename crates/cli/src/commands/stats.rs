//! `reweave stats`: the shape of a trace.

mod depends;
mod json;
mod measure;
mod program;
mod text;

use std::fs::File;
use std::io::Write;
use std::path::Path;

use reweave_capture::{ModuleFile, NO_BUILD, read_modules};

use super::for_each;
use super::replay::recorded::steps_path;
use crate::args::{Global, StatsArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::{document, input, plural};

pub(crate) fn run(args: &StatsArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    if !args.program.is_empty() {
        return program::run(args, console);
    }
    let traces = input::expand(&args.traces, args.reading)?;
    if !args.depends.is_empty() {
        return for_each(&traces, console, |path| {
            let loaded = input::load(path, args.reading, global, console)?;
            depends::print(&mut console.out(), path, &loaded.trace, &args.depends)
        });
    }
    let says = !args.json.as_deref().is_some_and(input::is_standard);
    let mut document = json::Document::new();
    let mut first = true;
    let exit = for_each(&traces, console, |path| {
        let loaded = input::load(path, args.reading, global, console)?;
        let stats = {
            let _progress = Progress::waiting(
                format!("counting {}", plural::count(loaded.trace.len() as u64, "event")),
                console,
            );
            measure::measure(&loaded.trace)
        };
        let modules = modules(path, console);
        if says {
            let mut out = console.out();
            if !std::mem::take(&mut first) {
                writeln!(out)?;
            }
            text::print(&mut out, path, &loaded, &stats, &modules, console)?;
            out.flush()?;
        }
        document.add(path, &loaded, &stats, modules);
        Ok(())
    })?;
    if let Some(path) = &args.json {
        document::write_json(path, &document, console)?;
    }
    Ok(exit)
}

/// The program and libraries that a trace was recorded from, where that is known.
fn modules(trace: &Path, console: &Console) -> Vec<ModuleFile> {
    let path = steps_path(trace);
    let Ok(file) = File::open(&path) else { return Vec::new() };
    let mut modules = read_modules(file).unwrap_or_else(|error| {
        console.warn(format_args!("{}: {error}", path.display()));
        Vec::new()
    });
    modules.retain(|module| module.build != NO_BUILD);
    modules
}
