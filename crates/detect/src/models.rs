//! What each model gives: the same search in stricter models.

use hashbrown::HashSet;
use reweave_decide::Error;
use reweave_trace::{EventId, Model, Trace};

use crate::finding::fingerprint;
use crate::{Finding, Options, run};

/// What a model gives of some findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelCount {
    /// The model.
    pub model: Model,
    /// How many it gives.
    pub findings: u64,
    /// Of how many it was not settled.
    pub unknown: u64,
}

/// A finding, in every model: where every candidate is decided, one candidate; otherwise all of the same sites.
type Key = (String, Option<Vec<EventId>>);

pub(crate) fn count(
    trace: &Trace,
    model: Model,
    findings: &[Finding],
    options: &Options<'_>,
) -> Result<Vec<ModelCount>, Error> {
    let key =
        |print: &str, events: &[EventId]| -> Key { (print.to_owned(), options.all.then(|| events.to_vec())) };
    let keys: Vec<Key> = findings.iter().map(|found| key(found.fingerprint(), found.events())).collect();
    // A shard has its findings from a numbering of all groups, which is another one in every model.
    let options = Options { shard: None, progress: None, ..options.clone() };
    let mut given: Vec<(Model, HashSet<Key>)> = Vec::new();
    let mut counts = Vec::new();
    for stricter in model.stricter() {
        let mut found: HashSet<Key> = HashSet::new();
        for (_, keys) in given.iter().filter(|(other, _)| stricter.stricter().any(|one| one == *other)) {
            found.extend(keys.iter().cloned());
        }
        let rest: HashSet<&Key> = keys.iter().filter(|key| !found.contains(*key)).collect();
        let only: HashSet<&str> = rest.iter().map(|(print, _)| print.as_str()).collect();
        let mut open: HashSet<Key> = HashSet::new();
        if !only.is_empty() {
            let prediction = run::predict(trace, stricter, &options, Some(&only))?;
            let prints = prediction.findings.iter().map(|one| key(one.fingerprint(), one.events()));
            found.extend(prints.filter(|key| rest.contains(key)));
            let prints = prediction
                .undecided
                .iter()
                .map(|one| key(&fingerprint(trace, one.kind, one.pattern, &one.events), &one.events));
            open.extend(prints.filter(|key| rest.contains(key) && !found.contains(key)));
        }
        let number = |wanted: &HashSet<Key>| keys.iter().filter(|key| wanted.contains(*key)).count() as u64;
        counts.push(ModelCount { model: stricter, findings: number(&found), unknown: number(&open) });
        given.push((stricter, found));
    }
    counts.push(ModelCount { model, findings: findings.len() as u64, unknown: 0 });
    Ok(counts)
}
