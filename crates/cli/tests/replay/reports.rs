//! Outcomes in reports: text, JSON, SARIF, and the one command for a build.

use std::fs;

use serde_json::Value;

use crate::common::{Program, ran, reweave};

fn program() -> Program {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs/lost_update.c");
    let program = Program::compile(&source, &[]);
    assert_eq!(program.record(&[]).code, Some(0));
    program
}

#[test]
fn every_finding_carries_what_came_of_it() {
    let program = program();
    let sarif = program.folder.path().join("findings.sarif");
    let mut command = reweave();
    command
        .args(["predict", "--quiet", "--confirm", "--json", "-", "--sarif"])
        .arg(&sarif)
        .arg(&program.trace);
    let found = ran(command.arg("--").arg(&program.path));
    assert_eq!(found.code, Some(1), "{}", found.err);
    let document: Value = serde_json::from_str(&found.out).unwrap();
    let findings = document["findings"].as_array().unwrap();
    assert!(
        !findings.is_empty() && findings.iter().all(|finding| finding["replay"] == "confirmed"),
        "{findings:?}"
    );
    let schema =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/predict.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    assert!(jsonschema::is_valid(&schema, &document));
    let log: Value = serde_json::from_slice(&fs::read(sarif).unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(results.iter().all(|result| result["properties"]["replay"] == "confirmed"), "{results:?}");
    let mut command = reweave();
    command.args(["predict", "--quiet", "--confirm"]).arg(&program.trace);
    let text = ran(command.arg("--").arg(&program.path)).out;
    assert_eq!(text.matches("replayed on the program: confirmed").count(), findings.len(), "{text}");
}

#[test]
fn a_hunt_records_predicts_and_confirms() {
    let program = program();
    let kept = program.folder.path().join("hunt");
    let mut command = reweave();
    command.args(["hunt", "--quiet", "--runs", "3", "--json", "-", "--keep"]).arg(&kept);
    let found = ran(command.arg("--").arg(&program.path));
    assert_eq!(found.code, Some(1), "{}", found.err);
    let document: Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!(document["traces"].as_array().map(Vec::len), Some(3));
    let findings = document["findings"].as_array().unwrap();
    let race = findings.iter().find(|finding| finding["kind"] == "race").expect("a race");
    assert_eq!(race["replay"], "confirmed");
    assert!(kept.join("run-1.rw").exists() && kept.join("run-1.rw.steps").exists());
    assert!(kept.join("findings.json").exists());
    let schedule = format!("{}.schedule", race["fingerprint"].as_str().unwrap());
    assert!(kept.join(schedule).exists());
    // The twin is clean.
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs/lost_update.c");
    let twin = Program::compile(&source, &["-DFIXED"]);
    let found = ran(reweave().args(["hunt", "--runs", "2", "--"]).arg(&twin.path));
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
}

#[test]
fn a_hunt_takes_a_run_that_fails_for_a_finding() {
    let program =
        Program::of_text("#include <stdlib.h>\nint main(int n, char **v) { if (n > 1) abort(); return 4; }");
    let hunt = |more: &[&str], arguments: &[&str]| {
        let mut command = reweave();
        command.args(["hunt", "--runs", "2", "--seed", "5"]).args(more).arg("--").arg(&program.path);
        ran(command.args(arguments))
    };
    let failed = hunt(&[], &[]);
    assert_eq!(failed.code, Some(1), "{}{}", failed.out, failed.err);
    for seed in [5, 6] {
        let line = format!(" with seed {seed} failed by itself: it ended with status 4\n");
        assert!(failed.out.contains(&line), "{}", failed.out);
    }
    assert!(
        failed.out.contains("To run it again: reweave record --seed 5 -o failed.rw -- "),
        "{}",
        failed.out
    );
    assert_eq!(hunt(&["--expect-status", "0,4"], &[]).code, Some(0));
    let aborted = hunt(&[], &["now"]);
    assert_eq!(aborted.code, Some(1), "{}", aborted.err);
    assert!(aborted.out.contains("it ended by signal 6 (status 134)"), "{}", aborted.out);
}

#[test]
fn a_failed_run_is_in_every_document_and_counts_without_a_prediction() {
    let program = Program::of_text("#include <stdlib.h>\nint main(void) { abort(); }");
    let sarif = program.folder.path().join("failed.sarif");
    let mut command = reweave();
    command.args(["hunt", "--quiet", "--runs", "1", "--seed", "7", "--json", "-", "--sarif"]).arg(&sarif);
    let found = ran(command.arg("--").arg(&program.path));
    assert_eq!(found.code, Some(1), "{}", found.err);
    let document: Value = serde_json::from_str(&found.out).unwrap();
    let run = &document["failed_runs"][0];
    assert_eq!((run["seed"].as_u64(), run["status"].as_u64()), (Some(7), Some(134)), "{run}");
    assert!(run["again"].as_str().unwrap().starts_with("reweave record --seed 7 -o failed.rw -- "), "{run}");
    let schema = |path: &str| -> Value { serde_json::from_slice(&fs::read(path).unwrap()).unwrap() };
    let own = schema(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/predict.schema.json"));
    assert!(jsonschema::is_valid(&own, &document), "{document}");
    let log: Value = serde_json::from_slice(&fs::read(sarif).unwrap()).unwrap();
    let mut official = schema(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schema/sarif-2.1.0.json"));
    // The schema of SARIF has a pattern here that is no regular expression; we do not write the field.
    for holder in ["run", "toolComponent"] {
        let language = official.pointer_mut(&format!("/definitions/{holder}/properties/language")).unwrap();
        language.as_object_mut().unwrap().remove("pattern");
    }
    assert!(jsonschema::is_valid(&official, &log), "{log}");
    assert_eq!(log["runs"][0]["results"][0]["ruleId"], "failed-run");
}

#[test]
fn a_hunt_takes_the_options_of_predict() {
    let program = program();
    let known = program.folder.path().join("known.supp");
    fs::write(&known, "race:lost_update.c\natomicity:lost_update.c\n").unwrap();
    let mut command = reweave();
    command.args(["hunt", "--runs", "1", "--model", "rf", "--policy", "plain", "--time", "30s"]);
    command.args(["--kinds", "race", "--suppressions"]).arg(&known);
    let found = ran(command.arg("--").arg(&program.path));
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    assert!(found.out.contains("not shown: 1 suppressed"), "{}", found.out);
    let again = ran(reweave().args(["hunt", "--runs", "1", "--model", "none", "--"]).arg(&program.path));
    assert_eq!(again.code, Some(2), "{}", again.err);
}
