//! What makes a trace ill formed, and what a repair makes of it.

use reweave_testkit::{Rng, parse_raw, show};
use reweave_trace::{Builder, Defect, Error, Event, EventId, EventValues, Kind, Op, Renaming, SiteId, Trace};

/// The first defect of a trace and where it is; after a repair, every defect with its count and first place, and
/// the operations that are left (`-` where one was dropped).
#[track_caller]
fn check(text: &str, defect: Defect, at: u32, counts: &[(Defect, u64, u32)], left: &str) {
    let builder = parse_raw(text).expect("the text is a trace");
    match builder.clone().finish() {
        Err(Error::IllFormed(found)) => {
            assert_eq!((found.defect, found.event.0), (defect, at), "{}", found.message)
        }
        other => panic!("{other:?}"),
    }
    let (trace, repairs) = builder.repair().expect("it can be mended");
    let found: Vec<_> = repairs.iter().map(|(defect, count, first)| (defect, count, first.0)).collect();
    assert_eq!(found, counts);
    let ops: Vec<String> = trace
        .ids()
        .map(|id| match trace.op(id) {
            Op::Skip => "-".to_owned(),
            op => trace.target_name(op).unwrap_or(".").to_owned(),
        })
        .collect();
    assert_eq!(ops.join(" "), left);
    assert_well_formed(&trace);
}

/// Builds the trace again from its events: what a repair leaves must pass the strict check.
#[track_caller]
fn assert_well_formed(trace: &Trace) {
    let mut builder = Builder::new();
    builder.claim(trace.capabilities());
    for id in trace.ids() {
        let event = trace.event(id);
        let thread = builder.thread(trace.thread_name(event.thread)).unwrap();
        let target =
            builder.target(event.op.kind(), trace.target_name(event.op).unwrap_or_default()).unwrap();
        let given = trace.values(id);
        let mut value = |id: Option<_>| id.map(|id| builder.value(trace.value(id)).unwrap());
        let values = EventValues { read: value(given.read), written: value(given.written) };
        let site = builder.site(trace.site_name(event.site)).unwrap();
        builder.push(Event { thread, op: Op::new(event.op.kind(), target), site }, values).unwrap();
    }
    if let Err(error) = builder.finish() {
        panic!("{error}\n{}", show(trace));
    }
}

#[test]
fn locks() {
    use Defect::*;
    check(
        "a|acq(l)|\nb|acq(l)|\nb|rel(l)|\na|rel(l)|",
        HeldByAnother,
        1,
        &[(HeldByAnother, 1, 1)],
        "owner of l owner of l owner of l owner of l",
    );
    check("a|racq(l)|\nb|acq(l)|", HeldByAnother, 1, &[(NeverGranted, 1, 1)], "l -");
    check("a|acq(l)|\nb|racq(l)|", HeldByAnother, 1, &[(NeverGranted, 1, 1)], "l -");
    check("a|acq(l)|\na|rrel(l)|", ReleaseWithoutAcquire, 1, &[(ReleaseWithoutAcquire, 1, 1)], "l -");
    check("a|rel(l)|\na|rel(l)|", ReleaseWithoutAcquire, 0, &[(ReleaseWithoutAcquire, 2, 0)], "- -");
    check("a|acq(l)|\na|busy(l)|", BusyWithoutHolder, 1, &[(BusyWithoutHolder, 1, 1)], "l -");
}

/// An acquire that was logged when it was asked for goes to the next event of its thread, if it can have been granted there.
#[test]
fn acquires_that_come_early() {
    use Defect::*;
    check(
        "a|acq(l)|\nb|acq(l)|\na|w(x)|\na|rel(l)|\nb|w(y)|\nb|rel(l)|",
        HeldByAnother,
        1,
        &[(EarlyAcquire, 1, 1)],
        "l x l l y l",
    );
    // Two in a row, of which the second waits, too.
    check(
        "a|acq(l)|\nc|acq(m)|\nb|acq(l)|\na|rel(l)|\nb|acq(m)|\nc|rel(m)|\nb|w(y)|",
        HeldByAnother,
        2,
        &[(EarlyAcquire, 2, 2)],
        "l m l l m m y",
    );
    // It went on while another held the lock: the lock only orders, what is inside is atomic, and so is what locks do inside.
    let overlap =
        "a|acq(l)|\nb|acq(l)|\nb|w(x)|\na|w(x)|\nb|acq(m)|\nb|rel(m)|\na|rel(l)|\nb|rel(l)|\na|w(x)|";
    let (trace, repairs) = parse_raw(overlap).unwrap().repair().unwrap();
    assert_eq!(repairs.iter().map(|(defect, ..)| defect).collect::<Vec<_>>(), [HeldByAnother]);
    let kinds: Vec<Kind> = trace.ids().map(|id| trace.kind(id)).collect();
    use Kind::{AtomicWrite, Update, Write};
    assert_eq!(kinds, [Update, Update, AtomicWrite, AtomicWrite, Update, Update, Update, Update, Write]);
}

