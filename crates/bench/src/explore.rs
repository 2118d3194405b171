//! Explorations of small programs: how often the program runs, and how many classes there are.
//!
//! The programs are written here after published descriptions, as scripts of steps; a run of one costs next to nothing, so the
//! times are those of the search.

mod programs;

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use reweave_explore::{Explorer, Limits, Policy, Report, Stopped};

use programs::Case;

/// No search may take longer.
const LONGEST: Duration = Duration::from_secs(120);

/// Which engine, and what it is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    Saturate,
    Trace,
}

fn explored(case: &Case, search: Search) -> Result<(Report, Duration)> {
    let started = Instant::now();
    let asked = std::cell::Cell::new(0u32);
    let stop = || {
        asked.set(asked.get().wrapping_add(1));
        asked.get().is_multiple_of(1024) && started.elapsed() > LONGEST
    };
    let limits = Limits { stop: &stop, ..Limits::default() };
    let mut explorer = Explorer::with_objects(Policy::default(), Rc::clone(&case.objects) as _, true);
    explorer.keep_going = true;
    let mut program = case.program(search == Search::Saturate);
    let report = match search {
        Search::Saturate => explorer.saturate(&mut program, &limits)?,
        Search::Trace => explorer.trace(&mut program, &limits)?,
    };
    Ok((report, started.elapsed()))
}

/// One row: the goal is the most runs of `saturate`, or exactly so many executions of `trace`.
fn row(case: &Case) -> Result<()> {
    for (search, goal) in [(Search::Saturate, case.runs), (Search::Trace, case.executions)] {
        let Some((goal, whose)) = goal else { continue };
        let (report, time) = explored(case, search)?;
        let counts = report.counts;
        let (name, count, met) = match search {
            Search::Saturate => ("saturate", counts.runs, counts.runs <= goal),
            Search::Trace => ("trace", counts.executions, counts.executions == goal),
        };
        let found = match (&report.first, report.stopped) {
            (Some((failure, _)), _) => {
                format!("{failure:?}").chars().take_while(|c| c.is_alphabetic()).collect()
            }
            (None, Stopped::Complete) if report.proved => "proved".to_owned(),
            (None, stopped) => format!("{stopped:?}"),
        };
        println!(
            "  {:<34} {name:<9} {count:>7} {:>8}  {:>9} states {:>9.1} ms  {found:<9} {whose}",
            case.name,
            if search == Search::Saturate { format!("≤ {goal}") } else { format!("= {goal}") },
            counts.states,
            time.as_secs_f64() * 1e3,
        );
        if !met && report.stopped == Stopped::Complete {
            bail!("{}: {count} is not the goal of {goal}", case.name);
        }
    }
    Ok(())
}

pub(crate) fn run() -> Result<()> {
    println!("  {:<34} {:<9} {:>7} {:>8}", "program", "engine", "count", "goal");
    for case in programs::all()? {
        row(&case)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_goals_are_met() {
        super::run().expect("every goal");
    }
}
