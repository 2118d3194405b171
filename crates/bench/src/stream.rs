//! One-pass analyses from `.rw`, on one core.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use reweave_format::synthetic::{self, Shape};
use reweave_format::{Events, create};
use reweave_stream::{Analysis, Stream};

use crate::stream_naive;
use crate::table::row;

const EVENTS: u64 = 4_000_000;
const RUNS: usize = 3;
/// How often two analyses take turns.
const TURNS: usize = 7;
/// The share of calls in traces that have any.
const CALLS: f64 = 0.1;

/// A straightforward search for synchronization-preserving races starts from scratch for each pair of accesses.
const FEW_EVENTS: u64 = 20_000;

/// The first word of a command line that is meant for a process of its own.
pub(crate) const CHILD: &str = "--stream-memory-of";

pub(crate) fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for threads in [10, 64] {
        let bytes = generated(folder.path(), &shape(threads, EVENTS))?;
        let few = generated(folder.path(), &shape(threads, FEW_EVENTS))?;
        println!("generated, {threads} threads, 20 locks, 1,000 variables: {EVENTS} events");
        let (decoding, read) = best(RUNS, || pass(&bytes, &[]));
        ensure!(read?.events == EVENTS, "events were lost");
        row("decoding and the check for well-formedness", EVENTS, decoding, None);
        for analysis in Analysis::ALL {
            let (time, ours) = best(RUNS, || pass(&bytes, &[analysis]));
            let ours = ours?;
            let (naive_bytes, naive_events, ours_on_it) = if analysis == Analysis::SyncP {
                (&few, FEW_EVENTS, pass(&few, &[analysis])?)
            } else {
                (&bytes, EVENTS, ours)
            };
            let (naive_time, naive) = best(1, || stream_naive::racy_events(naive_bytes, analysis));
            let naive = naive?;
            ensure!(naive == ours_on_it.racy, "{analysis}: {naive} racy events, not {}", ours_on_it.racy);
            row(
                &format!("{analysis}, straightforward, {naive_events} events"),
                naive_events,
                naive_time,
                None,
            );
            let as_many = naive_time.mul_f64(EVENTS as f64 / naive_events as f64);
            row(&format!("{analysis}: {} racy events", ours.racy), EVENTS, time, Some(as_many));
        }
        let (time, all) = best(RUNS, || pass(&bytes, &Analysis::ALL));
        all?;
        row("all six in one pass", EVENTS, time, None);
        let (mut wdc, mut edc) = (Duration::MAX, Duration::MAX);
        for _ in 0..TURNS {
            // In turn, so that what else the machine does meets both.
            wdc = wdc.min(best(1, || pass(&bytes, &[Analysis::Wdc])).0);
            edc = edc.min(best(1, || pass(&bytes, &[Analysis::Edc])).0);
        }
        println!("  edc takes {:.2} times as long as wdc", edc.as_secs_f64() / wdc.as_secs_f64());
        let calls = generated(folder.path(), &Shape { calls: CALLS, ..shape(threads, EVENTS) })?;
        println!("the same, and {CALLS} of the events are calls of sets");
        for analyses in [&[][..], &[Analysis::Wdc], &[Analysis::Edc]] {
            let (time, ours) = best(RUNS, || pass(&calls, analyses));
            let name =
                analyses.first().map_or("decoding and the check for well-formedness", |one| one.name());
            row(&format!("{name}: {} racy events", ours?.racy), EVENTS, time, None);
        }
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Passed {
    events: u64,
    racy: u64,
}

/// The least time of several runs that this thread was on a processor, where the system tells that: others may use the
/// machine as well.
fn best<T>(runs: usize, mut run: impl FnMut() -> T) -> (Duration, T) {
    let on_cpu = || {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(Duration::from_nanos(told.split_whitespace().next()?.parse().ok()?))
    };
    let mut timed = || {
        let (start, start_cpu) = (Instant::now(), on_cpu());
        let result = run();
        let time = on_cpu().zip(start_cpu).map_or_else(|| start.elapsed(), |(end, start)| end - start);
        (time, result)
    };
    let mut shortest = timed();
    for _ in 1..runs {
        let next = timed();
        shortest = if next.0 < shortest.0 { next } else { shortest };
    }
    shortest
}

fn pass(bytes: &[u8], analyses: &[Analysis]) -> Result<Passed> {
    let mut racy = 0;
    let events = stream(Events::from_bytes("bench.rw", bytes, None)?, analyses, &mut racy)?;
    Ok(Passed { events, racy })
}

fn stream(mut events: Events<'_>, analyses: &[Analysis], racy: &mut u64) -> Result<u64> {
    let mut stream = Stream::new(analyses, false);
    while events.advance()? {
        stream.block(events.names(), &events.rows(), &mut |_, _| *racy += 1)?;
    }
    Ok(stream.events())
}

fn shape(threads: u32, events: u64) -> Shape {
    Shape { events, threads, locks: 20, variables: 1000, ..Shape::default() }
}

fn generated(folder: &Path, shape: &Shape) -> Result<Vec<u8>> {
    let path = folder.join("stream.rw");
    synthetic::generate(shape, &mut *create(&path, None, shape.capabilities())?)?;
    Ok(std::fs::read(path)?)
}

/// Peak memory, each in a process of its own, on ever longer traces.
pub(crate) fn memory() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.rw");
    for events in [10_000_000, 100_000_000] {
        for calls in [0.0, CALLS] {
            let shape = Shape { calls, ..shape(10, events) };
            synthetic::generate(&shape, &mut *create(&path, None, shape.capabilities())?)?;
            for analysis in Analysis::ALL {
                // The others need history; calls matter to the one.
                let needs_all = events > 10_000_000 && matches!(analysis, Analysis::SyncP);
                if needs_all || calls > 0.0 && !matches!(analysis, Analysis::Wdc | Analysis::Edc) {
                    continue;
                }
                let child = Command::new(std::env::current_exe()?)
                    .args([CHILD, analysis.name()])
                    .arg(&path)
                    .output()?;
                ensure!(child.status.success(), "{}", String::from_utf8_lossy(&child.stderr));
                let with = if calls > 0.0 { " with calls" } else { "" };
                let said = String::from_utf8_lossy(&child.stdout).into_owned();
                print!("  {events:>11} events{with}, {analysis:<5}: {said}");
            }
        }
    }
    Ok(())
}

/// Runs one analysis on a file, and prints the most memory that this process had.
pub(crate) fn measured_child(analysis: &str, path: &str) -> Result<()> {
    let mut racy = 0;
    let analyses = if analysis == "none" { vec![] } else { vec![analysis.parse()?] };
    stream(Events::open(Path::new(path), None)?, &analyses, &mut racy)?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).context("this system does not tell")?;
    println!("{} at most, {racy} racy events", peak.trim_start_matches("VmHWM:").trim());
    Ok(())
}
