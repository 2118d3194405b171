//! The same program with `std` and with the crate `reweave`, recorded: each primitive gives the events that it should.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::common::{Line, count, reweave};
use crate::project::{Project, findings, is_there, root};

const KINDS: &str = "race,deadlock,uaf";

fn program() -> String {
    fs::read_to_string(root().join("crates/reweave/tests/like_std.rs")).expect("the program")
}

/// How many events do `op` on something whose name begins with `target`.
fn on(lines: &[Line], op: &str, target: &str) -> usize {
    lines.iter().filter(|line| line.op == op && line.target.starts_with(target)).count()
}

/// How many updates of something whose name begins with `target` change it.
fn changes(lines: &[Line], target: &str) -> usize {
    let values = lines.iter().filter(|line| line.op == "au" && line.target.starts_with(target));
    values.filter_map(|line| line.value.as_ref()?.split_once('>')).filter(|(old, new)| old != new).count()
}

/// Records all tests under some seeds, and looks at each trace.
fn check(project: &Project, is_ours: bool) {
    for seed in ["1", "2"] {
        let said = project.cargo_ok(&["test", "--offline", "--seed", seed, "--timeout", "60s"]);
        assert!(said.contains("test result: ok. 15 passed; 0 failed; 0 ignored"), "{said}");
        look(project, is_ours);
    }
}

fn look(project: &Project, is_ours: bool) {
    let events = |test: &str| project.events("like_std", test);
    let lines = events("mutex");
    let counts = ["acq", "rel", "tryacq", "busy"].map(|op| count(&lines, op));
    // Two more are taken at the end, of other types, and one is tried to be shown.
    assert_eq!(counts, [8, 10, 2, 1]);
    let counts = ["acq", "rel", "racq", "rrel", "tryacq", "busy"].map(|op| count(&events("rwlock"), op));
    assert_eq!(counts, [1, 2, 4, 4, 1, 1]);

    let lines = events("condvar");
    assert_eq!([count(&lines, "notify"), count(&lines, "notifyall")], [1, 1]);
    assert!(count(&lines, "wait") >= 2, "two wait until their time is up");
    assert_eq!(count(&lines, "acq"), count(&lines, "rel"));
    assert!(on(&events("barrier"), "au", "barrier ") >= 3);

    let lines = events("once");
    assert_eq!(changes(&lines, "initialisation global like_std::ONCE"), 2);
    assert!(on(&lines, "au", "initialisation global like_std::ONCE") >= 4);
    for name in ["CELL", "LAZY"] {
        assert_eq!(changes(&events("once_lock"), &format!("initialisation global like_std::{name}")), 2);
    }
    if is_ours {
        // Two messages, two clones, three ends of senders, two receives.
        assert!(on(&events("channel"), "au", "channel ") >= 9);
        assert!(on(&events("sync_channel"), "au", "channel ") >= 16);
    }
    assert!(on(&events("park"), "au", "right to go on") >= 2);
    assert!(on(&events("scope"), "au", "scope ") >= 3);
    let lines = events("poison");
    assert_eq!([count(&lines, "acq"), count(&lines, "rel")], [3, 3], "also where a thread panics");
    assert_eq!(count(&lines, "begin"), count(&lines, "end") + 1, "all but the first thread end");
    let lines = events("panics");
    assert_eq!([count(&lines, "acq"), count(&lines, "rel")], [1, 1]);
    let lines = events("atomics");
    assert_eq!(on(&lines, "au", "global like_std::atomics::SMALL"), 3);
    let large = ["au", "ar", "af", "aw"].map(|op| on(&lines, op, "global like_std::atomics::LARGE"));
    assert_eq!(large, [1, 1, 1, 1]);
    expect_findings(project);
}

/// What is right gives no finding, and what is wrong gives its own.
fn expect_findings(project: &Project) {
    let right = [
        "mutex",
        "rwlock",
        "condvar",
        "barrier",
        "once",
        "once_lock",
        "channel",
        "sync_channel",
        "park",
        "scope",
        "poison",
        "panics",
        "atomics",
    ];
    for test in right {
        let found = findings(&project.trace("like_std", test), KINDS);
        assert!(found.is_empty(), "{test}: {found:?}");
    }
    let found = findings(&project.trace("like_std", "race"), KINDS);
    assert!(
        matches!(&*found, [one] if one.contains("data race on global like_std::race::SHARED")),
        "{found:?}"
    );
    let found = findings(&project.trace("like_std", "deadlock"), KINDS);
    assert!(matches!(&*found, [one] if one.contains("deadlock")), "{found:?}");
}

#[test]
fn the_crate_tells_what_it_does() {
    if !is_there() {
        return;
    }
    let project = Project::new(&Project::needs_ours(), &[("tests/like_std.rs", &program())]);
    fs::create_dir_all(project.path().join("src")).expect("a folder");
    fs::write(project.path().join("src/lib.rs"), "//! Nothing.\n").expect("a file");
    check(&project, true);
    behaves_as_std_without_a_recorder(&project);
}

