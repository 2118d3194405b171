//! The oracle against all schedules, listed one by one.

use std::collections::BTreeSet;

use reweave_testkit::{Oracle, Plain, Rng, Shape, ValueMode, dependences, generate, show};
use reweave_trace::{Dependences, EventId, Kind, Model, ThreadId, Trace};

/// What a list of all schedules shows.
#[derive(Default)]
struct Listed {
    races: BTreeSet<(EventId, EventId)>,
    deadlocks: BTreeSet<Vec<EventId>>,
    enabled: BTreeSet<BTreeSet<EventId>>,
    schedules: Vec<Vec<EventId>>,
}

fn list(plain: &Plain<'_>, trace: &Trace, events: &[EventId]) -> Listed {
    let mut listed = Listed::default();
    plain.visit_all(&mut |plain, done| {
        let may: Vec<EventId> = events.iter().copied().filter(|&e| plain.may_run(done, e)).collect();
        for (i, &a) in may.iter().enumerate() {
            listed.races.extend(may[i..].iter().filter(|&&b| plain.conflict(a, b)).map(|&b| (a, b)));
        }
        deadlocks(plain, trace, done, &may, &mut listed.deadlocks);
        listed.enabled.insert(may.into_iter().collect());
        listed.schedules.push(done.to_vec());
    });
    listed
}

/// Every subset of the blocked acquires, in every order, that is a cycle.
fn deadlocks(
    plain: &Plain<'_>,
    trace: &Trace,
    done: &[EventId],
    may: &[EventId],
    found: &mut BTreeSet<Vec<EventId>>,
) {
    let waits = |e: EventId| matches!(trace.kind(e), Kind::Acquire | Kind::SharedAcquire);
    let blocked: Vec<(EventId, Vec<ThreadId>)> =
        may.iter().filter(|&&e| waits(e)).map(|&e| (e, plain.blockers(done, e))).collect();
    let dead = |t: ThreadId| done.iter().any(|&e| trace.thread(e) == t && trace.kind(e) == Kind::End);
    for (event, blockers) in &blocked {
        if blockers.iter().any(|&thread| dead(thread)) {
            found.insert(vec![*event]);
        }
    }
    let mut paths: Vec<Vec<usize>> = (0..blocked.len()).map(|i| vec![i]).collect();
    while let Some(path) = paths.pop() {
        let last = &blocked[path[path.len() - 1]].1;
        for next in 0..blocked.len() {
            if !last.contains(&trace.thread(blocked[next].0)) {
                continue;
            }
            if next == path[0] {
                let mut cycle: Vec<EventId> = path.iter().map(|&i| blocked[i].0).collect();
                cycle.sort();
                found.insert(cycle);
            } else if !path.contains(&next) {
                paths.push([&path[..], &[next]].concat());
            }
        }
    }
}

/// Whether a listed schedule keeps the orders.
fn keeps(schedule: &[EventId], pairs: &[(EventId, EventId)], adjacent: &[usize]) -> bool {
    let place = |event: EventId| schedule.iter().position(|&e| e == event);
    pairs.iter().enumerate().all(|(i, &(a, b))| match (place(a), place(b)) {
        (Some(a), Some(b)) => a < b && (!adjacent.contains(&i) || a + 1 == b),
        _ => false,
    })
}

fn compare(trace: &Trace, model: Model, table: &Dependences, rng: &mut Rng) {
    let events: Vec<EventId> = trace.events().map(|(id, _)| id).collect();
    let plain = Plain::new(trace, &events, model, Some(table));
    let oracle = Oracle::new(trace, model, Some(table)).unwrap();
    let listed = list(&plain, trace, &events);
    let context = || format!("{model}\n{}{table:?}", show(trace));

    assert_eq!(oracle.races(), listed.races.iter().copied().collect::<Vec<_>>(), "{}", context());
    assert_eq!(oracle.deadlocks(), listed.deadlocks.iter().cloned().collect::<Vec<_>>(), "{}", context());
    assert!(oracle.states() <= listed.schedules.len());
    for &a in &events {
        for &b in &events {
            let pair = [(a, b)];
            let found = listed.schedules.iter().any(|schedule| keeps(schedule, &pair, &[]));
            assert_eq!(oracle.before(&pair, &[]), found, "{a:?} before {b:?} {}", context());
            let found = listed.schedules.iter().any(|schedule| keeps(schedule, &pair, &[0]));
            assert_eq!(oracle.before(&pair, &[0]), found, "{a:?} right before {b:?} {}", context());
        }
    }
    for _ in 0..12 {
        random_questions(&oracle, &listed, &events, rng, &context);
    }
    for _ in 0..6 {
        let mut schedule = oracle.random_schedule(rng);
        assert_eq!(plain.accepts(&schedule), Ok(()), "{schedule:?} {}", context());
        for _ in 0..rng.below(3) {
            mutate(&mut schedule, &events, rng);
        }
        assert_eq!(oracle.accepts(&schedule), plain.accepts(&schedule), "{schedule:?} {}", context());
    }
}

