//! `reweave query --race`: every pair of accesses of two source lines.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::time::Instant;

use reweave_decide::{Decider, Error, Limits, Prepared, Reason, Refutation, Verdict};
use reweave_report::{claim, json, refutation, schedule};
use reweave_trace::{EventId, Trace, VarId};
use reweave_witness::Claim;

use super::pairs::Pairs;
use super::{Question, clock, exit, source_line};
use crate::args::SourceLine;
use crate::console::{BAD, GOOD, STRONG};
use crate::document;
use crate::event_text::describe;
use crate::exit::Exit;
use crate::plural::grouped;
use crate::progress::{Progress, Unit};

/// A question that was decided.
struct Decided {
    asked: Claim,
    verdict: Verdict,
    seconds: f64,
}

pub(super) fn run(question: &Question<'_>, lines: [&SourceLine; 2]) -> anyhow::Result<Exit> {
    let trace = &question.loaded.trace;
    let progress = Progress::new("deciding", Unit::Pairs, question.console);
    let accesses = [source_line::accesses(trace, lines[0])?, source_line::accesses(trace, lines[1])?];
    let pairs = Pairs::new(trace, &accesses[0], &accesses[1], question.args.pairs);
    let start = Instant::now();
    let answers = match decide(question, &pairs, &progress) {
        Ok(answers) => answers,
        Err(error) => return question.failed(error),
    };
    drop(progress);
    let time = start.elapsed().as_secs_f64();
    let counts = counts(&pairs, &answers);
    if question.prints {
        let report = Report { question, lines, accesses: &accesses, counts, answers: &answers };
        report.print()?;
    }
    if let Some(path) = &question.args.json {
        let one = |one: &Decided| json::Answer::new(trace, &one.asked, &one.verdict, one.seconds);
        let document = json::Race {
            head: question.head(),
            race: lines.map(ToString::to_string),
            accesses: [accesses[0].len() as u64, accesses[1].len() as u64],
            counts,
            answers: answers.iter().map(one).collect(),
            seconds: json::seconds(time),
        };
        document::write_dense_json(path, &document, document::FIELDS, question.console)?;
    }
    // The page shows one pair: one that can race, else the nearest that cannot.
    let possible = answers.iter().find(|one| matches!(one.verdict, Verdict::Feasible(_)));
    if let Some(one) = possible.or(answers.first()) {
        question.write_page(&one.asked, &one.verdict)?;
    }
    Ok(match exit(answers.iter().map(|one| &one.verdict)) {
        Exit::No if counts.unknown > 0 => Exit::Stopped,
        exit => exit,
    })
}

/// Decides pairs until a limit is reached.
fn decide(question: &Question<'_>, pairs: &Pairs, progress: &Progress) -> Result<Vec<Decided>, Error> {
    let trace = &question.loaded.trace;
    let prepared = Prepared::new(trace, trace.dependences());
    let mut decider = Decider::new(&prepared, question.model)?;
    let clock = question.args.budget.map(clock::Clock::start);
    let limits = Limits { work: question.args.work, stop: clock.as_ref().map(clock::Clock::stop) };
    let mut answers = Vec::new();
    for (place, &(a, b)) in pairs.nearest.iter().enumerate() {
        progress.update(place as u64, Some(pairs.nearest.len() as u64));
        let asked = Claim::CoEnabled(vec![a, b]);
        let start = Instant::now();
        let verdict = decider.decide_with(&asked, &limits, question.args.stages())?;
        let stopped = matches!(verdict, Verdict::Unknown(Reason::Stopped));
        answers.push(Decided { asked, verdict, seconds: start.elapsed().as_secs_f64() });
        if stopped {
            break;
        }
    }
    Ok(answers)
}

fn counts(pairs: &Pairs, answers: &[Decided]) -> json::Counts {
    let count = |is: fn(&Verdict) -> bool| answers.iter().filter(|one| is(&one.verdict)).count() as u64;
    let feasible = count(|verdict| matches!(verdict, Verdict::Feasible(_)));
    let infeasible = count(|verdict| matches!(verdict, Verdict::Infeasible(_)));
    let unknown = pairs.count - feasible - infeasible;
    json::Counts { candidates: pairs.count, feasible, infeasible, unknown }
}

/// What is printed.
struct Report<'r> {
    question: &'r Question<'r>,
    lines: [&'r SourceLine; 2],
    accesses: &'r [Vec<EventId>; 2],
    counts: json::Counts,
    answers: &'r [Decided],
}

