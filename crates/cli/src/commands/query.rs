//! `reweave query`: could this have happened?

pub(super) mod clock;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use reweave_decide::{Decider, Error, Limits, Prepared, Reason, Verdict};
use reweave_format::Loaded;
use reweave_report::{claim, json, refutation, schedule};
use reweave_trace::Model;
use reweave_witness::Claim;

use super::{bug_report, model};
use crate::args::{Global, QueryArgs};
use crate::console::{BAD, Console, GOOD, STRONG};
use crate::event_text::describe;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{document, input};

pub(crate) fn run(args: &QueryArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let loaded = input::load(&args.trace, args.reading, global, console)?;
    let model = model::choose(args.model, &args.trace, &loaded, console)?;
    let asked = args.claim();
    let start = Instant::now();
    let verdict = match decide(args, &loaded, model, &asked) {
        Ok(verdict) => verdict,
        Err(Error::Unsound(unsound)) => {
            let head = head(args, &loaded, model);
            return Ok(bug_report::file(&json::Bug::new(head, &unsound), &bug_report::folders(), console));
        }
        Err(error) => return Err(refused(&error, &loaded, &args.trace)),
    };
    let time = start.elapsed().as_secs_f64();
    if !args.json.as_deref().is_some_and(input::is_standard) {
        print(args, &loaded, model, &asked, &verdict, console)?;
    }
    if let Some(path) = &args.json {
        let head = head(args, &loaded, model);
        let answer = json::Query::new(&loaded.trace, head, &asked, &verdict, time);
        document::write_json(path, &answer, console)?;
    }
    Ok(match verdict {
        Verdict::Feasible(_) => Exit::Yes,
        Verdict::Infeasible(_) => Exit::No,
        Verdict::Unknown(_) => Exit::Stopped,
    })
}

fn decide(args: &QueryArgs, loaded: &Loaded, model: Model, asked: &Claim) -> Result<Verdict, Error> {
    let prepared = Prepared::new(&loaded.trace, None);
    let mut decider = Decider::new(&prepared, model)?;
    let clock = args.budget.map(clock::Clock::start);
    let limits = Limits { work: args.work, stop: clock.as_ref().map(clock::Clock::stop) };
    decider.decide_with(asked, &limits, args.stages())
}

fn head(args: &QueryArgs, loaded: &Loaded, model: Model) -> json::Head {
    json::Head::new(&loaded.trace, &args.trace.display().to_string(), model)
}

/// A question that cannot be asked of this trace.
fn refused(error: &Error, loaded: &Loaded, path: &Path) -> anyhow::Error {
    let failure = match error {
        Error::NoEvent(event) => Failure::new(format!("{}: {}", path.display(), describe(loaded, path, *event)))
            .hint("events are named by their position in the trace; the first event line of a text has position 0"),
        Error::Meaningless => Failure::new("--adjacent names a place that the question does not have")
            .hint("place i of --sequence is between the i-th event and the next, from 0; --before has a place per pair"),
        error => Failure::new(format!("{}: {error}", path.display())),
    };
    failure.into()
}

fn print(
    args: &QueryArgs,
    loaded: &Loaded,
    model: Model,
    asked: &Claim,
    verdict: &Verdict,
    console: &Console,
) -> anyhow::Result<()> {
    let trace = &loaded.trace;
    let (style, word) = match verdict {
        Verdict::Feasible(_) => (GOOD, "feasible"),
        Verdict::Infeasible(_) => (BAD, "infeasible"),
        Verdict::Unknown(_) => (STRONG, "unknown"),
    };
    let mut out = console.out();
    writeln!(out, "{} in the model {model}: {}", console.styled(style, word), claim::text(asked))?;
    for event in claim::events(asked) {
        writeln!(out, "  {}", describe(loaded, &args.trace, event))?;
    }
    match verdict {
        Verdict::Feasible(checked) => {
            if let Claim::CoEnabled(events) = asked
                && let [a, b] = events[..]
                && trace.conflict(a, b)
            {
                writeln!(out, "they conflict: a data race")?;
            }
            let options = schedule::Options { color: console.colors(), ..schedule::Options::default() };
            write!(out, "\n{}", schedule::text(trace, checked, options))?;
        }
        Verdict::Infeasible(why) => write!(out, "\n{}", refutation::text(trace, model, asked, why))?,
        Verdict::Unknown(reason) => writeln!(out, "\n{}", unknown(*reason))?,
    }
    Ok(out.flush()?)
}

fn unknown(reason: Reason) -> &'static str {
    match reason {
        Reason::Work => "The search took more steps than --work allows: give it more, or leave it out.",
        Reason::Stopped => "The time of --budget was up: give it more, or leave it out.",
        _ => "The stages that were allowed do not settle it: leave out --fast.",
    }
}
