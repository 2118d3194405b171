//! Many threads and one lock: what an operation costs where nearly all threads wait.
//!
//! Each thread takes the lock a hundred times. The cost of an operation must not grow with the number of threads; so the last
//! column compares it with that of the fewest. Native threads rarely meet at all: one has done its hundred rounds before the
//! next is there.

use std::path::Path;

use anyhow::Result;

use crate::programs::Program;
use crate::record::{self, Bench, Recorded};

/// How often each thread takes the lock.
const ROUNDS: u32 = 100;
/// How often each is measured; the shortest counts.
const RUNS: usize = 3;

fn contended(_: &Path) -> Result<Program> {
    Ok(Program {
        about: format!("threads on one lock, {ROUNDS} times each"),
        name: "contended",
        sources: [vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/contended.c")], Vec::new()],
        flags: &[],
        arguments: Vec::new(),
    })
}

pub(crate) fn run() -> Result<()> {
    let Some(mut bench) = record::prepare(contended)? else { return Ok(()) };
    let native = bench.build("native", "gcc", "g++", &[])?;
    let ours = bench.build_ours("tsan")?;
    println!("  threads     native   recorded     ratio   an operation, as with 10 threads");
    let mut fewest = None;
    for threads in [10, 50, 200, 500] {
        bench.set_arguments(vec![threads.to_string(), ROUNDS.to_string()]);
        let (base, recorded) = measure(&bench, &native, &ours)?;
        let each = recorded / f64::from(threads * ROUNDS);
        let least = *fewest.get_or_insert(each);
        println!(
            "  {threads:>7} {base:>8.4} s {recorded:>8.4} s {:>8.1}× {:>8.2} µs {:>8.2}×",
            recorded / base,
            each * 1e6,
            each / least
        );
    }
    Ok(())
}

/// The seconds that the program takes natively and recorded, the shortest of each.
fn measure(bench: &Bench, native: &Path, ours: &Path) -> Result<(f64, f64)> {
    let words = bench.command(&[], native);
    let (mut base, mut recorded) = (f64::MAX, Recorded::new(ours, "random"));
    for _ in 0..RUNS {
        base = bench.once(&words)?.as_secs_f64().min(base);
        bench.record(&mut recorded)?;
    }
    Ok((base, recorded.seconds()))
}