impl Report<'_> {
    fn print(&self) -> anyhow::Result<()> {
        let (console, model, counts) = (self.question.console, self.question.model, self.counts);
        let mut out = console.out();
        let accesses = self.accesses.each_ref().map(|all| plural(all.len() as u64, "access", "accesses"));
        writeln!(
            out,
            "{} ({}) and {} ({}): {}, in the model {model}",
            self.lines[0],
            accesses[0],
            self.lines[1],
            accesses[1],
            plural(counts.candidates, "pair that conflicts", "pairs that conflict"),
        )?;
        if counts.candidates == 0 {
            let why = no_conflict(&self.question.loaded.trace, self.accesses);
            writeln!(out, "{}: {why}", console.styled(BAD, "infeasible"))?;
            return Ok(out.flush()?);
        }
        let json::Counts { feasible, infeasible, unknown, .. } = counts;
        let [feasible, infeasible, unknown] = [feasible, infeasible, unknown].map(grouped);
        writeln!(out, "{feasible} feasible, {infeasible} infeasible, {unknown} unknown")?;
        for group in groups(&self.question.loaded.trace, self.answers) {
            self.group(&mut out, &group)?;
        }
        let left = counts.candidates - self.answers.len() as u64;
        if left > 0 {
            let pairs = plural(left, "pair was", "pairs were");
            writeln!(out, "\n{pairs} not looked at: give more with --pairs or --budget")?;
        }
        Ok(out.flush()?)
    }

    /// The first of some answers, which stands for all.
    fn group(&self, out: &mut impl Write, group: &[&Decided]) -> anyhow::Result<()> {
        let Some(Decided { asked, verdict, .. }) = group.first() else { return Ok(()) };
        let Question { loaded, model, console, .. } = *self.question;
        let (style, word) = match verdict {
            Verdict::Feasible(_) => (GOOD, "feasible"),
            Verdict::Infeasible(_) => (BAD, "infeasible"),
            Verdict::Unknown(_) => (STRONG, "unknown"),
        };
        let pairs = plural(group.len() as u64, "pair", "pairs");
        let such = if group.len() == 1 { "" } else { ", such as" };
        writeln!(out, "\n{}, {pairs}{such}: {}", console.styled(style, word), claim::text(asked))?;
        for event in claim::events(asked) {
            writeln!(out, "  {}", describe(loaded, &self.question.args.trace, event))?;
        }
        match verdict {
            Verdict::Feasible(checked) => {
                let options = schedule::Options { color: console.colors(), ..schedule::Options::default() };
                let text = schedule::text(&loaded.trace, checked, options);
                write!(out, "\n{}", console.ours(text))?;
            }
            Verdict::Infeasible(why) => {
                write!(out, "\n{}", refutation::text(&loaded.trace, model, asked, why))?;
            }
            Verdict::Unknown(reason) => writeln!(out, "\n{}", refutation::unknown(*reason))?,
        }
        Ok(())
    }
}

/// Answers for the same reason together, feasible ones first.
fn groups<'a>(trace: &Trace, answers: &'a [Decided]) -> Vec<Vec<&'a Decided>> {
    let mut groups: BTreeMap<(u8, String), Vec<&Decided>> = BTreeMap::new();
    for one in answers {
        let key = match &one.verdict {
            Verdict::Feasible(_) => (0, String::new()),
            Verdict::Unknown(reason) => (2, format!("{reason:?}")),
            Verdict::Infeasible(why) => (1, shape(trace, why)),
        };
        groups.entry(key).or_default().push(one);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|((rank, _), group)| (*rank, std::cmp::Reverse(group.len())));
    groups.into_iter().map(|(_, group)| group).collect()
}

/// A refutation without its events: those of one shape have the same story.
fn shape(trace: &Trace, why: &Refutation) -> String {
    let words: Vec<String> = match why {
        Refutation::Static(impossible) => vec![word(&json::Contradiction::from(*impossible))],
        Refutation::Cycle(steps) => {
            let listed = json::Refutation::list(trace, &Refutation::Cycle(refutation::circle(steps)));
            listed.iter().map(word).collect()
        }
        why @ Refutation::Clash(_) => json::Refutation::list(trace, why).iter().map(word).collect(),
    };
    words.join(" ")
}

/// An entry of a refutation without its events.
fn word(entry: &impl serde::Serialize) -> String {
    let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(entry) else { return String::new() };
    let texts = fields.values().filter_map(serde_json::Value::as_str);
    texts.collect::<Vec<_>>().join(":")
}

/// Why no access of the one line conflicts with one of the other.
fn no_conflict(trace: &Trace, accesses: &[Vec<EventId>; 2]) -> &'static str {
    let variables = |events: &[EventId]| -> BTreeSet<VarId> {
        events.iter().filter_map(|&id| Some(trace.op(id).access()?.variable)).collect()
    };
    let shared: BTreeSet<VarId> =
        variables(&accesses[0]).intersection(&variables(&accesses[1])).copied().collect();
    if shared.is_empty() {
        return "the two lines never touched the same variable";
    }
    let all = accesses.iter().flatten().filter_map(|&id| Some((id, trace.op(id).access()?)));
    let all: Vec<_> = all.filter(|(_, access)| shared.contains(&access.variable)).collect();
    let threads: BTreeSet<_> = all.iter().map(|&(id, _)| trace.thread(id)).collect();
    if threads.len() == 1 {
        "one thread alone ran both lines on the variables that they share"
    } else if !all.iter().any(|(_, access)| access.writes) {
        "both lines only read what they share"
    } else {
        "no two accesses of different threads to one variable, one of them a write, are not both atomic"
    }
}

/// `1 pair`, `2,000 pairs`.
fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(number), if number == 1 { one } else { many })
}
