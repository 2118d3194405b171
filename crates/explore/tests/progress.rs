//! How far a search says it is.

use std::cell::RefCell;

use reweave_explore::{Data, Explorer, Init, Limits, Policy, Progress, Script, Scripted, Steps, Stopped};

/// Threads that lock a mutex and count: as many classes as orders of the sections.
fn counter(_: u32, script: &mut Script<'_>) -> Steps {
    script.lock(0)?;
    let seen = script.read(1)?;
    script.write(1, seen + 1)?;
    script.unlock(0)?;
    Ok(())
}

fn program() -> Scripted<'static> {
    Scripted::new([Init::Lock(Data::Value(0)), Init::Cell(0)], 6, &counter)
}

/// Along one path of each class the share of a pass only grows, and says from early on how many executions there will be.
#[test]
fn the_share_of_the_trace_engine_grows_to_the_end() {
    let seen = RefCell::new(Vec::<Progress>::new());
    let progress = |now: &Progress| seen.borrow_mut().push(*now);
    let limits = Limits { progress: &progress, ..Limits::default() };
    let report = Explorer::new(Policy::default()).trace(&mut program(), &limits).expect("an answer");
    assert_eq!((report.stopped, report.counts.executions, report.left_at), (Stopped::Complete, 720, None));
    let seen = seen.into_inner();
    assert!(seen.len() > 5, "{}", seen.len());
    for pair in seen.windows(2).filter(|pair| pair[0].passes == pair[1].passes) {
        assert!(pair[0].share <= pair[1].share && pair[1].share < 1.0, "{pair:?}");
    }
    for now in seen.iter().filter(|now| now.executions > 72) {
        let estimate = now.executions as f64 / now.share;
        assert!((650.0..800.0).contains(&estimate), "{estimate} {now:?}");
    }
}

/// A search that is cut off says how far it was; one that ends does not.
#[test]
fn a_search_that_is_stopped_says_how_far_it_was() {
    let limits = Limits { max_states: 500, ..Limits::default() };
    let report = Explorer::new(Policy::default()).saturate(&mut program(), &limits).expect("an answer");
    let left = report.left_at.expect("it was cut off");
    assert_eq!((report.stopped, left.states, left.runs), (Stopped::States, 500, report.counts.runs));
    assert!(left.share > 0.0 && left.share < 1.0, "{left:?}");
    let limits = Limits { max_executions: 360, ..Limits::default() };
    let report = Explorer::new(Policy::default()).trace(&mut program(), &limits).expect("an answer");
    let left = report.left_at.expect("it was cut off");
    assert!((0.4..0.6).contains(&left.share), "{left:?}");
}
