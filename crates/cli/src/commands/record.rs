//! `reweave record`: a run of a program becomes a trace.

mod ending;
mod forced;
mod run;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use reweave_capture::{Recording, Summary};
use reweave_session::{Files, Folder, adopt, interrupt};
use reweave_trace::{Capabilities, Ending};

use super::cc::in_path;
use super::replay::{
    self,
    recorded::{self, StepsFile},
};
use super::require_format;
use crate::args::RecordArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::limited;
use crate::plain::plain;
use crate::plural;
use crate::progress::Progress;
use crate::runtime_library::MARK;
use ending::{ending, unlisted};
use run::Ended;

pub(crate) use forced::trace_of;
pub(crate) use run::folder;

pub(crate) fn run(args: &RecordArgs, console: &Console) -> anyhow::Result<Exit> {
    require_format(&args.output, None)?;
    if let Some(raw) = &args.finish {
        return finish_left(args, raw, console);
    }
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Failure::new("no program to record").into());
    };
    let program = find(program)?;
    let schedule = args.schedule.as_deref().map(|path| forced::schedule(path, &program)).transpose()?;
    interrupt::watch()?;
    adopt()?;
    let mut worst = Exit::Yes;
    for number in 1..=args.runs {
        let output = if args.runs == 1 { args.output.clone() } else { numbered(&args.output, number) };
        let folder = run::folder(&output)?;
        let plan = schedule.as_ref().map(|schedule| forced::plan(&folder, &program, schedule)).transpose()?;
        let how = run::How { plan: plan.as_deref(), number: u64::from(number - 1) };
        let ended = run::run(args, &program, arguments, &folder, how, console)?;
        if let Some(schedule) = &schedule {
            forced::say_outcome(&forced::report(schedule, &folder), console);
        }
        let made = Made { ending: ending(args, number, &ended), output: &output, ..Made::of(args) };
        convert(folder, &ended, made, console)?;
        if worst == Exit::Yes {
            worst = ended.exit;
        }
        if interrupt::requested() {
            break;
        }
    }
    Ok(worst)
}

/// Runs the program once; how it ended, and whether a trace could be made of that.
pub(crate) fn run_one(args: &RecordArgs, console: &Console) -> anyhow::Result<(Exit, anyhow::Result<()>)> {
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Failure::new("no program to record").into());
    };
    interrupt::watch()?;
    adopt()?;
    let folder = run::folder(&args.output)?;
    let how = run::How { plan: None, number: 0 };
    let ended = run::run(args, Path::new(program), arguments, &folder, how, console)?;
    let made = Made { ways: None, ending: ending(args, 1, &ended), ..Made::of(args) };
    Ok((ended.exit, convert(folder, &ended, made, console)))
}

/// Makes a trace of what a recorder that was killed left behind: a raw recording, or the folder that it is in.
fn finish_left(args: &RecordArgs, left: &Path, console: &Console) -> anyhow::Result<Exit> {
    let raw = if left.is_dir() { left.join("raw") } else { left.to_owned() };
    limited::refuse_same([raw.as_path()], [args.output.as_path()])?;
    let files = Files::of(raw);
    finish(&files, &Ended::unknown(&files), Made::of(args), console)?;
    files.remove();
    if let Some(folder) = files.raw().parent().filter(|_| files.raw().ends_with("raw")) {
        // Only where it is empty.
        let _ = fs::remove_dir(folder);
    }
    Ok(Exit::Yes)
}

/// What is made of a recording.
struct Made<'a> {
    output: &'a Path,
    /// Where the ways of branches go, if anywhere.
    ways: Option<&'a Path>,
    /// Whether to look for dependences.
    dependences: bool,
    /// How the run failed, if it did.
    ending: Option<Ending>,
    /// Gets the places of the program that ran.
    ran: Option<&'a mut Vec<u64>>,
}

impl Made<'_> {
    fn of(args: &RecordArgs) -> Made<'_> {
        let (ways, dependences) = (args.ways.as_deref(), args.dependences);
        Made { output: &args.output, ways, dependences, ending: None, ran: None }
    }
}

