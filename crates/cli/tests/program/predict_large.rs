//! Traces that are large in some way, and searches that are cut short.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Ran, reweave, run};
use tempfile::TempDir;

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a readable path").to_owned()
}

#[test]
fn ten_thousand_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = path(&folder, "t.std");
    let mut text = String::new();
    for thread in 0..10_000 {
        writeln!(text, "main|fork(T{thread})|main.c:1\nT{thread}|w(own{thread})|t.c:1").expect("a string");
    }
    text += "T1|w(x)|t.c:2\nT9999|w(x)|t.c:3\n";
    fs::write(&trace, text).expect("a file");
    // Nothing here depends on how busy the machine is.
    let ran = run(["predict", &trace, "--budget", "10m"]).exits(1);
    assert!(ran.text().contains("1 finding in"), "{}", ran.text());
    assert!(ran.text().contains("10,000 of one thread"), "{}", ran.text());
}

#[test]
fn a_hot_variable() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = path(&folder, "t.rw");
    let shape = ["--events", "100k", "--threads", "32", "--variables", "1", "--locks", "2", "--shared", "1"];
    run(["generate", &trace, "--quiet"].into_iter().chain(shape)).exits(0);
    let ran =
        run(["predict", &trace, "--kinds", "race", "--tries", "4", "--work", "1000", "--budget", "200ms"]);
    assert!(matches!(ran.code, Some(0 | 1 | 3)), "{:?} {}", ran.code, ran.err);
}

/// A search that takes minutes: every pair of 600 writes, each decided the hard way, on one thread.
fn endless(folder: &TempDir) -> Command {
    let trace = path(folder, "t.std");
    fs::write(&trace, "a|w(x)|a.c:1\nb|w(x)|b.c:1\n".repeat(300)).expect("a file");
    let mut command = reweave();
    command.args(["predict", &trace, "--all", "--exact", "--kinds", "race", "--jobs", "1", "--json", "-"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn interrupt(process: u32) {
    let status = Command::new("kill").args(["-INT", &process.to_string()]).status().expect("kill runs");
    assert!(status.success());
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_shows_what_was_found_so_far() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let child = endless(&folder).spawn().expect("the program starts");
    let process = child.id();
    // The interrupt is deferred once the search starts: the signal is then caught, which the system tells.
    let start = Instant::now();
    let caught = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
        mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & 2 != 0)
    };
    while !caught() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    interrupt(process);
    let ran = Ran::new(child.wait_with_output().expect("the program ends"));
    assert!(matches!(ran.code, Some(1 | 3)), "{:?} {}", ran.code, ran.err);
    assert!(ran.err.contains("interrupted: the result is partial"), "{}", ran.err);
    let document: serde_json::Value = serde_json::from_slice(&ran.out).expect("JSON");
    assert_eq!(document["partial"], true);
}

#[cfg(target_os = "linux")]
#[test]
fn a_limit_of_memory_ends_the_search() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ran = Ran::new(endless(&folder).args(["--max-memory", "4M"]).output().expect("the program starts"));
    assert!(ran.code == Some(3), "{:?} {}", ran.code, ran.err);
    assert!(ran.err.contains("of memory"), "{}", ran.err);
}

#[test]
fn a_trace_that_does_not_come_is_given_up_when_the_time_is_over() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fifo = path(&folder, "t.std");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    // It is open for writing, and nothing is ever written.
    let held = fs::File::options().read(true).write(true).open(&fifo).expect("a pipe");
    let other = path(&folder, "other.std");
    fs::write(&other, "a|w(x)|a.c:1\nb|w(x)|b.c:1\n").expect("a file");
    let ran = run(["predict", &other, &fifo, "--time", "1s"]).exits(3);
    assert!(ran.err.contains("stopped at the limit of 1s while it was read"), "{}", ran.err);
    assert!(ran.err.contains("1 trace not looked at"), "{}", ran.err);
    assert!(ran.text().contains("1 finding in"), "{}", ran.text());
    drop(held);
}

#[test]
fn a_limit_of_work_gives_the_same_findings_for_any_number_of_jobs_and_under_load() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = path(&folder, "t.std");
    let shape = ["--events", "3k", "--threads", "6", "--variables", "3", "--locks", "2", "--shared", "1"];
    run(["generate", &trace, "--quiet"].into_iter().chain(shape)).exits(0);
    let found = |jobs: &str| {
        let ran = run(["predict", &trace, "--work", "200", "--tries", "8", "--jobs", jobs, "--json", "-"]);
        let mut document: serde_json::Value = serde_json::from_slice(&ran.out).expect("JSON");
        assert!(
            document["undecided"].as_array().is_some_and(|list| !list.is_empty()),
            "the limit is reached"
        );
        document["seconds"] = 0.into();
        serde_json::to_vec(&document).expect("JSON")
    };
    let alone = found("1");
    assert!(alone == found("2"), "two jobs");
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while busy.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let loaded = found("2");
        busy.store(false, Ordering::Relaxed);
        assert!(alone == loaded, "under load");
    });
}

#[test]
fn findings_are_said_as_they_come_on_a_terminal_and_nowhere_else() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let trace = path(&folder, "t.std");
    fs::write(&trace, "a|w(x)|a.c:1\nb|w(x)|b.c:1\na|w(y)|a.c:2\nb|w(y)|b.c:2\n").expect("a file");
    let known = path(&folder, "known");
    fs::write(&known, "race:^y$\n").expect("a file");
    let reweave = env!("CARGO_BIN_EXE_reweave");
    // `script` gives its command a terminal.
    let on_terminal = |more: &str| {
        let command = format!("{reweave} predict {trace} --suppressions {known} {more}");
        let ran = Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output();
        String::from_utf8_lossy(&ran.expect("script runs").stdout).into_owned()
    };
    let shown = on_terminal("");
    let notice = shown.find("s: race on x, at a.c:1 and b.c:1").unwrap_or_else(|| panic!("{shown}"));
    assert!(shown.find("WARNING: data race on x").is_some_and(|report| notice < report), "{shown}");
    assert!(!shown.contains("race on y"), "{shown}");
    assert!(!on_terminal("--quiet").contains("found after"));
    assert!(!on_terminal("--json -").contains("found after"));
    let ran = run(["predict", &trace, "--suppressions", &known]).exits(1);
    assert!(!ran.err.contains("found after") && !ran.text().contains("found after"), "{}", ran.err);
}
