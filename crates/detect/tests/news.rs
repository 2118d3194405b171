//! Schedules in which a read observes something new, against a plain walk along each, and against what random schedules of the
//! oracle's machine show.

use std::collections::{HashMap, HashSet};

use reweave_decide::Limits;
use reweave_detect::{Histories, Novelty, news};
use reweave_testkit::{Machine, Rng, Shape, generate, parse, show};
use reweave_trace::{EventId, Links, Model, Trace, VarId};

/// Per read of a schedule, the write that it observes: the plainest way.
fn observed(trace: &Trace, schedule: &[EventId]) -> HashMap<EventId, Option<EventId>> {
    let mut last: HashMap<VarId, EventId> = HashMap::new();
    let mut reads = HashMap::new();
    for &event in schedule {
        let Some(access) = trace.op(event).access() else { continue };
        if access.reads {
            reads.insert(event, last.get(&access.variable).copied());
        }
        if access.writes {
            last.insert(access.variable, event);
        }
    }
    reads
}

fn rounds() -> u64 {
    std::env::var("REWEAVE_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1_500)
}

#[test]
fn each_schedule_lets_its_read_observe_something_else() {
    let (mut found, mut shown, mut covered) = (0, 0, 0);
    for seed in 0..rounds() {
        let shape = if seed % 2 == 0 { Shape::memory() } else { Shape::locks() };
        let trace = generate(&shape, seed);
        let links = Links::new(&trace);
        let mut known = Histories::new();
        assert!(known.add(&trace) && !known.add(&trace));
        let all = news(&trace, Model::Rf, &known, &Limits::none(), 1_000).expect("no bug of ours");
        let machine = Machine::new(&trace, Model::Rf, None);
        for one in &all {
            let mut schedule: Vec<EventId> = one.witness.witness().schedule(&trace).collect();
            let by_locks = one.witness.model() == Model::Sync;
            if let (Ok(machine), false) = (&machine, by_locks) {
                assert_eq!(machine.accepts(&schedule), Ok(()), "{}{one:?}", show(&trace));
            }
            if one.write.is_none() {
                schedule.push(one.read);
            }
            let now = observed(&trace, &schedule)[&one.read];
            assert_ne!(now, links.observed(one.read), "{}{one:?}", show(&trace));
        }
        found += all.len();
        let Ok(machine) = machine else { continue };
        let reads: HashSet<EventId> = all.iter().map(|one| one.read).collect();
        let mut rng = Rng::new(seed);
        let mut other: HashSet<EventId> = HashSet::new();
        for _ in 0..50 {
            let now = observed(&trace, &machine.random_schedule(&mut rng));
            let is_other = |(read, write): (&EventId, &Option<EventId>)| {
                (*write != links.observed(*read)).then_some(*read)
            };
            other.extend(now.iter().filter_map(is_other));
        }
        shown += other.len();
        covered += other.intersection(&reads).count();
    }
    println!("{found} schedules; of {shown} reads that observe something else by chance, {covered} have one");
    assert!(found > 500 && shown > 500 && covered * 100 >= shown * 99, "{found} {shown} {covered}");
}

const LOCKED: &str = "\
main|fork(a)|m 1
main|fork(b)|m 2
a|acq(l)|a 1
a|w(x)|a 2|1
a|rel(l)|a 3
b|acq(l)|b 1
b|r(x)|b 2|1
b|rel(l)|b 3
";

#[test]
fn well_locked_sections_are_turned_round() {
    let trace = parse(LOCKED).expect("a trace");
    let mut known = Histories::new();
    assert!(known.add(&trace));
    let all = news(&trace, Model::Rf, &known, &Limits::none(), 8).expect("no bug of ours");
    let [one] = &all[..] else { panic!("{all:?}") };
    assert_eq!((one.read, one.write, one.novelty), (EventId(6), None, Novelty::Pair));
    // A run in which it came: nothing is new any more but the order.
    let lines: Vec<&str> = LOCKED.lines().collect();
    let turned = [0, 1, 5, 6, 7, 2, 3, 4].map(|line| lines[line]).join("\n").replace("b 2|1", "b 2|0");
    assert!(known.add(&parse(&turned).expect("a trace")));
    let all = news(&trace, Model::Rf, &known, &Limits::none(), 8).expect("no bug of ours");
    assert!(all.iter().all(|one| one.novelty != Novelty::Pair), "{all:?}");
}

#[test]
fn what_a_fork_orders_is_no_news() {
    let text =
        "main|w(x)|m 1|1\nmain|fork(a)|m 2\na|r(x)|a 1|1\na|end|a 2\nmain|join(a)|m 3\nmain|w(x)|m 4|2\n";
    let trace = parse(text).expect("a trace");
    let all = news(&trace, Model::Rf, &Histories::new(), &Limits::none(), 8).expect("no bug of ours");
    assert!(all.is_empty(), "{all:?}");
}

/// However often a thread finds the same in a loop, it has observed it once.
#[test]
fn rounds_of_a_loop_that_waits_are_no_news() {
    let spins = |rounds: usize| {
        let round = "a|ar(x)|a 1|0\n".repeat(rounds);
        let text = format!("main|fork(a)|m 1\n{round}main|aw(x)|m 2|1\na|ar(x)|a 1|1\n");
        parse(&text).expect("a trace")
    };
    let mut known = Histories::new();
    assert!(known.add(&spins(1)));
    assert!(!known.add(&spins(2)) && !known.add(&spins(1_000)));
    assert!(known.add(&spins(0)), "it found the new value at once");
}
