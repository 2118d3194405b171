//! `reweave replay`: make a predicted bug happen.

mod debug;
pub(crate) mod finding;
pub(crate) mod recorded;
mod show;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use reweave_replay::run::check_program;
use reweave_replay::{Ended, Error, Order, Outcome, Run, Schedule, Shape, Wish, text};
use reweave_session::{Folder, adopt, interrupt};

use self::debug::Debugger;
use super::record;
use crate::args::{Global, OrderChoice, ReplayArgs, Replaying};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::limited;

pub(crate) fn run(args: &ReplayArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let (name, arguments) = program(&args.program)?;
    let program = record::find(name)?;
    if let Some(path) = &args.record {
        super::require_format(path, None)?;
    }
    let schedule = match &args.schedule {
        Some(path) => read(path)?,
        None => finding::schedule(args, global, console)?,
    };
    if let Some(path) = &args.save {
        std::fs::write(path, text::write(&schedule)).with_context(|| path.display().to_string())?;
        console.note(format_args!("{}: the schedule", path.display()));
    }
    let mut replayer = Replayer::new(&program, arguments, &args.replaying, args.trace.as_deref());
    replayer.strict = args.strict;
    replayer.dependences = args.dependences;
    replayer.check(&schedule)?;
    interrupt::watch()?;
    adopt()?;
    let debugger = match (args.gdb, args.lldb) {
        (true, _) => Some(Debugger::Gdb),
        (_, true) => Some(Debugger::Lldb),
        _ => None,
    };
    if let Some(debugger) = debugger {
        return replayer.debug(&schedule, args.order, debugger);
    }
    let orders: &[Order] = match args.order {
        Some(OrderChoice::Ab) => &[Order::Ab],
        Some(OrderChoice::Ba) => &[Order::Ba],
        None if schedule.shape == Shape::Race => &[Order::Ab, Order::Ba],
        None => &[Order::Ab],
    };
    let mut runs = Vec::new();
    for (number, &order) in (1..).zip(orders) {
        let ended = match &args.record {
            Some(path) => {
                let path = if orders.len() == 1 { path.clone() } else { record::numbered(path, number) };
                replayer.record(&schedule, order, &path, console)?
            }
            None => replayer.replay(&schedule, order)?,
        };
        runs.push((order, ended));
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

pub(crate) fn read(path: &Path) -> anyhow::Result<Schedule> {
    let bytes = limited::read(path, limited::SCHEDULE)?;
    let name = path.display();
    let source = String::from_utf8(bytes).map_err(|_| Failure::new(format!("{name}: it is not text")))?;
    text::read(&source).map_err(|error| match error {
        Error::Text { line, what } => Failure::new(format!("{name}:{line}: {what}"))
            .hint("`reweave replay TRACE FINDING --save FILE` writes a schedule")
            .into(),
        error => anyhow::Error::from(error).context(name.to_string()),
    })
}

/// Makes sure that a program is the one of a schedule.
pub(crate) fn check(program: &Path, schedule: &Schedule) -> anyhow::Result<()> {
    check_program(program, schedule).map_err(|error| match error {
        Error::OtherProgram(what) => {
            Failure::new(what).hint("record this build, and replay what is found in that recording").into()
        }
        error => anyhow::Error::from(error).context(program.display().to_string()),
    })
}

/// A program, and how it is replayed.
pub(crate) struct Replayer<'r> {
    run: Run<'r>,
    strict: bool,
    /// How long a step is waited for, where that is not the runtime's own choice.
    patience: Option<u64>,
    inputs: Option<PathBuf>,
    /// Whether traces of it are to have a table of dependences.
    pub(crate) dependences: bool,
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
            recording: None,
            folder: None,
            follows_child: replaying.follow_child,
        };
        let inputs = trace.map(recorded::inputs_path).filter(|path| path.exists());
        Replayer { run, strict: false, patience: None, inputs, dependences: false }
    }

    /// The program runs in this folder instead of here.
    pub(crate) fn set_folder(&mut self, folder: Option<&'r Path>) {
        self.run.folder = folder;
    }

    /// A step that does not come is given up after so many points of its thread.
    pub(crate) fn set_patience(&mut self, patience: u64) {
        self.patience = Some(patience);
    }

    /// Makes sure that the program is the recorded one.
    pub(crate) fn check(&self, schedule: &Schedule) -> anyhow::Result<()> {
        check(self.run.program, schedule)
    }

    fn wish(&self, order: Order) -> Wish {
        Wish { order, strict: self.strict, stops: false, patience: self.patience }
    }

    /// One run.
    pub(crate) fn replay(&self, schedule: &Schedule, order: Order) -> anyhow::Result<Ended> {
        let run = Run { recorded_inputs: self.inputs.as_deref(), ..self.run.clone() };
        let ended = run.start(schedule, self.wish(order));
        ended.with_context(|| format!("{} could not be replayed", self.run.program.display()))
    }

    /// One run that is ended after so much time at the latest.
    pub(crate) fn replay_within(
        &self,
        schedule: &Schedule,
        order: Order,
        limit: Duration,
    ) -> anyhow::Result<Ended> {
        let run = Run { timeout: self.run.timeout.min(limit), ..self.run.clone() };
        Replayer { run, inputs: self.inputs.clone(), ..*self }.replay(schedule, order)
    }

    /// One run, which becomes a trace.
    pub(crate) fn record(
        &self,
        schedule: &Schedule,
        order: Order,
        trace: &Path,
        console: &Console,
    ) -> anyhow::Result<Ended> {
        let folder = record::folder(trace)?;
        let run = Run { recorded_inputs: self.inputs.as_deref(), ..self.run.clone() };
        let ended = run.start_in(&folder, true, schedule, self.wish(order));
        let ended = ended.with_context(|| format!("{} could not be replayed", self.run.program.display()))?;
        record::trace_of(folder, &ended, trace, self.dependences, None, console)?;
        Ok(ended)
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
            if interrupt::requested() {
                break;
            }
        }
        Ok(confirmed)
    }

    fn debug(
        &self,
        schedule: &Schedule,
        order: Option<OrderChoice>,
        debugger: Debugger,
    ) -> anyhow::Result<Exit> {
        let order = if order == Some(OrderChoice::Ba) { Order::Ba } else { Order::Ab };
        let run = Run { recorded_inputs: self.inputs.as_deref(), ..self.run.clone() };
        let command = |folder: &Folder| debugger.command(folder, schedule, order);
        let status = run.debug(schedule, self.wish(order), command).map_err(|error| {
            let (name, variable) = (debugger.name(), debugger.variable());
            Failure::new(format!("the debugger does not start: {error}"))
                .hint(format!("install {name}, or name another in {variable}"))
        })?;
        Ok(Exit::of_program(status))
    }
}
