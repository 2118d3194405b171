//! The last lines of a report: what was found, what was not settled, and what that rests on.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use reweave_detect::Kind;
use reweave_trace::Model;

use super::{STRONG, count, grouped, paint};
use crate::claim::and;
use crate::event::clean;
use crate::json::predict::{Document, Finding, Hidden, TraceResult};

/// The summary, in lines that each have their end. `findings` are those that were shown.
pub fn summary(document: &Document, findings: &[Finding], color: bool) -> String {
    let place = match &document.results[..] {
        [only] => clean(&only.trace.path).into_owned(),
        several => count(several.len() as u64, "trace", "traces"),
    };
    let title = match findings.len() as u64 {
        0 if !document.failed_runs.is_empty() => format!("SUMMARY: nothing predicted in {place}"),
        0 if open(document) == 0 && !document.is_partial() => format!("SUMMARY: nothing found in {place}"),
        0 => format!("SUMMARY: nothing found in {place}, but not everything was decided"),
        number => {
            let number = count(number, "finding", "findings");
            format!("SUMMARY: {number} in {place}: {}", per_kind(findings))
        }
    };
    let mut text = paint(color, STRONG, &title) + "\n";
    if document.results.len() > 1 {
        for result in &document.results {
            text += &format!("  {}\n", one_line(result));
        }
    }
    if !document.failed_runs.is_empty() {
        let runs = count(document.failed_runs.len() as u64, "recorded run", "recorded runs");
        text += &format!("  {runs} failed without any of that: see above\n");
    }
    let mut line = |line: Option<String>| {
        if let Some(line) = line {
            text += &format!("  {line}\n");
        }
    };
    line(partial(document));
    line(cut(document));
    line(by_model(document));
    line(Some(candidates(document)));
    line(undecided(document));
    line(unexamined(document));
    line(refused(document));
    line(time_limit(document));
    line(Some(dropped(document)));
    for result in &document.results {
        for repair in &result.repairs {
            let number = grouped(repair.count);
            let path = clean(&result.trace.path);
            line(Some(format!("repaired: {path}: {number} x {}: {}", repair.defect, repair.remedy)));
        }
    }
    line(libraries(document));
    line(unlisted(document));
    line(hidden(document));
    line(shards(document));
    for model in models(document) {
        line(Some(assumptions(model)));
    }
    line(Some("what the trace does not record was not looked at".to_owned()));
    text
}

fn open(document: &Document) -> u64 {
    document.counts().unknown
}

/// `2 races, 1 deadlock`.
fn per_kind(findings: &[Finding]) -> String {
    let kinds = Kind::ALL.into_iter().filter_map(|kind| {
        let number = findings.iter().filter(|finding| finding.kind == kind).count() as u64;
        (number > 0).then(|| kinds(number, kind))
    });
    and(&kinds.collect::<Vec<_>>())
}

fn kinds(number: u64, kind: Kind) -> String {
    match kind {
        Kind::Race => count(number, "race", "races"),
        Kind::Deadlock => count(number, "deadlock", "deadlocks"),
        Kind::Atomicity => count(number, "atomicity violation", "atomicity violations"),
        Kind::Order => count(number, "order violation", "order violations"),
        Kind::UseAfterFree => count(number, "use after free", "uses after free"),
    }
}

fn one_line(result: &TraceResult) -> String {
    let found = match result.findings.len() as u64 {
        0 if result.counts.unknown > 0 || result.partial => {
            "nothing, but not everything was decided".to_owned()
        }
        0 => "nothing".to_owned(),
        _ => per_kind(&result.findings),
    };
    format!("{}: {found}", clean(&result.trace.path))
}

fn partial(document: &Document) -> Option<String> {
    document
        .is_partial()
        .then(|| "partial: the run was stopped before its end, so there may be more".to_owned())
}

/// What there was no time for beside the search.
fn cut(document: &Document) -> Option<String> {
    let words: Vec<Cow<'_, str>> = document.cut.iter().map(|words| clean(words)).collect();
    (!words.is_empty()).then(|| format!("no time for more: {}; --time allows more", words.join(", ")))
}

