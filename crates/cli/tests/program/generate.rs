//! Synthetic traces, through the program.

use std::fs;

use crate::common::run;
use serde_json::Value;

/// Generates with `options` in STD text, and answers with its figures.
fn stats(options: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("t.std");
    let path = file.to_str().expect("a readable path");
    run(["generate", path, "--quiet"].iter().chain(options)).exits(0);
    let ran = run(["stats", path, "--json", "-"]).exits(0);
    let mut document: Value = serde_json::from_str(ran.text()).expect("JSON");
    document["traces"][0].take()
}

#[test]
fn extremes_are_well_formed_and_exact() {
    for options in [
        &["--events", "0"][..],
        &["--events", "1"],
        &["--events", "2"],
        &["--events", "3", "--threads", "100"],
        &["--events", "1k", "--locks", "0"],
        &["--events", "1k", "--threads", "1"],
        &["--events", "1k", "--variables", "0"],
        &["--events", "1k", "--variables", "0", "--locks", "0"],
        &[
            "--events",
            "1k",
            "--variables",
            "0",
            "--locks",
            "0",
            "--threads",
            "1",
            "--sites",
            "1",
            "--no-fork-join",
        ],
        &["--events", "1k", "--shared", "1", "--threads", "50", "--locks", "1"],
        &["--events", "1k", "--shared", "0", "--nesting", "0"],
        &["--events", "1k", "--nesting", "100", "--locks", "100", "--burst", "1", "--skew", "20"],
        &["--events", "1k", "--values", "--branches", "--write-share", "1"],
        &["--events", "5k", "--threads", "5k", "--seed", "18446744073709551615"],
    ] {
        let found = stats(options);
        let events = options.get(1).map(|text| text.replace('k', "000")).expect("a number of events");
        assert_eq!(found["events"].to_string(), events, "{options:?}");
    }
}

#[test]
fn every_option_does_something() {
    let count = |value: &Value| value.as_u64().expect("a number");
    let base = stats(&["--events", "20k"]);
    let with = |options: &[&str]| stats(&[&["--events", "20k"], options].concat());
    assert_eq!(count(&with(&["--threads", "3"])["threads"]["count"]), 3);
    assert_eq!(count(&with(&["--locks", "2"])["locks"]["count"]), 2);
    assert_eq!(count(&with(&["--variables", "50"])["variables"]["count"]), 50);
    assert_eq!(count(&with(&["--shared", "0"])["variables"]["shared"]["variables"]), 0);
    assert!(count(&with(&["--shared", "1"])["variables"]["shared"]["variables"]) > 500);
    assert_eq!(count(&with(&["--nesting", "1"])["locks"]["max_nesting"]), 1);
    assert!(count(&with(&["--nesting", "5"])["locks"]["max_nesting"]) > 2);
    assert!(
        2 * count(&with(&["--sections", "0.02"])["locks"]["acquires"]) < count(&base["locks"]["acquires"])
    );
    assert_eq!(with(&["--branches"])["capabilities"].to_string(), r#"["branches"]"#);
    assert_eq!(with(&["--values"])["capabilities"].to_string(), r#"["values"]"#);
    assert_eq!(count(&base["threads"]["forked"]), 7);
    assert_eq!(count(&with(&["--no-fork-join"])["threads"]["forked"]), 0);
    assert_eq!(count(&with(&["--no-fork-join", "--fork-join"])["threads"]["forked"]), 7);
    let hottest = |found: &Value| count(&found["locks"]["most_used"][0]["acquires"]);
    assert!(hottest(&with(&["--skew", "2"])) > 2 * hottest(&with(&["--skew", "0"])));
    assert_eq!(with(&["--write-share", "0"])["kinds"]["w"], Value::Null);
    assert_eq!(count(&with(&["--sites", "3"])["sites"]), 3);
    let handovers = |found: &Value| count(&found["locks"]["handovers"]);
    assert!(handovers(&with(&["--burst", "1"])) > handovers(&with(&["--burst", "500"])));
    assert_ne!(with(&["--seed", "1"]), base);
}

#[test]
fn the_same_options_give_the_same_bytes_and_any_number_of_jobs_the_same_answers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a readable path").to_owned();
    for format in ["std", "rw", "data"] {
        let (a, b) = (path(&format!("a.{format}")), path(&format!("b.{format}")));
        for file in [&a, &b] {
            run(["generate", file, "--events", "300k", "--sites", "5k", "--quiet"]).exits(0);
        }
        assert!(fs::read(&a).expect("the file") == fs::read(&b).expect("the file"), "{format}");
        let answers = |jobs: &str| {
            let stats = run(["stats", &a, "--jobs", jobs, "--json", "-"]).exits(0).out;
            let text = run(["convert", &a, "-", "--to", "std", "--jobs", jobs, "--quiet"]).exits(0).out;
            (stats, text)
        };
        assert!(answers("1") == answers("3"), "{format}");
    }
}

#[test]
fn too_few_events_for_so_many_threads_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("t.std");
    let ran = run(["generate", path.to_str().expect("a readable path"), "--events", "10"]).exits(0);
    assert!(ran.err.contains("10 events") && ran.err.contains("3 threads only"), "{}", ran.err);
}
