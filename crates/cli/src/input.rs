//! Traces as the user names them: files, folders, standard input.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use reweave_format::{Format, LoadOptions, Loaded};
use reweave_trace::Defect;

use crate::args::{Global, Reading};
use crate::console::Console;
use crate::failure::Failure;
use crate::limited;
use crate::plural;
use crate::progress::{Progress, Unit};

/// Whether `path` stands for standard input or output.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Loads one trace, and warns of what the user should know about it.
pub(crate) fn load(
    path: &Path,
    reading: Reading,
    global: &Global,
    console: &Console,
) -> anyhow::Result<Loaded> {
    Ok(loaded(loading(path, reading, global, console)()?, path, console))
}

/// Warns of what the user should know about a trace.
pub(crate) fn loaded(loaded: Loaded, path: &Path, console: &Console) -> Loaded {
    tell_notices(&loaded, path, console);
    for repair in repairs(&loaded, path) {
        console.warn(format_args!("{}: repaired: {}", path.display(), repair.text));
    }
    loaded
}

/// Loads one trace; the caller tells of its repairs.
pub(crate) fn load_silently(
    path: &Path,
    reading: Reading,
    global: &Global,
    console: &Console,
) -> anyhow::Result<Loaded> {
    let loaded = loading(path, reading, global, console)()?;
    tell_notices(&loaded, path, console);
    Ok(loaded)
}

/// What loads one trace and says nothing but how far it is, on whichever thread.
pub(crate) fn loading(
    path: &Path,
    reading: Reading,
    global: &Global,
    console: &Console,
) -> impl FnOnce() -> Result<Loaded, reweave_format::Error> + Send + use<> {
    let name = path.file_name().unwrap_or(path.as_os_str()).display();
    let progress = Progress::new(format!("reading {name}"), Unit::Bytes, console);
    let (path, jobs) = (path.to_owned(), global.jobs.map_or(0, usize::from));
    move || {
        let update = |done: u64, total: Option<u64>| progress.update(done, total);
        let Reading { format, repair } = reading;
        reweave_format::load(&path, &LoadOptions { format, repair, jobs, progress: Some(&update) })
    }
}

fn tell_notices(loaded: &Loaded, path: &Path, console: &Console) {
    for notice in &loaded.notices {
        console.warn(format_args!("{}: {notice}", path.display()));
    }
}

/// The same trace, whose calls follow the specifications in these files; each has to hold.
pub(crate) fn with_specifications(mut loaded: Loaded, files: &[PathBuf]) -> anyhow::Result<Loaded> {
    if files.is_empty() {
        return Ok(loaded);
    }
    let mut text = String::new();
    for file in files {
        let own = limited::read_text(file, limited::SPECIFICATIONS)?;
        reweave_spec::read_checked(&own).map_err(|refused| {
            let between = if matches!(refused, reweave_spec::Refused::Mistake(_)) { ":" } else { ": " };
            Failure::new(format!("{}{between}{refused}", file.display()))
        })?;
        text += &own;
        text.push('\n');
    }
    // Two files may each have a type of one name.
    reweave_spec::read_checked(&text)
        .map_err(|refused| Failure::new(format!("the specifications together: {refused}")))?;
    loaded.trace = loaded.trace.with_specifications(&text);
    Ok(loaded)
}

/// One kind of repair that was made.
pub(crate) struct Repair {
    pub(crate) defect: Defect,
    pub(crate) count: u64,
    pub(crate) first_event: u32,
    pub(crate) first_line: Option<u64>,
    /// All of it in one line.
    pub(crate) text: String,
}

/// What was mended in a trace, for people and for programs.
pub(crate) fn repairs(loaded: &Loaded, path: &Path) -> Vec<Repair> {
    let one = |(defect, count, first): (Defect, u64, reweave_trace::EventId)| {
        let line = loaded.lines.as_ref().and_then(|lines| lines.line(first));
        let place = match line {
            Some(line) => format!("{}:{line}", path.display()),
            None => format!("event {}", first.0),
        };
        let text = format!("{} x {defect} (first at {place}): {}", plural::grouped(count), defect.remedy());
        Repair { defect, count, first_event: first.0, first_line: line, text }
    };
    loaded.repairs.iter().map(one).collect()
}

/// The files that `paths` stand for: a folder for the traces in it, in order of their names.
pub(crate) fn expand(paths: &[PathBuf], reading: Reading) -> anyhow::Result<Vec<PathBuf>> {
    if paths.iter().filter(|path| is_standard(path)).count() > 1 {
        return Err(Failure::new("standard input can be read only once").into());
    }
    let mut files = Vec::new();
    for path in paths {
        if is_standard(path) || !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let before = files.len();
        walk(path, reading.format, &mut files).with_context(|| path.display().to_string())?;
        if files.len() == before {
            let message = format!("{}: the folder has no trace in it", path.display());
            let hint =
                "the extension says which files are traces, such as .std or .rw; --format takes every file";
            return Err(Failure::new(message).hint(hint).into());
        }
    }
    Ok(files)
}

fn walk(folder: &Path, format: Option<Format>, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // Folders behind links are left out: they could go round in circles.
        if kind.is_dir() {
            walk(&path, format, files)?;
        } else if path.is_file() && (format.is_some() || Format::from_path(&path).is_some()) {
            files.push(path);
        }
    }
    Ok(())
}
