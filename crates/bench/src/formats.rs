//! Reading and writing traces.

use std::any::Any;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use reweave_format::synthetic::{self, Shape};
use reweave_format::{Format, LoadOptions, create, decode_bytes, load, load_bytes, save, save_bytes};
use reweave_testkit::recorded;
use reweave_trace::{Builder, Trace};

use crate::table::{best, rounds, row};
use crate::{loops, naive};

const EVENTS: u64 = 2_000_000;
const RUNS: usize = 3;

pub(crate) fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for (name, shape) in [
        ("generated, 10 threads, 20 locks, 1,000 variables", shape()),
        ("the same with values", Shape { values: true, ..shape() }),
    ] {
        let path = folder.path().join("trace.std");
        let mut writer = create(&path, None, shape.capabilities())?;
        synthetic::generate(&shape, &mut *writer)?;
        measure(name, &path)?;
    }
    let path = folder.path().join("loops.std");
    save(&loops::trace(EVENTS as u32, 10)?, &path, None)?;
    measure("loops of 10 threads over arrays", &path)?;
    for path in recorded("raceinjector").iter().filter(|path| path.ends_with("jigsaw-base.std")) {
        measure(&path.file_name().unwrap_or_default().to_string_lossy(), path)?;
    }
    Ok(())
}

fn shape() -> Shape {
    Shape { events: EVENTS, threads: 10, locks: 20, variables: 1000, ..Shape::default() }
}

/// What is measured of each trace, round after round.
const TASKS: [&str; 7] = [
    "text, 1 job",
    "text, 2 jobs",
    "write .rw",
    "read .rw, 1 job",
    "read .rw, 2 jobs",
    "decode .rw, unchecked, 1 job",
    "decode .rw, unchecked, 2 jobs",
];

fn kept<T: 'static>(what: T, count: impl Fn(&T) -> usize) -> (usize, Box<dyn Any>) {
    (count(&what), Box::new(what))
}

fn measure(name: &str, path: &Path) -> Result<()> {
    let options = |jobs| LoadOptions { repair: true, jobs, ..LoadOptions::default() };
    let text = std::fs::read(path)?;
    let (naive_time, naive) = best(RUNS, || naive::read(BufReader::new(&text[..])));
    let events = naive?.events.len() as u64;
    println!("{name}: {events} events, {:.1} bytes an event as text", text.len() as f64 / events as f64);
    row("text, straightforward reader", events, naive_time, None);
    let trace = load(path, &options(1))?.trace;
    let bytes = save_bytes(&trace, Format::Rw)?;
    let times: [Duration; TASKS.len()] = rounds(RUNS, |task| {
        let (count, given): (usize, Box<dyn Any>) = match task {
            0 | 1 => kept(load(path, &options(task + 1))?.trace, Trace::len),
            2 => kept(save_bytes(&trace, Format::Rw)?, |_| trace.len()),
            3 | 4 => kept(load_bytes("bench.rw", &bytes, &options(task - 2))?.trace, Trace::len),
            _ => kept(decode_bytes("bench.rw", &bytes, &options(task - 4))?, Builder::len),
        };
        ensure!(count == trace.len(), "the trace changed on its way");
        Ok(given)
    })?;
    for (what, &time) in TASKS.into_iter().zip(&times) {
        row(what, events, time, Some(naive_time).filter(|_| what != "write .rw"));
    }
    println!(
        "  .rw takes {:.2} bytes an event; decoding it is {:.1} times as fast as loading text, one job each",
        bytes.len() as f64 / events as f64,
        times[0].as_secs_f64() / times[5].as_secs_f64()
    );
    Ok(())
}
