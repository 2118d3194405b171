//! `reweave record`: a run of a program becomes a trace.

mod run;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use reweave_capture::{Recording, Summary};
use reweave_trace::Capabilities;

use super::cc::in_path;
use super::replay::recorded::{self, StepsFile};
use super::require_format;
use crate::args::RecordArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt;
use crate::plural;
use crate::runtime_library::MARK;
use run::{Ended, Raw, Run};

pub(crate) fn run(args: &RecordArgs, console: &Console) -> anyhow::Result<Exit> {
    require_format(&args.output, None)?;
    if let Some(raw) = &args.finish {
        let left = Raw { path: raw.clone() };
        let from_start = !left.beside(".before").exists();
        let ended = Ended { exit: Exit::Yes, notes: left.notes(), begun: true, whole: false, from_start };
        finish(&left, &ended, &args.output, args.ways.as_deref(), console)?;
        return Ok(Exit::Yes);
    }
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Failure::new("no program to record").into());
    };
    let program = find(program)?;
    interrupt::defer()?;
    let mut worst = Exit::Yes;
    for number in 1..=args.runs {
        let output = if args.runs == 1 { args.output.clone() } else { numbered(&args.output, number) };
        let mut run = Run::start(args, &program, arguments, &output, u64::from(number - 1))?;
        let ended = run.wait(console)?;
        finish(&run.raw, &ended, &output, args.ways.as_deref(), console)?;
        if worst == Exit::Yes {
            worst = ended.exit;
        }
        if interrupt::requested() {
            break;
        }
    }
    Ok(worst)
}

/// The file of the program, once it is certain that it can be recorded.
pub(crate) fn find(name: &OsString) -> anyhow::Result<PathBuf> {
    let missing = || Failure::new(format!("{}: there is no such program", name.display()));
    let path = in_path(name).filter(|path| path.is_file()).ok_or_else(missing)?;
    let file = File::open(&path).with_context(|| path.display().to_string())?;
    if is_program(&file)? && !contains(&file, MARK)? {
        return Err(Failure::new(format!("{} was not compiled to be recorded", path.display()))
            .hint("compile and link it with `reweave cc` or `reweave c++`, as in: make CC=\"reweave cc\"")
            .into());
    }
    Ok(path)
}

/// Whether the file is machine code; a script may start a program that can be recorded.
fn is_program(mut file: &File) -> io::Result<bool> {
    let mut magic = [0; 4];
    Ok(file.read(&mut magic)? == 4 && magic == *b"\x7fELF")
}

fn contains(mut file: &File, mark: &[u8]) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let first = mark.first().copied();
    Ok(bytes
        .iter()
        .enumerate()
        .any(|(at, &byte)| Some(byte) == first && bytes.get(at..).is_some_and(|rest| rest.starts_with(mark))))
}

/// `trace.rw` as `trace-3.rw`.
pub(crate) fn numbered(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let extension = path.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{extension}"))
}

/// Makes the trace, and says what there is to say about the run.
fn finish(
    raw: &Raw,
    ended: &Ended,
    output: &Path,
    ways: Option<&Path>,
    console: &Console,
) -> anyhow::Result<()> {
    if !ended.begun {
        raw.remove();
        return Err(Failure::new(
            "nothing was recorded: no program that was started was compiled to be recorded",
        )
        .hint("compile and link it with `reweave cc` or `reweave c++`")
        .into());
    }
    let maps = fs::read_to_string(raw.beside(".maps")).unwrap_or_default();
    let kept = || format!("the recording is kept in {}", raw.path.display());
    let free = ended.notes.iter().any(|note| note == "free");
    let mut recording = Recording::survey(&raw.path, &maps, free).with_context(kept)?;
    let fronts = Fronts::of(&ended.notes);
    if fronts == Fronts::Plugin {
        recording = recording.tells_branches();
    }
    if let Some(path) = ways {
        let mut file = io::BufWriter::new(File::create(path).with_context(|| path.display().to_string())?);
        recording.write_ways(&mut file).with_context(kept)?;
        file.flush().with_context(|| path.display().to_string())?;
    }
    let capabilities = recording.capabilities();
    let mut writer = reweave_format::create(output, None, capabilities)?;
    let mut steps = StepsFile::new(output);
    let named = ended.from_start.then_some(&mut steps as &mut dyn io::Write);
    let summary = recording.write_with_steps(&mut *writer, named).with_context(kept)?;
    drop(writer);
    raw.keep_inputs(&recorded::inputs_path(output));
    raw.remove();
    if ended.from_start
        && let Some(error) = steps.finish()
    {
        console.warn(format_args!("the trace cannot be replayed, its steps were not written: {error}"));
    }
    report(ended, &summary, capabilities, output, console);
    if fronts == Fronts::Both {
        console.note(
            "parts of the program were compiled with the plugin, others without: the trace has no branches",
        );
    }
    Ok(())
}

/// What compiled the parts of the program that ran.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fronts {
    /// Our plugin alone: every branch is told of.
    Plugin,
    /// Also compilers with the hooks of ThreadSanitizer.
    Both,
    /// Those alone, or nothing that says so.
    Others,
}

impl Fronts {
    fn of(notes: &[String]) -> Fronts {
        let front = |name: &str| notes.iter().any(|note| note.strip_prefix("front ") == Some(name));
        match (front("plugin"), front("tsan")) {
            (true, false) => Fronts::Plugin,
            (true, true) => Fronts::Both,
            _ => Fronts::Others,
        }
    }
}

fn report(ended: &Ended, summary: &Summary, capabilities: Capabilities, output: &Path, console: &Console) {
    let &Summary { recorded, written, threads, unseen_writes, .. } = summary;
    let path = output.display();
    console.note(format_args!(
        "{path}: {} of {}, from {} as recorded, {}",
        plural::count(written, "event"),
        plural::count(threads as u64, "thread"),
        plural::count(recorded, "event"),
        match (capabilities.values, capabilities.branches) {
            (true, true) => "with values and branches",
            (true, false) => "with values, without branches",
            (false, _) => "without values",
        },
    ));
    for line in &ended.notes {
        match line.as_str() {
            "deadlock" => console.warn("the program was in a deadlock and was ended; the trace ends there"),
            "timeout" => console.warn("the time was up and the program was ended; the trace ends there"),
            "stopped max-events" => {
                console.warn("--max-events was reached: the rest of the run was not recorded")
            }
            "stopped max-size" => {
                console.warn("--max-size was reached: the rest of the run was not recorded")
            }
            line => {
                if let Some(error) = line.strip_prefix("stopped ") {
                    console.warn(format_args!("the rest of the run was not recorded: {error}"));
                }
            }
        }
    }
    if !ended.whole && ended.notes.iter().all(|line| !line.starts_with("stopped")) {
        console.warn("the program ended before the recording did: its last events may be missing");
    }
    for (library, count) in &summary.silent {
        let calls = plural::count(*count, "call");
        console.warn(format_args!(
            "{library} was not compiled with `reweave cc`: how it synchronises was seen ({calls}), what it reads and \
             writes was not"
        ));
    }
    if ended.notes.iter().any(|note| note == "free") {
        if unseen_writes > 0 {
            let words = plural::count(unseen_writes as u64, "word");
            console.note(format_args!(
                "{words} of shared memory changed while they were read: the trace has no values"
            ));
        }
    } else if unseen_writes > 0 {
        let words = plural::count(unseen_writes as u64, "word");
        console.warn(format_args!(
            "{words} of shared memory changed without a recorded write, in code that was not compiled with \
             `reweave cc`: no race is looked for there"
        ));
    }
}
