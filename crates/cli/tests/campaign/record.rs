//! One recorded run of a case: the trace, its steps, and what the recorder was told.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use reweave_capture::{About, Drain, Recording, Step, Taken, Told, read_steps, read_told};
use reweave_format::{LoadOptions, load};
use reweave_trace::Trace;

use crate::build::{Binary, Front};

/// When a run is ended.
const LIMIT: Duration = Duration::from_secs(10);

/// A run.
pub(crate) struct Run {
    pub(crate) trace: Trace,
    pub(crate) steps: Vec<Step>,
    pub(crate) about: About,
    pub(crate) told: Steps,
    pub(crate) trace_path: PathBuf,
    pub(crate) inputs: PathBuf,
    pub(crate) status: Option<i32>,
    pub(crate) notes: String,
}

fn padded(path: &Path) -> OsString {
    let path = path.as_os_str();
    let mut padded = OsString::from("/".repeat(path.len().next_multiple_of(256) - path.len()));
    padded.push(path);
    padded
}

pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Records a case with a seed for the scheduler.
pub(crate) fn record(binary: &Binary, case: usize, seed: u64) -> Run {
    let raw = binary.folder.path().join(format!("{case}-{seed}.raw"));
    let (status, whole) = run(binary, &[&case.to_string()], seed, &raw, &[]);
    let maps = fs::read_to_string(beside(&raw, ".maps")).unwrap_or_default();
    let notes = fs::read_to_string(beside(&raw, ".note")).unwrap_or_default();
    assert!(whole, "case {case}: the recording is not whole: {notes}");
    let mut recording = Recording::survey(&raw, &maps, false).expect("a recording");
    if binary.front == Front::Plugin {
        recording = recording.tells_branches().find_dependences();
    }
    let trace_path = raw.with_extension("rw");
    let mut writer = reweave_format::create(&trace_path, None, recording.capabilities()).expect("a writer");
    let mut steps_file = Vec::new();
    recording.write_with_steps(&mut *writer, Some(&mut steps_file)).expect("a trace");
    drop(writer);
    let trace = load(&trace_path, &LoadOptions::default()).expect("a trace").trace;
    let mut steps = Vec::new();
    let about = read_steps(&*steps_file, &trace, |_, step| steps.push(step)).expect("steps");
    let told = Steps::read(&raw, &maps);
    Run { trace, steps, about, told, inputs: beside(&raw, ".inputs"), trace_path, status, notes }
}

/// Runs a program once and keeps the raw recording; its exit status, and whether all of it was recorded.
pub(crate) fn run(
    binary: &Binary,
    arguments: &[&str],
    seed: u64,
    raw: &Path,
    environment: &[(&str, String)],
) -> (Option<i32>, bool) {
    let mut drain = Drain::create(raw, u64::MAX, u64::MAX).expect("a ring");
    let mut command = Command::new(&binary.path);
    command
        .args(arguments)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env("REWEAVE_RECORD", padded(raw))
        .env("REWEAVE_RING", padded(drain.ring()));
    for name in ["REWEAVE_PLAN", "REWEAVE_INPUTS"] {
        command.env(name, "/".repeat(256));
    }
    command.env("REWEAVE_POLICY", "random--").stdin(Stdio::null()).stdout(Stdio::null());
    let limit = LIMIT.as_millis() as u64;
    for (name, value) in [("REWEAVE_SEED", seed), ("REWEAVE_TIMEOUT_MS", limit), ("REWEAVE_CLOCK", 0)] {
        command.env(name, format!("{value:020}"));
    }
    let mut child = command.spawn().expect("it starts");
    let started = Instant::now();
    let status = loop {
        while drain.take() == Taken::Some {}
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if started.elapsed() > 2 * LIMIT {
            child.kill().expect("a child");
        }
        std::thread::sleep(Duration::from_micros(300));
    };
    drain.finish();
    (status.code(), drain.is_whole())
}

/// A step by its thread, the place of code and the occurrence: the same in every run.
pub(crate) type Key = (String, String, u64);

/// What the recorder was told, by step.
#[derive(Default)]
pub(crate) struct Steps {
    steps: BTreeMap<Key, Vec<Told>>,
}

impl Steps {
    /// Those of a recording.
    pub(crate) fn read(raw: &Path, maps: &str) -> Steps {
        let mut names: Vec<String> = vec!["main".to_owned()];
        let (mut made, mut counts) = (BTreeMap::new(), BTreeMap::new());
        let mut steps = Steps::default();
        read_told(raw, |told| {
            let place = place(maps, told.code);
            let thread = names.get(told.thread as usize).cloned().unwrap_or_default();
            let count: &mut u64 = counts.entry((thread.clone(), place.clone())).or_default();
            // What libc allocates in a call that had to wait is no step.
            let lifetime = matches!(told.op, reweave_wire::Op::Alloc | reweave_wire::Op::Free);
            *count += u64::from(!(told.part || lifetime && told.code == 0));
            if let (reweave_wire::Op::Fork, Some(child)) = (told.op, told.other) {
                let nth: &mut u64 = made.entry((thread.clone(), place.clone())).or_default();
                *nth += 1;
                names.resize((child as usize + 1).max(names.len()), String::new());
                names[child as usize] = format!("{thread}/{place}#{nth}");
            }
            steps.steps.entry((thread, place, *count)).or_default().push(*told);
        })
        .expect("a recording");
        steps
    }

    pub(crate) fn get(&self, key: &Key) -> &[Told] {
        self.steps.get(key).map_or(&[], Vec::as_slice)
    }
}

/// The name of the module and the offset.
fn place(maps: &str, code: u64) -> String {
    let mut found = "?".to_owned();
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        let start = fields.next().and_then(|range| range.split_once('-'));
        let Some(start) = start.and_then(|(start, _)| u64::from_str_radix(start, 16).ok()) else { continue };
        if start > code {
            break;
        }
        if let (Some("00000000"), Some(path)) = (fields.nth(1), fields.nth(2))
            && path.starts_with('/')
        {
            let name = path.rsplit('/').next().unwrap_or_default();
            found = format!("{name}+{:#x}", code - start);
        }
    }
    if code == 0 { "?".to_owned() } else { found }
}
