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
    // The twin is clean.
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs/lost_update.c");
    let twin = Program::compile(&source, &["-DFIXED"]);
    let found = ran(reweave().args(["hunt", "--runs", "2", "--"]).arg(&twin.path));
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
}
