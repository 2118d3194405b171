//! The results of shards, joined into what one process would have written.
//!
//! Shards split the groups of candidates of a trace, and a group is one finding: so findings are disjoint, and all that is
//! left to do is to put them into order and to add up.

use reweave_detect::Kind;

use super::{Document, Finding, TraceResult, Undecided};
use crate::json::seconds;

/// Why results cannot be joined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There is nothing to join.
    #[error("there is no result to merge")]
    Nothing,
    /// Two results are about the same trace, and one of them is about all of it.
    #[error("{0}: there are two results of this trace, and not both are shards of one run")]
    Twice(String),
    /// A shard is there twice.
    #[error("{0}: shard {1} is there twice")]
    SameShard(String, String),
    /// A shard is not there.
    #[error("{0}: shard {1} is missing")]
    Missing(String, String),
    /// Shards disagree about the trace.
    #[error("{0}: the shards are not of the same trace, model and options")]
    Differ(String),
    /// A shard has no sensible name.
    #[error("{0}: `{1}` is not a shard such as 1/3")]
    Shard(String, String),
}

/// Joins documents: shards of a trace become one result, results of different traces stand side by side.
pub fn merge(documents: Vec<Document>) -> Result<Document, MergeError> {
    let mut parts: Vec<Vec<TraceResult>> = Vec::new();
    let mut failed_runs = Vec::new();
    for run in documents.iter().flat_map(|document| &document.failed_runs) {
        // Every shard of a trace has it.
        if !failed_runs.contains(run) {
            failed_runs.push(run.clone());
        }
    }
    let mut cut: Vec<String> = Vec::new();
    for words in documents.iter().flat_map(|document| &document.cut) {
        if !cut.contains(words) {
            cut.push(words.clone());
        }
    }
    for result in documents.into_iter().flat_map(|document| document.results) {
        match parts.iter_mut().find(|part| part[0].trace.path == result.trace.path) {
            Some(part) => part.push(result),
            None => parts.push(vec![result]),
        }
    }
    if parts.is_empty() {
        return Err(MergeError::Nothing);
    }
    let results = parts.into_iter().map(join).collect::<Result<_, _>>()?;
    Ok(Document { failed_runs, cut, results })
}

fn join(mut parts: Vec<TraceResult>) -> Result<TraceResult, MergeError> {
    let path = parts[0].trace.path.clone();
    let mut numbers = Vec::new();
    for part in &parts {
        let Some(shard) = &part.shard else {
            // A result of the whole trace stands for itself.
            return if parts.len() == 1 { Ok(parts.remove(0)) } else { Err(MergeError::Twice(path)) };
        };
        numbers.push(number(shard).ok_or_else(|| MergeError::Shard(path.clone(), shard.clone()))?);
    }
    let count = numbers[0].1;
    for shard in 1..=count {
        let there = numbers.iter().filter(|&&number| number == (shard, count)).count();
        let name = format!("{shard}/{count}");
        match there {
            0 => return Err(MergeError::Missing(path, name)),
            1 => {}
            _ => return Err(MergeError::SameShard(path, name)),
        }
    }
    let same = |part: &TraceResult| {
        let first = &parts[0];
        part.trace == first.trace
            && part.model == first.model
            && part.models.iter().map(|one| &one.model).eq(first.models.iter().map(|one| &one.model))
            && part.dropped == first.dropped
            && part.repairs == first.repairs
    };
    if numbers.len() != count as usize || !parts.iter().all(same) {
        return Err(MergeError::Differ(path));
    }
    let first = parts.remove(0);
    Ok(sum(first, parts))
}

fn sum(mut whole: TraceResult, rest: Vec<TraceResult>) -> TraceResult {
    for part in rest {
        whole.findings.extend(part.findings);
        whole.undecided.extend(part.undecided);
        for (count, more) in whole.models.iter_mut().zip(part.models) {
            count.findings += more.findings;
            count.unknown += more.unknown;
            for open in more.undecided {
                match count.undecided.iter_mut().find(|known| known.kind == open.kind) {
                    Some(known) => known.groups += open.groups,
                    None => count.undecided.push(open),
                }
            }
            count.undecided.sort_by_key(|open| open.kind);
            count.stopped |= more.stopped;
        }
        whole.hidden.suppressed += part.hidden.suppressed;
        whole.hidden.baseline += part.hidden.baseline;
        whole.ordered_by_libraries += part.ordered_by_libraries;
        whole.unexamined = whole.unexamined.max(part.unexamined);
        whole.refused = whole.refused.max(part.refused);
        whole.counts.candidates += part.counts.candidates;
        whole.counts.feasible += part.counts.feasible;
        whole.counts.infeasible += part.counts.infeasible;
        whole.counts.unknown += part.counts.unknown;
        whole.partial |= part.partial;
        whole.seconds += part.seconds;
    }
    whole.shard = None;
    whole.seconds = seconds(whole.seconds);
    whole.findings.sort_by(|a, b| key(a).cmp(&key(b)));
    Undecided::sort(&mut whole.undecided);
    whole
}

/// What one process would sort findings by: where events are the same, patterns differ.
fn key(finding: &Finding) -> (Kind, &[u32], usize, &str) {
    let over_two_variables = usize::from(finding.events.len() > 3);
    (finding.kind, &finding.events, over_two_variables, &finding.pattern)
}

/// `2/3` as a pair.
fn number(shard: &str) -> Option<(u32, u32)> {
    let (index, count) = shard.split_once('/')?;
    let (index, count) = (index.parse().ok()?, count.parse().ok()?);
    (1 <= index && index <= count).then_some((index, count))
}