/// A wait that was logged when its thread went to sleep ends where the thread acquires again.
#[test]
fn waits_that_come_early() {
    let settled = |text: &str| {
        let mut builder = parse_raw(text).unwrap();
        let moved = builder.settle_waits();
        let trace = builder.finish().unwrap();
        let kinds: Vec<String> = trace.ids().map(|id| format!("{:?}", trace.kind(id))).collect();
        (moved, kinds.join(" "))
    };
    let asleep = "m|acq(l)|\nm|rel(l)|\nm|wait(c)|\na|notify(c)|\nm|acq(l)|";
    assert_eq!(settled(asleep), (1, "Acquire Release Notify Wait Acquire".to_owned()));
    for as_it_is in [
        "m|acq(l)|\nm|rel(l)|\na|notify(c)|\nm|wait(c)|\nm|acq(l)|",
        "m|acq(l)|\nm|rel(l)|\nm|look(t)|\nm|wait(c)|\na|notify(c)|\nm|acq(l)|",
        "m|acq(l)|\nm|rel(l)|\nm|wait(c)|\na|notify(d)|\nm|acq(l)|",
        "m|acq(l)|\nm|rel(l)|\nm|wait(c)|\nm|acq(l)|\na|notify(c)|",
    ] {
        assert_eq!(settled(as_it_is).0, 0, "{as_it_is}");
    }
}

#[test]
fn threads() {
    use Defect::*;
    check("a|fork(b)|\nb|w(x)|\na|fork(b)|", SecondFork, 2, &[(SecondFork, 1, 2)], "b x -");
    check("b|w(x)|\na|fork(b)|", ForkAfterEvents, 1, &[(BeforeFork, 1, 0)], "- b");
    check("b|begin|\na|fork(b)|\nb|w(x)|", ForkAfterEvents, 1, &[(BeforeFork, 1, 0)], "- b x");
    // What was started only by a fork that goes is gone with it; who has another fork is not.
    check("b|fork(c)|\na|fork(b)|\nc|w(x)|", ForkAfterEvents, 1, &[(BeforeFork, 2, 0)], "- b -");
    check(
        "b|fork(c)|\na|fork(b)|\nb|fork(c)|\nc|w(x)|",
        ForkAfterEvents,
        1,
        &[(BeforeFork, 1, 0)],
        "- b c x",
    );
    check("a|fork(a)|", ForkAfterEvents, 0, &[(ForkAfterEvents, 1, 0)], "-");
    check("a|join(a)|", EarlyJoin, 0, &[(EarlyJoin, 1, 0)], "-");
    check(
        "b|w(x)|\na|join(b)|\nc|join(b)|\nb|w(x)|\na|join(b)|",
        EarlyJoin,
        1,
        &[(EarlyJoin, 2, 1)],
        "x - - x b",
    );
    check("a|join(b)|\na|fork(b)|", EarlyJoin, 0, &[(EarlyJoin, 1, 0)], "- b");
    // What a thread does after its end stays, with the order that it makes; only its last end is one.
    check("a|end|\na|acq(l)|\na|rel(l)|\nb|acq(l)|", AfterEnd, 1, &[(AfterEnd, 1, 0)], "- l l l");
    check("a|end|\na|w(x)|\na|end|\na|end|\nb|join(a)|", AfterEnd, 1, &[(AfterEnd, 2, 0)], "- x - . a");
    check("T1|fork(2)|\nT2|w(x)|\nT1|join(2)|", MisnamedThread, 0, &[(MisnamedThread, 2, 0)], "T2 x T2");
    check(
        "T1|fork(2)|\nT1|fork(2)|\nT2|w(x)|",
        MisnamedThread,
        0,
        &[(MisnamedThread, 2, 0), (SecondFork, 1, 1)],
        "T2 - x",
    );
}

#[test]
fn a_number_that_is_a_thread_is_not_renamed() {
    let builder = parse_raw("T1|fork(2)|\nT2|w(x)|\n2|w(x)|").unwrap();
    assert!(builder.finish().is_ok());
}

#[test]
fn objects() {
    use Defect::*;
    check("a|w(p.f)|\na|alloc(p)|", UseBeforeAlloc, 1, &[(UseBeforeAlloc, 1, 1)], "p.f -");
    check("a|free(p)|\na|free(p)|", SecondFree, 1, &[(SecondFree, 1, 1)], "p -");
    check(
        "a|alloc(p)|\na|w(p.f)|\na|free(p)|\na|alloc(p)|\na|w(p.f)|\na|w(q)|\na|free(p)|\na|alloc(p)|\na|w(p)|",
        SecondAlloc,
        3,
        &[(SecondAlloc, 2, 3)],
        "p p.f p p#2 p#2.f q p#2 p#3 p#3",
    );
    check(
        "a|alloc(p)|\na|alloc(p.o)|\na|alloc(p)|\na|alloc(p.o)|\na|alloc(p.o)|\na|w(p.o.x)|",
        SecondAlloc,
        2,
        &[(SecondAlloc, 2, 2)],
        "p p.o p#2 p#2.o p#2.o#2 p#2.o#2.x",
    );
    check("a|w(p#2)|\na|alloc(p)|\na|alloc(p)|", SecondAlloc, 2, &[(SecondAlloc, 1, 2)], "p#2 p p#2'");
}

