//! Reading and writing traces.

use std::io::BufReader;
use std::path::Path;

use anyhow::{Result, ensure};
use reweave_format::synthetic::{self, Shape};
use reweave_format::{Format, LoadOptions, create, decode_bytes, load, load_bytes, save, save_bytes};
use reweave_testkit::recorded;
use reweave_trace::Trace;

use crate::table::{row, steady};
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

fn measure(name: &str, path: &Path) -> Result<()> {
    let options = |jobs| LoadOptions { repair: true, jobs, ..LoadOptions::default() };
    let text = std::fs::read(path)?;
    let (naive_time, naive) = steady(RUNS, || naive::read(BufReader::new(&text[..])));
    let events = naive?.events.len() as u64;
    println!("{name}: {events} events, {:.1} bytes an event as text", text.len() as f64 / events as f64);
    row("text, straightforward reader", events, naive_time, None);
    let (mut kept, mut text_time): (Option<Trace>, _) = (None, naive_time);
    for jobs in [1, 2] {
        let (time, loaded) = steady(RUNS, || load(path, &options(jobs)));
        kept = Some(loaded?.trace);
        if jobs == 1 {
            text_time = time;
        }
        row(&format!("text, {jobs} job{}", if jobs == 1 { "" } else { "s" }), events, time, Some(naive_time));
    }
    let Some(trace) = kept else { return Ok(()) };
    let (time, bytes) = steady(RUNS, || save_bytes(&trace, Format::Rw));
    let bytes = bytes?;
    row("write .rw", events, time, None);
    for jobs in [1, 2] {
        let (time, loaded) = steady(RUNS, || load_bytes("bench.rw", &bytes, &options(jobs)));
        ensure!(loaded?.trace.len() as u64 == trace.len() as u64, "the trace changed on its way");
        row(
            &format!("read .rw, {jobs} job{}", if jobs == 1 { "" } else { "s" }),
            events,
            time,
            Some(naive_time),
        );
    }
    let mut decoding = 0.0;
    for jobs in [1, 2] {
        let (time, builder) = steady(RUNS, || decode_bytes("bench.rw", &bytes, &options(jobs)));
        ensure!(builder?.len() == trace.len(), "events were lost");
        if jobs == 1 {
            decoding = text_time.as_secs_f64() / time.as_secs_f64();
        }
        row(
            &format!("decode .rw, unchecked, {jobs} job{}", if jobs == 1 { "" } else { "s" }),
            events,
            time,
            Some(naive_time),
        );
    }
    println!(
        "  .rw takes {:.2} bytes an event; decoding it is {decoding:.1} times as fast as loading text, one job each",
        bytes.len() as f64 / events as f64
    );
    Ok(())
}
