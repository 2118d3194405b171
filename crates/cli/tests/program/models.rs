//! What is found in which model, where a trace carries enough for several.

use serde_json::Value;

use crate::common::run;

const TRACE: &str = "models.std";

fn races(more: &[&str]) -> Value {
    let ran = run(["predict", TRACE, "--kinds", "race", "--json", "-"].iter().chain(more)).exits(1);
    serde_json::from_slice(&ran.out).unwrap()
}

#[test]
fn auto_takes_branches_and_values_and_tells_what_they_buy() {
    let ran = run(["predict", TRACE, "--kinds", "race"]).exits(1);
    let line = "\n  findings by model: 1 in rf, 2 in branch, 3 in branch+value\n";
    assert!(ran.text().contains(line), "{}", ran.text());
    assert!(ran.text().contains("\n  model branch+value: "), "{}", ran.text());
}

#[test]
fn the_numbers_are_those_that_a_search_in_each_model_comes_to() {
    let all = races(&[]);
    let models = all["models"].as_array().unwrap();
    assert_eq!(models.len(), 3);
    for count in models {
        let model = count["model"].as_str().unwrap();
        let alone = races(&["--model", model]);
        let found = alone["findings"].as_array().unwrap().len() as u64;
        assert_eq!(count["findings"].as_u64(), Some(found), "{model}");
    }
}

/// Whether the events can come in this order, in a model.
fn feasible(trace: &str, model: &str, order: &str) -> bool {
    let ran = run(["query", trace, "--model", model, "--sequence", order]);
    match ran.code {
        Some(0) => true,
        Some(1) => false,
        code => panic!("{code:?}: {}", ran.err),
    }
}

#[test]
fn a_table_of_dependences_says_what_a_new_read_holds_up() {
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("depends.rw");
    run(["convert", "depends.std", &binary.to_string_lossy()]).exits(0);
    for trace in ["depends.std", &binary.to_string_lossy()] {
        assert!(!feasible(trace, "branch", "7,0"), "{trace}");
        assert!(feasible(trace, "dep", "7,0") && feasible(trace, "auto", "7,0"), "{trace}");
        assert!(!feasible(trace, "dep", "8,0"), "{trace}");
    }
    let back = folder.path().join("back.std");
    run(["convert", &binary.to_string_lossy(), &back.to_string_lossy()]).exits(0);
    let without_comments = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines()
            .filter(|line| !line.starts_with("# "))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    assert_eq!(without_comments(back), without_comments(crate::common::data("depends.std")));
}

#[test]
fn a_witness_of_a_dependence_model_is_predicted_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let witness = folder.path().join("witness.json");
    let ran = run(["query", "depends.std", "--sequence", "7,0", "--json", "-"]).exits(0);
    let answer: Value = serde_json::from_slice(&ran.out).unwrap();
    assert_eq!(answer["model"], "dep");
    let file = serde_json::json!({"model": "dep", "witness_prefix": answer["witness_prefix"],
        "witness": answer["witness"], "claim": {"sequence": [7, 0]}});
    std::fs::write(&witness, file.to_string()).unwrap();
    run(["check", "depends.std", &witness.to_string_lossy()]).exits(0);
    let models = ["predict", "depends.std", "--kinds", "race", "--json", "-"];
    let document: Value = serde_json::from_slice(&run(models).exits(1).out).unwrap();
    assert_eq!(document["model"], "dep");
}

#[test]
fn a_table_that_a_repair_may_have_broken_is_not_used() {
    let ran =
        run(["query", "depends-broken.std", "--repair", "--model", "dep", "--sequence", "1,0"]).exits(2);
    assert!(ran.err.contains("needs what the trace does not carry: dependences"), "{}", ran.err);
}

#[test]
fn what_an_event_depends_on_is_explained() {
    let ran = run(["stats", "depends.std", "--depends", "1", "--depends", "2", "--depends", "6"]).exits(0);
    let expected = "event 1 (T2 r(x) at 2)
  needs no read that no event of its thread before it needed
  is in what is written by event 2 (T2 w(z) at 3)
event 2 (T2 w(z) at 3)
  needs no read that no event of its thread before it needed
  writes what was computed from event 1 (T2 r(x) at 2)
event 6 (T3 notify(c) at 7)
  needs event 5 (T3 r(u) at 6)
";
    assert_eq!(ran.text(), expected);
    let ran = run(["stats", "depends.std", "--depends", "9"]).exits(2);
    assert!(ran.err.contains("there is no event 9") && ran.err.contains("from 0 to 8"), "{}", ran.err);
    let ran = run(["stats", TRACE, "--depends", "0"]).exits(2);
    assert!(
        ran.err.contains("has no table of dependences") && ran.err.contains("#! needs 8: 5 3"),
        "{}",
        ran.err
    );
}

#[test]
fn a_table_with_no_entry_is_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let [text, binary, back] = ["none.std", "none.rw", "back.std"].map(at);
    let events = "A|w(x)|1|1\nA|w(y)|2|1\nB|r(y)|3|1\nB|w(x)|4|1\n";
    std::fs::write(&text, format!("#! capabilities: dependences values\n{events}#! needs 0:\n")).unwrap();
    run(["convert", &text, &binary]).exits(0);
    run(["convert", &binary, &back]).exits(0);
    for trace in [&text, &binary, &back] {
        // What B read decides nothing, so that its write can come first of all.
        let ran = run(["predict", trace, "--kinds", "race"]).exits(1);
        assert!(ran.text().contains("\n  model dep+value: ") && !ran.err.contains("table"), "{}", ran.err);
        assert!(feasible(trace, "dep+value", "3,0"), "{trace}");
        assert!(run(["stats", trace]).exits(0).text().contains("auto takes dep+value"), "{trace}");
    }
    let none = at("claimed.std");
    std::fs::write(&none, format!("#! capabilities: dependences values\n{events}")).unwrap();
    let ran = run(["predict", &none, "--kinds", "race"]).exits(1);
    assert!(ran.err.contains("it comes without a table of dependences: the model is value"), "{}", ran.err);
    assert!(!feasible(&none, "auto", "3,0"));
    assert!(run(["stats", &none]).exits(0).text().contains("auto takes value"));
}

#[test]
fn what_dependences_add_is_told_apart_from_what_values_add() {
    // Each race needs more: on z none, on x branches, on p values besides; on k the table, since B
    // takes branches after its read.
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("ladder.std");
    let text = std::fs::read_to_string(crate::common::data(TRACE)).unwrap();
    let text = text.replace("capabilities: branches values", "capabilities: branches values dependences");
    let more = "A|w(k)|24|1\nA|acq(n)|25\nA|w(g)|26|3\nA|rel(n)|27\n\
                B|acq(n)|28\nB|r(g)|29|3\nB|rel(n)|30\nB|br|31\nB|w(k)|32|2\n";
    let events = text.lines().filter(|line| !line.starts_with('#')).count();
    // Without `k` and what leads there, the branch before the read of `p` needs the read of `q`.
    let needs = format!("#! needs {}: {}\n", events - 1, events - 4);
    std::fs::write(&trace, format!("{text}{more}{needs}")).unwrap();
    let trace = trace.to_string_lossy().into_owned();
    let ran = run(["predict", &trace, "--kinds", "race"]).exits(1);
    let line = ran
        .text()
        .lines()
        .find(|line| line.contains("findings by model"))
        .unwrap_or_default()
        .trim()
        .to_owned();
    assert_eq!(line, "findings by model: 1 in rf, 2 in branch, 3 in branch+value, 4 in dep, 4 in dep+value");
}
