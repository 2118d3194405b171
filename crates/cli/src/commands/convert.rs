//! `reweave convert`: the same trace in another format.

use reweave_format::write_trace;

use super::require_format;
use crate::args::{ConvertArgs, Global};
use crate::console::Console;
use crate::exit::Exit;
use crate::input;
use crate::limited;
use crate::watched::{self, Watched};

pub(crate) fn run(args: &ConvertArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let output = &args.output;
    require_format(output, args.to)?;
    limited::refuse_same([args.input.as_path()], [output.as_path()])?;
    let loaded = input::load(&args.input, args.reading, global, console)?;
    let trace = &loaded.trace;
    let total = trace.len() as u64;
    let mut writer = Watched::create(output, args.to, trace.capabilities(), total, console)?;
    write_trace(trace, &mut writer)?;
    drop(writer);
    console.note(format_args!("{}: {}", output.display(), watched::summary(output, total)));
    Ok(Exit::Yes)
}
