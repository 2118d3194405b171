//! Programs with known counts.

use reweave_explore::{
    Data, Explorer, Failure, Init, Limits, ObjectId, Op, Policy, Report, Script, Scripted, Steps, Stopped,
    ThreadId, Update,
};

/// Whether one of two looks at a cell finds what is wanted.
fn looks(script: &mut Script<'_>, cell: u32, wanted: impl Fn(u64) -> bool) -> Result<bool, Op> {
    for _ in 0..2 {
        if wanted(script.read(cell)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn both(mut program: Scripted<'_>) -> (Report, Report) {
    let limits = Limits::default();
    let explorer = |keep_going| {
        let mut explorer = Explorer::new(Policy::default());
        explorer.keep_going = keep_going;
        explorer
    };
    let saturated = explorer(true).saturate(&mut program, &limits).expect("a function of its histories");
    let traced = explorer(true).trace(&mut program, &limits).expect("a function of its histories");
    assert_eq!((saturated.stopped, traced.stopped), (Stopped::Complete, Stopped::Complete));
    assert_eq!(saturated.proved, traced.proved);
    (saturated, traced)
}

const LOCK: Init = Init::Lock(Data::Value(0));

#[test]
fn mutex_counters() {
    for (workers, classes, runs) in [(3, 6, 5), (4, 24, 10), (5, 120, 17)] {
        let work = |_: u32, script: &mut Script<'_>| {
            script.lock(0)?;
            let seen = script.read(1)?;
            script.write(1, seen + 1)?;
            script.unlock(0)?;
            Ok(())
        };
        let (saturated, traced) = both(Scripted::new([LOCK, Init::Cell(0)], workers, &work));
        assert!(saturated.proved);
        assert_eq!(traced.counts.executions, classes);
        assert_eq!(traced.counts.blocked, 0);
        assert!(saturated.counts.runs <= runs, "{:?}", saturated.counts);
    }
}

#[test]
fn readers() {
    for count in [8, 13] {
        let work = |index: u32, script: &mut Script<'_>| {
            if index == 0 {
                script.write(0, 1)?;
            } else {
                script.read(0)?;
            }
            Ok(())
        };
        let (saturated, traced) = both(Scripted::new([Init::Cell(0)], count + 1, &work));
        assert_eq!(traced.counts.executions, 1 << count);
        assert!(saturated.counts.runs <= u64::from(count) + 1, "{:?}", saturated.counts);
    }
}

#[test]
fn philosophers() {
    let work = |index: u32, script: &mut Script<'_>| {
        script.lock(index)?;
        script.lock((index + 1) % 3)?;
        script.unlock((index + 1) % 3)?;
        script.unlock(index)?;
        Ok(())
    };
    let (saturated, traced) = both(Scripted::new([LOCK; 3], 3, &work));
    assert_eq!(traced.counts.executions, 7);
    assert_eq!(saturated.counts.runs, 1);
    for report in [&saturated, &traced] {
        assert_eq!(report.failures.len(), 1);
        assert!(
            matches!(report.first.as_ref().map(|first| &first.0), Some(Failure::Deadlock { waiting }) if waiting.len() == 4)
        );
    }
}

/// A counter that all increment and one reads, without a specification: `add` gives nothing away.
#[test]
fn a_lost_update_is_minimal() {
    let work = |_: u32, script: &mut Script<'_>| {
        let seen = script.read(0)?;
        script.write(0, seen + 1)?;
        let now = script.read(0)?;
        script.check(seen == 1 || now >= 1, 1)?;
        let left = script.step(Op::Update {
            cell: ObjectId(1),
            update: Update { function: reweave_explore::Function::Add, operand: 1, bits: 64 },
        })?;
        if left.value == 1 {
            let last = script.read(0)?;
            script.check(last == 2, 2)?;
        }
        Ok(())
    };
    let mut program = Scripted::new([Init::Cell(0), Init::Cell(0)], 2, &work);
    let report =
        Explorer::new(Policy::default()).saturate(&mut program, &Limits::default()).expect("an answer");
    assert!(!report.proved);
    let Some((Failure::Failed { site: 2, .. }, schedule)) = report.first else { panic!("{report:?}") };
    // Main starts both; one reads, the other does all, the first writes and looks: one preemption.
    let switches = schedule.windows(2).filter(|pair| pair[0].thread != pair[1].thread).count();
    assert_eq!(switches, 3, "{schedule:?}");
}

/// Szymanski's mutual exclusion, two rounds with two looks at each wait, as the benchmark of the same name has it.
fn szymanski(index: u32, script: &mut Script<'_>) -> Steps {
    let (mine, other, shared) = (index, 1 - index, 2);
    for _ in 0..2 {
        script.write(mine, 1)?;
        if !looks(script, other, |flag| flag < 3)? {
            return Ok(());
        }
        script.write(mine, 3)?;
        if script.read(other)? == 1 {
            script.write(mine, 2)?;
            if !looks(script, other, |flag| flag == 4)? {
                return Ok(());
            }
        }
        script.write(mine, 4)?;
        if !looks(script, other, |flag| flag < 2)? {
            return Ok(());
        }
        let own = u64::from(index) + 1;
        script.write(shared, own)?;
        let seen = script.read(shared)?;
        script.check(seen == own, index)?;
        let mut free = false;
        for _ in 0..2 {
            if script.read(other)? < 2 || script.read(other)? > 3 {
                free = true;
                break;
            }
        }
        if !free {
            return Ok(());
        }
        script.write(mine, 0)?;
    }
    Ok(())
}

