//! The ladder of models: cheap answers first.
//!
//! A schedule that a strict model accepts is accepted by every more permissive one, so what is found in `rf` need not be
//! searched for in `branch`, and what is found there not in `branch+value`. The strict models are also the quick ones: on
//! recordings of servers they settle every candidate within a second or two, while comparing values leaves reads
//! free to observe one of very many equal writes. Each step of the ladder decides only the groups in which the steps
//! before it found nothing; a run that is stopped on a step has all that the steps before it give.
//!
//! The steps are the models without values that are stricter than the one asked for, and that one itself. `value`
//! is no step on the way to `branch+value`: it is as slow. On the way to the `dep` models, `branch` is one where the trace tells of its
//! branches, and `branch+value` is one on the way to `dep+value`, so that it shows what the table
//! of dependences adds. A table may ask for more than it has to, so that a schedule of `branch`
//! need not be one of `dep`: it counts only if the checker accepts it there, too.

use std::sync::atomic::Ordering;

use reweave_decide::Error;
use reweave_trace::{Capabilities, Model, ProgramOrder, Trace};
use reweave_witness::Checker;

use crate::run::{self, Searched};
use crate::{Atomicity, Counts, Kind, Options, Prediction, fold};

/// What the search had come to when one model was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ModelCount {
    /// The model.
    pub model: Model,
    /// How many findings it and the stricter ones give.
    pub findings: u64,
    /// How many groups of candidates it left undecided.
    pub undecided: u64,
    /// The same for each kind, in the order of [`Kind::ALL`].
    pub undecided_by_kind: [u64; Kind::ALL.len()],
    /// Whether the search in it was stopped before its end.
    pub stopped: bool,
}

/// The models to search in, one after another.
fn steps(model: Model, capabilities: Capabilities) -> Vec<Model> {
    let mut steps: Vec<Model> = model.stricter().filter(|stricter| !stricter.by_value()).collect();
    if model.by_dependence() && capabilities.branches {
        steps.push(Model::Branch);
        steps.extend((model == Model::DepValue).then_some(Model::BranchValue));
        steps.sort_unstable();
    }
    steps.push(model);
    steps
}

/// Leaves the findings whose schedules `model` accepts, which is not known to be more permissive; the others are searched for again.
fn leave_those_of(trace: &Trace, model: Model, searched: &mut Searched) {
    let found = searched.outcomes.iter().any(|outcome| !outcome.findings.is_empty());
    if !found {
        return;
    }
    let (links, order) = (reweave_spec::links(trace), ProgramOrder::new(trace));
    let checker = Checker::new(trace, &links, &order);
    for outcome in &mut searched.outcomes {
        let before = outcome.findings.len();
        outcome.findings.retain(|finding| {
            let (witness, claim) = (finding.witness.witness(), finding.witness.claim());
            checker.check(model, witness.clone(), claim.clone()).is_ok()
        });
        outcome.counts.feasible -= (before - outcome.findings.len()) as u64;
    }
}

pub(crate) fn predict(trace: &Trace, model: Model, options: &Options<'_>) -> Result<Prediction, Error> {
    let mut prediction = Prediction::default();
    let mut settled = Counts::default();
    let stopped = || options.stop.load(Ordering::Relaxed);
    for step in steps(model, trace.capabilities()) {
        if !prediction.models.is_empty() && stopped() {
            break;
        }
        let mut searched = run::search(trace, step, options, &prediction.findings)?;
        if step != model && !model.stricter().any(|stricter| stricter == step) {
            leave_those_of(trace, model, &mut searched);
        }
        add(&mut prediction, &mut settled, searched, options.all);
        prediction.models.push(ModelCount {
            model: step,
            findings: prediction.findings.len() as u64,
            undecided: prediction.undecided.len() as u64,
            undecided_by_kind: Kind::ALL
                .map(|kind| prediction.undecided.iter().filter(|open| open.kind == kind).count() as u64),
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
