//! All kinds of bugs in long traces.

use std::time::{Duration, Instant};

use anyhow::Result;
use reweave_decide::Limits;
use reweave_detect::{Kind, Options, Prediction, predict};
use reweave_format::synthetic::{self, Shape};
use reweave_format::{LoadOptions, create, load};
use reweave_trace::{Model, Trace};

use crate::straightforward;

/// The size at which races are compared with the straightforward version.
const COMPARED: u64 = 100_000;

pub(crate) fn run() -> Result<()> {
    let folder = tempfile::tempdir()?;
    for events in [COMPARED, 1_000_000] {
        let shape = Shape {
            events,
            threads: 20,
            locks: 50,
            variables: 20_000,
            shared: 0.005,
            nesting: 3,
            sites: 1000,
            ..Shape::default()
        };
        let path = folder.path().join("trace.rw");
        let mut writer = create(&path, None, shape.capabilities())?;
        synthetic::generate(&shape, &mut *writer)?;
        let start = Instant::now();
        let trace = load(&path, &LoadOptions { jobs: 2, ..LoadOptions::default() })?.trace;
        let loaded = start.elapsed();
        if events == COMPARED {
            straightforward::compare(&trace)?;
        }
        measure(&trace, loaded)?;
    }
    Ok(())
}

fn measure(trace: &Trace, loaded: Duration) -> Result<()> {
    println!("generated, {} events: loaded in {loaded:.1?}", trace.len());
    let mut total = loaded;
    for kind in Kind::ALL {
        let start = Instant::now();
        let limits = Limits { work: Some(2_000_000), stop: None };
        let options = Options { kinds: vec![kind], jobs: 2, limits, ..Options::default() };
        let Prediction { findings, counts, unexamined, .. } = predict(trace, Model::Rf, &options)?;
        total += start.elapsed();
        println!(
            "  {kind:<10} {:>8.1?}  {} found; {} candidates, {} infeasible, {} unknown, {unexamined} passed over",
            start.elapsed(),
            findings.len(),
            counts.candidates,
            counts.infeasible,
            counts.unknown,
        );
    }
    println!("  in all     {total:>8.1?}");
    Ok(())
}
