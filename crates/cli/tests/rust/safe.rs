//! Safe Rust cannot race: whatever is found in programs without `unsafe` of their own is a bug of ours.

use std::fs;

use crate::project::{Project, findings, is_there, root};

/// The programs, each a file of tests.
const PROGRAMS: [&str; 4] = ["locks", "channels", "threads", "cells"];

/// The seeds: few here; `REWEAVE_SAFE_SEEDS` is how many of them, from 1 on.
fn seeds() -> u64 {
    std::env::var("REWEAVE_SAFE_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2)
}

#[test]
fn nothing_is_found_in_safe_programs() {
    if !is_there() {
        return;
    }
    let programs = PROGRAMS.map(|name| {
        let source = root().join("crates/cli/tests/programs/safe").join(format!("{name}.rs"));
        (format!("tests/{name}.rs"), fs::read_to_string(source).expect("a program"))
    });
    assert!(programs.iter().all(|(_, text)| text.contains("#![forbid(unsafe_code)]")));
    let mut files = vec![("src/lib.rs", "//! Nothing.\n")];
    files.extend(programs.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    let project = Project::new("", &files);
    let mut traces = 0;
    for seed in 1..=seeds() {
        project.cargo_ok(&["test", "--offline", "--seed", &seed.to_string(), "--timeout", "60s"]);
        for program in PROGRAMS {
            let folder = project.path().join("target/reweave/traces").join(program);
            for trace in fs::read_dir(folder).expect("traces").map(|entry| entry.expect("a trace").path()) {
                if trace.extension().is_some_and(|extension| extension == "rw") {
                    let found = findings(&trace, "race,deadlock,uaf");
                    assert!(found.is_empty(), "{}, seed {seed}: {found:?}", trace.display());
                    traces += 1;
                }
            }
        }
    }
    let tests = programs.iter().map(|(_, text)| text.matches("#[test]").count() as u64).sum::<u64>();
    assert!(tests >= 50 && traces == tests * seeds(), "{tests} programs, {traces} traces");
}
