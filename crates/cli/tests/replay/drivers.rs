//! Hunts of what a driver starts: a script, a test runner.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::common::{Program, ran, reweave};

/// A script that a shell runs.
fn script(folder: &Path, text: &str) -> PathBuf {
    let path = folder.join("run-tests.sh");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn example(name: &str) -> Program {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs");
    Program::compile(&folder.join(name), &[])
}

#[test]
fn whatever_a_script_starts_is_recorded_in_a_trace_of_its_own_and_replayed() {
    let (lost, abba) = (example("lost_update.c"), example("abba.c"));
    let kept = lost.folder.path().join("kept");
    // Two at once, one after them with a word that has a blank, and one that is not compiled for it.
    let text = format!(
        "{0} > out.txt & {0} > /dev/null; wait; cd /; {1} 'two words' && true",
        lost.path.display(),
        abba.path.display()
    );
    let script = script(lost.folder.path(), &text);
    let mut command = reweave();
    command.args(["hunt", "--quiet", "--runs", "1", "--json", "-", "--keep"]).arg(&kept);
    let found = ran(command.arg("--").arg(&script).current_dir(lost.folder.path()));
    assert_eq!(found.code, Some(1), "{}{}", found.out, found.err);
    let document: Value = serde_json::from_str(&found.out).unwrap();
    let traces = document["traces"].as_array().unwrap();
    assert_eq!(traces.len(), 3, "{}", found.err);
    let words = |place: usize| traces[place]["program"].as_array().unwrap().len();
    assert_eq!((0..3).map(words).sum::<usize>(), 4, "each has its own words");
    for kind in ["race", "deadlock"] {
        let all = document["findings"].as_array().unwrap();
        let one = all.iter().find(|finding| finding["kind"] == kind).expect(kind);
        assert_eq!(one["replay"], "confirmed", "{kind}");
    }
    assert!(kept.join("run/program-1.rw").exists() && kept.join("run/program-3.rw").exists());
    assert!(!kept.join("run/reweave").exists(), "what only the hunt needs is gone");
}

#[test]
fn a_program_fails_where_its_driver_is_not_content() {
    let program =
        Program::of_text("#include <stdlib.h>\nint main(int n, char **v) { return n > 1 ? 6 : 0; }");
    let hunt = |text: String, more: &[&str]| {
        let script = script(program.folder.path(), &text);
        ran(reweave().args(["hunt", "--runs", "1"]).args(more).arg("--").arg(script))
    };
    let path = program.path.display();
    // A status that the script expects is none of our business.
    let content = hunt(format!("{path} x; test $? = 6"), &[]);
    assert_eq!(content.code, Some(0), "{}{}", content.out, content.err);
    let failed = hunt(format!("{path}; {path} x"), &[]);
    assert_eq!(failed.code, Some(1), "{}{}", failed.out, failed.err);
    assert_eq!(failed.out.matches("FAILED: ").count(), 1, "{}", failed.out);
    assert!(failed.out.contains("failed by itself: it ended with status 6"), "{}", failed.out);
    assert!(failed.out.contains(&format!("-o failed.rw -- {path} x")), "{}", failed.out);
    assert_eq!(hunt(format!("{path}; {path} x"), &["--expect-status", "6"]).code, Some(0));
    // The script itself may be what fails.
    let alone = hunt(format!("{path}; exit 9"), &[]);
    assert_eq!(alone.code, Some(1), "{}{}", alone.out, alone.err);
    assert!(alone.out.contains("it ended with status 9"), "{}", alone.out);
    let nothing = hunt("true".to_owned(), &[]);
    assert_eq!(nothing.code, Some(2), "{}{}", nothing.out, nothing.err);
    assert!(nothing.err.contains("started no program that is"), "{}", nothing.err);
}

#[test]
fn an_interrupt_while_runs_are_recorded_loses_no_run_that_failed() {
    let program = Program::of_text("#include <stdlib.h>\nint main(void) { abort(); }");
    let (folder, path) = (program.folder.path(), program.path.display());
    // The first run fails; the second one is under way when the interrupt comes.
    let there = folder.join("there");
    let text = format!(
        "if test -e first; then touch {}; while :; do sleep 0.1; done; fi; touch first; exec {path}",
        there.display()
    );
    let script = script(folder, &text);
    let mut hunt = reweave();
    hunt.args(["hunt", "--runs", "3", "--seed", "5", "--json", "found.json", "--"]).arg(script);
    let hunt = hunt.current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = hunt.spawn().expect("the command starts");
    while !there.exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let interrupted = ran(Command::new("kill").args(["-INT", &child.id().to_string()]));
    assert_eq!(interrupted.code, Some(0), "{}", interrupted.err);
    let output = child.wait_with_output().expect("it ends");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{out}{err}");
    assert_eq!(out.matches("failed by itself: it ended by signal 6").count(), 1, "{out}");
    let document: Value = serde_json::from_slice(&fs::read(folder.join("found.json")).unwrap()).unwrap();
    assert_eq!(document["failed_runs"].as_array().map(Vec::len), Some(1), "{document}");
    assert_eq!(document["failed_runs"][0]["seed"], 5, "{document}");
    assert_eq!(document["cut"][0], "no trace was searched, because of an interrupt", "{document}");
}

#[test]
fn the_time_of_a_hunt_is_that_of_all_it_does() {
    let program = Program::of_text("int main(void) { for (volatile long n = 0;; n++) {} }");
    let hunt = |command: &Path| {
        let mut hunt = reweave();
        hunt.args(["hunt", "--runs", "3", "--time", "3s", "--json", "-", "--"]).arg(command);
        ran(&mut hunt)
    };
    // Neither the program nor a driver of it ends by itself, and that is no failure where it is our limit that ends it.
    let endless = hunt(&program.path);
    let document: Value = serde_json::from_str(&endless.out).unwrap();
    assert_eq!(document["cut"][0], "run 1 was ended before its end", "{}", endless.err);
    assert!(document.get("failed_runs").is_none(), "{}", endless.err);
    let text = format!("{}; while true; do sleep 0.1; done", program.path.display());
    let driven = hunt(&script(program.folder.path(), &text));
    let document: Value = serde_json::from_str(&driven.out).unwrap();
    assert_eq!(document["cut"][0], "run 1 was ended before its end", "{}", driven.err);
    assert!(document.get("failed_runs").is_none(), "{}", driven.err);
}
