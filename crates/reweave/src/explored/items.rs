//! Explorations in parts: files that any number of processes can work on, on any machine.
//!
//! `Builder::split` writes a file for each part; `Builder::item` explores one of them and leaves its result beside it; [`merge`] adds
//! up. A part whose process was killed has no result, and is done again: results appear as a whole or not at all.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use reweave_explore::{Error, Item};

use super::host::{Explored, Host};
use super::report::{no_answer, read_schedule, write_schedule};
use super::result::{PartResult, field};
use super::{Builder, Engine, Exploration, Verdict};

const ITEM: &str = "reweave item 1";

/// The file of an item; 0 is what lies before all of them, which is done when they are written.
fn file(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number:06}.item"))
}

fn wrong(path: &Path, what: impl std::fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()))
}

/// Says which file an error is about.
fn of<T>(path: &Path, result: io::Result<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Writes a file that is there as a whole or not at all.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.{}", std::process::id()));
    of(&beside, fs::write(&beside, text))?;
    of(path, fs::rename(&beside, path))
}

/// The result of an item stands beside it.
fn result_of(item: &Path) -> PathBuf {
    item.with_extension("result")
}

/// A hash of texts, one after the other; the same in every build.
pub(super) fn hash(before: u64, text: &str) -> u64 {
    let start = before ^ 0xCBF2_9CE4_8422_2325;
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

impl Builder {
    /// What has to be the same for all parts.
    fn line(&self) -> String {
        let engine = if self.engine == Engine::Trace { "trace" } else { "saturate" };
        let types: Vec<&str> = self.types.iter().map(|one| one.name.as_str()).collect();
        format!(
            "engine={engine} spurious={} timeouts={} max_steps={} commuting={} symmetry={} keep_going={} audit={} \
             types={} specifications={:016x}",
            self.spurious,
            self.timeouts,
            self.max_steps,
            self.commuting,
            self.symmetry,
            self.keep_going,
            self.audit,
            types.join(","),
            self.types_hash
        )
    }

    /// A bound on preemptions counts from the start, and schedules by chance have no parts.
    fn can_be_split(&self) -> io::Result<()> {
        if self.preemptions.is_some() || self.sample.is_some() {
            let what = "an exploration with `preemptions` or `sample` has no parts";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(())
    }

    /// Writes about so many parts of the exploration into a folder, `000001.item` and so on; how many there are. There are none
    /// where all is done already: something fails before them, or there is little to explore.
    ///
    /// # Errors
    ///
    /// Where a file cannot be written, or the builder has `preemptions` or `sample`.
    pub fn split<F: Fn() + 'static>(self, items: usize, folder: &Path, body: F) -> io::Result<usize> {
        self.can_be_split()?;
        of(folder, fs::create_dir_all(folder))?;
        for entry in of(folder, fs::read_dir(folder))?.flatten() {
            // Parts of an earlier one would be taken for parts of this.
            if entry.path().extension().is_some_and(|end| end == "item" || end == "result") {
                of(&entry.path(), fs::remove_file(entry.path()))?;
            }
        }
        let body: Rc<dyn Fn()> = Rc::new(body);
        let (host, (parts, exploration)) = self.settled(&body, |host| self.split_by(host, items));
        let count = parts.len();
        let line = self.line();
        let first = PartResult { line: line.clone(), number: 0, of: count, exploration };
        for (number, item) in (1..).zip(&parts) {
            let mut text = format!("{ITEM}\noptions {line}\nitem {number} of {count}\n");
            let _ = writeln!(text, "prefix {}", write_schedule(&host, &item.prefix));
            let _ = writeln!(text, "asleep {}", write_schedule(&host, &item.asleep));
            write_whole(&file(folder, number), &text)?;
        }
        // It comes last: a split that was interrupted is none.
        write_whole(&result_of(&file(folder, 0)), &first.text())?;
        Ok(count)
    }

    fn split_by(&self, host: &Host, items: usize) -> (Vec<Item>, Exploration) {
        let started = Instant::now();
        let (mut parts, trace) = (Vec::new(), self.engine == Engine::Trace);
        let exploration = self.searched(host, started, |explorer, limits| {
            let split = explorer.split(&mut Explored(host), limits, items.max(1), trace)?;
            parts = split.items;
            Ok(split.report)
        });
        if matches!(exploration.verdict, Verdict::Stopped) {
            parts.clear();
        }
        (parts, exploration)
    }

    /// Explores the part in a file, and leaves the result beside it. What is *proved* then holds for the interleavings that
    /// begin as the part does.
    ///
    /// # Errors
    ///
    /// Where the file is no part of this exploration, or the result cannot be written.
    pub fn item<F: Fn() + 'static>(self, file: &Path, body: F) -> io::Result<Exploration> {
        self.can_be_split()?;
        let text = of(file, fs::read_to_string(file))?;
        if text.lines().next() != Some(ITEM) {
            return Err(wrong(file, format_args!("a part begins with the line `{ITEM}`")));
        }
        let line = field(&text, "options").unwrap_or_default();
        if line != self.line() {
            let own = self.line();
            return Err(wrong(file, format_args!("it was made with other options: {line}; here: {own}")));
        }
        let numbers = field(&text, "item").and_then(|words| {
            let (number, count) = words.split_once(" of ")?;
            Some((number.parse().ok()?, count.parse().ok()?))
        });
        let Some((number, of)) = numbers else { return Err(wrong(file, "there is no line `item N of N`")) };
        let body: Rc<dyn Fn()> = Rc::new(body);
        let exploration = self.part(&body, &text).ok_or_else(|| wrong(file, "no schedule in it"))?;
        if exploration.impossible {
            return Err(wrong(file, "its schedule is not possible: it is a part of another test"));
        }
        let result = PartResult { line: self.line(), number, of, exploration };
        write_whole(&result_of(file), &result.text())?;
        Ok(result.exploration)
    }

    fn part(&self, body: &Rc<dyn Fn()>, text: &str) -> Option<Exploration> {
        let (counting, _) = super::places::counting(&field(text, "prefix")?);
        let mut apart = !self.symmetry;
        loop {
            let host = Host::new(Rc::clone(body), &self.types, apart, counting.clone());
            let moves = |name| read_schedule(&host, &field(text, name)?);
            let item = Item { prefix: moves("prefix")?, asleep: moves("asleep")? };
            let exploration = self.search_item(&host, Instant::now(), &item);
            if host.told_apart() && !apart {
                apart = true;
                continue;
            }
            let counts = host.counts.take();
            return Some(match counts {
                // The prefixes of all parts mean something else where it is not taken for waiting.
                Some(place) => no_answer(
                    self,
                    format!(
                        "explore: stopped, not proved: the loop at {place} counts its rounds, and was taken for one that waits \
                     when the exploration was split: explore it as a whole\n"
                    ),
                ),
                None => exploration,
            });
        }
    }

    /// Explores in parts that are kept in a folder: where it was ended before, it goes on with the parts that are left.
    ///
    /// # Errors
    ///
    /// As [`Builder::split`] and [`Builder::item`].
    pub fn checkpoint<F: Fn() + 'static>(
        self,
        items: usize,
        folder: &Path,
        body: F,
    ) -> io::Result<Exploration> {
        let body: Rc<dyn Fn()> = Rc::new(body);
        let begun = result_of(&file(folder, 0));
        let same = fs::read_to_string(&begun).ok().and_then(|text| field(&text, "options"));
        if same.as_ref() != Some(&self.line()) {
            let body = Rc::clone(&body);
            self.clone().split(items, folder, move || body())?;
        }
        let (_, count) = parts(folder)?;
        for path in (1..=count).map(|number| file(folder, number)) {
            if !result_of(&path).exists() {
                let body = Rc::clone(&body);
                let done = self.clone().item(&path, move || body())?;
                if matches!(done.verdict, Verdict::Failed { .. }) && !self.keep_going {
                    break;
                }
            }
        }
        merge(folder)
    }
}

