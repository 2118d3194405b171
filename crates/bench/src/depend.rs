//! Dependences: what it costs to find them and to use them, and what they find.
//!
//! Each program is compiled with the plugin and recorded once. Its recording becomes a trace with
//! dependences and without, in turn, each time in a process of its own, so that the most memory
//! that each had can be told; the shortest time on processors counts. A program that was compiled
//! before is measured by `--depend-of PROGRAM ARGUMENT…` in place of the name of a section.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use reweave_capture::Recording;
use reweave_decide::Limits;
use reweave_detect::{Kind, Options, predict};
use reweave_format::{LoadOptions, create, load};
use reweave_session::{Folder, Launch};
use reweave_trace::{Model, Trace};

use crate::programs;
use crate::record::prepare;

/// The first words of command lines that are meant for a process of its own, and for one program.
pub(crate) const CHILD: &str = "--convert-of";
pub(crate) const PROGRAM: &str = "--depend-of";

/// How often a recording becomes a trace, in each way.
const RUNS: usize = 5;
/// How often a search is repeated.
const SEARCHES: usize = 3;
/// Searches that took longer are not repeated.
const LONG: Duration = Duration::from_secs(30);
/// The work for a candidate, in place of a budget of time.
const WORK: u64 = 20_000_000;
/// How much a program compresses.
const BYTES: usize = 250_000;
/// How many reasons to depend on everything are named.
const REASONS: usize = 4;
/// What came of replayed findings, in the words of reports.
const OUTCOMES: [&str; 4] = ["confirmed", "diverged", "hung", "finished"];

pub(crate) fn run() -> Result<()> {
    let Some(bench) = prepare(programs::pbzip2)? else { return Ok(()) };
    let (built, mut arguments) = (bench.build_ours("plugin")?, bench.arguments());
    if let Some(file) = arguments.last_mut() {
        // Three blocks: the search takes long where there are many.
        let short = built.with_extension("input");
        fs::write(&short, fs::read(&*file)?.get(..BYTES).context("the input is too short")?)?;
        println!("the first {BYTES} bytes of it\n");
        *file = short.into();
    }
    measure(&reweave()?, &built, &arguments)?;
    let folder = tempfile::tempdir()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, compiler) in [("lost_update.c", "cc"), ("two_variables.c", "cc"), ("statistics.cpp", "c++")] {
        println!("examples/bugs/{name}\n");
        let built = folder.path().join(name).with_extension("");
        let mut command = Command::new(reweave()?);
        command.args([compiler, "--reweave-front=plugin", "-O1", "-w"]);
        programs::checked(command.arg(root.join("examples/bugs").join(name)).arg("-o").arg(&built))?;
        measure(&reweave()?, &built, &[])?;
    }
    Ok(())
}

/// Measures a program that was compiled with the plugin.
pub(crate) fn of_program(words: &[String]) -> Result<()> {
    let (program, arguments) = words.split_first().context("which program?")?;
    println!("{}\n", words.join(" "));
    measure(&reweave()?, Path::new(program), &arguments.iter().map(OsString::from).collect::<Vec<_>>())
}

fn reweave() -> Result<PathBuf> {
    let here = std::env::current_exe()?;
    let path = here.parent().context("a program lies in a folder")?.join("reweave");
    ensure!(path.exists(), "build `reweave` first, beside this program");
    Ok(path)
}

/// What a process of its own says of making a trace.
struct Converted {
    time: Duration,
    kilobytes: u64,
    bytes: u64,
    /// How many events depend on everything, by what was not understood.
    reasons: Vec<(String, u64)>,
}

fn measure(reweave: &Path, program: &Path, arguments: &[OsString]) -> Result<()> {
    let folder = Folder::temporary()?;
    let launch = Launch { policy: "plain", seed: 1, ..Launch::new(program.as_os_str(), arguments) };
    let streams = |command: &mut Command| _ = command.stdin(Stdio::null()).stdout(Stdio::null());
    let ended = launch.start(&folder, streams)?.wait(|error| eprintln!("{error}"))?;
    println!("  ended with {}", ended.status);
    let path = folder.path().join("trace.rw");
    let mut best: [Option<Converted>; 2] = [None, None];
    for _ in 0..RUNS {
        for (best, with) in best.iter_mut().zip(["without", "with"]) {
            let new = converted(&folder, with, &path)?;
            *best = match best.take() {
                Some(old) if old.time <= new.time => {
                    Some(Converted { kilobytes: old.kilobytes.max(new.kilobytes), ..old })
                }
                _ => Some(new),
            };
        }
    }
    let [Some(without), Some(with)] = best else { return Ok(()) };
    let trace = load(&path, &LoadOptions { jobs: 2, ..LoadOptions::default() })?.trace;
    conversions(&trace, &without, &with);
    searches(&trace)?;
    found(reweave, folder.path(), program, arguments)?;
    println!();
    Ok(())
}

