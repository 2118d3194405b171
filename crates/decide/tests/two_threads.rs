//! The fast stages alone on traces of two threads, in `rf`: how often are they inconclusive?
//!
//! In theory the closure is complete for two threads and a given cut, where every constraint is an either-or of two
//! critical sections or of a write and a read. Races and deadlocks give the cut; sequences do not. Failed attempts,
//! waits, calls, looks at a clock and unseen writes are other constraints, and so is an update that is to be next: traces
//! without them are counted apart, as *plain*. What is feasible but left open, the guess did not find. The figures are printed:
//! `cargo test -p reweave-decide --test two_threads -- --nocapture`. `REWEAVE_TRACES` asks for other numbers.

use std::collections::BTreeMap;

use reweave_decide::{Decider, Limits, Prepared, Stages, Verdict};
use reweave_testkit::{Oracle, Rng, Shape, ValueMode, generate, show};
use reweave_trace::{EventId, Kind, Model, Trace};
use reweave_witness::Claim;

/// Deadlocks of one thread, with one that has ended: the fast stages do not try.
const DEAD: &str = "deadlocks with the dead";

/// What became of the questions of one kind.
#[derive(Default, Debug)]
struct Tally {
    feasible: u64,
    feasible_left_open: u64,
    infeasible: u64,
    infeasible_left_open: u64,
}

/// Questions that have a true answer, by kind.
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

    fn races(&self) -> impl Iterator<Item = (Claim, bool)> {
        let races = self.oracle.races();
        let pairs = self.events.iter().flat_map(|&a| self.events.iter().map(move |&b| (a, b)));
        let conflicts = pairs.filter(|&(a, b)| a < b && self.trace.conflict(a, b));
        conflicts.map(move |(a, b)| (Claim::CoEnabled(vec![a, b]), races.contains(&(a, b))))
    }

    fn deadlocks(&self) -> impl Iterator<Item = (Claim, bool)> {
        let blocks = |&&e: &&EventId| matches!(self.trace.kind(e), Kind::Acquire | Kind::SharedAcquire);
        let acquires: Vec<EventId> = self.events.iter().filter(blocks).copied().collect();
        let mut sets: Vec<Vec<EventId>> = acquires.iter().map(|&a| vec![a]).collect();
        for (place, &a) in acquires.iter().enumerate() {
            let partners = acquires[place + 1..].iter();
            let apart = partners.filter(|&&b| self.trace.thread(a) != self.trace.thread(b));
            sets.extend(apart.map(|&b| vec![a, b]));
        }
        sets.into_iter().map(|set| {
            let answer = self.oracle.deadlock(&set);
            (Claim::Deadlock(set), answer)
        })
    }

    fn sequence(&mut self, adjacency: bool) -> (Claim, bool) {
        let length = 2 + self.rng.below(2);
        let events = self.pick(length);
        let adjacent = if adjacency { vec![self.rng.below(length - 1)] } else { Vec::new() };
        let answer = self.oracle.sequence(&events, &adjacent);
        (Claim::Sequence { events, adjacent }, answer)
    }

    fn pairs(&mut self) -> (Claim, bool) {
        let pairs: Vec<_> = self.pick(2).into_iter().zip(self.pick(2)).collect();
        let answer = self.oracle.before(&pairs, &[]);
        (Claim::Before { pairs, adjacent: Vec::new() }, answer)
    }

    fn questions(&mut self) -> Vec<(&'static str, Claim, bool)> {
        let is_other = |kind| {
            use Kind::{Busy, Call, FailedAttempt, Look, Unseen, Update, Wait};
            matches!(kind, Busy | Call | FailedAttempt | Look | Unseen | Update | Wait)
        };
        let plain = !self.events.iter().any(|&event| is_other(self.trace.kind(event)));
        let races = if plain { "races in plain traces" } else { "races" };
        let mut all: Vec<_> = self.races().map(|(claim, answer)| (races, claim, answer)).collect();
        all.extend(self.deadlocks().map(|(claim, answer)| match &claim {
            Claim::Deadlock(acquires) if acquires.len() == 1 => (DEAD, claim, answer),
            _ => ("deadlocks", claim, answer),
        }));
        for _ in 0..3 {
            let (sequence, adjacent, pairs) = (self.sequence(false), self.sequence(true), self.pairs());
            all.push(("sequences", sequence.0, sequence.1));
            all.push(("adjacent sequences", adjacent.0, adjacent.1));
            all.push(("pairs of pairs", pairs.0, pairs.1));
        }
        all
    }
}

#[test]
fn the_fast_stages_are_never_wrong_and_seldom_inconclusive() {
    let traces = std::env::var("REWEAVE_TRACES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let presets = Shape::presets();
    for seed in 0..traces {
        let (_, shape) = presets[seed as usize % presets.len()].clone();
        let shape = Shape { threads: (2, 2), free_starts: 90, ..shape.with_values(ValueMode::Off) };
        let trace = generate(&shape, seed);
        let events: Vec<EventId> = trace.events().map(|(id, _)| id).collect();
        if events.is_empty() {
            continue;
        }
        let oracle = Oracle::new(&trace, Model::Rf, None).expect("the trace is small");
        let prepared = Prepared::new(&trace, None);
        let mut decider = Decider::new(&prepared, Model::Rf).expect("the model is always sound");
        let mut case = Case { trace: &trace, oracle: &oracle, events, rng: Rng::new(seed) };
        for (kind, claim, expected) in case.questions() {
            let context = || format!("seed {seed} {claim:?}, expected {expected}\n{}", show(&trace));
            let verdict = decider.decide_with(&claim, &Limits::none(), Stages::Fast);
            let answer = match verdict.unwrap_or_else(|error| panic!("{error} {}", context())) {
                Verdict::Feasible(_) => Some(true),
                Verdict::Infeasible(_) => Some(false),
                Verdict::Unknown(_) => None,
            };
            assert_eq!(answer.unwrap_or(expected), expected, "{}", context());
            let tally = tallies.entry(kind).or_default();
            let (all, open) = match expected {
                true => (&mut tally.feasible, &mut tally.feasible_left_open),
                false => (&mut tally.infeasible, &mut tally.infeasible_left_open),
            };
            *all += 1;
            *open += u64::from(answer.is_none());
        }
    }
    for (kind, tally) in &tallies {
        println!("{kind}: {tally:?}");
    }
    for (&kind, tally) in &tallies {
        let Tally { feasible, feasible_left_open, infeasible, infeasible_left_open } = tally;
        let (feasible_bound, infeasible_bound) = match kind {
            DEAD => (100.0, 100.0),
            "deadlocks" => (20.0, 0.1),
            "races in plain traces" => (2.0, 0.1),
            "races" => (5.0, 20.0),
            _ => (2.0, 2.0),
        };
        // A few more than the share, so that a small sample with one odd trace passes too.
        let within =
            |open: u64, whole: u64, percent: f64| open as f64 <= 5.0 + whole as f64 * percent / 100.0;
        assert!(within(*feasible_left_open, *feasible, feasible_bound), "{kind}: {tally:?}");
        assert!(within(*infeasible_left_open, *infeasible, infeasible_bound), "{kind}: {tally:?}");
    }
}
