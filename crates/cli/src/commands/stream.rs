//! `reweave stream`: racy pairs in one pass.

mod json;
mod tally;
mod vindicate;

use std::io::Write;

use reweave_format::{Events, Loaded};
use reweave_stream::Stream;
use reweave_trace::{Names, Space};

use crate::args::{Global, StreamArgs};
use crate::console::{Console, STRONG};
use crate::exit::Exit;
use crate::plural;
use crate::progress::{Progress, Unit};
use crate::{document, input, limited};
use tally::Tally;

pub(crate) fn run(args: &StreamArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    limited::refuse_same([args.trace.as_path()], args.json.as_deref())?;
    if args.vindicate || args.reading.repair {
        return whole(args, global, console);
    }
    let mut events = Events::open(&args.trace, args.reading.format)?;
    let mut tallies = tallies(args);
    let count = pass(args, &mut events, &mut tallies, console)?;
    for notice in events.notices() {
        console.warn(format_args!("{}: {notice}", args.trace.display()));
    }
    report(args, &tallies, count, events.names(), console)?;
    Ok(exit(&tallies))
}

fn tallies(args: &StreamArgs) -> Vec<Tally> {
    args.analyses().into_iter().map(|analysis| Tally::new(analysis, args.json.is_some())).collect()
}

/// Reads the events part by part, and answers how many there were.
fn pass(
    args: &StreamArgs,
    events: &mut Events<'_>,
    tallies: &mut [Tally],
    console: &Console,
) -> anyhow::Result<u64> {
    let name = args.trace.file_name().unwrap_or(args.trace.as_os_str()).display();
    let progress = Progress::new(format!("analysing {name}"), Unit::Bytes, console);
    let mut stream = Stream::new(&args.analyses(), args.all);
    while events.advance()? {
        let mut sink = |analysis, race| tally::add(tallies, analysis, race);
        stream.block(events.names(), &events.rows(), &mut sink).map_err(|error| events.locate(error))?;
        let (done, total) = events.progress();
        progress.update(done, total);
    }
    stream.finish(&mut |analysis, race| tally::add(tallies, analysis, race));
    Ok(stream.events())
}

/// The same with the trace in memory, where it has to be mended or pairs have to be decided.
fn whole(args: &StreamArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let loaded = input::load(&args.trace, args.reading, global, console)?;
    let mut tallies = tallies(args);
    if args.vindicate {
        let undecided = match vindicate::run(args, &loaded, &mut tallies, console)? {
            vindicate::Outcome::Decided { undecided } => undecided,
            vindicate::Outcome::Bug(exit) => return Ok(exit),
        };
        finish(args, &loaded, &tallies, console)?;
        if undecided > 0 {
            let pairs = plural::count(undecided, "pair");
            console.warn(format_args!("{pairs} left undecided by a limit: give --budget or --work more"));
            return Ok(if exit(&tallies) == Exit::Yes { Exit::Stopped } else { Exit::No });
        }
        return Ok(exit(&tallies));
    }
    let progress = Progress::waiting("analysing", console);
    let mut stream = Stream::new(&args.analyses(), args.all);
    let trace = &loaded.trace;
    let mut sink = |analysis, race| tally::add(&mut tallies, analysis, race);
    stream.block(trace.names(), &trace.rows(), &mut sink)?;
    stream.finish(&mut sink);
    drop(progress);
    finish(args, &loaded, &tallies, console)?;
    Ok(exit(&tallies))
}

fn finish(args: &StreamArgs, loaded: &Loaded, tallies: &[Tally], console: &Console) -> anyhow::Result<()> {
    report(args, tallies, loaded.trace.len() as u64, loaded.trace.names(), console)
}

fn exit(tallies: &[Tally]) -> Exit {
    if tallies.iter().any(|tally| tally.racy_events() + tally.locked_pairs() > 0) {
        Exit::No
    } else {
        Exit::Yes
    }
}

fn report(
    args: &StreamArgs,
    tallies: &[Tally],
    events: u64,
    names: &Names,
    console: &Console,
) -> anyhow::Result<()> {
    if !args.json.as_deref().is_some_and(input::is_standard) {
        match tallies {
            [tally] => list(args, tally, events, names, console)?,
            tallies => table(args, tallies, events, console)?,
        }
    }
    if let Some(path) = &args.json {
        document::write_json(path, &json::Document::new(tallies), console)?;
    }
    Ok(())
}

/// The pairs of sites of one analysis.
fn list(
    args: &StreamArgs,
    tally: &Tally,
    events: u64,
    names: &Names,
    console: &Console,
) -> anyhow::Result<()> {
    let mut out = console.out();
    writeln!(
        out,
        "{}: {} at {} in {}; {}",
        console.styled(STRONG, tally.analysis),
        plural::count(tally.racy_events(), "racy event"),
        plural::count(tally.racy_sites(), "site"),
        plural::count(events, "event"),
        worth(args, tally),
    )?;
    for pair in tally.pairs_of_sites() {
        let (earlier, later) = (names.sites.get(pair.sites.0.0), names.sites.get(pair.sites.1.0));
        let what = if args.all || pair.lock.is_some() { "pair" } else { "racy event" };
        let count = plural::count(pair.count, what);
        write!(out, "  {earlier} and {later}: {count}, first {} with {}", pair.first.1.0, pair.first.0.0)?;
        match pair.lock {
            Some(lock) => {
                let lock = names.space(Space::Lock).get(lock.0);
                writeln!(out, "; both hold {lock}, and their sections have to change places")?;
            }
            None => writeln!(out)?,
        }
    }
    Ok(out.flush()?)
}

/// The counts of several analyses.
fn table(args: &StreamArgs, tallies: &[Tally], events: u64, console: &Console) -> anyhow::Result<()> {
    let mut out = console.out();
    let path = args.trace.display();
    writeln!(out, "{}: {}", console.styled(STRONG, path), plural::count(events, "event"))?;
    writeln!(out, "  {:<8} {:>12} {:>11}  worth", "analysis", "racy events", "racy sites")?;
    for tally in tallies {
        let (events, sites) = (plural::grouped(tally.racy_events()), plural::grouped(tally.racy_sites()));
        writeln!(out, "  {:<8} {events:>12} {sites:>11}  {}", tally.analysis.name(), worth(args, tally))?;
    }
    Ok(out.flush()?)
}

fn worth(args: &StreamArgs, tally: &Tally) -> &'static str {
    if args.vindicate { "each has a checked schedule" } else { tally.analysis.guarantee() }
}
