//! Accesses that are easily lost: at the end of a thread, and in handlers of signals.

use crate::common::{GCC, compile, compilers, count};

/// Where threads run freely, each has slots of its own, which somebody must take.
#[test]
fn what_a_thread_does_last_is_recorded_where_threads_run_freely() {
    for compiler in compilers() {
        let program = compile(compiler, "last_accesses.c", &["-O1"]);
        for arguments in [&[][..], &["runs"][..]] {
            let recorded = program.record(&["--policy", "free"], arguments);
            assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "4160\n"), "{}", recorded.err);
            // Which of two accesses that race came first is a guess, so values may be missing.
            let text = crate::common::reweave()
                .arg("convert")
                .arg(&recorded.trace)
                .args(["-", "--to", "std"])
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&text.stdout).into_owned();
            for name in ["joined", "late"] {
                let wrote = |line: &&str| line.contains("|w(global ") && line.contains(name);
                let written = text.lines().filter(wrote).count();
                assert_eq!(written, 64, "{compiler:?} {arguments:?} {name}: {}", recorded.err);
            }
        }
    }
}

/// The handler writes the words that it interrupts the writing of. A write that is lost, or in the wrong order, is one that
/// nobody recorded.
#[test]
fn what_handlers_write_is_recorded_in_order() {
    for compiler in compilers() {
        for flag in ["-O0", "-O2"] {
            let program = compile(compiler, "handlers.c", &[flag]);
            for seed in ["1", "2", "3"] {
                let recorded = program.record::<&str>(&["--seed", seed], &[]);
                assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{}", recorded.err);
                assert!(
                    !recorded.err.contains("without a recorded write"),
                    "{compiler:?} {flag} {seed}: {}",
                    recorded.err
                );
                let lines = recorded.events();
                assert_eq!(count(&lines, "unseen"), 0);
                assert!(lines.iter().any(|line| line.op == "w" && line.site.starts_with("handler")));
            }
        }
    }
}

/// The word that a handler and another thread write without a lock is the one whose other half the handler interrupts the
/// writing of: a write that is taken for one of unknown code would hide the race.
#[test]
fn what_handlers_write_races_with_what_others_do() {
    for compiler in compilers() {
        for (flag, policy) in [("-O0", "random"), ("-O2", "random"), ("-O2", "free")] {
            let program = compile(compiler, "handler_races.c", &[flag]);
            let recorded = program.record::<&str>(&["--policy", policy], &[]);
            assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{}", recorded.err);
            assert!(!recorded.err.contains("without a recorded write"), "{compiler:?}: {}", recorded.err);
            let ran = crate::common::reweave()
                .args(["predict", "--kinds", "race", "--json", "-"])
                .arg(&recorded.trace)
                .output()
                .unwrap();
            let found: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
            let races = found["findings"].as_array().unwrap();
            let is_it = |race: &serde_json::Value| {
                let sites = race["sites"].to_string();
                race["kind"] == "race" && sites.contains("handler ") && sites.contains("writes ")
            };
            assert!(races.iter().any(is_it), "{compiler:?} {flag} {policy}");
        }
    }
}

/// A handler may interrupt libc with one of its locks held, and then wait for the baton.
#[test]
fn an_interval_timer_beside_threads_that_run_freely_stops_nobody() {
    let program = compile(GCC, "timer.c", &["-O1"]);
    for _ in 0..4 {
        let recorded = program.record::<&str>(&["--policy", "free", "--timeout", "30s"], &[]);
        assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{}", recorded.err);
    }
}