/// Built to be recorded but linked with no recorder, and built so but run without one, it does what std does.
fn behaves_as_std_without_a_recorder(project: &Project) {
    for flags in ["--cfg=reweave", ""] {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = project.in_it(Command::new(cargo));
        command.args(["test", "--offline", "--test", "like_std"]).env("RUSTFLAGS", flags);
        let ran = command.output().expect("cargo starts");
        assert!(ran.status.success(), "{flags}: {}", String::from_utf8_lossy(&ran.stdout));
    }
}

#[test]
fn std_is_known_by_its_names() {
    if !is_there() {
        return;
    }
    let text = program().replace("reweave::", "std::");
    let project = Project::new("", &[("tests/like_std.rs", &text), ("src/lib.rs", "//! Nothing.\n")]);
    let front = project.cargo(&["build", "--offline"]);
    if String::from_utf8_lossy(&front.stderr).contains("compiler plugin") {
        eprintln!("there is no compiler plugin: std's primitives are not looked at");
        return;
    }
    check(&project, false);
}

#[test]
fn a_program_is_recorded_with_its_arguments_and_calls() {
    if !is_there() {
        return;
    }
    let main = "//! A shop.\nfn main() {\n    let mut set = std::collections::BTreeSet::new();\n    \
                for word in std::env::args().skip(1) {\n        \
                let _ = reweave::op!(set: set, \"add\", word => set.insert(word.clone()));\n    }\n    set.clear();\n    \
                reweave::call!(set, \"clear\");\n    std::process::exit(set.len() as i32 + 7);\n}\n";
    let project = Project::new(&Project::needs_ours(), &[("src/main.rs", main)]);
    let ran = project.cargo(&["run", "--offline", "-o", "t.rw", "--seed=4", "--", "a", "--seed", "a"]);
    assert_eq!(ran.status.code(), Some(7), "{}", String::from_utf8_lossy(&ran.stderr));
    let recorded = crate::common::Recorded {
        code: Some(7),
        out: String::new(),
        err: String::new(),
        trace: project.path().join("t.rw"),
    };
    let events = recorded.events();
    let calls: Vec<&str> = events
        .iter()
        .filter(|line| line.op == "call")
        .map(|line| line.target.split_once('.').expect("an object").1)
        .collect();
    let typed =
        events.iter().filter(|line| line.op == "call" && line.target.starts_with("set stack of main"));
    assert_eq!(typed.count(), 3, "all but the last say of what type the set is");
    assert_eq!(calls, ["add(\"a\")=true", "add(\"--seed\")=true", "add(\"a\")=false", "clear()=("]);
}

#[test]
fn tests_are_chosen_fail_and_are_ignored_as_ever() {
    if !is_there() {
        return;
    }
    let text = "//! Tests.\n#[test]\nfn good() {}\n#[test]\nfn bad() { panic!(\"no\") }\n#[test]\n#[ignore]\n\
                fn slow() {}\nmod inner { #[test]\nfn good() { std::thread::spawn(|| ()).join().unwrap() } }\n";
    let project = Project::new("", &[("tests/some.rs", text), ("src/lib.rs", "//! Nothing.\n")]);
    let ran = project.cargo(&["test", "--offline"]);
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(101), "{out}");
    assert!(out.contains("test result: FAILED. 2 passed; 1 failed; 1 ignored"), "{out}");
    assert!(project.trace("some", "bad").exists() && project.trace("some", "inner.good").exists());
    assert!(!project.trace("some", "slow").exists(), "what did not run has no trace");
    assert!(count(&project.events("some", "inner.good"), "fork") >= 1);
    let out = project.cargo_ok(&["test", "--offline", "--", "inner"]);
    assert!(out.contains("test result: ok. 1 passed; 0 failed; 0 ignored"), "{out}");
    let ran = project.cargo(&["publish"]);
    assert_eq!(ran.status.code(), Some(2));
}

/// A compiler that only says what it is.
fn claims(project: &Project, llvm: &str) -> String {
    let path = project.path().join("rustc");
    let text = format!("#!/bin/sh\necho 'host: x86_64-unknown-linux-gnu'\necho 'LLVM version: {llvm}'\n");
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let mut command = project.in_it(reweave());
    let ran = command.args(["cargo", "build"]).env("RUSTC", &path).output().expect("the command starts");
    assert_eq!(ran.status.code(), Some(2));
    String::from_utf8_lossy(&ran.stderr).into_owned()
}

#[test]
fn a_compiler_that_cannot_load_the_plugin_is_refused_with_a_way_out() {
    if !is_there() {
        return;
    }
    let project = Project::new("", &[("src/main.rs", "fn main() {}\n")]);
    let said = claims(&project, "21.1.0");
    assert!(said.contains("is for LLVM 22, and this rustc has LLVM 21"), "{said}");
    assert!(
        said.contains("REWEAVE_FRONT=tsan") && said.contains("races may be found that are none"),
        "{said}"
    );
}
