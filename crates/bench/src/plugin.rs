//! The compiler plugin against the hooks of ThreadSanitizer: what it takes to compile a program, and to run it recorded.
//!
//! The program is the first one of the section `record`. Compile times are of one compilation each, without linking's share told apart.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::programs;
use crate::record::{Bench, prepare};

pub(crate) fn run() -> Result<()> {
    if Command::new("clang++-22").arg("--version").output().is_err() {
        println!("not measured: clang 22 is not installed");
        return Ok(());
    }
    let Some(bench) = prepare(programs::pbzip2)? else { return Ok(()) };
    let literal = ["-Wno-reserved-user-defined-literal"];
    let (native, compiled) = timed(|| bench.build("native-22", "clang-22", "clang++-22", &literal))?;
    let base = bench.measure(&bench.command(&[], &native))?;
    println!(
        "  clang 22 alone: compiled in {:.2} s, runs {:.3} s\n",
        compiled.as_secs_f64(),
        base.as_secs_f64()
    );
    let sanitized = [literal[0], "-fsanitize=thread"];
    match timed(|| bench.build("tsan-22", "clang-22", "clang++-22", &sanitized)) {
        Ok((program, time)) => {
            let ran = bench.measure(&bench.command(&[], &program))?;
            said("ThreadSanitizer, reports off", time, compiled);
            println!("  {:<34} {:>8.3} s {:>8.1}×\n", "", ran.as_secs_f64(), ratio(ran, base));
        }
        Err(error) => println!("  ThreadSanitizer of clang 22 is not there: {error:#}\n"),
    }
    for front in ["tsan", "plugin"] {
        front_costs(&bench, front, compiled, base)?;
    }
    Ok(())
}

fn front_costs(bench: &Bench, front: &str, compiled: Duration, base: Duration) -> Result<()> {
    let (program, time) = timed(|| bench.build_ours(front))?;
    said(&format!("reweave cc --reweave-front={front}"), time, compiled);
    bench.ours(base, &program)?;
    bench.predicted()?;
    println!();
    Ok(())
}

fn said(what: &str, time: Duration, compiled: Duration) {
    println!("  {what}: compiled in {:.2} s, {:.2}×", time.as_secs_f64(), ratio(time, compiled));
}

fn ratio(time: Duration, base: Duration) -> f64 {
    time.as_secs_f64() / base.as_secs_f64()
}

fn timed(build: impl FnOnce() -> Result<PathBuf>) -> Result<(PathBuf, Duration)> {
    let start = Instant::now();
    let program = build()?;
    Ok((program, start.elapsed()))
}
