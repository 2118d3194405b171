//! `reweave generate`: a synthetic trace.

use reweave_format::synthetic;

use super::require_format;
use crate::args::GenerateArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::plural;
use crate::watched::{self, Watched};

pub(crate) fn run(args: &GenerateArgs, console: &Console) -> anyhow::Result<Exit> {
    let (output, shape) = (&args.output, args.shape());
    require_format(output, args.to)?;
    let mut writer = Watched::create(output, args.to, shape.capabilities(), shape.events, console)?;
    synthetic::generate(&shape, &mut writer)?;
    drop(writer);
    console.note(format_args!("{}: {}", output.display(), watched::summary(output, shape.events)));
    if shape.running_threads() < shape.threads {
        let running = plural::count(u64::from(shape.running_threads()), "thread");
        console.note(format_args!("there was room to fork, begin, end and join {running} only"));
    }
    Ok(Exit::Yes)
}
