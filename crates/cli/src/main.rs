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
mod interrupt;
mod plural;
mod progress;
mod runtime_library;
mod watched;
mod witness_file;
mod words;

use std::process::ExitCode;

use args::{Command, Global};
use commands::cc::Language;
use console::Console;
use exit::Exit;

fn main() -> ExitCode {
    bug::guard(run).into()
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
        && command == "cargo"
        && arguments.first().is_none_or(|first| first != "--help" && first != "-h")
    {
        let console = Console::new(&Global::default());
        return commands::cargo::run(arguments, &console)
            .unwrap_or_else(|error| failure::report(&error, &console));
    }
    let cli = match args::parse(line) {
        Ok(cli) => cli,
        Err(error) => {
            // Help that nobody reads to its end is no failure.
            let _ = error.print();
            return if error.use_stderr() { Exit::BadInput } else { Exit::Yes };
        }
    };
    let console = Console::new(&cli.global);
    let result = match &cli.command {
        Command::Predict(args) => commands::predict::run(args, &cli.global, &console),
        Command::Report(args) => commands::report::run(args, &cli.global, &console),
        Command::Merge(args) => commands::merge::run(args, &console),
        Command::Validate(args) => commands::validate::run(args, &cli.global, &console),
        Command::Stats(args) => commands::stats::run(args, &cli.global, &console),
        Command::Convert(args) => commands::convert::run(args, &cli.global, &console),
        Command::Generate(args) => commands::generate::run(args, &console),
        Command::Check(args) => commands::check::run(args, &cli.global, &console),
        Command::Query(args) => commands::query::run(args, &cli.global, &console),
        Command::Stream(args) => commands::stream::run(args, &cli.global, &console),
        Command::Record(args) => commands::record::run(args, &console),
        Command::Replay(args) => commands::replay::run(args, &cli.global, &console),
        Command::Hunt(args) => commands::hunt::run(args, &cli.global, &console),
        Command::Cargo(args) => commands::cargo::run(&args.arguments, &console),
        Command::CargoTest(args) => commands::cargo::run_tests(args, &console),
        Command::Cc(args) => commands::cc::run(Language::C, &args.arguments, &console),
        Command::Cpp(args) => commands::cc::run(Language::Cpp, &args.arguments, &console),
    };
    result.unwrap_or_else(|error| failure::report(&error, &console))
}
