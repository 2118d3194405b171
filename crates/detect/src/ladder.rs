//! The ladder of models: cheap answers first.
//!
//! A schedule that a strict model accepts is accepted by every more permissive one, so what is found in `rf` need not be
//! searched for in `branch`, and what is found there not in `branch+value`. The strict models are also the quick ones: on
//! recordings of servers they settle every candidate within a second or two, while comparing values leaves reads
//! free to observe one of very many equal writes. Each step of the ladder decides only the groups in which the steps
//! before it found nothing; a run that is stopped on a step has all that the steps before it give.
//!
//! The steps are the models without values that are stricter than the one asked for, and that one itself. `value`
//! is no step on the way to `branch+value`: it is as slow.

use std::sync::atomic::Ordering;

use reweave_decide::Error;
use reweave_trace::{Model, Trace};

use crate::run::{self, Searched};
use crate::{Atomicity, Counts, Options, Prediction, fold};

/// What the search had come to when one model was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelCount {
    /// The model.
    pub model: Model,
    /// How many findings it and the stricter ones give.
    pub findings: u64,
    /// How many groups of candidates it left undecided.
    pub undecided: u64,
    /// Whether the search in it was stopped before its end.
    pub stopped: bool,
}

/// The models to search in, one after another.
fn steps(model: Model) -> impl Iterator<Item = Model> {
    model.stricter().filter(|stricter| !stricter.by_value()).chain([model])
}

pub(crate) fn predict(trace: &Trace, model: Model, options: &Options<'_>) -> Result<Prediction, Error> {
    let mut prediction = Prediction::default();
    let mut settled = Counts::default();
    let stopped = || options.stop.load(Ordering::Relaxed);
    for step in steps(model) {
        if !prediction.models.is_empty() && stopped() {
            break;
        }
        let searched = run::search(trace, step, options, &prediction.findings)?;
        add(&mut prediction, &mut settled, searched, options.all);
        prediction.models.push(ModelCount {
            model: step,
            findings: prediction.findings.len() as u64,
            undecided: prediction.undecided.len() as u64,
            stopped: stopped(),
        });
    }
    if options.atomicity == Atomicity::Likely && !options.all {
        fold::torn(trace, &mut prediction.findings);
    }
    prediction.findings.sort_by(|a, b| (a.kind, &a.events, a.pattern).cmp(&(b.kind, &b.events, b.pattern)));
    prediction.undecided.sort_by(|a, b| (a.kind, &a.events).cmp(&(b.kind, &b.events)));
    prediction.partial = stopped();
    Ok(prediction)
}

/// Adds what one model gives. Of what earlier ones gave, the findings stay, and in `settled` the numbers of their groups; what
/// was infeasible or undecided there was decided again.
fn add(prediction: &mut Prediction, settled: &mut Counts, searched: Searched, all: bool) {
    for finding in &mut prediction.findings {
        if let Some(&instances) = searched.instances.get(&finding.fingerprint) {
            finding.instances = instances;
        }
    }
    prediction.dropped = searched.dropped;
    prediction.unexamined = searched.unexamined;
    prediction.refused = searched.refused;
    prediction.undecided.clear();
    prediction.counts = *settled;
    for outcome in searched.outcomes {
        prediction.counts += outcome.counts;
        let feasible = outcome.counts.feasible;
        if all {
            *settled += Counts { candidates: feasible, feasible, ..Counts::default() };
        } else if feasible > 0 {
            *settled += outcome.counts;
        }
        prediction.findings.extend(outcome.findings);
        prediction.undecided.extend(outcome.undecided);
    }
}
