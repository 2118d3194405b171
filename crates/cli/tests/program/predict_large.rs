//! Traces that are large in some way, and searches that are cut short.

use std::fmt::Write;
use std::fs;
use std::process::{Command, Stdio};
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
