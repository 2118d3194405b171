//! The ends of runs: whatever ends one, nothing of the program is left and what was recorded is a trace.

mod scene;

use std::thread;

use scene::{Command, End, Family, Scene};

/// Tries the ends with a command, a few at a time: they mostly wait.
#[track_caller]
fn all_leave_nothing(family: &Family, command: Command) {
    let ends = [
        End::Own,
        End::Terminal,
        End::Signal("TERM"),
        End::Signal("HUP"),
        End::GroupSignal("TERM"),
        End::GroupSignal("HUP"),
        End::UnderTimeout,
        End::OwnTimeout,
        End::ClosedPipe,
        End::Ignored("TERM"),
    ];
    let failures: Vec<String> = thread::scope(|scope| {
        let tries: Vec<_> =
            ends.iter().map(|end| scope.spawn(move || Scene::new(family, command, *end).play())).collect();
        tries.into_iter().filter_map(|tried| tried.join().expect("no panic").err()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn recordings_leave_nothing() {
    all_leave_nothing(&Family::in_c(), Command::Record);
}

#[test]
fn replays_leave_nothing() {
    all_leave_nothing(&Family::in_c(), Command::Replay);
}

#[test]
fn confirmations_leave_nothing() {
    all_leave_nothing(&Family::in_c(), Command::Confirm);
}

#[test]
fn hunts_leave_nothing() {
    all_leave_nothing(&Family::in_c(), Command::Hunt);
}

#[test]
fn cargo_runs_leave_nothing() {
    if let Some(family) = Family::in_rust() {
        all_leave_nothing(&family, Command::CargoRun);
    }
}

#[test]
fn cargo_tests_leave_nothing() {
    if let Some(family) = Family::in_rust() {
        all_leave_nothing(&family, Command::CargoTest);
    }
}
