//! The command line of Reweave.
//!
//! A command reads its input, asks the crates below, and prints; nothing is decided here. Errors travel as
//! [`anyhow::Error`] up to [`main`], which prints them once and turns them into an exit code.
#![forbid(unsafe_code)]

mod args;
mod bug;
mod commands;
mod console;
mod document;
mod event_text;
mod exit;
mod failure;
mod input;
mod limited;
mod plain;
mod plural;
mod progress;
mod runtime_library;
mod sources;
mod watched;
mod witness_file;
mod words;

use std::process::ExitCode;

use args::{Command, Global};
use commands::cc::{Language, assembler};
use console::Console;
use exit::Exit;

#[global_allocator]
static MEMORY: reweave_format::Memory = reweave_format::Memory;

fn main() -> ExitCode {
    take_stack();
    bug::guard(run).into()
}

/// Takes the stack that is needed later now: under a limit of memory, a stack that cannot grow ends the process without a
/// message, and where even this fails there is no room for the program's own code.
#[inline(never)]
fn take_stack() {
    std::hint::black_box([0u8; 1 << 19]);
}

/// With less than this no command gets far, and the C library, which ends the process where it finds nothing, runs out first.
const ROOM: usize = 12 << 20;

/// Whether there is room to begin with.
fn has_room() -> bool {
    Vec::<u8>::new().try_reserve_exact(ROOM).is_ok()
}

fn run() -> Exit {
    // A compiler's arguments are its own, also those that look like ours.
    let line: Vec<_> = std::env::args_os().collect();
    if let [_, command, arguments @ ..] = &*line
        && let Some(language) = Language::of_command(command)
        && arguments.first().is_none_or(|first| first != "--help" && first != "-h")
    {
        let console = Console::new(&Global::default());
        return commands::cc::run(language, arguments, &console)
            .unwrap_or_else(|error| failure::report(&error, &console));
    }
    if let [_, command, arguments @ ..] = &*line
        && command == assembler::NAME
    {
        let console = Console::new(&Global::default());
        let failed =
            |error: std::io::Error| failure::report(&anyhow::Error::new(error).context("as"), &console);
        return assembler::run(arguments).map_or_else(failed, Exit::of_program);
    }
    if let [_, command, arguments @ ..] = &*line
        && command == "cargo"
        && arguments.first().is_none_or(|first| first != "--help" && first != "-h")
    {
        let console = Console::new(&Global::default());
        return commands::cargo::run(arguments, &console)
            .unwrap_or_else(|error| failure::report(&error, &console));
    }
    let cli = match args::parse(&line) {
        Ok(cli) => cli,
        Err(error) => return args::tell(&error),
    };
    let console = Console::new(&cli.global);
    if !has_room() {
        console.error("there is not enough memory to begin with, or a limit forbids it");
        return Exit::Stopped;
    }
    let result = match &cli.command {
        Command::Predict(args) => commands::predict::run(args, &cli.global, &console),
        Command::Report(args) => commands::report::run(args, &cli.global, &console),
        Command::Explain(args) => commands::explain::run(args, &cli.global, &console),
        Command::Merge(args) => commands::merge::run(args, &console),
        Command::Validate(args) => commands::validate::run(args, &cli.global, &console),
        Command::Stats(args) => commands::stats::run(args, &cli.global, &console),
        Command::Convert(args) => commands::convert::run(args, &cli.global, &console),
        Command::Generate(args) => commands::generate::run(args, &console),
        Command::Check(args) => commands::check::run(args, &cli.global, &console),
        Command::Query(args) => commands::query::run(args, &cli.global, &console),
        Command::Stream(args) => commands::stream::run(args, &cli.global, &console),
        Command::Spec(args) => commands::spec::run(args, &console),
        Command::Record(args) => commands::record::run(args, &console),
        Command::Replay(args) => commands::replay::run(args, &cli.global, &console),
        Command::Hunt(args) => commands::hunt::run(args, &cli.global, &console),
        Command::Verify(args) => commands::verify::run(args, &cli.global, &console),
        Command::Cargo(args) => commands::cargo::run(&args.arguments, &console),
        Command::CargoTest(args) => commands::cargo::run_tests(args, &console),
        Command::Doctor(args) => commands::doctor::run(args, &console),
        Command::Completions(args) => commands::manual::completions(args, &console),
        Command::Man(args) => commands::manual::man(args, &console),
        Command::Driven(args) => commands::hunt::driven::run(args),
        Command::Cc(args) => commands::cc::run(Language::C, &args.arguments, &console),
        Command::Cpp(args) => commands::cc::run(Language::Cpp, &args.arguments, &console),
    };
    result.unwrap_or_else(|error| failure::report(&error, &console))
}
