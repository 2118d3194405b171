//! What helps to install Reweave: the doctor, completions and the manual.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::common::{Ran, reweave, run};

#[test]
fn the_doctor_says_what_was_tried_and_whether_programs_can_be_recorded() {
    let ran = run(["doctor", "--json", "-"]);
    let answer: Value =
        serde_json::from_slice(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
    assert_eq!(answer["schema"], 1);
    let checks = answer["checks"].as_array().expect("a list");
    let state = |name: &str| {
        let check = checks.iter().find(|check| check["name"] == name);
        check.unwrap_or_else(|| panic!("no {name} in {answer}"))["state"].clone()
    };
    // The tests themselves need a compiler that can be recorded with.
    assert_eq!(state("record, any compiler"), "ok", "{answer}");
    assert_eq!((answer["records"].clone(), ran.code), (Value::Bool(true), Some(0)));
    for check in checks {
        // Who lacks something reads what to do about it.
        assert_eq!(check["state"] != "ok", check["advice"].is_string(), "{check}");
    }
    assert_eq!(ran.err, "");
}

#[test]
fn a_doctor_without_a_compiler_says_so_and_exits_with_1() {
    let output = reweave().arg("doctor").env("PATH", "/nonexistent").output().expect("the program starts");
    let ran = Ran::new(output);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.text().contains("no gcc, clang, cc on the PATH"), "{}", ran.text());
    assert!(ran.text().contains("cannot be recorded here"), "{}", ran.text());
}

#[test]
fn completions_know_every_command_in_every_shell() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = run(["completions", shell]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        for word in ["predict", "record", "hunt", "doctor", "max-memory"] {
            assert!(ran.text().contains(word), "{shell} has no {word}");
        }
    }
    assert_eq!(run(["completions", "tcsh"]).code, Some(2));
}

#[test]
fn the_manual_has_a_page_for_each_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man1");
    let ran = run(["man", pages.to_str().expect("text")]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let names: BTreeSet<String> = fs::read_dir(&pages)
        .expect("the folder is made")
        .map(|entry| entry.expect("a page").file_name().to_string_lossy().into_owned())
        .collect();
    for name in ["reweave.1", "reweave-predict.1", "reweave-c++.1", "reweave-doctor.1"] {
        assert!(names.contains(name), "{names:?}");
    }
    assert!(!names.contains("reweave-cargo-test.1"), "what is hidden has no page");
    let page = fs::read_to_string(pages.join("reweave-predict.1")).expect("a page");
    assert!(page.contains("Exits with") && page.contains("kinds"), "{page}");
}
