//! What is found in recordings: the bugs that are there, with their names and lines, and nothing where there is none.

use std::path::Path;
use std::process::Command;

use crate::common::{compile, compilers, reweave};

fn predict(trace: &Path) -> (Option<i32>, String) {
    let ran = reweave().args(["predict", "--quiet"]).arg(trace).output().unwrap();
    (ran.status.code(), String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// The bundled example, as in the tour: a run in which nothing goes wrong has all three bugs.
#[test]
fn one_good_run_of_the_shop_shows_its_three_bugs() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folder = tempfile::tempdir().unwrap();
    let (program, trace) = (folder.path().join("shop"), folder.path().join("shop.rw"));
    let ran =
        reweave().current_dir(&examples).args(["cc", "-O1", "shop.c", "-o"]).arg(&program).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = reweave()
        .current_dir(&examples)
        .args(["record", "--policy", "plain", "-o"])
        .args([&trace, Path::new("--"), &program])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("till 80, bank 1020"), "nothing went wrong");
    let (code, found) = predict(&trace);
    assert_eq!(code, Some(1));
    for expected in [
        "data race on global sold",
        "deadlock of ",
        "use after free of heap block of 8 bytes from main at shop.c:42",
        "clerk shop.c:28",
    ] {
        assert!(found.contains(expected), "{expected}: {found}");
    }
}

/// Programs without a bug, whatever they synchronise with: a finding would be a false one.
#[test]
fn nothing_races_where_everything_is_synchronised() {
    for name in [
        "accesses.c",
        "atomics.c",
        "meet.c",
        "condition.c",
        "rwlock.c",
        "pipe.c",
        "threads.c",
        "heap.c",
        "channels.c",
    ] {
        for compiler in compilers() {
            let program = compile(compiler, name, &["-O1"]);
            let recorded = program.record::<&str>(&["--seed", "11"], &[]);
            assert_eq!(recorded.code, Some(0), "{}", recorded.err);
            let ran = reweave()
                .args(["predict", "--quiet", "--kinds", "race,deadlock,uaf"])
                .arg(&recorded.trace)
                .output()
                .unwrap();
            let found = String::from_utf8_lossy(&ran.stdout);
            assert!(!found.contains("WARNING"), "{compiler:?} {name}: {found}");
        }
    }
}

#[test]
fn names_need_no_debug_information_but_have_more_with_it() {
    let program = compile(crate::common::GCC, "crash.c", &["-O1"]);
    let lines = program.record(&[], &["exit"]).events();
    assert!(lines.iter().any(|line| line.site.starts_with("work ") && line.site.contains("crash.c:16")));
    let ran = Command::new("strip").arg(&program.path).status().unwrap();
    assert!(ran.success());
    let recorded = program.record(&[], &["exit"]);
    assert_eq!(recorded.code, Some(6), "{}", recorded.err);
    let lines = recorded.events();
    assert!(lines.iter().any(|line| line.site.starts_with("program+0x")), "an instruction of its file");
    assert!(lines.iter().any(|line| line.op == "w" && line.target.starts_with("global program+0x")));
}

fn validate(trace: &Path) -> String {
    let ran = reweave().args(["validate", "--quiet"]).arg(trace).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success(), "{said}{}", String::from_utf8_lossy(&ran.stderr));
    said
}

/// Threads that run at once: the order of synchronisation is exact, so the trace is well formed, and says what it is.
#[test]
fn threads_may_run_freely() {
    for name in [
        "accesses.c",
        "atomics.c",
        "mutex.c",
        "meet.c",
        "condition.c",
        "rwlock.c",
        "heap.c",
        "threads.c",
        "signals.c",
    ] {
        for compiler in compilers() {
            let program = compile(compiler, name, &["-O1"]);
            for _ in 0..3 {
                let recorded = program.record::<&str>(&["--policy", "free"], &[]);
                assert_eq!((recorded.code, &*recorded.out), (Some(0), "ok\n"), "{name}: {}", recorded.err);
                let said = validate(&recorded.trace);
                assert!(said.contains("approximate"), "{name}: {said}");
                let ran = reweave()
                    .args(["predict", "--quiet", "--kinds", "race,deadlock,uaf"])
                    .arg(&recorded.trace)
                    .output()
                    .unwrap();
                let found = String::from_utf8_lossy(&ran.stdout);
                assert!(!found.contains("WARNING"), "{compiler:?} {name}: {found}");
            }
        }
    }
}

#[test]
fn a_race_is_predicted_from_threads_that_ran_freely() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let folder = tempfile::tempdir().unwrap();
    let (program, trace) = (folder.path().join("shop"), folder.path().join("shop.rw"));
    let ran =
        reweave().current_dir(&examples).args(["cc", "-O1", "shop.c", "-o"]).arg(&program).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let ran = reweave()
        .current_dir(&examples)
        .args(["record", "--policy", "free", "--timeout", "20s", "-o"])
        .args([&trace, Path::new("--"), &program])
        .output()
        .unwrap();
    // Its deadlock may happen.
    assert!([Some(0), Some(3)].contains(&ran.status.code()), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(validate(&trace).contains("approximate"));
    let (code, found) = predict(&trace);
    assert_eq!(code, Some(1));
    assert!(found.contains("data race on global sold"), "{found}");
}