fn converted(folder: &Folder, with: &str, path: &Path) -> Result<Converted> {
    let mut child = Command::new(std::env::current_exe()?);
    let files = folder.files();
    let ran = programs::checked(child.args([CHILD, with]).arg(files.raw()).arg(path))?;
    let said = String::from_utf8(ran.stdout)?;
    let mut lines = said.lines();
    let head = lines.next().context("nothing was said")?;
    let [nanoseconds, kilobytes] = head.split(' ').map(str::parse).collect::<Result<Vec<u64>, _>>()?[..]
    else {
        anyhow::bail!("{head}");
    };
    let reason = |line: &str| {
        let (count, why) = line.split_once(' ')?;
        Some((why.to_owned(), count.parse().ok()?))
    };
    let (time, bytes) = (Duration::from_nanos(nanoseconds), fs::metadata(path)?.len());
    Ok(Converted { time, kilobytes, bytes, reasons: lines.filter_map(reason).collect() })
}

/// Makes a trace of a recording, and says how long that took and how much memory this process had.
pub(crate) fn convert(with: &str, raw: &str, path: &str) -> Result<()> {
    let start = Instant::now();
    let maps = fs::read(format!("{raw}.maps"))?;
    let recording = Recording::survey(Path::new(raw), &String::from_utf8_lossy(&maps), false)?;
    let mut recording = recording.tells_branches();
    if with == "with" {
        recording = recording.find_dependences();
    }
    let mut writer = create(Path::new(path), None, recording.capabilities())?;
    let summary = recording.write(&mut *writer)?;
    drop(writer);
    let time = on_processors().unwrap_or_else(|| start.elapsed());
    let status = fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")).context("this system does not tell")?;
    println!("{} {peak}", time.as_nanos());
    for (why, count) in summary.dependent.unwrap_or_default() {
        println!("{count} {why}");
    }
    Ok(())
}

/// How long this process was on processors, in steps of 10 ms, where the system tells that: others
/// may use the machine as well.
fn on_processors() -> Option<Duration> {
    let told = fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = told.rsplit_once(')')?;
    let ticks: Vec<u64> =
        fields.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>().ok()?;
    Some(Duration::from_millis(ticks.iter().sum::<u64>() * 10))
}

fn conversions(trace: &Trace, without: &Converted, with: &Converted) {
    let events = trace.len() as f64;
    let ratio = |one: f64, other: f64| one / other;
    let (time, old) = (with.time.as_secs_f64(), without.time.as_secs_f64());
    println!("  {} events in the trace", trace.len());
    println!(
        "  made from the recording in {:.1} ms, with dependences {:.1} ms: {:.2} times; of that, dependences {:.0} %",
        old * 1e3,
        time * 1e3,
        ratio(time, old),
        (1.0 - old / time) * 100.0
    );
    println!(
        "  memory for that: {:.1} MB, with dependences {:.1} MB: {:.2} times",
        without.kilobytes as f64 / 1024.0,
        with.kilobytes as f64 / 1024.0,
        ratio(with.kilobytes as f64, without.kilobytes as f64)
    );
    println!(
        "  the table takes {:.2} bytes an event, in {:.2} in all",
        (with.bytes as f64 - without.bytes as f64) / events,
        with.bytes as f64 / events
    );
    let all: u64 = with.reasons.iter().map(|(_, count)| count).sum();
    let named: Vec<String> =
        with.reasons.iter().take(REASONS).map(|(why, count)| format!("{count} {why}")).collect();
    println!(
        "  {all} events ({:.1} %) depend on everything that their thread has read: {}",
        all as f64 * 100.0 / events,
        named.join(", ")
    );
}

/// Races and deadlocks, in the models with branches and values and with dependences and values.
fn searches(trace: &Trace) -> Result<()> {
    let (mut times, start) = ([Duration::MAX; 2], Instant::now());
    for number in 0..SEARCHES {
        if number > 0 && start.elapsed() > LONG {
            break;
        }
        for (time, model) in times.iter_mut().zip([Model::BranchValue, Model::DepValue]) {
            let limits = Limits { work: Some(WORK), stop: None };
            let kinds = vec![Kind::Race, Kind::Deadlock];
            let options = Options { kinds, jobs: 2, limits, ..Options::default() };
            let start = Instant::now();
            predict(trace, model, &options)?;
            *time = start.elapsed().min(*time);
        }
    }
    println!(
        "  races and deadlocks searched up to branch+value in {:.1} ms, up to dep+value in {:.1} ms: {:.2} times",
        times[0].as_secs_f64() * 1e3,
        times[1].as_secs_f64() * 1e3,
        times[1].as_secs_f64() / times[0].as_secs_f64()
    );
    Ok(())
}

/// Records the program once more, as a user would, and replays what is found.
fn found(reweave: &Path, folder: &Path, program: &Path, arguments: &[OsString]) -> Result<()> {
    let path = folder.join("confirmed.rw");
    let mut record = Command::new(reweave);
    record.args(["record", "--quiet", "--dependences", "--policy", "plain", "--seed", "1", "-o"]);
    record.arg(&path).arg("--").arg(program).args(arguments);
    record.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    let mut predict = Command::new(reweave);
    predict.args(["predict", "--time", "5m", "--confirm"]).arg(&path).arg("--").arg(program).args(arguments);
    let ran = predict.stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let by_model = text.lines().find(|line| line.starts_with("  findings by model: "));
    println!("{}", by_model.unwrap_or("  nothing found"));
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    for outcome in OUTCOMES {
        let count = text.matches(&format!("replayed on the program: {outcome}")).count();
        if count > 0 {
            outcomes.insert(outcome, count);
        }
    }
    let said: Vec<String> = outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    println!("  replayed: {}", if said.is_empty() { "nothing".to_owned() } else { said.join(", ") });
    Ok(())
}
