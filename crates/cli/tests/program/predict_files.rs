//! Findings on their way through files: shards, baselines, other forms, witnesses.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Ran, run};
use crate::predict::{BANK, without_seconds};

const TRACE: &str = "../../../../litmus/seqcheck-figure2/trace.std";

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a readable path").to_owned()
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// A synthetic trace with something to find.
fn generated(folder: &TempDir) -> String {
    let trace = path(folder, "t.std");
    let shape = ["--events", "1500", "--threads", "4", "--locks", "3", "--variables", "12", "--quiet"];
    run(["generate", &trace].into_iter().chain(shape)).exits(0);
    trace
}

#[test]
fn the_output_does_not_depend_on_the_number_of_jobs() {
    let folder = folder();
    for trace in [generated(&folder), TRACE.to_owned()] {
        for form in
            [&[][..], &["--json", "-"], &["--sarif", "-"], &["--all", "--kinds", "race", "--json", "-"]]
        {
            let outputs: Vec<String> = ["1", "2", "4"]
                .into_iter()
                .map(|jobs| {
                    let args = ["predict", &trace, "--jobs", jobs, "--work", "20000", "--budget", "60m"];
                    without_seconds(run(args.iter().chain(form)).text())
                })
                .collect();
            assert!(outputs[0] == outputs[1] && outputs[1] == outputs[2], "{trace} {form:?}");
            assert!(outputs[0].contains("race"));
        }
    }
}

#[test]
fn merged_shards_are_what_one_process_writes() {
    let folder = folder();
    for trace in [vec![generated(&folder)], vec![TRACE.to_owned(), BANK.to_owned()]] {
        let predict = |more: &[&str]| {
            let limits = ["--work", "20000", "--budget", "60m", "--atomicity", "all"];
            run(["predict"]
                .into_iter()
                .chain(trace.iter().map(String::as_str))
                .chain(limits)
                .chain(more.iter().copied()))
        };
        let whole = predict(&["--strict", "--json", "-"]).exits(1);
        for count in 1..=3 {
            let mut files = Vec::new();
            // Any order will do.
            for shard in (1..=count).rev() {
                let file = path(&folder, &format!("{shard}.json"));
                predict(&["--shard", &format!("{shard}/{count}"), "--json", &file, "--quiet"]);
                files.push(file);
            }
            let merged =
                run(["merge", "--strict"].into_iter().chain(files.iter().map(String::as_str))).exits(1);
            assert_eq!(without_seconds(merged.text()), without_seconds(whole.text()), "{count} shards");
            let output = path(&folder, "merged.json");
            run(["merge", "--strict", "-o", &output].into_iter().chain(files.iter().map(String::as_str)))
                .exits(1);
            assert_eq!(fs::read_to_string(&output).expect("a file"), merged.text());
            if count > 1 {
                let error = |files: &[String]| {
                    run(["merge"].into_iter().chain(files.iter().map(String::as_str))).exits(2).err
                };
                assert!(error(&files[1..]).contains("is missing"));
                let twice: Vec<String> = files.iter().chain(&files[..1]).cloned().collect();
                assert!(error(&twice).contains("is there twice"));
            }
        }
    }
}

#[test]
fn merged_shards_have_a_failed_run_once() {
    let folder = folder();
    let trace = path(&folder, "failed.std");
    fs::write(&trace, "#! ended status 134\nA|w(x)|1\nB|r(x)|2\nA|w(y)|3\nB|r(y)|4\n").expect("a file");
    let whole = run(["predict", &trace, "--json", "-"]).exits(1);
    let files = ["1/2", "2/2"].map(|shard| {
        let file = path(&folder, &format!("{}.json", shard.replace('/', "-")));
        run(["predict", &trace, "--shard", shard, "--json", &file, "--quiet"]).exits(1);
        file
    });
    let merged = run(["merge", &files[0], &files[1]]).exits(1);
    assert_eq!(without_seconds(merged.text()), without_seconds(whole.text()));
}

#[test]
fn merge_puts_different_traces_side_by_side() {
    let folder = folder();
    let (a, b) = (path(&folder, "a.json"), path(&folder, "b.json"));
    run(["predict", BANK, "--json", &a, "--quiet"]).exits(1);
    run(["predict", "predict/freed.std", "--json", &b, "--quiet"]).exits(1);
    let both = run(["predict", BANK, "predict/freed.std", "--json", "-"]).exits(1);
    let merged = run(["merge", &a, &b]).exits(1);
    assert_eq!(without_seconds(merged.text()), without_seconds(both.text()));
    assert!(run(["merge", &a, &a]).exits(2).err.contains("two results of this trace"));
}

#[test]
fn a_baseline_hides_what_it_knows() {
    let folder = folder();
    let known = path(&folder, "known.json");
    run(["predict", TRACE, "--json", &known, "--kinds", "race", "--quiet"]).exits(1);
    let ran = run(["predict", TRACE, "--kinds", "race", "--baseline", &known]).exits(0);
    assert!(
        ran.text().contains("3 known from the baseline") && !ran.text().contains("WARNING"),
        "{}",
        ran.text()
    );
    let ran = run(["predict", TRACE, "--atomicity", "all", "--baseline", &known]).exits(0);
    assert_eq!(ran.text().matches("WARNING: ").count(), 1, "{}", ran.text());
}

