//! `reweave explain`: what a kind, a term or a finding means, in words.

use std::io::Write;
use std::path::{Path, PathBuf};

use reweave_detect::{Kind, Pattern};
use reweave_report::explain::{TOPICS, Topic, topic, why};
use reweave_report::json::predict::{Finding, TraceResult};
use reweave_report::view::Subject;
use reweave_report::view::words;
use reweave_trace::{EventId, Model, ProgramOrder, Trace};
use reweave_witness::{CheckedWitness, Checker};

use super::replay::finding::{named, predict, unique, unknown};
use super::{merge, model};
use crate::args::{ExplainArgs, Global, ModelChoice};
use crate::console::{Console, STRONG};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;
use crate::plural;
use crate::progress::Progress;

/// How wide text is.
const WIDTH: usize = 96;

pub(crate) fn run(args: &ExplainArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let Some(what) = &args.what else { return list(console) };
    if args.trace.is_some() || args.findings.is_some() {
        return finding(what, args, global, console);
    }
    match topic(what) {
        Some(topic) => print_topic(topic, console),
        None => Err(no_topic(what).into()),
    }
}

fn no_topic(what: &str) -> Failure {
    let is_fingerprint = what.len() >= 4 && what.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_fingerprint {
        return Failure::new(format!("`{what}` looks like a fingerprint: which trace is it of?"))
            .hint(format!("give the trace: reweave explain {what} TRACE"));
    }
    let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    Failure::new(format!("there is nothing to explain under the name `{what}`"))
        .hint(format!("there are {}", names.join(", ")))
}

fn list(console: &Console) -> anyhow::Result<Exit> {
    let mut out = console.out();
    for (title, kinds) in [("Kinds of bugs", true), ("Terms", false)] {
        writeln!(out, "{}", console.styled(STRONG, title))?;
        for topic in TOPICS.iter().filter(|topic| topic.is_kind() == kinds) {
            writeln!(out, "  {:<12} {}", topic.name, topic.title())?;
        }
    }
    writeln!(out, "A finding: reweave explain FINGERPRINT TRACE")?;
    out.flush()?;
    Ok(Exit::Yes)
}

fn print_topic(topic: &Topic, console: &Console) -> anyhow::Result<Exit> {
    let mut out = console.out();
    writeln!(out, "{}\n\n{}", console.styled(STRONG, topic.title()), topic.body())?;
    out.flush()?;
    Ok(Exit::Yes)
}

/// A finding whose witness was checked.
struct Found {
    kind: Kind,
    pattern: Pattern,
    events: Vec<EventId>,
    checked: CheckedWitness,
    fingerprint: String,
}

fn finding(name: &str, args: &ExplainArgs, global: &Global, console: &Console) -> anyhow::Result<Exit> {
    let stored = args.findings.as_deref().map(|path| named_in(path, name)).transpose()?;
    let path = match (&args.trace, &stored) {
        (Some(path), _) => path.clone(),
        (None, Some((result, _))) => trace_of(result)?,
        (None, None) => return Err(Failure::new("give the trace of the finding").into()),
    };
    let loaded = input::load(&path, args.reading, global, console)?;
    let loaded = input::with_specifications(loaded, &args.spec)?;
    let found = match stored {
        Some((result, finding)) => checked_again(&loaded.trace, &path, &result, &finding)?,
        None => {
            let model = model::choose(ModelChoice::Auto, &path, &loaded, console)?;
            let prediction = predict(&loaded.trace, model, name, global, console)?;
            let finding = named(&prediction, name)?;
            Found {
                kind: finding.kind(),
                pattern: finding.pattern(),
                events: finding.events().to_vec(),
                checked: finding.witness().clone(),
                fingerprint: finding.fingerprint().to_owned(),
            }
        }
    };
    print(&loaded.trace, &found, console)
}

fn trace_of(result: &TraceResult) -> anyhow::Result<PathBuf> {
    let path = PathBuf::from(&result.trace.path);
    if path.is_file() {
        return Ok(path);
    }
    let message = format!("{} is not here, and it has the events of the finding", path.display());
    Err(Failure::new(message)
        .hint("say where it is: reweave explain FINGERPRINT TRACE --findings FILE")
        .into())
}

/// The finding in a document of `reweave predict`, with the result that it is in.
fn named_in(path: &Path, name: &str) -> anyhow::Result<(TraceResult, Finding)> {
    let document = merge::read(path)?;
    let all = document.results.iter().flat_map(|result| result.findings.iter().map(move |one| (result, one)));
    let matching: Vec<_> = all.filter(|(_, finding)| finding.fingerprint.starts_with(name)).collect();
    unique(name, matching.iter().map(|(_, finding)| finding.fingerprint.as_str()))?;
    let (result, finding) = matching.first().ok_or_else(|| unknown(name))?;
    Ok(((*result).clone(), (*finding).clone()))
}

