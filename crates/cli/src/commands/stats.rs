//! `reweave stats`: the shape of a trace.

mod json;
mod measure;
mod text;

use std::io::Write;

use super::for_each;
use crate::args::{Global, StatsArgs};
use crate::console::Console;
use crate::exit::Exit;
use crate::{document, input};

pub(crate) fn run(args: &StatsArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let traces = input::expand(&args.traces, args.reading)?;
    let says = !args.json.as_deref().is_some_and(input::is_standard);
    let mut document = json::Document::new();
    let mut first = true;
    let exit = for_each(&traces, console, |path| {
        let loaded = input::load(path, args.reading, global, console)?;
        let stats = measure::measure(&loaded.trace);
        if says {
            let mut out = console.out();
            if !std::mem::take(&mut first) {
                writeln!(out)?;
            }
            text::print(&mut out, path, &loaded, &stats, console)?;
            out.flush()?;
        }
        document.add(path, &loaded, &stats);
        Ok(())
    })?;
    if let Some(path) = &args.json {
        document::write_json(path, &document, console)?;
    }
    Ok(exit)
}