/// What one model gave in all traces.
struct InModel<'d> {
    model: &'d str,
    findings: u64,
    unknown: u64,
    by_kind: BTreeMap<Kind, u64>,
}

/// `findings by model: 3 in rf, 5 in branch (not decided: 1 race)`: what a trace that tells more buys, and what each model leaves open.
fn by_model(document: &Document) -> Option<String> {
    let mut sums: Vec<InModel<'_>> = Vec::new();
    for count in document.results.iter().flat_map(|result| &result.models) {
        let place = sums.iter().position(|sum| sum.model == count.model).unwrap_or_else(|| {
            sums.push(InModel { model: &count.model, findings: 0, unknown: 0, by_kind: BTreeMap::new() });
            sums.len() - 1
        });
        let sum = &mut sums[place];
        sum.findings += count.findings;
        sum.unknown += count.unknown;
        for open in &count.undecided {
            *sum.by_kind.entry(open.kind).or_default() += open.groups;
        }
    }
    sums.retain(|_| {
        document
            .results
            .iter()
            .any(|result| !result.findings.is_empty() || result.models.iter().any(|count| count.unknown > 0))
    });
    let parts = sums.into_iter().map(|sum| {
        let open: Vec<String> = sum.by_kind.into_iter().map(|(kind, number)| kinds(number, kind)).collect();
        let open = match (&open[..], sum.unknown) {
            (_, 0) => String::new(),
            ([], unknown) => format!(" ({} not decided)", grouped(unknown)),
            (open, _) => format!(" (not decided: {})", and(open)),
        };
        format!("{} in {}{open}", grouped(sum.findings), sum.model)
    });
    let parts: Vec<String> = parts.collect();
    (!parts.is_empty()).then(|| format!("findings by model: {}", parts.join(", ")))
}

fn candidates(document: &Document) -> String {
    let counts = document.counts();
    let (feasible, infeasible, unknown) =
        (grouped(counts.feasible), grouped(counts.infeasible), grouped(counts.unknown));
    format!(
        "{}: {feasible} feasible, {infeasible} infeasible, {unknown} unknown",
        count(counts.candidates, "candidate", "candidates")
    )
}

/// What was not settled: by kind and reason.
fn undecided(document: &Document) -> Option<String> {
    let mut numbers: BTreeMap<(Kind, &str), u64> = BTreeMap::new();
    for open in document.results.iter().flat_map(|result| &result.undecided) {
        *numbers.entry((open.kind, open.reason.as_str())).or_default() += 1;
    }
    let parts: Vec<String> = numbers
        .into_iter()
        .map(|((kind, reason), number)| {
            let why = match reason {
                "budget" => "the budget of a candidate ran out",
                "inconclusive" => "the stages that were allowed do not settle it",
                "tries" => "enough others of the same sites had been tried",
                "stopped" => "the run was stopped",
                other => other,
            };
            format!("{} ({why})", kinds(number, kind))
        })
        .collect();
    (!parts.is_empty()).then(|| format!("not decided: {}", and(&parts)))
}

fn unexamined(document: &Document) -> Option<String> {
    let number: u64 = document.results.iter().map(|result| result.unexamined).sum();
    (number > 0).then(|| {
        let what = count(number, "possible candidate", "possible candidates");
        format!("not looked at: {what}, because there were too many alike; --all looks at every one")
    })
}

fn refused(document: &Document) -> Option<String> {
    let number: u64 = document.results.iter().map(|result| result.refused).sum();
    (number > 0).then(|| {
        let what = count(number, "further interleaving", "further interleavings");
        format!(
            "not looked at: up to {what} of two accesses with a third, seldom a bug; --atomicity all does"
        )
    })
}

fn time_limit(document: &Document) -> Option<String> {
    let limit = document.results.iter().find_map(|result| result.time_limit)?;
    Some(format!("the search was given {limit} s in all; --time changes that"))
}

