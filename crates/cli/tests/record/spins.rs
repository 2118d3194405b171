//! Threads that wait by asking again and again: what they add to the recording is little, whatever they wait for.

use std::fs;

use crate::common::{GCC, Recorded, compile, compilers};

/// How many events were recorded, by the recorder's own account.
#[track_caller]
fn recorded_events(recorded: &Recorded) -> u64 {
    let said = &recorded.err;
    let count = said.split(" events as recorded").next().and_then(|front| front.rsplit(' ').next());
    count.and_then(|count| count.replace(',', "").parse().ok()).unwrap_or_else(|| panic!("no count: {said}"))
}

/// Three tenths of a second were tens of millions of events when every round was recorded as it came.
#[test]
fn threads_that_spin_write_little_and_are_left_for_those_that_they_wait_for() {
    for compiler in compilers() {
        let program = compile(compiler, "spins.c", &["-O1"]);
        for how in ["sleeps", "plain", "stores", "yields", "calls", "clock"] {
            let recorded = program.record(&[], &[how]);
            let (code, out) = (recorded.code, recorded.out.as_str());
            assert_eq!((code, out), (Some(0), "ok\n"), "{compiler:?} {how}: {}", recorded.err);
            let events = recorded_events(&recorded);
            assert!(events < 3_000_000, "{compiler:?} {how}: {events}");
        }
    }
}

/// A thread that goes on by itself after so many rounds gets there, and each of its rounds is recorded.
#[test]
fn rounds_that_end_by_themselves_are_all_recorded() {
    let program = compile(GCC, "spins.c", &["-O1"]);
    for policy in ["random", "pct", "plain"] {
        let recorded = program.record(&["--policy", policy], &["asks"]);
        assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{policy}: {}", recorded.err);
        let reads = recorded.events().iter().filter(|line| line.op == "ar").count();
        assert!(reads == 0 || reads >= 2 * 20_000, "{policy}: {reads}");
        assert!(recorded_events(&recorded) >= 2 * 20_000, "{policy}");
    }
}

#[test]
fn the_same_seed_gives_the_same_spins() {
    let program = compile(GCC, "spins.c", &["-O1"]);
    let trace = |seed: &str| {
        let recorded = program.record(&["--seed", seed, "--clock", "1000000000"], &["sleeps"]);
        assert_eq!(recorded.code, Some(0), "{}", recorded.err);
        fs::read(&recorded.trace).unwrap()
    };
    assert!(trace("3") == trace("3"));
}