#[test]
fn values() {
    use Defect::*;
    check("a|w(x)||1\nb|r(x)||2", ValueDisagrees, 1, &[(ValueDisagrees, 1, 1)], "x x");
    check("a|r(x)||1\nb|r(x)||2", ValueDisagrees, 1, &[(ValueDisagrees, 1, 1)], "x x");
    check("a|w(x)||1\nb|au(x)||2>3", ValueDisagrees, 1, &[(ValueDisagrees, 1, 1)], "x x");
    check("#! capabilities: values\na|w(x)||1\nb|r(x)|", MissingValue, 1, &[(MissingValue, 1, 1)], "x x");
    let (trace, _) =
        parse_raw("#! capabilities: values branches\na|w(x)||1\nb|r(x)||2").unwrap().repair().unwrap();
    assert_eq!(trace.capabilities().to_string(), "branches");
    assert!(!trace.has_values());
}

#[test]
fn what_is_well_formed() {
    let traces = [
        "",
        "a|acq(l)|\na|acq(l)|\na|rel(l)|",
        "a|racq(l)|\nb|racq(l)|\nb|rrel(l)|\na|acq(l)|\na|racq(l)|\na|rel(l)|",
        "a|acq(l)|\nb|busy(l)|",
        "a|racq(l)|\nb|busy(l)|",
        "a|fork(b)|\na|fork(c)|\nb|end|\na|join(b)|\nc|join(b)|",
        "a|free(p)|\na|w(p)|",
        "a|alloc(p)|\na|free(p)|\nb|w(p.f)|",
        "a|w(x)||1\nb|r(x)||1\nb|au(x)||1>2\na|r(x)||2",
        "a|w(x)|\nb|r(x)||7",
        "a|alloc(p)|\nb|r(p)||7\nb|r(p)||8",
    ];
    for text in traces {
        if let Err(error) = parse_raw(text).unwrap().finish() {
            panic!("{error}\n{text}");
        }
    }
}

#[test]
fn whatever_comes_a_repair_leaves_a_well_formed_part() {
    let names = ["T1", "T2", "1", "T3", "p", "p.f", "p.f.g", "q"];
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let mut builder = Builder::new();
        for _ in 0..rng.below(25) {
            let kind = Kind::ALL[rng.below(Kind::ALL.len())];
            let thread = builder.thread(names[rng.below(4)]).unwrap();
            let target = builder.target(kind, names[rng.below(names.len())]).unwrap();
            let mut value = || {
                let number = rng.below(4) as u64;
                (number > 0).then(|| builder.value(reweave_trace::Value::Number(number)).unwrap())
            };
            let values = EventValues { read: value(), written: value() };
            let site = SiteId(builder.site("s").unwrap().0);
            builder.push(Event { thread, op: Op::new(kind, target), site }, values).unwrap();
        }
        let before = builder.clone();
        let (trace, repairs) = builder.repair().unwrap();
        assert_eq!(before.finish().is_ok(), repairs.is_empty());
        assert_well_formed(&trace);
    }
}

#[test]
fn blocks_built_apart_make_the_same_trace() {
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let (mut whole, mut joined, mut block) = (Builder::new(), Builder::new(), Builder::new());
        let (mut ids, mut other) = (Renaming::default(), (Builder::new(), Renaming::default()));
        for _ in 0..rng.below(30) {
            let kind = Kind::ALL[rng.below(Kind::ALL.len())];
            let (thread, name) = (["a", "b", "c"][rng.below(3)], ["x", "y", "z"][rng.below(3)]);
            let number = rng.below(3) as u64;
            for builder in [&mut whole, &mut block] {
                let thread = builder.thread(thread).unwrap();
                let target = builder.target(kind, name).unwrap();
                let site = builder.site(name).unwrap();
                let value = Some(builder.value(reweave_trace::Value::Number(number << 40)).unwrap());
                let values = EventValues { read: value, written: value.filter(|_| number > 0) };
                builder.push(Event { thread, op: Op::new(kind, target), site }, values).unwrap();
            }
            if rng.chance(20) {
                joined.append(&block, &mut ids).unwrap();
                block.forget_events();
            }
            // Another block, or the same one, which keeps its names, goes on.
            if block.is_empty() && rng.chance(50) {
                std::mem::swap(&mut block, &mut other.0);
                std::mem::swap(&mut ids, &mut other.1);
            }
        }
        joined.append(&block, &mut ids).unwrap();
        let (whole, joined) = (whole.repair().unwrap(), joined.repair().unwrap());
        assert_eq!(whole.1, joined.1);
        assert_eq!(show(&whole.0), show(&joined.0));
        assert!(whole.0.ids().all(|id: EventId| whole.0.event(id) == joined.0.event(id)));
    }
}
