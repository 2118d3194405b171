//! Timing, and rows of figures.

use std::any::Any;
use std::time::{Duration, Instant};

use anyhow::Result;

/// The shortest of several runs, and what the last one gave.
pub(crate) fn best<T>(runs: usize, mut run: impl FnMut() -> T) -> (Duration, T) {
    let mut shortest = Duration::MAX;
    let mut last = None;
    for _ in 0..runs.max(1) {
        // What a run gave is dropped before the next is timed.
        drop(last.take());
        let start = Instant::now();
        last = Some(run());
        shortest = shortest.min(start.elapsed());
    }
    let Some(last) = last else { unreachable!("there is at least one run") };
    (shortest, last)
}

/// The shortest time of each task, in rounds through all of them: at least so many, and as many as two seconds have room
/// for. What else the machine does for a while then disturbs all alike.
pub(crate) fn rounds<const N: usize>(
    least: usize,
    mut task: impl FnMut(usize) -> Result<Box<dyn Any>>,
) -> Result<[Duration; N]> {
    const ENOUGH: Duration = Duration::from_secs(2);
    let (start, mut done, mut shortest) = (Instant::now(), 0, [Duration::MAX; N]);
    while done < least || start.elapsed() < ENOUGH {
        for (number, shortest) in shortest.iter_mut().enumerate() {
            let start = Instant::now();
            // What it gave is dropped after its time was taken.
            let _given = task(number)?;
            *shortest = start.elapsed().min(*shortest);
        }
        done += 1;
    }
    Ok(shortest)
}

/// Millions a second.
pub(crate) fn millions(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}

/// One row: what, how long, how many a second, and how much faster than the baseline.
pub(crate) fn row(what: &str, events: u64, time: Duration, baseline: Option<Duration>) {
    let ratio =
        baseline.map_or(String::new(), |base| format!("{:8.1}×", base.as_secs_f64() / time.as_secs_f64()));
    println!(
        "  {what:<44} {:>10.1} ms {:>9.1} M/s {ratio}",
        time.as_secs_f64() * 1e3,
        millions(events, time)
    );
}