/// What came of the split itself, and how many parts it has.
fn parts(folder: &Path) -> io::Result<(PartResult, usize)> {
    let path = result_of(&file(folder, 0));
    let text = fs::read_to_string(&path)
        .map_err(|error| wrong(&path, format_args!("{error}; the exploration was not split to the end")))?;
    let first = PartResult::read(&text).map_err(|what| wrong(&path, what))?;
    let count = first.of;
    Ok((first, count))
}

/// Adds up the results of all parts in a folder: *proved* where all are there and proved, *failed* where one failed.
///
/// # Errors
///
/// Where there is no exploration in parts in the folder, or a result cannot be read.
pub fn merge(folder: &Path) -> io::Result<Exploration> {
    let (first, count) = parts(folder)?;
    let (mut all, mut missing) = (vec![first], Vec::new());
    for number in 1..=count {
        let path = result_of(&file(folder, number));
        match fs::read_to_string(&path) {
            Ok(text) => {
                let result = PartResult::read(&text).map_err(|what| wrong(&path, what))?;
                if (result.number, result.of, &result.line) != (number, count, &all[0].line) {
                    return Err(wrong(&path, "it is a part of another exploration"));
                }
                all.push(result);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => missing.push(number),
            Err(error) => return of(&path, Err(error)),
        }
    }
    Ok(joined(all, count, &missing))
}

fn joined(all: Vec<PartResult>, count: usize, missing: &[usize]) -> Exploration {
    let shown = all.iter().map(|part| &part.exploration);
    let mut assumes: Vec<String> = Vec::new();
    for line in shown.clone().flat_map(|part| &part.assumes) {
        if !assumes.contains(line) {
            assumes.push(line.clone());
        }
    }
    let bad = shown.clone().find(|part| matches!(part.verdict, Verdict::Failed { .. }));
    let open = shown.clone().find(|part| matches!(part.verdict, Verdict::Stopped));
    let (verdict, mut text) = match (bad, open) {
        (Some(bad), _) => (bad.verdict.clone(), bad.text.clone()),
        (None, Some(open)) => (Verdict::Stopped, open.text.clone()),
        (None, None) if !missing.is_empty() => {
            let numbers: Vec<String> = missing.iter().take(10).map(|number| format!("{number:06}")).collect();
            let what = format!("{} of {count} parts have no result", missing.len());
            (Verdict::Stopped, format!("explore: {what}: {}; not proved\n", numbers.join(", ")))
        }
        (None, None) => (Verdict::Proved, "explore: proved, no failure in any interleaving\n".to_owned()),
    };
    if matches!(verdict, Verdict::Proved) {
        let _ = writeln!(text, "  {}", assumes.join("; "));
    }
    let _ = write!(text, "  in {count} parts");
    let mut joined = Exploration { verdict, text, assumes, left_at: None, ..all[0].exploration.clone() };
    (joined.runs, joined.states, joined.executions, joined.seconds) = (0, 0, 0, 0.0);
    joined.failures.clear();
    // The one that is shown is first.
    let failures = bad.into_iter().chain(shown.clone()).flat_map(|part| &part.failures);
    for failure in failures {
        if !joined.failures.iter().any(|known| (known.kind, &known.what) == (failure.kind, &failure.what)) {
            joined.failures.push(failure.clone());
        }
    }
    for part in shown {
        joined.runs += part.runs;
        joined.states += part.states;
        joined.executions += part.executions;
        joined.seconds += part.seconds;
        joined.relied_on.extend(part.relied_on.iter().cloned());
    }
    joined.relied_on.sort_unstable();
    joined.relied_on.dedup();
    let _ = write!(joined.text, ": {} runs of the closure, {} states", joined.runs, joined.states);
    if joined.engine == Engine::Trace {
        let _ = write!(joined.text, ", {} executions", joined.executions);
    }
    joined
}

/// Whether an error says that a schedule is of another program.
pub(super) fn is_impossible(result: &Result<reweave_explore::Report, Error>) -> bool {
    matches!(result, Err(Error::Impossible(_)))
}