/// Makes the trace. Where that fails, or is ended on the way, the recording stays.
fn convert(folder: Folder, ended: &Ended, made: Made<'_>, console: &Console) -> anyhow::Result<()> {
    if ended.notes.iter().any(|note| note == "allocator") {
        return Err(Failure::new(
            "the program has an allocator linked in that was not compiled to be recorded: it ran, but was not recorded",
        )
        .hint("link the allocator as a shared library, load it with LD_PRELOAD, or compile it with `reweave cc`")
        .into());
    }
    if ended.notes.iter().any(|note| note == "no-memory") {
        return Err(Failure::no_memory(
            "stopped without a result: there was no memory to record with: the program ran, but was not recorded",
        )
        .into());
    }
    if !ended.begun {
        return Err(Failure::new(
            "nothing was recorded: no program that was started was compiled to be recorded, or a sandbox kept it from that",
        )
        .hint("compile and link it with `reweave cc` or `reweave c++`")
        .into());
    }
    let path = folder.path().display().to_string();
    let words = plain(format_args!(
        "interrupted: the recording is kept in {path}; `reweave record --finish {path}` makes a trace of it\n"
    ));
    folder.stays();
    interrupt::set_last_words(Some(words));
    let finished = finish(&folder.files(), ended, made, console);
    interrupt::set_last_words(None);
    match finished {
        Ok(()) => Ok(()),
        Err(error) => {
            folder.keep();
            console.warn(format_args!("the recording is kept in {path}"));
            Err(error)
        }
    }
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

/// Whether a program only starts others, which may be compiled to be recorded: it is itself not.
pub(crate) fn is_driver(name: Option<&OsString>) -> anyhow::Result<bool> {
    let Some(name) = name else { return Ok(false) };
    let missing = || Failure::new(format!("{}: there is no such program", name.display()));
    let path = in_path(name).filter(|path| path.is_file()).ok_or_else(missing)?;
    let file = File::open(&path).with_context(|| path.display().to_string())?;
    Ok(!is_program(&file)? || !contains(&file, MARK)?)
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
fn finish(files: &Files, ended: &Ended, made: Made<'_>, console: &Console) -> anyhow::Result<()> {
    let Made { output, ways, dependences, ending, ran } = made;
    let size = std::fs::metadata(files.raw()).map_or(0, |about| about.len());
    let what = format!("making the trace of {} that were recorded", plural::count(size, "byte"));
    let progress = Progress::waiting(what, console);
    let maps = files.maps();
    let free = ended.notes.iter().any(|note| note == "free");
    let mut recording = Recording::survey(files.raw(), &maps, free)?;
    let fronts = Fronts::of(&ended.notes);
    if fronts == Fronts::Plugin {
        recording = recording.tells_branches();
    }
    if dependences {
        recording = recording.find_dependences();
    }
    if let Some(ran) = ran {
        *ran = recording.ran()?;
    }
    if let Some(path) = ways {
        let mut file = io::BufWriter::new(File::create(path).with_context(|| path.display().to_string())?);
        recording.write_ways(&mut file)?;
        file.flush().with_context(|| path.display().to_string())?;
    }
    let capabilities = recording.capabilities();
    let blocking = blocking(&ended.notes, &recording);
    let mut writer = reweave_format::create(output, None, capabilities)?;
    let ending = Ending { unlisted: unlisted(&ended.notes), ..ending.unwrap_or_default() };
    if ending != Ending::default() {
        writer.ending(&ending)?;
    }
    let mut steps = StepsFile::new(output);
    let named = ended.from_start.then_some(&mut steps as &mut dyn io::Write);
    let summary = recording.write_with_steps(&mut *writer, named)?;
    drop(writer);
    drop(progress);
    run::keep_inputs(files, &recorded::inputs_path(output));
    if ended.from_start
        && let Some(error) = steps.finish()
    {
        console.warn(format_args!("the trace cannot be replayed, its steps were not written: {error}"));
    }
    report(ended, &summary, capabilities, output, console);
    for library in blocking {
        console.warn(format_args!(
            "{library} waited in a way that was not seen: other threads ran meanwhile, and the same seed may give \
             another trace"
        ));
    }
    if dependences && !capabilities.dependences {
        console.warn(
            "the trace has no dependences: that needs a program all of which was compiled with the plugin",
        );
    }
    if fronts == Fronts::Both {
        console.note(
            "parts of the program were compiled with the plugin, others without: the trace has no branches",
        );
    }
    Ok(())
}

/// Where threads waited unseen, by the names of the libraries.
fn blocking(notes: &[String], recording: &Recording<'_>) -> Vec<String> {
    let addresses =
        notes.iter().filter_map(|note| note.strip_prefix("blocks ")?.split(' ').next()?.parse().ok());
    let mut names: Vec<String> = addresses.map(|at: u64| recording.library(at)).collect();
    names.sort();
    names.dedup();
    names
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
            (true, true) if capabilities.dependences => "with values, branches and dependences",
            (true, true) => "with values and branches",
            (true, false) => "with values, without branches",
            (false, _) => "without values",
        },
    ));
    for line in &ended.notes {
        match line.as_str() {
            "deadlock" => console.warn("the program was in a deadlock and was ended; the trace ends there"),
            "timeout" => console.warn("the time was up and the program was ended; the trace ends there"),
            "interrupted" => console
                .warn("the program did not end when it was asked to, and was ended; the trace ends there"),
            "stopped max-events" => console.warn(
                "--max-events was reached: the rest of the run was not recorded, and the trace ends there",
            ),
            "stopped max-size" => console.warn(
                "--max-size was reached: the rest of the run was not recorded, and the trace ends there",
            ),
            line => {
                if let Some(error) = line.strip_prefix("stopped ") {
                    console.warn(format_args!("the rest of the run was not recorded: {error}"));
                }
            }
        }
    }
    if let Some(reasons) = summary.dependent.as_deref().filter(|reasons| !reasons.is_empty()) {
        let all: u64 = reasons.iter().map(|(_, count)| count).sum();
        let named = reasons.iter().take(4).map(|(why, count)| format!("{count} {why}"));
        console.note(format_args!(
            "{} taken to depend on everything before in its thread: {}{}",
            plural::count(all, "event"),
            named.collect::<Vec<_>>().join(", "),
            if reasons.len() > 4 { ", …" } else { "" },
        ));
    }
    let unlisted = unlisted(&ended.notes);
    if !unlisted.is_empty() {
        console.note(format_args!(
            "the program called {}, of which nobody knows what they depend on: such calls keep their order",
            unlisted.join(", ")
        ));
    }
    if !ended.whole && ended.notes.iter().all(|line| !line.starts_with("stopped")) {
        console.warn("the program ended before the recording did: its last events may be missing");
    }
    if ended.notes.iter().any(|line| line == "followed") {
        console.note("the program went on in a child: that was recorded from there");
    }
    if ended.notes.iter().any(|line| line == "forked") {
        console.note("the program started other processes with fork: they were not recorded");
    }
    for (library, count) in &summary.silent {
        let calls = plural::count(*count, "call");
        console.warn(format_args!(
            "{library} was not compiled with `reweave cc`: how it synchronises was seen ({calls}), what it reads and \
             writes was not"
        ));
    }
    for (variable, count) in &summary.borders {
        let steps = plural::count(*count, "step");
        let library = variable.strip_prefix("library ").unwrap_or(variable);
        console.note(format_args!(
            "{library} was not compiled with `reweave cc`: what passes through it keeps its observed order ({steps} into \
             it and out of it); `reweave predict --trust-library` lifts that"
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
             `reweave cc`: no race is looked for there, and what came before the reads that found it stays before them ({})",
            places(&summary.unseen)
        ));
    }
}

/// The most sites that are named in one line.
const MOST_SITES: usize = 3;

/// Sites, and how often each.
fn places(sites: &[(String, u64)]) -> String {
    let named = sites.iter().take(MOST_SITES).map(|(site, count)| format!("{count} at {site}"));
    let mut text = named.collect::<Vec<String>>().join(", ");
    if let more @ 1.. = sites.len().saturating_sub(MOST_SITES) {
        text.push_str(&format!(", and at {}", plural::count(more as u64, "other site")));
    }
    text
}
