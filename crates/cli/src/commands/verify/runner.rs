//! One of the two programs, and its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;
use reweave_capture::{BinaryError, Listing, ModuleFile, build_of, list};
use reweave_replay::{Ended, Order, Run, Schedule, Wish};
use reweave_session::Folder;
use reweave_verify::{Code, Ran};

use super::fails::{Failed, failure};
use super::given::Program;
use super::look::Opened;
use crate::args::VerifyArgs;
use crate::commands::record;
use crate::commands::replay::finding::Context as Recorded;
use crate::commands::replay::recorded::inputs_path;
use crate::console::Console;
use crate::failure::Failure;

/// Larger files are no source.
const MOST_SOURCE: u64 = 1 << 22;

/// A step of a schedule that may not be possible here is not waited for longer than this.
const PATIENCE: u64 = 5_000;

/// No run has less time than this.
const SHORTEST: Duration = Duration::from_millis(100);

/// A program and how it is run.
pub(super) struct Runner<'r> {
    pub(super) program: PathBuf,
    pub(super) module: ModuleFile,
    arguments: &'r [OsString],
    /// Where it runs.
    within: Option<PathBuf>,
    args: &'r VerifyArgs,
    /// Where its traces go, and how their names begin.
    folder: &'r Path,
    name: &'static str,
    /// When the budget is used up.
    end: Instant,
    /// What the recorder says goes to a file.
    quiet: Console,
    pub(super) runs: u32,
}

/// A run that was recorded.
pub(super) struct Taken {
    pub(super) trace: PathBuf,
    pub(super) ended: Ended,
    /// How it failed; none where it did not.
    pub(super) failed: Option<Failed>,
    pub(super) ran: Ran,
}

/// What a program consists of of which only a trace is left.
pub(super) fn traced(opened: &Opened) -> anyhow::Result<Code> {
    let context = Recorded::new(&opened.loaded.trace, &opened.path)?;
    Ok(Code::of_trace(&opened.loaded.trace, context.steps()))
}

/// What a program consists of, without the text of its lines.
pub(super) fn code(program: &Path) -> anyhow::Result<Code> {
    Ok(Code::new(&listing(program)?, |_, _| None))
}

/// What both programs consist of. The text of lines helps to find the same line again, where each has files of its own: a file
/// of both may have been changed since the first was built.
pub(super) fn codes(before: &Path, after: &Path) -> anyhow::Result<(Code, Code)> {
    let (old, new) = (listing(before)?, listing(after)?);
    let files = |listing: &Listing| -> BTreeSet<String> {
        listing.operations.iter().map(|operation| operation.file.clone()).collect()
    };
    let (ours, theirs) = (files(&old), files(&new));
    let mut texts = Texts { shared: ours.intersection(&theirs).cloned().collect(), files: BTreeMap::new() };
    let old = Code::new(&old, |file, line| texts.line(file, line));
    let new = Code::new(&new, |file, line| texts.line(file, line));
    Ok((old, new))
}

fn listing(path: &Path) -> anyhow::Result<Listing> {
    list(path).map_err(|error| match error {
        BinaryError::Io { .. } => Failure::new(error.to_string()).into(),
        error => Failure::new(format!("{}: {error}", path.display()))
            .hint("compile and link it with `reweave cc` or `reweave c++`")
            .into(),
    })
}

struct Texts {
    /// Files that both programs are compiled from.
    shared: BTreeSet<String>,
    files: BTreeMap<String, Option<Vec<String>>>,
}

impl Texts {
    fn line(&mut self, file: &str, line: u32) -> Option<String> {
        if self.shared.contains(file) {
            return None;
        }
        let lines = self.files.entry(file.to_owned()).or_insert_with(|| {
            let about = fs::metadata(file).ok().filter(|about| about.is_file() && about.len() <= MOST_SOURCE);
            let text = about.and_then(|_| fs::read_to_string(file).ok())?;
            Some(text.lines().map(|line| line.trim().to_owned()).collect())
        });
        lines.as_ref()?.get(usize::try_from(line).ok()?.checked_sub(1)?).cloned()
    }
}

impl<'r> Runner<'r> {
    pub(super) fn new(
        program: Program,
        arguments: &'r [OsString],
        args: &'r VerifyArgs,
        folder: &'r Path,
        name: &'static str,
        end: Instant,
    ) -> anyhow::Result<Runner<'r>> {
        let Program { path: program, folder: within } = program;
        let bytes = fs::read(&program).with_context(|| program.display().to_string())?;
        let module = ModuleFile {
            name: program.file_name().unwrap_or_default().to_string_lossy().replace(['\t', '\n', ' '], "_"),
            build: build_of(&bytes),
        };
        let quiet = Console::to_file(File::create(folder.join(format!("{name}.log")))?);
        Ok(Runner { program, module, arguments, within, args, folder, name, end, quiet, runs: 0 })
    }

    fn run<'s>(&'s self, inputs: Option<&'s Path>) -> Run<'s> {
        Run {
            program: &self.program,
            arguments: self.arguments,
            input: self.args.input.as_deref(),
            timeout: self.args.timeout.min(self.left()),
            recorded_inputs: inputs,
            recording: None,
            folder: self.within.as_deref(),
            follows_child: false,
        }
    }

    /// The time that is left. A run that has begun has a little of it, so that it ends as runs do.
    fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now()).max(SHORTEST)
    }

    fn next_trace(&mut self) -> PathBuf {
        self.runs += 1;
        self.folder.join(format!("{}-{}.rw", self.name, self.runs))
    }

    /// A run that follows no schedule.
    pub(super) fn record(&mut self, policy: &str, seed: u64) -> anyhow::Result<Taken> {
        let trace = self.next_trace();
        let folder = record::folder(&trace)?;
        let ended = self.run(None).record_in(&folder, policy, seed);
        self.taken(trace, folder, ended)
    }

    /// A run under a schedule; `from` is the trace that it is of, whose inputs are given again.
    pub(super) fn force(
        &mut self,
        schedule: &Schedule,
        order: Order,
        from: Option<&Path>,
    ) -> anyhow::Result<Taken> {
        let trace = self.next_trace();
        let folder = record::folder(&trace)?;
        let inputs = from.map(inputs_path).filter(|path| path.exists());
        let wish = Wish { order, strict: false, stops: false, patience: Some(PATIENCE) };
        let ended = self.run(inputs.as_deref()).start_in(&folder, true, schedule, wish);
        self.taken(trace, folder, ended)
    }

    fn taken(
        &self,
        trace: PathBuf,
        folder: Folder,
        ended: Result<Ended, reweave_replay::Error>,
    ) -> anyhow::Result<Taken> {
        let ended = ended.with_context(|| format!("{} could not be run", self.program.display()))?;
        let mut ran = Vec::new();
        record::trace_of(folder, &ended, &trace, false, Some(&mut ran), &self.quiet)?;
        let failed = failure(&ended, self.args, self.within.as_deref(), self.end)?;
        Ok(Taken { trace, ended, failed, ran: ran.into_iter().collect() })
    }
}
