//! `reweave validate`: is the trace well formed?

use std::io::Write;
use std::path::Path;

use reweave_trace::Space;

use super::{for_each, stated};
use crate::args::{Global, ValidateArgs};
use crate::console::{Console, GOOD};
use crate::exit::Exit;
use crate::{input, plural};

pub(crate) fn run(args: &ValidateArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let traces = input::expand(&args.traces, args.reading)?;
    for_each(&traces, console, |path| validate(path, args, global, console))
}

fn validate(path: &Path, args: &ValidateArgs, global: &Global, console: &Console) -> anyhow::Result<()> {
    let loaded = input::load_silently(path, args.reading, global, console)?;
    let trace = &loaded.trace;
    // Names that only a dropped event has do not make a thread.
    let mut runs = vec![false; trace.count(Space::Thread)];
    let mut events = 0;
    for (_, event) in trace.events() {
        events += 1;
        runs[event.thread.index()] = true;
    }
    let skipped = trace.len() as u64 - events;
    let threads = runs.iter().filter(|&&runs| runs).count() as u64;
    let count = |space, thing| plural::count(trace.count(space) as u64, thing);
    let repairs = input::repairs(&loaded, path);
    let after = match repairs.iter().map(|repair| repair.count).sum() {
        0 => String::new(),
        total => format!(" after {}", plural::count(total, "repair")),
    };
    let skipped = match skipped {
        0 => String::new(),
        _ => format!(" and {} without one", plural::count(skipped, "position")),
    };
    let mut out = console.out();
    writeln!(
        out,
        "{}: {}{after}: {}{skipped}, {}, {}, {}, {}; capabilities: {}",
        path.display(),
        console.styled(GOOD, "well formed"),
        plural::count(events, "event"),
        plural::count(threads, "thread"),
        count(Space::Lock, "lock"),
        count(Space::Variable, "variable"),
        plural::count(trace.names().sites.len() as u64, "site"),
        stated(trace.capabilities()),
    )?;
    for repair in repairs {
        writeln!(out, "  {}", repair.text)?;
    }
    Ok(out.flush()?)
}
