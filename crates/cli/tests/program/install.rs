//! What helps to install Reweave: the doctor, completions and the manual.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

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
    assert_eq!(state("record, gcc"), "ok", "{answer}");
    let found =
        |name: &str| Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success());
    // Each compiler that is found has a row, and what is called ok was tried.
    for (llvm, clang) in [("22", "clang-22"), ("19", "clang-19")] {
        assert_eq!(state(&format!("record, plugin {llvm}")) == "ok", found(clang), "{answer}");
    }
    let has_clang = checks.iter().any(|check| check["name"] == "record, clang");
    assert_eq!(has_clang, found("clang"), "{answer}");
    for check in checks.iter().filter(|check| check["state"] == "ok") {
        let is_compiler = check["name"].as_str().is_some_and(|name| name.starts_with("record, "));
        let was_tried = check["found"].as_str().is_some_and(|found| found.contains("a race found"));
        assert!(!is_compiler || was_tried, "{check}");
    }
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

/// A rustc that is there and does not work, as one of rustup without a toolchain.
#[test]
fn a_doctor_does_not_take_a_rustc_that_fails_for_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let rustc = folder.path().join("rustc");
    fs::write(&rustc, "#!/bin/sh\necho 'error: no default toolchain' >&2\nexit 1\n").expect("a file");
    fs::set_permissions(&rustc, fs::Permissions::from_mode(0o755)).expect("a program");
    let mut doctor = reweave();
    doctor.args(["doctor", "--json", "-"]).env("PATH", "/nonexistent").env("RUSTC", &rustc);
    let ran = Ran::new(doctor.output().expect("the program starts"));
    let answer: Value = serde_json::from_slice(&ran.out).expect("JSON");
    let row = answer["checks"].as_array().expect("a list").iter().find(|row| row["name"] == "record, Rust");
    let row = row.expect("a row for Rust");
    assert_eq!(row["state"], "missing", "{row}");
    assert!(row["found"].as_str().is_some_and(|found| found.contains("no default toolchain")), "{row}");
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
    for name in
        ["reweave.1", "reweave-predict.1", "reweave-c++.1", "reweave-doctor.1", "reweave-spec-check.1"]
    {
        assert!(names.contains(name), "{names:?}");
    }
    assert!(!names.contains("reweave-cargo-test.1"), "what is hidden has no page");
    let page = fs::read_to_string(pages.join("reweave-predict.1")).expect("a page");
    assert!(page.contains("Exits with") && page.contains("kinds"), "{page}");
}