fn dropped(document: &Document) -> String {
    let sum = |figure: fn(&TraceResult) -> u64| document.results.iter().map(figure).sum::<u64>();
    let (local, read_only) = (sum(|one| one.dropped.thread_local), sum(|one| one.dropped.read_only));
    let (ordered, kept) = (sum(|one| one.dropped.ordered), sum(|one| one.dropped.kept));
    format!(
        "variables: {} looked at; left out as harmless: {} of one thread, {} only read, {} always ordered \
         ({} left out)",
        grouped(kept),
        grouped(local),
        grouped(read_only),
        grouped(ordered),
        count(sum(|one| one.dropped.events), "event", "events")
    )
}

/// What was assumed of libraries without hooks, and what that took away.
fn libraries(document: &Document) -> Option<String> {
    let mut steps: BTreeMap<&str, u64> = BTreeMap::new();
    for library in document.results.iter().flat_map(|result| &result.libraries) {
        *steps.entry(&library.name).or_default() += library.steps;
    }
    let (first, _) = steps.first_key_value()?;
    let (first, more) =
        (clean(first).into_owned(), document.results.iter().map(|one| one.ordered_by_libraries).sum());
    let names: Vec<String> = steps
        .iter()
        .map(|(name, &steps)| format!("{} ({})", clean(name), count(steps, "step", "steps")))
        .collect();
    let taken = match more {
        0 => "that took no finding away".to_owned(),
        more => format!(
            "that took {} away; --trust-library '{first}' lifts it",
            count(more, "finding", "findings")
        ),
    };
    Some(format!(
        "libraries without hooks: what passes through {} keeps its observed order: {taken}",
        and(&names)
    ))
}

/// The functions whose calls keep their order because nobody knows better.
fn unlisted(document: &Document) -> Option<String> {
    let names: BTreeSet<Cow<'_, str>> =
        document.results.iter().flat_map(|result| &result.unlisted).map(|name| clean(name)).collect();
    let names: Vec<String> = names.into_iter().map(|name| name.into_owned()).collect();
    let calls = "of which nobody knows what they depend on: their calls, and what their arguments lead to, keep their observed order";
    (!names.is_empty()).then(|| format!("functions {calls}: {}", and(&names)))
}

fn hidden(document: &Document) -> Option<String> {
    let mut sum = Hidden::default();
    for result in &document.results {
        sum.suppressed += result.hidden.suppressed;
        sum.baseline += result.hidden.baseline;
    }
    (!sum.is_none()).then(|| {
        let (suppressed, known) = (grouped(sum.suppressed), grouped(sum.baseline));
        format!("not shown: {suppressed} suppressed, {known} known from the baseline")
    })
}

fn shards(document: &Document) -> Option<String> {
    let shard = document.results.iter().find_map(|result| result.shard.as_deref())?;
    Some(format!("shard {shard} only: `reweave merge` joins the JSON of all shards"))
}

/// The models that were used, each once.
fn models(document: &Document) -> Vec<&str> {
    let mut models: Vec<&str> = Vec::new();
    for result in &document.results {
        if !models.contains(&result.model.as_str()) {
            models.push(&result.model);
        }
    }
    models
}

/// What a yes in the model rests on.
fn assumptions(model: &str) -> String {
    let what = match model.parse() {
        Ok(Model::Sync) => "data flow is ignored, so findings are candidates only",
        Ok(Model::Rf) => "every read observes what it did; assumes that the trace tells all communication",
        Ok(Model::Value) => {
            "a read may observe an equal value instead; assumes that the values in the trace are right"
        }
        Ok(Model::Branch) => {
            "reads that nothing depends on may change; assumes that the trace marks every branch"
        }
        Ok(Model::BranchValue) => {
            "reads may change where nothing depends on them; assumes that branches and values in the trace are right"
        }
        Ok(Model::Dep | Model::DepValue) => {
            "reads may change where nothing depends on them; assumes that the table of dependences is right"
        }
        Err(_) => "not known to this version",
    };
    format!("model {model}: {what}")
}
