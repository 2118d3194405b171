//! Verdicts as SARIF, against the official schema.

use std::fs;

use serde_json::Value;

use crate::common::Pair;
use crate::verdicts::{bare, fixed, half};

fn log(pair: &Pair, flags: &[&str], code: i32) -> Value {
    let said = pair.verify(&[&["--sarif", "log.sarif"], flags].concat());
    assert_eq!(said.code, Some(code), "{}{}", said.out, said.err);
    let read = |path: &str| -> Value { serde_json::from_slice(&fs::read(path).expect(path)).expect("JSON") };
    let log = read(&pair.folder.path().join("log.sarif").display().to_string());
    let mut official = read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schema/sarif-2.1.0.json"));
    // The schema of SARIF has a pattern here that is no regular expression; we do not write the
    // field.
    for holder in ["run", "toolComponent"] {
        let language = official.pointer_mut(&format!("/definitions/{holder}/properties/language"));
        language.expect("a language").as_object_mut().expect("an object").remove("pattern");
    }
    assert!(jsonschema::is_valid(&official, &log), "{log:#}");
    let run = &log["runs"][0];
    for result in run["results"].as_array().expect("results") {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("a place") as usize];
        assert_eq!(rule["id"], result["ruleId"], "{result:#}");
    }
    run.clone()
}

#[test]
fn what_a_fix_leaves_is_a_result_where_it_is_now() {
    let run = log(&Pair::of_texts(&bare(), &half("", "reader")), &[], 1);
    let results = run["results"].as_array().expect("results");
    assert_eq!(run["properties"]["verdict"], "insufficient");
    let location = &results.first().expect("a result")["locations"][0]["physicalLocation"];
    let file = location["artifactLocation"]["uri"].as_str().expect("a file");
    assert!(file.ends_with("cache.c") && location["region"]["startLine"].is_u64(), "{results:#?}");
    assert!(results.iter().all(|result| result["level"].is_null() || result["level"] == "error"));
}

#[test]
fn a_fix_that_is_enough_has_no_result_and_one_that_is_open_says_why() {
    let pair = Pair::of_texts(&bare(), &fixed("", "reader"));
    let run = log(&pair, &[], 0);
    assert_eq!(run["results"].as_array().map(Vec::len), Some(0), "{run:#}");
    let run = log(&pair, &["--runs", "1"], 3);
    let result = &run["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"fix-undecided".into(), &"warning".into()));
    assert!(result["message"]["text"].as_str().is_some_and(|text| text.contains("--runs 1")), "{result:#}");
}
