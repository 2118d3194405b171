//! `reweave spec`: specifications of data types, shown and checked.

use std::io::Write;
use std::path::Path;

use reweave_spec::{BUILTIN, Checked, Spec, builtin, check};

use crate::args::{SpecArgs, SpecCommand};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::limited;
use crate::plural::count;

pub(crate) fn run(args: &SpecArgs, console: &Console) -> anyhow::Result<Exit> {
    match &args.command {
        SpecCommand::Show { name: None } => {
            let mut out = console.out();
            for (name, _) in BUILTIN {
                writeln!(out, "{name}")?;
            }
            out.flush()?;
            Ok(Exit::Yes)
        }
        SpecCommand::Show { name: Some(name) } => show(name, console),
        SpecCommand::Header => {
            let mut out = console.out();
            out.write_all(crate::runtime_library::HEADER.as_bytes())?;
            out.flush()?;
            Ok(Exit::Yes)
        }
        SpecCommand::Check { files } => {
            let mut sound = true;
            for file in files {
                sound &= check_file(file, console)?;
            }
            Ok(if sound { Exit::Yes } else { Exit::No })
        }
    }
}

fn show(name: &str, console: &Console) -> anyhow::Result<Exit> {
    let found = BUILTIN.iter().find(|(known, _)| *known == name).zip(builtin(name));
    let Some(((_, text), spec)) = found else {
        let known: Vec<&str> = BUILTIN.iter().map(|(known, _)| *known).collect();
        let failure = Failure::new(format!("there is no built-in type `{name}`"));
        return Err(failure.hint(format!("one of {}", known.join(", "))).into());
    };
    let mut out = console.out();
    write!(out, "{text}")?;
    for of in &spec.types {
        let methods = of.methods.iter().enumerate();
        let pairwise: Vec<&str> = methods
            .filter(|(place, _)| !of.has_points(*place))
            .map(|(_, method)| method.name.as_str())
            .collect();
        if !pairwise.is_empty() {
            writeln!(out, "# Without access points, compared call by call: {}.", pairwise.join(", "))?;
        }
    }
    out.flush()?;
    Ok(Exit::Yes)
}

/// Whether every claim of a file holds.
fn check_file(file: &Path, console: &Console) -> anyhow::Result<bool> {
    let text = limited::read_text(file, limited::SPECIFICATIONS)?;
    let spec = Spec::parse(&text).map_err(|error| Failure::new(format!("{}:{error}", file.display())))?;
    let mut out = console.out();
    let mut sound = true;
    for checked in check(&spec) {
        sound &= checked.problems.is_empty();
        print(&mut out, file, &checked)?;
    }
    out.flush()?;
    Ok(sound)
}

fn print(out: &mut impl Write, file: &Path, checked: &Checked) -> std::io::Result<()> {
    let verdict = if checked.problems.is_empty() { "sound" } else { "NOT SOUND" };
    writeln!(out, "{}: {}: {verdict}", file.display(), checked.name)?;
    for problem in &checked.problems {
        writeln!(out, "  {}", problem.to_string().replace('\n', "\n  "))?;
    }
    let bound = if checked.bounded { ", more were left out" } else { "" };
    writeln!(
        out,
        "  tried: {}{bound}; {}",
        count(checked.states as u64, "state"),
        count(checked.cases as u64, "case")
    )?;
    let share = (checked.covered * 100).checked_div(checked.commuting).unwrap_or(100);
    writeln!(
        out,
        "  precision: {} of {} commuting cases covered ({share} %); {} more that no state allows",
        checked.covered, checked.commuting, checked.vacuous
    )?;
    for [first, second] in &checked.uncovered {
        writeln!(out, "    not covered: {first} and {second}")?;
    }
    match &checked.pairwise[..] {
        [] if checked.coarse == 0 => writeln!(out, "  access points: exactly the conditions"),
        [] => {
            writeln!(out, "  access points: keep {} apart that commute", count(checked.coarse as u64, "case"))
        }
        pairwise => writeln!(out, "  access points: none for {}", pairwise.join(", ")),
    }
}