#[test]
fn suppressions_hide_findings_and_unused_ones_are_told() {
    let folder = folder();
    let rules = path(&folder, "rules.txt");
    fs::write(&rules, "race:^bank.c:34$\nmutex:m\n").expect("a file");
    let ran = run(["predict", BANK, "--suppressions", &rules]).exits(0);
    assert!(ran.text().contains("1 suppressed"), "{}", ran.text());
    assert!(ran.err.contains("rules.txt:2: `mutex:m` matches no finding"), "{}", ran.err);
    fs::write(&rules, "mutex:^a$\n").expect("a file");
    let deadlock = "../../../../litmus/deadlock-two/trace.std";
    let ran = run(["predict", deadlock, "--suppressions", &rules]).exits(0);
    assert!(ran.err.is_empty(), "{}", ran.err);
}

#[test]
fn report_says_again_what_predict_said() {
    let folder = folder();
    let (json, other) = (path(&folder, "f.json"), path(&folder, "other.json"));
    for trace in [BANK, TRACE, "predict/two-variables.std", "predict/freed.std", "predict/uninitialised.std"]
    {
        let text = run(["predict", trace, "--atomicity", "all", "--strict", "--json", &json]).exits(1);
        let again = run(["report", &json]).exits(0);
        assert_eq!(again.text(), text.text());
        let sarif = run(["predict", trace, "--atomicity", "all", "--strict", "--sarif", "-"]).exits(1);
        assert_eq!(run(["report", &json, "--sarif", "-"]).exits(0).text(), sarif.text());
        run(["report", &json, "--json", &other]).exits(0);
        assert_eq!(fs::read(&json).expect("a file"), fs::read(&other).expect("a file"));
    }
}

#[test]
fn report_checks_what_it_shows_and_does_without_a_trace() {
    let folder = folder();
    let (json, trace) = (path(&folder, "f.json"), path(&folder, "t.std"));
    fs::copy(crate::common::data(BANK), &trace).expect("a copy");
    run(["predict", &trace, "--json", &json, "--quiet"]).exits(1);
    let document = fs::read_to_string(&json).expect("the document");
    fs::remove_file(&trace).expect("a file");
    let ran = run(["report", &json]).exits(0);
    assert!(
        ran.err.contains("is not here") && ran.text().contains("WARNING: data race on balance"),
        "{}",
        ran.err
    );
    run(["report", &json, "--trace", BANK]).exits(0);
    assert!(run(["report", &json, "--trace", TRACE]).exits(2).err.contains("it is not the trace"));
    let mut forged: Value = serde_json::from_str(&document).expect("JSON");
    forged["findings"][0]["witness"] = Value::from(vec![3]);
    fs::write(&json, forged.to_string()).expect("a file");
    assert!(run(["report", &json, "--trace", BANK]).exits(2).err.contains("is refused"));
    forged["findings"][0]["events"] = Value::from(vec![5]);
    fs::write(&json, forged.to_string()).expect("a file");
    run(["report", &json]).exits(2);
}

#[test]
fn every_witness_passes_the_checker() {
    let folder = folder();
    let file = path(&folder, "w.json");
    for trace in [BANK, TRACE, "../../../../litmus/deadlock-three-rw/trace.std", "predict/freed.std"] {
        let document: Value =
            serde_json::from_slice(&run(["predict", trace, "--json", "-"]).exits(1).out).expect("JSON");
        for finding in document["findings"].as_array().expect("a list") {
            let events = &finding["events"];
            let claim = match finding["kind"].as_str() {
                Some("race") => serde_json::json!({"coenabled": events}),
                Some("deadlock") => serde_json::json!({"deadlock": events}),
                _ => serde_json::json!({"sequence": events}),
            };
            let witness = serde_json::json!({"model": document["model"], "claim": claim,
                "witness_prefix": finding["witness_prefix"], "witness": finding["witness"]});
            fs::write(&file, witness.to_string()).expect("a file");
            run(["check", trace, &file]).exits(0);
        }
    }
}

#[test]
fn every_exit_code() {
    run(["predict", "predict/empty.std"]).exits(0);
    run(["predict", BANK]).exits(1);
    run(["predict", "broken.std"]).exits(2);
    run(["predict", "predict/lost-update.std", "--kinds", "atomicity", "--exact", "--work", "0"]).exits(3);
    let Ran { err, .. } = run(["predict", BANK, "--max-memory", "1k"]).exits(3);
    assert!(err.contains("the limit is 1 kB"), "{err}");
    let Ran { err, .. } = run(["predict", BANK, "--max-memory", "1"]).exits(3);
    assert!(err.contains("it takes 1 kB of memory or more"), "{err}");
}
