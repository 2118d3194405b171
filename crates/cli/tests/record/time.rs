//! Time, as a recorded program sees it: of its threads' own making, so that a busy machine changes nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::{fs, hint, thread};

use crate::common::{GCC, Program, Recorded, compile, compilers};

/// Does something while every processor has other things to do as well.
fn on_a_busy_machine<T>(work: impl FnOnce() -> T) -> T {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            });
        }
        let result = work();
        stop.store(true, Ordering::Relaxed);
        result
    })
}

#[track_caller]
fn trace(program: &Program, flags: &[&str], arguments: &[&str]) -> Vec<u8> {
    let Recorded { code, out, err, trace } = program.record(flags, arguments);
    assert_eq!((code, &*out), (Some(0), "ok\n"), "{err}");
    fs::read(trace).unwrap()
}

#[test]
fn a_busy_machine_changes_nothing_where_deadlines_pass() {
    let program = compile(GCC, "timed.c", &["-O1"]);
    let first = trace(&program, &["--seed", "5"], &[]);
    on_a_busy_machine(|| assert!((0..30).all(|_| trace(&program, &["--seed", "5"], &[]) == first)));
    assert!((6..9).any(|seed| trace(&program, &["--seed", &seed.to_string()], &[]) != first));
}

#[test]
fn nor_under_other_policies_nor_while_a_thread_computes() {
    for compiler in compilers() {
        let program = compile(compiler, "timed.c", &["-O1"]);
        for (policy, arguments) in [("pct", &[][..]), ("plain", &[]), ("random", &["computes"])] {
            let flags = ["--seed", "3", "--policy", policy];
            let first = trace(&program, &flags, arguments);
            let same = || (0..3).all(|_| trace(&program, &flags, arguments) == first);
            assert!(on_a_busy_machine(same), "{compiler:?} {policy}");
        }
    }
}

#[test]
fn how_fast_slots_are_taken_out_changes_nothing() {
    for compiler in compilers() {
        let program = compile(compiler, "calls.c", &["-O1", "-fno-optimize-sibling-calls"]);
        let first = trace(&program, &["--seed", "3"], &[]);
        let same = || (0..3).all(|_| trace(&program, &["--seed", "3"], &[]) == first);
        assert!(on_a_busy_machine(same), "{compiler:?}");
    }
}

#[test]
fn limits_of_calls_to_the_outside_pass_for_the_program_too() {
    for compiler in compilers() {
        let program = compile(compiler, "clock.c", &["-O1"]);
        for policy in ["random", "pct", "plain"] {
            let recorded = program.record::<&str>(&["--policy", policy], &[]);
            assert_eq!((recorded.code, &*recorded.out), (Some(0), "ok\n"), "{compiler:?}: {}", recorded.err);
            recorded.events();
        }
    }
}

#[test]
fn the_clock_begins_where_it_is_told_to() {
    let program = compile(GCC, "clock.c", &["-O1"]);
    trace(&program, &["--clock", "1234567890"], &["1234567890"]);
}

#[test]
fn threads_that_run_freely_have_the_real_clock() {
    let program = compile(GCC, "clock.c", &["-O1"]);
    trace(&program, &["--policy", "free"], &["free"]);
}
