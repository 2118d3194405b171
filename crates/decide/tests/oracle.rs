//! Every verdict on small random traces against the brute-force oracle.
//!
//! `REWEAVE_TRACES=1430000 cargo test --release -p reweave-decide --test oracle` compares ten million traces;
//! `REWEAVE_FIRST` is the first seed, for doing that in parts.

use std::ops::Range;

use reweave_decide::{Decider, Limits, Must, Prepared, Refutation, Stages, Verdict};
use reweave_testkit::{Oracle, Rng, Shape, ValueMode, dependences, generate, show};
use reweave_trace::{EventId, Kind, Model, Trace};
use reweave_witness::Claim;

/// The seeds per model: so many traces, from the first on.
fn seeds() -> Range<u64> {
    let number = |name, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let first = number("REWEAVE_FIRST", 0);
    first..first + number("REWEAVE_TRACES", 30_000)
}

fn trace_of(seed: u64, model: Model) -> Trace {
    let presets = Shape::presets();
    let (_, shape) = presets[seed as usize % presets.len()].clone();
    let values = if model.by_value() { ValueMode::All } else { ValueMode::Off };
    generate(&Shape { branches: true, ..shape.with_values(values) }, seed)
}

struct Case<'t> {
    trace: &'t Trace,
    oracle: &'t Oracle,
    events: Vec<EventId>,
    rng: Rng,
}

impl Case<'_> {
    fn pick(&mut self, n: usize) -> Vec<EventId> {
        (0..n).map(|_| self.events[self.rng.below(self.events.len())]).collect()
    }

    fn places(&mut self, n: usize) -> Vec<usize> {
        (0..n).filter(|_| self.rng.chance(30)).collect()
    }

    /// A random question with its true answer.
    fn question(&mut self) -> (Claim, bool) {
        let n = 1 + self.rng.below(3);
        match self.rng.below(4) {
            0 => {
                let events = self.pick(n);
                let answer = self.oracle.coenabled(&events);
                (Claim::CoEnabled(events), answer)
            }
            1 => {
                let events = self.pick(n + 1);
                let adjacent = self.places(n);
                let answer = self.oracle.sequence(&events, &adjacent);
                (Claim::Sequence { events, adjacent }, answer)
            }
            2 => {
                let (first, second) = (self.pick(n), self.pick(n));
                let pairs: Vec<_> = first.into_iter().zip(second).collect();
                let adjacent = self.places(n);
                let answer = self.oracle.before(&pairs, &adjacent);
                (Claim::Before { pairs, adjacent }, answer)
            }
            _ => {
                let acquires =
                    |&e: &EventId| matches!(self.trace.kind(e), Kind::Acquire | Kind::SharedAcquire);
                let acquires: Vec<EventId> = self.events.iter().copied().filter(acquires).collect();
                if acquires.is_empty() {
                    return self.question();
                }
                let mut events: Vec<_> = (0..n).map(|_| acquires[self.rng.below(acquires.len())]).collect();
                events.sort();
                events.dedup();
                let answer = self.oracle.deadlock(&events);
                (Claim::Deadlock(events), answer)
            }
        }
    }

    /// Every race candidate and deadlock, and some random questions.
    fn questions(&mut self) -> Vec<(Claim, bool)> {
        let races = self.oracle.races();
        let mut all = Vec::new();
        for (i, &a) in self.events.iter().enumerate() {
            let conflicting = self.events[i + 1..].iter().filter(|&&b| self.trace.conflict(a, b));
            all.extend(conflicting.map(|&b| (Claim::CoEnabled(vec![a, b]), races.contains(&(a, b)))));
        }
        all.extend(self.oracle.deadlocks().into_iter().map(|deadlock| (Claim::Deadlock(deadlock), true)));
        all.extend((0..6).map(|_| self.question()));
        all
    }

    /// Every call that might go ahead of an event of another thread before it.
    fn overtaking(&self) -> Vec<(EventId, EventId)> {
        let calls = self.events.iter().copied().filter(|&event| self.trace.kind(event) == Kind::Call);
        let pairs = calls.flat_map(|first| self.events.iter().map(move |&then| (first, then)));
        let thread = |event: EventId| self.trace.thread(event);
        pairs.filter(|&(first, then)| then < first && thread(first) != thread(then)).collect()
    }
}

/// Whether the steps of a cycle lead from one to the next, and the last to the first.
fn is_closed(refutation: &Refutation) -> bool {
    let Refutation::Cycle(steps) = refutation else { return true };
    let next = steps.iter().cycle().skip(1);
    !steps.is_empty() && steps.iter().zip(next).all(|(step, next)| step.to == next.from)
}

/// What each stage said, where it was right, in one model.
#[derive(Default, Debug)]
struct Tally {
    questions: u64,
    settled_fast: u64,
    /// Calls that can come too late for another.
    overtaken: u64,
}

