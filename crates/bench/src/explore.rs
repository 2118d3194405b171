//! Explorations of small programs: how often the program runs, and how many classes there are.
//!
//! The programs are written here after published descriptions, as scripts of steps; a run of one costs next to nothing, so the
//! times are those of the search. No search is stopped by the clock: it comes to its end, or to a number of states that is
//! given for a program whose search is known not to end. Such a row says that its goal is *not met*.

mod programs;

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use reweave_explore::{Explorer, Limits, Policy, Report, Stopped};

use programs::Case;

/// Which engine, and what it is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Search {
    Saturate,
    Trace,
}

fn explored(case: &Case, search: Search) -> Result<(Report, Duration)> {
    let started = Instant::now();
    let max_states = case.states.unwrap_or(u64::MAX);
    let limits = Limits { max_states, ..Limits::default() };
    let mut explorer = Explorer::with_objects(Policy::default(), Rc::clone(&case.objects) as _, true);
    explorer.keep_going = true;
    let mut program = case.program(search == Search::Saturate);
    let report = match search {
        Search::Saturate => explorer.saturate(&mut program, &limits)?,
        Search::Trace => explorer.trace(&mut program, &limits)?,
    };
    Ok((report, started.elapsed()))
}

/// What a search came to, in a word.
fn came_to(report: &Report) -> String {
    match (&report.first, report.stopped) {
        (_, Stopped::Complete) if report.proved => "proved".to_owned(),
        (Some((failure, _)), Stopped::Complete) => {
            format!("{failure:?}").chars().take_while(|c| c.is_alphabetic()).collect()
        }
        (_, stopped) => format!("{stopped:?}"),
    }
}

/// The word for a goal that is met, or known not to be; all else is an error.
///
/// A search that was stopped has not met a goal, however small its count.
fn judged(case: &Case, search: Search, report: &Report, goal: u64) -> Result<&'static str> {
    let (name, found) = (&case.name, came_to(report));
    if let Some(states) = case.states {
        ensure!(
            report.stopped == Stopped::States,
            "{name}: the search ends ({found}) within {states} states: it has to meet its goal from now on"
        );
        return Ok("not met");
    }
    ensure!(report.stopped == Stopped::Complete, "{name}: the search was stopped ({found})");
    ensure!(found == case.ends, "{name}: it came to {found} instead of {}", case.ends);
    let (count, met) = match search {
        Search::Saturate => (report.counts.runs, report.counts.runs <= goal),
        Search::Trace => (report.counts.executions, report.counts.executions == goal),
    };
    ensure!(met, "{name}: {count} is not the goal of {goal}");
    Ok("met")
}

/// One row: the goal is the most runs of `saturate`, or exactly so many executions of `trace`.
fn row(case: &Case) -> Result<()> {
    for (search, goal) in [(Search::Saturate, case.runs), (Search::Trace, case.executions)] {
        let Some((goal, whose)) = goal else { continue };
        let (report, time) = explored(case, search)?;
        let counts = report.counts;
        let (name, count, sign) = match search {
            Search::Saturate => ("saturate", counts.runs, "≤"),
            Search::Trace => ("trace", counts.executions, "="),
        };
        let judged = judged(case, search, &report, goal)?;
        println!(
            "  {:<34} {name:<9} {count:>7} {:>8}  {judged:<8} {:>9} states {:>9.1} ms  {:<9} {whose}",
            case.name,
            format!("{sign} {goal}"),
            counts.states,
            time.as_secs_f64() * 1e3,
            came_to(&report),
        );
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
    use super::*;

    #[test]
    fn the_goals_are_met_or_said_not_to_be() {
        run().expect("every goal");
    }

    /// However few its runs: a search that did not end has shown nothing.
    #[test]
    fn a_search_that_is_stopped_meets_no_goal() {
        let case = programs::readers(8);
        let limits = Limits { max_states: 5, ..Limits::default() };
        let mut explorer = Explorer::new(Policy::default());
        let report = explorer.saturate(&mut case.program(true), &limits).expect("an answer");
        assert!(report.stopped == Stopped::States && report.counts.runs <= 9, "{report:?}");
        let error = judged(&case, Search::Saturate, &report, 9).expect_err("it was stopped");
        assert!(error.to_string().contains("was stopped (States)"), "{error}");
    }

    /// Nor does one whose count is too high, or that ends otherwise than it should.
    #[test]
    fn other_counts_and_other_ends_are_errors() {
        let mut case = programs::readers(8);
        let (report, _) = explored(&case, Search::Saturate).expect("an answer");
        assert_eq!(judged(&case, Search::Saturate, &report, report.counts.runs).expect("met"), "met");
        assert!(judged(&case, Search::Saturate, &report, report.counts.runs - 1).is_err());
        case.ends = "Deadlock";
        assert!(judged(&case, Search::Saturate, &report, 9).is_err());
    }

    /// A row that is listed as not met has to become a goal as soon as its search ends.
    #[test]
    fn a_search_that_ends_is_no_longer_listed_as_open() {
        let mut case = programs::readers(8);
        case.states = Some(1_000_000);
        let (report, _) = explored(&case, Search::Saturate).expect("an answer");
        assert!(judged(&case, Search::Saturate, &report, 9).is_err());
        case.states = Some(5);
        let (report, _) = explored(&case, Search::Saturate).expect("an answer");
        assert_eq!(judged(&case, Search::Saturate, &report, 9).expect("known"), "not met");
    }
}
