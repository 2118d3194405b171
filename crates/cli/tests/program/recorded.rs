//! Predictions on traces that others recorded, where these are beside the project.

use std::path::Path;

use reweave_testkit::recorded;
use serde_json::Value;

use crate::common::run;

/// The findings of some kinds, as JSON.
fn findings(path: &Path, kinds: &str) -> Vec<Value> {
    let path = path.to_string_lossy();
    let ran = run(["predict", "--repair", "--quiet", "--kinds", kinds, "--json", "-", &path]);
    let document: Value =
        serde_json::from_slice(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.err));
    document["findings"].as_array().expect("a list").clone()
}

#[test]
fn the_race_that_was_injected_is_found() {
    let files = recorded("raceinjector");
    for path in files.iter().filter(|path| path.to_string_lossy().contains("-injected-")) {
        let found = findings(path, "race");
        assert!(found.iter().any(|finding| finding["target"] == "BUGGY_ADDR"), "{}", path.display());
    }
}

#[test]
fn the_deadlocks_of_the_benchmarks_are_found() {
    for path in recorded("freiburg") {
        // With the sizes of the sets of threads that deadlock.
        let expected: &[usize] = match path.file_name().and_then(|name| name.to_str()) {
            Some("Bensalem.data") => &[2],
            Some("DiningPhil.data") => &[5],
            Some("Account.data") => &[],
            Some("Deadlock.data") => &[],
            _ => continue,
        };
        let found = findings(&path, "deadlock");
        let mut sizes: Vec<usize> =
            found.iter().map(|f| f["events"].as_array().expect("events").len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, expected, "{}", path.display());
    }
}