fn compare(model: Model, trace_of: impl Fn(u64, Model) -> Trace) -> Tally {
    compare_seeds(model, trace_of, seeds())
}

fn compare_seeds(
    model: Model,
    trace_of: impl Fn(u64, Model) -> Trace,
    seeds: impl Iterator<Item = u64>,
) -> Tally {
    let mut tally = Tally::default();
    for seed in seeds {
        let trace = trace_of(seed, model);
        let table = dependences(&trace, &mut Rng::new(seed));
        let table = model.by_dependence().then_some(&table);
        let oracle = Oracle::new(&trace, model, table).expect("the trace is small");
        let events: Vec<EventId> = trace.events().map(|(id, _)| id).collect();
        if events.is_empty() {
            continue;
        }
        let prepared = Prepared::new(&trace, table);
        let mut decider = Decider::new(&prepared, model).expect("the model is sound");
        let mut case = Case { trace: &trace, oracle: &oracle, events, rng: Rng::new(seed) };
        let mut questions = case.questions();
        for (first, then) in case.overtaking() {
            let expected = Oracle::ahead(&trace, model, table, first, then).expect("the trace is small");
            tally.overtaken += u64::from(expected && trace.kind(then) == Kind::Call);
            questions.push((Claim::Ahead { first, then }, expected));
        }
        for (claim, expected) in questions {
            let context = || format!("seed {seed} {model} {claim:?}, expected {expected}\n{}", show(&trace));
            tally.questions += 1;
            for stages in [Stages::Fast, Stages::Exact, Stages::All] {
                let verdict = decider.decide_with(&claim, &Limits::none(), stages);
                let answer = match verdict.unwrap_or_else(|error| panic!("{error} {}", context())) {
                    Verdict::Feasible(_) => Some(true),
                    Verdict::Infeasible(refutation) => {
                        assert!(is_closed(&refutation), "{refutation:?} {}", context());
                        Some(false)
                    }
                    Verdict::Unknown(_) => None,
                };
                if stages == Stages::Fast {
                    tally.settled_fast += u64::from(answer.is_some());
                    assert_eq!(answer.unwrap_or(expected), expected, "{stages:?} {}", context());
                } else {
                    assert_eq!(answer, Some(expected), "{stages:?} {}", context());
                }
            }
        }
    }
    println!("{model}: {tally:?}");
    tally
}

#[test]
fn sync() {
    compare(Model::Sync, trace_of);
}

#[test]
fn rf() {
    compare(Model::Rf, trace_of);
}

#[test]
fn value() {
    compare(Model::Value, trace_of);
}

#[test]
fn branch() {
    compare(Model::Branch, trace_of);
}

#[test]
fn branch_value() {
    compare(Model::BranchValue, trace_of);
}

#[test]
fn dep() {
    compare(Model::Dep, trace_of);
}

#[test]
fn dep_value() {
    compare(Model::DepValue, trace_of);
}

#[test]
fn the_must_order_holds_in_every_schedule() {
    for seed in seeds().step_by(4) {
        let model = Model::ALL[seed as usize / 8 % Model::ALL.len()];
        let trace = trace_of(seed, model);
        let table = dependences(&trace, &mut Rng::new(seed));
        let table = model.by_dependence().then_some(&table);
        let oracle = Oracle::new(&trace, model, table).expect("the trace is small");
        let prepared = Prepared::new(&trace, table);
        let must = Must::new(&prepared, model);
        let ids = || trace.events().map(|(id, _)| id);
        for (a, b) in ids().flat_map(|a| ids().map(move |b| (a, b))).filter(|&(a, b)| must.before(a, b)) {
            let context = || format!("seed {seed} {model} {a:?} {b:?}\n{}", show(&trace));
            assert!(!oracle.before(&[(b, a)], &[]) && !oracle.coenabled(&[a, b]), "{}", context());
            let path = must.path(a, b);
            assert_eq!(
                (path.first().unwrap().from, path.last().unwrap().to),
                (a, b),
                "{path:?} {}",
                context()
            );
            assert!(path.windows(2).all(|pair| pair[0].to == pair[1].from), "{path:?} {}", context());
        }
    }
}

/// Calls of every built-in type, some of them with locks around: more of them than in the other tests.
fn with_calls(seed: u64, model: Model) -> Trace {
    let values = if model.by_value() { ValueMode::All } else { ValueMode::Off };
    generate(&Shape { branches: true, ..Shape::calls().with_values(values) }, seed)
}

#[test]
fn calls_in_every_model() {
    for model in Model::ALL {
        let tally = compare_seeds(model, with_calls, seeds().take(seeds().count() / 10));
        assert!(tally.overtaken > 20, "{model}: {tally:?}");
    }
}
