//! Timing, and rows of figures.

use std::time::{Duration, Instant};

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

/// The shortest of at least so many runs, and of as many as half a second has room for: what else the machine does disturbs
/// short ones most.
pub(crate) fn steady<T>(runs: usize, mut run: impl FnMut() -> T) -> (Duration, T) {
    const ENOUGH: Duration = Duration::from_millis(500);
    let start = Instant::now();
    let (mut shortest, mut last) = best(runs, &mut run);
    while start.elapsed() < ENOUGH {
        drop(last);
        let time;
        (time, last) = best(1, &mut run);
        shortest = shortest.min(time);
    }
    (shortest, last)
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
