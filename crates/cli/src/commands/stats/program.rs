//! The table of a program: what the compiler plugin left in a binary.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use reweave_capture::{Binary, BinaryError};
use reweave_program::{Class, Counts, Mark, VERSION};
use serde::Serialize;

use super::text::{Row, print_rows, row};
use crate::args::StatsArgs;
use crate::commands::for_each;
use crate::console::{Console, STRONG};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plural::{count, grouped};
use crate::{document, input};

pub(super) fn run(args: &StatsArgs, console: &Console) -> anyhow::Result<Exit> {
    let says = !args.json.as_deref().is_some_and(input::is_standard);
    let mut document = Document::new();
    let exit = for_each(&args.program, console, |path| {
        let binary = Binary::open(path).map_err(|error| failure(path, error))?;
        let mut counts = Counts::default();
        binary.program.modules.iter().for_each(|(.., table)| counts.add(table));
        if says {
            let mut out = console.out();
            if !document.programs.is_empty() {
                writeln!(out)?;
            }
            print(&mut out, path, &binary, &counts, console)?;
            out.flush()?;
        }
        document.add(path, &binary, &counts);
        Ok(())
    })?;
    if let Some(path) = &args.json {
        document::write_json(path, &document, console)?;
    }
    Ok(exit)
}

fn failure(path: &Path, error: BinaryError) -> Failure {
    let hint = match &error {
        BinaryError::Io { .. } => None,
        BinaryError::NoBinary => Some("traces are given without --program"),
        BinaryError::NoTable => Some(
            "build it with the compiler plugin: `reweave cc --reweave-front=plugin` or `reweave c++` where clang 22 or 19 is installed, \
             `reweave cargo` for Rust; objects of the TSan front have none",
        ),
        BinaryError::Removed => {
            Some("take the file as the linker wrote it; plain `strip` leaves the table where it is")
        }
        _ => Some("build the program anew"),
    };
    // An error of reading names the file itself.
    let message = match &error {
        BinaryError::Io { .. } => error.to_string(),
        _ => format!("{}: {error}", path.display()),
    };
    let failure = Failure::new(message);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

fn print(
    out: &mut impl Write,
    path: &Path,
    binary: &Binary,
    counts: &Counts,
    console: &Console,
) -> io::Result<()> {
    let name = console.styled(STRONG, path.display());
    let each = binary.bytes as f64 / counts.instructions.max(1) as f64;
    writeln!(
        out,
        "{name}: program table, version {VERSION}, {}, {each:.1} bytes an instruction",
        count(binary.bytes, "byte")
    )?;
    print_rows(out, &rows(counts, binary.program.modules.len() as u64))?;
    writeln!(out, "build: {}", binary.build)?;
    for (hash, bytes, table) in &binary.program.modules {
        let instructions: usize = table.functions.iter().map(|function| function.instructions.len()).sum();
        writeln!(
            out,
            "module {hash} {}: {}, {}, {}",
            table.string(table.name),
            count(table.functions.len() as u64, "function"),
            count(instructions as u64, "instruction"),
            count(*bytes as u64, "byte")
        )?;
    }
    Ok(())
}

fn rows(counts: &Counts, modules: u64) -> Vec<Row> {
    let mut rows = vec![
        row("modules", modules, ""),
        row("functions", counts.functions, ""),
        row("blocks", counts.blocks, ""),
        row(
            "instructions",
            counts.instructions,
            format!("{} with a place in the source", grouped(counts.located)),
        ),
    ];
    let mut operations: Vec<_> = counts.operations.iter().collect();
    operations.sort_by_key(|&(operation, number)| (std::cmp::Reverse(*number), *operation));
    for (operation, &number) in operations {
        rows.push(row(format!("  {}", operation.text()), number, ""));
    }
    rows.push(row("operands", counts.operands, format!("{} of phis", grouped(counts.phi_inputs))));
    let direct = format!("{} of a function that is named", grouped(counts.direct_calls));
    rows.push(row("calls, intrinsics aside", counts.direct_calls + counts.indirect_calls, direct));
    for (class, marks) in by_class(counts) {
        let all: u64 = marks.values().sum();
        let recorded = marks.get(&Mark::Recorded).copied().unwrap_or(0);
        rows.push(row(class.text(), all, format!("{} recorded", grouped(recorded))));
        for (mark, &number) in marks.iter().filter(|&(&mark, _)| mark != Mark::Recorded) {
            rows.push(row(format!("  {}", mark.text()), number, ""));
        }
    }
    rows
}

fn by_class(counts: &Counts) -> BTreeMap<Class, BTreeMap<Mark, u64>> {
    let mut classes: BTreeMap<Class, BTreeMap<Mark, u64>> = BTreeMap::new();
    for (&(class, mark), &number) in &counts.marks {
        *classes.entry(class).or_default().entry(mark).or_default() += number;
    }
    classes
}

/// The figures for programs; `docs/json.md` describes them.
#[derive(Serialize)]
struct Document {
    schema: u32,
    tool: &'static str,
    programs: Vec<ProgramJson>,
}

#[derive(Serialize)]
struct ProgramJson {
    path: String,
    build: String,
    version: u16,
    bytes: u64,
    functions: u64,
    blocks: u64,
    instructions: u64,
    located: u64,
    operands: u64,
    phi_inputs: u64,
    direct_calls: u64,
    indirect_calls: u64,
    operations: BTreeMap<&'static str, u64>,
    recorded: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
    modules: Vec<ModuleJson>,
}

#[derive(Serialize)]
struct ModuleJson {
    name: String,
    target: String,
    hash: String,
    functions: u64,
    instructions: u64,
    bytes: u64,
}

/// The words of documents, which stay when those for people change.
fn word(mark: Mark) -> &'static str {
    match mark {
        Mark::Unmarked => "unmarked",
        Mark::Recorded => "recorded",
        Mark::Private => "private",
        Mark::Constant => "constant",
        Mark::NotShared => "not_shared",
        Mark::Suppressed => "suppressed",
        Mark::Unsupported => "unsupported",
        Mark::Redundant => "redundant",
    }
}

impl Document {
    fn new() -> Document {
        Document { schema: 1, tool: concat!("reweave ", env!("CARGO_PKG_VERSION")), programs: Vec::new() }
    }

    fn add(&mut self, path: &Path, binary: &Binary, counts: &Counts) {
        let words = |marks: BTreeMap<Mark, u64>| marks.into_iter().map(|(mark, number)| (word(mark), number));
        self.programs.push(ProgramJson {
            path: path.display().to_string(),
            build: binary.build.clone(),
            version: VERSION,
            bytes: binary.bytes,
            functions: counts.functions,
            blocks: counts.blocks,
            instructions: counts.instructions,
            located: counts.located,
            operands: counts.operands,
            phi_inputs: counts.phi_inputs,
            direct_calls: counts.direct_calls,
            indirect_calls: counts.indirect_calls,
            operations: counts
                .operations
                .iter()
                .map(|(operation, &number)| (operation.text(), number))
                .collect(),
            recorded: by_class(counts)
                .into_iter()
                .map(|(class, marks)| (class.text(), words(marks).collect()))
                .collect(),
            modules: binary
                .program
                .modules
                .iter()
                .map(|(hash, bytes, table)| ModuleJson {
                    name: table.string(table.name).to_owned(),
                    target: table.string(table.target).to_owned(),
                    hash: hash.to_string(),
                    functions: table.functions.len() as u64,
                    instructions: table
                        .functions
                        .iter()
                        .map(|function| function.instructions.len() as u64)
                        .sum(),
                    bytes: *bytes as u64,
                })
                .collect(),
        });
    }
}
