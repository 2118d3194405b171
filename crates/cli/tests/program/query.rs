//! Questions, through the program.

use std::fmt::Write;
use std::fs;

use serde_json::Value;

use crate::common::{data, golden, run};

/// The path of a litmus trace, as seen from the folder of test data.
fn litmus(name: &str) -> String {
    format!("../../../../litmus/{name}/trace.std")
}

/// Runs `query` on litmus traces, one question a line, and compares all that it prints with the file `name`.
#[track_caller]
fn check(name: &str, questions: &str) {
    let mut text = String::new();
    for line in questions.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split_whitespace();
        let trace = litmus(words.next().expect("a litmus test"));
        let ran = run(["query", &trace].into_iter().chain(words));
        writeln!(text, "$ reweave query {line}").expect("strings take everything");
        for line in ran.text().lines() {
            // How long it took is different every time.
            let line = if line.starts_with("  \"seconds\": ") { "  \"seconds\": 0" } else { line };
            writeln!(text, "{line}").expect("strings take everything");
        }
        for line in ran.err.lines() {
            writeln!(text, "stderr: {line}").expect("strings take everything");
        }
        writeln!(text, "exit {}\n", ran.code.expect("no signal")).expect("strings take everything");
    }
    golden(name, &text);
}

#[test]
fn answers() {
    check(
        "query",
        "race-needs-reversal --coenabled 0,7
         race-needs-reversal --coenabled 2,5
         race-needs-reversal --coenabled 0,2
         deadlock-two --deadlock 1,5
         deadlock-gate --deadlock 2,8
         deadlock-dead-holder --deadlock 0
         adjacent --sequence 2,3,4 --adjacent 0,1
         adjacent --sequence 1,4 --adjacent 0
         use-after-free-guarded --sequence 7,4
         use-after-free-guarded --sequence 7,4 --fast
         wait-nested --before 5:3,3:7
         wait-nested --before 5:7,4:10 --adjacent 0
         seqcheck-figure2 --sequence 5,17,11
         seqcheck-figure2 --sequence 5,17,11 --model rf
         update-binds --sequence 1,0 --model sync",
    );
}

#[test]
fn documents() {
    check(
        "query-json",
        "race-needs-reversal --coenabled 0,7 --json -
         deadlock-gate --deadlock 2,8 --json -
         adjacent --sequence 1,4 --adjacent 0 --json -
         deadlock-gate --deadlock 2,3 --json -
         use-after-free-guarded --sequence 7,4 --exact --work 0 --json -",
    );
}

#[test]
fn races_of_source_lines() {
    let bank = "../../../../examples/bank.std";
    for (lines, pairs, verdicts, code) in [
        (["bank.c:22", "bank.c:34"], "1 pair that conflicts", "1 feasible, 0 infeasible, 0 unknown", 0),
        (["bank.c:34", "bank.c:22"], "1 pair that conflicts", "1 feasible, 0 infeasible, 0 unknown", 0),
        (["bank.c:12", "bank.c:22"], "2 pairs that conflict", "0 feasible, 2 infeasible, 0 unknown", 1),
        (["bank.c:32", "bank.c:22"], "0 pairs that conflict", "never touched the same variable", 1),
    ] {
        let ran = run(["query", bank, "--race", lines[0], lines[1]]);
        assert!(ran.text().contains(pairs) && ran.text().contains(verdicts), "{lines:?}: {}", ran.text());
        assert_eq!(ran.code, Some(code), "{lines:?}");
    }
    let ran = run(["query", bank, "--race", "bank.c:12", "bank.c:22", "--pairs", "1"]);
    assert!(ran.text().contains("0 feasible, 1 infeasible, 1 unknown"), "{}", ran.text());
    assert_eq!(ran.code, Some(3), "what was not looked at is not known");
    let ran = run(["query", bank, "--race", "bank.c:12", "bank.c:99"]);
    assert!(ran.err.contains("no access at bank.c:99") && ran.err.contains("12, 22, 32, 34"), "{}", ran.err);
    assert_eq!(ran.code, Some(2));
    let ran = run(["query", bank, "--race", "bank.c:22", "bank.c:34", "--json", "-"]);
    let document: Value = serde_json::from_str(ran.text()).expect("JSON");
    assert_eq!(document["counts"]["feasible"], 1);
    assert_eq!(document["answers"][0]["claim"]["coenabled"], serde_json::json!([5, 10]));
}

#[test]
fn limits() {
    check(
        "query-limits",
        "use-after-free-guarded --sequence 7,4 --exact --work 0
         use-after-free-guarded --sequence 7,4 --exact --budget 0ms
         use-after-free-guarded --sequence 7,4 --exact --budget 60m --work 1000000",
    );
}

#[test]
fn questions_that_cannot_be_asked() {
    check(
        "query-refuses",
        "race-needs-reversal
         race-needs-reversal --coenabled 0,7 --deadlock 1,2
         race-needs-reversal --coenabled 0,7 --adjacent 0
         race-needs-reversal --coenabled 0,8
         race-needs-reversal --coenabled 0,x
         race-needs-reversal --before 3-7
         race-needs-reversal --sequence 0,7 --adjacent 1
         race-needs-reversal --coenabled 0,7 --model branch+value
         race-needs-reversal --coenabled 0,7 --model dep
         race-needs-reversal --coenabled 0,7 --model best
         race-needs-reversal --coenabled 0,7 --budget 2
         race-needs-reversal --coenabled 0,7 --exact --fast
         dep-needs-and-feeds --sequence 3,0
         no-such-test --coenabled 0,7",
    );
}

#[test]
fn a_feasible_answer_is_a_witness_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("answer.json");
    let path = file.to_str().expect("a readable path");
    for (name, question) in [
        ("race-needs-reversal", &["--coenabled", "0,7"][..]),
        ("deadlock-three", &["--deadlock", "1,5,9"]),
        ("adjacent", &["--sequence", "2,3,4", "--adjacent", "0,1"]),
        ("wait-nested", &["--before", "5:3"]),
        ("seqcheck-figure2", &["--sequence", "5,17,11", "--exact"]),
    ] {
        let trace = litmus(name);
        let args = ["query", &trace, "--json", path];
        run(args.iter().chain(question)).exits(0);
        let ran = run(["check", &trace, path]).exits(0);
        assert!(ran.text().starts_with("accepted"), "{}", ran.text());
        let text = fs::read_to_string(&file).expect("the document");
        let document: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(document["claim"], document["query"]);
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn an_infeasible_answer_is_no_witness_file() {
    let trace = litmus("deadlock-gate");
    let answer = run(["query", &trace, "--deadlock", "2,8", "--json", "-"]).exits(1);
    let ran = crate::common::run_with(["check", &trace, "-"], &answer.out).exits(2);
    assert!(ran.err.starts_with("error: standard input"), "{}", ran.err);
}

#[test]
fn repair_and_format_are_taken_and_colour_is_used() {
    let broken = data("broken.std");
    let broken = broken.to_str().expect("a readable path");
    run(["query", broken, "--coenabled", "0"]).exits(2);
    let ran = run(["query", broken, "--coenabled", "0", "--repair", "--format", "std"]);
    assert!(ran.err.contains("repaired") && ran.code != Some(70), "{:?} {}", ran.code, ran.err);
    let ran = run(["query", &litmus("deadlock-two"), "--deadlock", "1,5", "--color", "always"]).exits(0);
    assert!(ran.text().contains("\x1b["));
}