fn random_questions(
    oracle: &Oracle,
    listed: &Listed,
    events: &[EventId],
    rng: &mut Rng,
    context: &dyn Fn() -> String,
) {
    let mut some = |count: usize| (0..count).filter_map(|_| rng.pick(events)).collect::<Vec<EventId>>();
    let (pairs, order, set) = (some(4), some(3), some(3));
    let distinct: BTreeSet<EventId> = set.iter().copied().collect();
    let coenabled =
        distinct.len() == set.len() && listed.enabled.iter().any(|may| may.is_superset(&distinct));
    assert_eq!(oracle.coenabled(&set), coenabled, "{set:?} {}", context());
    if let Some(witness) = oracle.witness(&set) {
        assert_eq!(oracle.accepts(&witness), Ok(()));
    }
    let pairs: Vec<(EventId, EventId)> = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    for adjacent in [&[][..], &[0], &[1], &[0, 1]] {
        if pairs.len() == 2 {
            let found = listed.schedules.iter().any(|schedule| keeps(schedule, &pairs, adjacent));
            assert_eq!(oracle.before(&pairs, adjacent), found, "{pairs:?} {adjacent:?} {}", context());
        }
        if order.len() == 3 {
            let chain = [(order[0], order[1]), (order[1], order[2])];
            let found = listed.schedules.iter().any(|schedule| keeps(schedule, &chain, adjacent));
            assert_eq!(oracle.sequence(&order, adjacent), found, "{order:?} {adjacent:?} {}", context());
        }
    }
}

fn mutate(schedule: &mut Vec<EventId>, events: &[EventId], rng: &mut Rng) {
    match (schedule.len(), rng.below(3)) {
        (2.., 0) => {
            let (a, b) = (rng.below(schedule.len()), rng.below(schedule.len()));
            schedule.swap(a, b);
        }
        (1.., 1) => drop(schedule.remove(rng.below(schedule.len()))),
        (length, _) => schedule.extend(rng.pick(events).filter(|_| length < 20)),
    }
}

#[test]
fn the_oracle_agrees_with_all_schedules_listed() {
    for (_, shape) in Shape::presets() {
        let shape = Shape { threads: (2, 3), ..shape }.with_events((4, 7));
        for seed in 0..400 {
            let mode = [ValueMode::Some, ValueMode::All, ValueMode::Off][seed as usize % 3];
            let trace = generate(&shape.clone().with_values(mode), seed);
            let mut rng = Rng::new(seed ^ 0xD1CE);
            let table = dependences(&trace, &mut rng);
            for model in Model::ALL {
                compare(&trace, model, &table, &mut rng);
            }
        }
    }
}

/// What is reachable, as far as events tell.
fn reach(trace: &Trace, model: Model) -> BTreeSet<Vec<EventId>> {
    let oracle = Oracle::new(trace, model, None).unwrap();
    let mut reach: BTreeSet<Vec<EventId>> = oracle.deadlocks().into_iter().collect();
    for a in trace.ids() {
        for b in trace.ids() {
            if oracle.coenabled(&[a, b]) {
                reach.insert(vec![a, b]);
            }
            if oracle.before(&[(a, b)], &[]) {
                reach.insert(vec![a, b, b]);
            }
        }
    }
    reach
}

#[test]
fn a_permissive_model_reaches_what_a_strict_one_does() {
    use Model::*;
    let inclusions =
        [(Rf, Value), (Rf, Branch), (Value, BranchValue), (Branch, BranchValue), (BranchValue, Sync)];
    let mut strict = 0;
    for (_, shape) in Shape::presets() {
        for seed in 0..120 {
            let trace = generate(&shape.clone().with_events((6, 9)), seed);
            for (small, large) in inclusions {
                let (small, large) = (reach(&trace, small), reach(&trace, large));
                assert!(small.is_subset(&large), "{}", show(&trace));
                strict += usize::from(small != large);
            }
        }
    }
    assert!(strict > 200, "the models hardly ever differ: {strict}");
}

#[test]
fn deadlocks_of_every_length_occur() {
    let mut lengths = [0; 5];
    for shape in [Shape::locks(), Shape::rings()] {
        for seed in 0..2_000 {
            let oracle = Oracle::new(&generate(&shape, seed), Model::Rf, None).unwrap();
            for deadlock in oracle.deadlocks() {
                lengths[deadlock.len()] += 1;
            }
        }
    }
    assert!(lengths[1] > 20 && lengths[2] > 100 && lengths[3] > 20, "{lengths:?}");
}

#[test]
fn a_limit_is_an_error_and_never_an_answer() {
    let trace = generate(&Shape::mixed(), 1);
    let states = Oracle::new(&trace, Model::Rf, None).unwrap().states();
    assert!(Oracle::with_limit(&trace, Model::Rf, None, states).is_ok());
    assert!(Oracle::with_limit(&trace, Model::Rf, None, states - 1).is_err());
    assert!(Oracle::new(&trace, Model::Dep, None).is_err());
}