#[test]
fn szymanski_has_as_many_executions_as_its_peers_count() {
    let started = std::time::Instant::now();
    let (saturated, traced) = both(Scripted::new([Init::Cell(0); 3], 2, &szymanski));
    println!("{:?} {:?} in {:?}", saturated.counts, traced.counts, started.elapsed());
    assert_eq!(traced.counts.executions, 22_945);
    assert!(saturated.proved);
    assert!(saturated.counts.runs < 2_000, "{:?}", saturated.counts);
}

/// Sections of one lock, two for each of two threads, come in six orders.
#[test]
fn sections_of_one_lock_come_in_every_order() {
    let work = |_: u32, script: &mut Script<'_>| {
        for _ in 0..2 {
            script.lock(0)?;
            script.unlock(0)?;
        }
        Ok(())
    };
    let (saturated, traced) = both(Scripted::new([LOCK], 2, &work));
    assert!(saturated.proved);
    assert_eq!((traced.counts.executions, traced.counts.blocked), (6, 0));
}

/// Locks in opposite orders: one before the other, the other before the one, and the deadlock.
#[test]
fn opposite_orders_have_three_classes() {
    let work = |index: u32, script: &mut Script<'_>| {
        script.lock(index)?;
        script.lock(1 - index)?;
        script.unlock(1 - index)?;
        script.unlock(index)?;
        Ok(())
    };
    let (saturated, traced) = both(Scripted::new([LOCK; 2], 2, &work));
    assert_eq!((traced.counts.executions, traced.counts.blocked), (3, 0));
    for report in [&saturated, &traced] {
        assert!(matches!(report.failures.first(), Some(Failure::Deadlock { waiting }) if waiting.len() == 3));
    }
}

/// One notification and two who wait: whom it wakes is a choice, also for one that comes to wait later.
#[test]
fn a_notification_may_wake_either() {
    let work = |index: u32, script: &mut Script<'_>| {
        if index == 2 {
            script.step(Op::Notify { condition: ObjectId(1), all: false })?;
            return Ok(());
        }
        script.lock(0)?;
        let (condition, lock) = (ObjectId(1), ObjectId(0));
        let early = reweave_explore::Early::Always;
        script.step(Op::Wait { condition, lock, data: Data::Value(0), timed: false, early })?;
        script.unlock(0)?;
        Ok(())
    };
    let mut program = Scripted::new([LOCK, Init::Condition], 3, &work);
    let policy = Policy { spurious: false, ..Policy::default() };
    for engine in [Explorer::saturate, Explorer::trace] {
        let mut explorer = Explorer::new(policy);
        explorer.keep_going = true;
        let report = engine(&mut explorer, &mut program, &Limits::default()).expect("an answer");
        let left = |thread: u32| {
            let sleeps = |failure: &Failure| match failure {
                Failure::Deadlock { waiting } => {
                    waiting.len() == 2 && waiting.iter().any(|at| at.0 == ThreadId(thread))
                }
                _ => false,
            };
            report.failures.iter().any(sleeps)
        };
        assert!(left(1) && left(2), "{:?}", report.failures);
    }
}

/// What is never next for both at once is no race, though nothing orders it but a race.
#[test]
fn only_what_is_next_at_once_races() {
    let plain = |cell, value| Op::Write { cell: ObjectId(cell), value, plain: true };
    let work = |index: u32, script: &mut Script<'_>| {
        if index == 0 {
            script.step(plain(0, 1))?;
            script.step(plain(1, 1))?;
        } else if script.step(Op::Read { cell: ObjectId(1), plain: true })?.value == 1 {
            script.step(plain(0, 2))?;
        }
        Ok(())
    };
    let mut program = Scripted::new([Init::Cell(0), Init::Cell(0)], 2, &work);
    for reduce in [true, false] {
        let mut explorer = Explorer::new(Policy::default());
        (explorer.keep_going, explorer.reduce) = (true, reduce);
        let report = explorer.saturate(&mut program, &Limits::default()).expect("an answer");
        assert!(!report.failures.is_empty());
        for failure in &report.failures {
            let Failure::Race { at } = failure else { panic!("{failure:?}") };
            for (_, node) in [at.0, at.1] {
                let op = explorer.next(node).map(|next| &next.op);
                assert!(
                    matches!(
                        op,
                        Some(Op::Read { cell: ObjectId(1), .. } | Op::Write { cell: ObjectId(1), .. })
                    ),
                    "{op:?}"
                );
            }
        }
    }
}
