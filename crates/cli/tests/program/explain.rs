//! Explanations, through the program.

use std::fmt::Write;

use serde_json::Value;

use crate::common::{golden, run};

/// A trace with a finding of each kind, as seen from the folder of test data.
const TRACES: [&str; 6] = [
    "../../../../examples/bank.std",
    "../../../../litmus/deadlock-two/trace.std",
    "predict/freed.std",
    "predict/lost-update.std",
    "../../../../litmus/lost-wake-up/trace.std",
    "predict/uninitialised.std",
];

#[test]
fn every_finding_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let document = folder.path().join("found.json").display().to_string();
    let mut text = String::new();
    for trace in TRACES {
        run(["predict", "--quiet", "--json", &document, trace]);
        let found = std::fs::read_to_string(&document).expect("a document");
        let found: Value = serde_json::from_str(&found).expect("JSON");
        let findings = found["findings"].as_array().expect("findings").clone();
        assert!(!findings.is_empty(), "{trace}");
        for finding in findings {
            let fingerprint = finding["fingerprint"].as_str().expect("a fingerprint");
            let again = run(["explain", &fingerprint[..8], trace]).exits(0);
            let stored = run(["explain", fingerprint, "--findings", &document]).exits(0);
            assert_eq!(again.text(), stored.text(), "its witness is the same wherever it comes from");
            let name = trace.rsplit("../").next().unwrap_or(trace);
            writeln!(text, "$ reweave explain {} {name}\n{}", &fingerprint[..8], again.text())
                .expect("strings take everything");
        }
    }
    golden("explain", &text);
}

#[test]
fn kinds_and_terms_are_explained() {
    assert!(run(["explain", "lost-wake-up"]).exits(0).text().starts_with("Order violation"));
    assert!(run(["explain", "Race"]).exits(0).text().contains("What to do"));
    assert!(run(["explain"]).exits(0).text().contains("deadlock"));
}

/// Whatever a verification can say is explained, by its name in documents.
#[test]
fn verdicts_on_fixes_are_explained() {
    use reweave_verify::{State, Verdict};
    let verdicts = [Verdict::Insufficient, Verdict::NewBug, Verdict::Sufficient, Verdict::NotShown];
    let states = [State::Excluded, State::Harmless, State::Shown, State::Open];
    for name in verdicts.map(Verdict::name).into_iter().chain(states.map(State::name)).chain(["verify"]) {
        let text = run(["explain", name]).exits(0);
        assert!(text.text().starts_with("Verify: is this fix enough?"), "{name}: {}", text.text());
    }
    assert!(run(["explain", Verdict::Undecided.name()]).exits(0).text().contains("reweave explain verify"));
}

#[test]
fn what_cannot_be_explained_is_said() {
    let bank = TRACES[0];
    for (arguments, error) in [
        (&["explain", "6290"][..], "which trace is it of?"),
        (&["explain", "nonsense"], "there are race, deadlock"),
        (&["explain", "0000", bank], "no finding's fingerprint begins with `0000`"),
        (&["explain", "nonsense", bank], "neither a fingerprint nor a file"),
    ] {
        let ran = run(arguments.iter()).exits(2);
        assert!(ran.err.contains(error), "{arguments:?}: {}", ran.err);
    }
}