fn checked_again(
    trace: &Trace,
    path: &Path,
    result: &TraceResult,
    finding: &Finding,
) -> anyhow::Result<Found> {
    let name = finding.model.as_ref().unwrap_or(&result.model);
    let model: Model = name.parse().map_err(|_| Failure::new(format!("there is no model `{name}`")))?;
    let (links, order) = (reweave_spec::links(trace), ProgramOrder::new(trace));
    let claim = finding.claim().ok_or_else(|| Failure::new("the finding has no witness"))?;
    let checked = Checker::new(trace, &links, &order).check(model, finding.witness(trace), claim);
    let checked = checked.map_err(|rejection| {
        Failure::new(format!("{}: it is not the trace of this finding: {rejection}", path.display()))
    })?;
    let pattern = Pattern::from_name(&finding.pattern)
        .ok_or_else(|| Failure::new(format!("there is no pattern `{}`", finding.pattern)))?;
    Ok(Found {
        kind: finding.kind,
        pattern,
        events: finding.events.iter().copied().map(EventId).collect(),
        checked,
        fingerprint: finding.fingerprint.clone(),
    })
}

fn print(trace: &Trace, found: &Found, console: &Console) -> anyhow::Result<Exit> {
    let subject =
        Subject { kind: found.kind, pattern: found.pattern, events: &found.events, checked: &found.checked };
    let sentences = {
        let _progress = Progress::waiting(
            format!("running the schedule, of {} at most", plural::count(trace.len() as u64, "event")),
            console,
        );
        why(trace, &reweave_spec::links(trace), &found.checked)
    };
    let mut out = console.out();
    let heading = |text: &str| console.styled(STRONG, text);
    let title = format!("{}, fingerprint {}", words::headline(trace, &subject), found.fingerprint);
    writeln!(out, "{}", heading(&title))?;
    writeln!(out, "{}", wrapped(&words::summary(trace, &subject), "  ", "  "))?;
    if let Some(wrong) = words::wrong(trace, &subject) {
        writeln!(out, "{}", wrapped(&format!("What goes wrong: {wrong}."), "  ", "  "))?;
    }
    writeln!(out, "\n{}", heading("Why this can happen"))?;
    for sentence in sentences {
        writeln!(out, "{}", wrapped(&sentence, "  - ", "    "))?;
    }
    let model = found.checked.model();
    writeln!(out, "\n{}", heading("What is assumed"))?;
    writeln!(out, "{}", wrapped(&assumed(model), "  ", "  "))?;
    writeln!(out, "\n{}", heading("What to do"))?;
    let advice = words::advice(found.kind, found.pattern);
    writeln!(out, "{}", wrapped(&format!("{}.", upper(advice)), "  ", "  "))?;
    writeln!(out, "\nMore: reweave explain {}; reweave explain models", found.pattern.name())?;
    out.flush()?;
    Ok(Exit::Yes)
}

/// What a schedule of that model relies on.
fn assumed(model: Model) -> String {
    let what = match model {
        Model::Sync => "nothing about data: this is only a candidate, and may be impossible",
        Model::Rf => {
            "all communication between threads was recorded; a thread that reads the same does the same"
        }
        Model::Value => {
            "all communication between threads was recorded, with its values; a thread that reads the same values \
             does the same"
        }
        Model::Branch => {
            "all communication between threads and every branch was recorded; a thread goes the same way until it \
             decides by something new"
        }
        Model::BranchValue => {
            "all communication between threads, its values and every branch were recorded; a thread goes the same way \
             until it decides by a new value"
        }
        Model::Dep => {
            "all communication between threads was recorded, and the table of dependences is right; an event does the \
             same while the reads that it needs observe the same"
        }
        Model::DepValue => {
            "all communication between threads was recorded, with its values, and the table of dependences is right; an \
             event does the same while the reads that it needs observe the same values"
        }
    };
    format!("In the model {model}: {what}. Memory is sequentially consistent.")
}

fn upper(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `text` in lines that are not too wide, where it has spaces.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut lines = vec![first.to_owned()];
    let mut is_empty = true;
    for word in text.split(' ') {
        let width = lines.last().map_or(0, |line| line.chars().count());
        if !is_empty && width + 1 + word.chars().count() > WIDTH {
            lines.push(rest.to_owned());
            is_empty = true;
        }
        if let Some(line) = lines.last_mut() {
            if !is_empty {
                line.push(' ');
            }
            line.push_str(word);
        }
        is_empty = false;
    }
    lines.join("\n")
}
