//! All kinds of bugs in long traces.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use reweave_decide::Limits;
use reweave_detect::{Kind, Options, Prediction, predict};
use reweave_format::synthetic::{self, Shape};
use reweave_format::{LoadOptions, create, load};
use reweave_trace::{Model, Trace};

use crate::straightforward;

/// The size at which races are compared with the straightforward version.
const COMPARED: u64 = 100_000;

/// The work for a candidate, in place of a budget of time.
const WORK: u64 = 20_000_000;

pub(crate) fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("trace.rw");
    for (name, shape) in [
        ("realistic", realistic(COMPARED)),
        ("crowded", crowded(COMPARED)),
        ("realistic", realistic(1_000_000)),
        ("crowded", crowded(1_000_000)),
    ] {
        write(&shape, &path)?;
        let start = Instant::now();
        let trace = load(&path, &LoadOptions { jobs: 2, ..LoadOptions::default() })?.trace;
        println!("{name}, {} events: loaded in {:.2?}", trace.len(), start.elapsed());
        if shape.events == COMPARED {
            straightforward::compare(&trace)?;
        }
        kind_by_kind(&trace)?;
        let start = Instant::now();
        all_kinds(&path)?;
        println!("  from the file to the findings, all kinds in one run: {:.2?}", start.elapsed());
    }
    Ok(())
}

/// Most variables are of one thread, locks nest, and one access in ten has to do with another thread.
pub(crate) fn realistic(events: u64) -> Shape {
    Shape {
        events,
        threads: 20,
        locks: 50,
        variables: 20_000,
        shared: 0.005,
        nesting: 3,
        sections: 0.02,
        sites: 1000,
        ..Shape::default()
    }
}

/// The same, but nearly four events in ten have to do with another thread.
fn crowded(events: u64) -> Shape {
    Shape { sections: 0.1, ..realistic(events) }
}

pub(crate) fn write(shape: &Shape, path: &Path) -> Result<()> {
    let mut writer = create(path, None, shape.capabilities())?;
    Ok(synthetic::generate(shape, &mut *writer)?)
}

/// Loads a trace and predicts, as a user would.
pub(crate) fn all_kinds(path: &Path) -> Result<Prediction> {
    let trace = load(path, &LoadOptions { jobs: 2, ..LoadOptions::default() })?.trace;
    let limits = Limits { work: Some(WORK), stop: None };
    Ok(predict(&trace, Model::Rf, &Options { jobs: 2, limits, ..Options::default() })?)
}

fn kind_by_kind(trace: &Trace) -> Result<()> {
    for kind in Kind::ALL {
        let start = Instant::now();
        let limits = Limits { work: Some(WORK), stop: None };
        let options = Options { kinds: vec![kind], jobs: 2, limits, ..Options::default() };
        let Prediction { findings, counts, unexamined, .. } = predict(trace, Model::Rf, &options)?;
        println!(
            "  {kind:<10} {:>8.2?}  {} found; {} candidates, {} infeasible, {} unknown, {unexamined} passed over",
            start.elapsed(),
            findings.len(),
            counts.candidates,
            counts.infeasible,
            counts.unknown,
        );
    }
    Ok(())
}
