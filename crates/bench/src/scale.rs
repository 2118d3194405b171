//! Prediction on traces of growing size: time and peak memory, each size in a process of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::predict::{all_kinds, realistic, write};

/// The sizes, in millions of events, unless `REWEAVE_MILLIONS` names others.
const MILLIONS: &str = "10,100";

/// Tells a process to measure one trace.
const ONE: &str = "REWEAVE_SCALE_TRACE";

pub(crate) fn run() -> Result<()> {
    if let Some(path) = std::env::var_os(ONE) {
        let start = Instant::now();
        let prediction = all_kinds(path.as_ref())?;
        println!("{} {} {}", start.elapsed().as_millis(), peak_kib()?, prediction.findings.len());
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let sizes = std::env::var("REWEAVE_MILLIONS").unwrap_or_else(|_| MILLIONS.to_owned());
    let mut smaller: Option<(u64, Duration, u64)> = None;
    for millions in sizes.split(',') {
        let millions: u64 = millions.trim().parse().context("REWEAVE_MILLIONS takes numbers with commas")?;
        let path = folder.path().join("trace.rw");
        write(&realistic(millions * 1_000_000), &path)?;
        let output = Command::new(std::env::current_exe()?).arg("scale").env(ONE, &path).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout);
        let figures: Vec<u64> = text
            .lines()
            .rfind(|line| !line.is_empty())
            .unwrap_or_default()
            .split(' ')
            .map_while(|word| word.parse().ok())
            .collect();
        let [time, peak, findings] = figures[..] else { anyhow::bail!("no figures in {text:?}") };
        let (time, peak) = (Duration::from_millis(time), peak * 1024);
        let events = millions * 1_000_000;
        print!("  {millions:>5} M events: {time:>8.1?}, peak {:.2} GB, {findings} found", peak as f64 / 1e9);
        if let Some((fewer, sooner, less)) = smaller {
            let ratio = time.as_secs_f64() / sooner.as_secs_f64();
            let each = peak.saturating_sub(less) as f64 / (events - fewer) as f64;
            print!("; {ratio:.1} times the time, {each:.1} bytes for each further event");
        }
        println!();
        smaller = Some((events, time, peak));
    }
    Ok(())
}

/// The most memory that this process has had, in KiB.
fn peak_kib() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no peak is told here")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
