//! `reweave replay`: make a predicted bug happen.

pub(crate) mod finding;
pub(crate) mod recorded;
mod show;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context;
use reweave_replay::run::check_program;
use reweave_replay::{Ended, Error, Order, Outcome, Run, Schedule, Shape, Wish, text};

use super::record;
use crate::args::{Global, OrderChoice, ReplayArgs, Replaying};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn run(args: &ReplayArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let (name, arguments) = program(&args.program)?;
    let program = record::find(name)?;
    let schedule = match &args.schedule {
        Some(path) => read(path)?,
        None => finding::schedule(args, global, console)?,
    };
    if let Some(path) = &args.save {
        std::fs::write(path, text::write(&schedule)).with_context(|| path.display().to_string())?;
        console.note(format_args!("{}: the schedule", path.display()));
    }
    let replayer = Replayer::new(&program, arguments, &args.replaying, args.trace.as_deref());
    replayer.check(&schedule)?;
    if args.gdb {
        return replayer.debug(&schedule, args.order);
    }
    let orders: &[Order] = match args.order {
        Some(OrderChoice::Ab) => &[Order::Ab],
        Some(OrderChoice::Ba) => &[Order::Ba],
        None if schedule.shape == Shape::Race => &[Order::Ab, Order::Ba],
        None => &[Order::Ab],
    };
    let mut runs = Vec::new();
    for &order in orders {
        runs.push((order, replayer.replay(&schedule, order)?));
    }
    let mut confirmed = runs.iter().all(|(_, ended)| ended.report.outcome == Outcome::Confirmed);
    show::show(&schedule, &runs, console)?;
    if args.replaying.times > 1 {
        let count = replayer.repeat(&schedule, orders, args.replaying.times)?;
        confirmed &= count == args.replaying.times;
        show::counted(count, args.replaying.times, console)?;
    }
    Ok(if confirmed { Exit::Yes } else { Exit::No })
}

/// The program and its arguments.
pub(crate) fn program(words: &[OsString]) -> anyhow::Result<(&OsString, &[OsString])> {
    words.split_first().ok_or_else(|| Failure::new("no program to run").into())
}

fn read(path: &Path) -> anyhow::Result<Schedule> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let name = path.display();
    let source = String::from_utf8(bytes).map_err(|_| Failure::new(format!("{name}: it is not text")))?;
    text::read(&source).map_err(|error| match error {
        Error::Text { line, what } => Failure::new(format!("{name}:{line}: {what}"))
            .hint("`reweave replay TRACE FINDING --save FILE` writes a schedule")
            .into(),
        error => anyhow::Error::from(error).context(name.to_string()),
    })
}

/// A program, and how it is replayed.
pub(crate) struct Replayer<'r> {
    run: Run<'r>,
    strict: bool,
    inputs: Option<PathBuf>,
}

impl<'r> Replayer<'r> {
    pub(crate) fn new(
        program: &'r Path,
        arguments: &'r [OsString],
        replaying: &'r Replaying,
        trace: Option<&Path>,
    ) -> Replayer<'r> {
        let run = Run {
            program,
            arguments,
            input: replaying.input.as_deref(),
            timeout: replaying.replay_timeout,
            recorded_inputs: None,
        };
        let inputs = trace.map(recorded::inputs_path).filter(|path| path.exists());
        Replayer { run, strict: replaying.strict, inputs }
    }

    /// Makes sure that the program is the recorded one.
    pub(crate) fn check(&self, schedule: &Schedule) -> anyhow::Result<()> {
        check_program(self.run.program, schedule).map_err(|error| match error {
            Error::OtherProgram(what) => Failure::new(what)
                .hint("record this build, and replay what is found in that recording")
                .into(),
            error => anyhow::Error::from(error).context(self.run.program.display().to_string()),
        })
    }

    fn wish(&self, order: Order) -> Wish {
        Wish { order, strict: self.strict, stops: false }
    }

    /// One run.
    pub(crate) fn replay(&self, schedule: &Schedule, order: Order) -> anyhow::Result<Ended> {
        let run = Run { recorded_inputs: self.inputs.as_deref(), ..self.run.clone() };
        let ended = run.start(schedule, self.wish(order));
        ended.with_context(|| format!("{} could not be replayed", self.run.program.display()))
    }

    /// How many of so many rounds, one run of each order, were confirmed.
    pub(crate) fn repeat(&self, schedule: &Schedule, orders: &[Order], times: u32) -> anyhow::Result<u32> {
        let mut confirmed = 0;
        for _ in 0..times {
            let mut all = true;
            for &order in orders {
                all &= self.replay(schedule, order)?.report.outcome == Outcome::Confirmed;
            }
            confirmed += u32::from(all);
            if crate::interrupt::requested() {
                break;
            }
        }
        Ok(confirmed)
    }

    fn debug(&self, schedule: &Schedule, order: Option<OrderChoice>) -> anyhow::Result<Exit> {
        let order = if order == Some(OrderChoice::Ba) { Order::Ba } else { Order::Ab };
        let debugger: Vec<OsString> = match std::env::var("REWEAVE_GDB") {
            Ok(words) if !words.trim().is_empty() => words.split_whitespace().map(OsString::from).collect(),
            _ => vec!["gdb".into()],
        };
        let commands = [
            "set breakpoint pending on",
            "set confirm off",
            "handle SIG62 nostop noprint pass",
            "break reweave_reached",
            "run",
            "thread apply all backtrace",
        ];
        let flags = commands.into_iter().flat_map(|command| ["-ex".into(), OsString::from(command)]);
        let debugger: Vec<OsString> = debugger.into_iter().chain(["-q".into()]).chain(flags).collect();
        let run = Run { recorded_inputs: self.inputs.as_deref(), ..self.run.clone() };
        let status = run.debug(schedule, self.wish(order), &debugger).map_err(|error| {
            Failure::new(format!("the debugger does not start: {error}"))
                .hint("install gdb, or name another in REWEAVE_GDB")
        })?;
        Ok(Exit::of_program(status))
    }
}
