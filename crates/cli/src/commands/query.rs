//! `reweave query`: could this have happened?

pub(super) mod clock;
mod pairs;
mod race;
mod source_line;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use reweave_decide::{Decider, Error, Limits, Prepared, Verdict};
use reweave_format::Loaded;
use reweave_report::answer::Answer;
use reweave_report::json::predict::Document;
use reweave_report::{claim, html, json, refutation, schedule};
use reweave_trace::Model;
use reweave_witness::Claim;

use super::{bug_report, model};
use crate::args::{Global, QueryArgs};
use crate::console::{BAD, Console, GOOD, STRONG};
use crate::event_text::describe;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{document, input, plural};

pub(crate) fn run(args: &QueryArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let loaded = input::load(&args.trace, args.reading, global, console)?;
    let loaded = input::with_specifications(loaded, &args.spec)?;
    let model = model::choose(args.model, &args.trace, &loaded, console)?;
    let prints = !args.json.as_deref().is_some_and(input::is_standard);
    let question = Question { args, loaded: &loaded, model, console, prints };
    match args.race() {
        Some(lines) => race::run(&question, lines),
        None => question.answer(),
    }
}

/// What is asked of which trace, and how.
struct Question<'q> {
    args: &'q QueryArgs,
    loaded: &'q Loaded,
    model: Model,
    console: &'q Console,
    /// Whether standard output is for people.
    prints: bool,
}

impl Question<'_> {
    fn answer(&self) -> anyhow::Result<Exit> {
        let Question { args, loaded, model, console, .. } = *self;
        let asked = args.claim();
        let start = Instant::now();
        let verdict = match self.decide(&asked) {
            Ok(verdict) => verdict,
            Err(error) => return self.failed(error),
        };
        let time = start.elapsed().as_secs_f64();
        if self.prints {
            print(args, loaded, model, &asked, &verdict, console)?;
        }
        if let Some(path) = &args.json {
            let answer = json::Query::new(&loaded.trace, self.head(), &asked, &verdict, time);
            document::write_dense_json(path, &answer, document::FIELDS, console)?;
        }
        self.write_page(&asked, &verdict)?;
        Ok(exit([&verdict]))
    }

    fn decide(&self, asked: &Claim) -> Result<Verdict, Error> {
        let events = plural::count(self.loaded.trace.len() as u64, "event");
        let end = self.args.budget.and_then(|budget| Instant::now().checked_add(budget));
        let _progress = Progress::until(format!("deciding over {events}"), end, self.console);
        let prepared = Prepared::new(&self.loaded.trace, self.loaded.trace.dependences());
        let mut decider = Decider::new(&prepared, self.model)?;
        let clock = self.args.budget.map(clock::Clock::start);
        let limits = Limits { work: self.args.work, stop: clock.as_ref().map(clock::Clock::stop) };
        decider.decide_with(asked, &limits, self.args.stages())
    }

    /// Writes the page, where one is wanted.
    fn write_page(&self, asked: &Claim, verdict: &Verdict) -> anyhow::Result<()> {
        let Some(path) = &self.args.html else { return Ok(()) };
        let trace = self.args.trace.display().to_string();
        let answer = Answer::of_query(&self.loaded.trace, &trace, self.model, asked, verdict);
        document::write_text(path, &html::answer(&answer, &Document::default()), self.console)
    }

    fn head(&self) -> json::Head {
        json::Head::new(&self.loaded.trace, &self.args.trace.display().to_string(), self.model)
    }

    /// What an error leads to: a report, where the bug is ours.
    fn failed(&self, error: Error) -> anyhow::Result<Exit> {
        match error {
            Error::Unsound(unsound) => {
                let bug = json::Bug::new(self.head(), &unsound);
                Ok(bug_report::file(&bug, &bug_report::folders(), self.console))
            }
            error => Err(refused(&error, self.loaded, &self.args.trace)),
        }
    }
}

/// How answers end: yes where one is feasible, no where all are known not to be.
fn exit<'v>(verdicts: impl IntoIterator<Item = &'v Verdict>) -> Exit {
    let mut exit = Exit::No;
    for verdict in verdicts {
        match verdict {
            Verdict::Feasible(_) => return Exit::Yes,
            Verdict::Unknown(_) => exit = Exit::Stopped,
            Verdict::Infeasible(_) => {}
        }
    }
    exit
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
            write!(out, "\n{}", console.ours(schedule::text(trace, checked, options)))?;
        }
        Verdict::Infeasible(why) => write!(out, "\n{}", refutation::text(trace, model, asked, why))?,
        Verdict::Unknown(reason) => writeln!(out, "\n{}", refutation::unknown(*reason))?,
    }
    Ok(out.flush()?)
}
