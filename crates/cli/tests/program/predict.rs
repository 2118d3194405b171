//! What `predict`, `report` and `merge` print, word for word, and whether their documents keep to their schemas.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::common::{golden, run, run_with};

/// The bundled example, as seen from the folder of test data.
pub(crate) const BANK: &str = "../../../../examples/bank.std";

/// Runs commands, one a line, and compares all that they print with the file `name`.
#[track_caller]
fn check(name: &str, commands: &str) {
    let mut text = String::new();
    for line in commands.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words = line.split_whitespace().map(|word| match word.strip_prefix("litmus:") {
            Some(name) => format!("../../../../litmus/{name}/trace.std"),
            None => word.to_owned(),
        });
        let ran = run(words);
        writeln!(text, "$ reweave {line}").expect("strings take everything");
        text += &without_seconds(ran.text());
        for line in ran.err.lines() {
            writeln!(text, "stderr: {line}").expect("strings take everything");
        }
        writeln!(text, "exit {}\n", ran.code.expect("no signal")).expect("strings take everything");
    }
    golden(name, &text);
}

/// How long it took is different every time.
pub(crate) fn without_seconds(text: &str) -> String {
    let one = |line: &str| match line.split_once("\"seconds\": ") {
        Some((indent, rest)) => {
            format!("{indent}\"seconds\": 0{}\n", if rest.ends_with(',') { "," } else { "" })
        }
        None => format!("{line}\n"),
    };
    text.lines().map(one).collect()
}

/// The schema in a file, from the root of the repository.
fn schema(path: &str) -> jsonschema::Validator {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join(path)).expect("the schema");
    let mut schema: Value = serde_json::from_str(&text).expect("JSON");
    // The schema of SARIF has a pattern here that is no regular expression; we do not write the field.
    for holder in ["run", "toolComponent"] {
        if let Some(language) = schema.pointer_mut(&format!("/definitions/{holder}/properties/language")) {
            language.as_object_mut().expect("a schema").remove("pattern");
        }
    }
    jsonschema::validator_for(&schema).expect("a schema")
}

#[track_caller]
fn keeps_to(schema: &jsonschema::Validator, text: &[u8], what: &str) {
    let document: Value = serde_json::from_slice(text).expect("JSON");
    let errors: Vec<String> =
        schema.iter_errors(&document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}");
}

/// Commands whose documents have every kind of finding, and all there is beside.
const EVERYTHING: &[&str] = &[
    "../../../../examples/bank.std",
    "predict/lost-update.std",
    "predict/two-variables.std",
    "predict/uninitialised.std",
    "predict/freed.std",
    "predict/empty.std",
    "predict/control.std",
    "../../../../litmus/deadlock-three-rw/trace.std",
    "../../../../litmus/deadlock-dead-holder/trace.std",
    "../../../../litmus/lost-wake-up/trace.std",
    "../../../../litmus/seqcheck-figure2/trace.std --shard 1/2",
    "../../../../litmus/seqcheck-figure2/trace.std --exact --work 0",
    "../../../../examples/bank.std --suppressions predict/rules.txt",
    "broken.std --repair",
    "depends.std --kinds race",
    "predict/dependences.std --kinds race",
    "models.std --kinds race,atomicity --atomicity all",
    "predict/lost-update.std predict/freed.std predict/lost-update.std",
    "predict/lost-update.std predict/empty.std --exact --work 0",
];

#[test]
fn reports() {
    check(
        "predict",
        "predict ../../../../examples/bank.std
         predict litmus:deadlock-two
         predict litmus:deadlock-dead-holder
         predict litmus:deadlock-three-rw
         predict predict/lost-update.std
         predict predict/two-variables.std --atomicity all
         predict litmus:lost-wake-up
         predict predict/uninitialised.std --kinds order
         predict predict/freed.std --kinds uaf
         predict predict/control.std
         predict predict/empty.std
         predict --repair broken.std
         predict predict/freed.std --kinds uaf --quiet
         predict predict/dependences.std --kinds race",
    );
}

#[test]
fn several_traces() {
    check(
        "predict-several",
        "predict predict/lost-update.std predict/empty.std predict/lost-update.std --kinds atomicity",
    );
}

#[test]
fn json() {
    check(
        "predict-json",
        "predict ../../../../examples/bank.std --json -
         predict predict/lost-update.std predict/freed.std --kinds uaf --json -
         predict predict/lost-update.std --exact --work 0 --json -",
    );
}

#[test]
fn sarif() {
    check(
        "predict-sarif",
        "predict ../../../../examples/bank.std --sarif -
         predict litmus:deadlock-two --sarif -
         predict predict/lost-update.std --kinds atomicity --patterns RWW --sarif -",
    );
}

#[test]
fn choices_and_limits() {
    check(
        "predict-limits",
        "predict predict/lost-update.std --kinds race,deadlock
         predict predict/lost-update.std --patterns RWR
         predict predict/lost-update.std --atomic-distance 0
         predict predict/lost-update.std --exact --work 0
         predict predict/lost-update.std --exact --budget 0ms
         predict ../../../../examples/bank.std --suppressions predict/rules.txt
         predict ../../../../examples/bank.std --model rf --quiet --kinds deadlock",
    );
}

#[test]
fn wrong_usage_and_bad_input() {
    check(
        "predict-refuses",
        "predict
         predict missing.std
         predict broken.std
         predict prose.txt
         predict predict/lost-update.std --model value
         predict predict/lost-update.std --model dep
         predict predict/lost-update.std --kinds race,typo
         predict predict/lost-update.std --patterns XYZ
         predict predict/lost-update.std --shard 3/2
         predict predict/lost-update.std --max-memory lots
         predict predict/lost-update.std --all --tries 3
         predict predict/lost-update.std --json - --sarif -
         predict predict/lost-update.std --suppressions deadlock.std
         predict predict/lost-update.std --suppressions missing.txt
         predict predict/lost-update.std --baseline prose.txt
         predict predict/lost-update.std --baseline deadlock.json
         predict predict/lost-update.std missing.std --kinds race
         report prose.txt
         merge deadlock.json
         merge missing.json",
    );
}

#[test]
fn json_keeps_to_its_schema() {
    let schema = schema("docs/schema/predict.schema.json");
    for line in EVERYTHING {
        let ran = run(["predict"].into_iter().chain(line.split_whitespace()).chain(["--json", "-"]));
        keeps_to(&schema, &ran.out, line);
    }
}

#[test]
fn sarif_keeps_to_the_official_schema() {
    // The schema of OASIS, as the crate `serde-sarif` has it.
    let schema = schema("crates/cli/tests/schema/sarif-2.1.0.json");
    for line in EVERYTHING {
        let ran = run(["predict"].into_iter().chain(line.split_whitespace()).chain(["--sarif", "-"]));
        keeps_to(&schema, &ran.out, line);
    }
}

#[test]
fn a_document_has_the_same_findings_as_text() {
    for line in EVERYTHING {
        let args = || ["predict"].into_iter().chain(line.split_whitespace());
        let text = run(args()).text().matches("WARNING: ").count();
        let json = run(args().chain(["--json", "-"]));
        let json: Value = serde_json::from_slice(&json.out).expect("JSON");
        let sarif = run(args().chain(["--sarif", "-"]));
        let sarif: Value = serde_json::from_slice(&sarif.out).expect("JSON");
        let length = |value: &Value| value.as_array().map(Vec::len);
        assert_eq!(length(&json["findings"]), Some(text), "{line}");
        assert_eq!(length(&sarif["runs"][0]["results"]), Some(text), "{line}");
    }
}

/// Three writes that race with one read.
const ONE_VARIABLE: &str = "\
main|fork(t)|m.c:1
main|w(x)|m.c:2
main|w(x)|m.c:3
main|w(x)|m.c:5
t|r(x)|t.c:1
";

#[test]
fn many_races_on_one_variable_are_one_report() {
    let ran = run_with(["predict", "--kinds", "race", "-"], ONE_VARIABLE.as_bytes()).exits(1);
    let text = ran.text();
    assert_eq!(text.matches("WARNING: data race on x\n").count(), 1, "{text}");
    assert!(
        text.contains("  2 more pairs of accesses race on x:\n    m.c:3 and t.c:1: fingerprint "),
        "{text}"
    );
    assert!(
        text.contains("SUMMARY: 3 findings") && text.contains("    m.c:5 and t.c:1: fingerprint "),
        "{text}"
    );
    let json = run_with(["predict", "--kinds", "race", "--json", "-", "-"], ONE_VARIABLE.as_bytes()).exits(1);
    let document: Value = serde_json::from_str(json.text()).expect("JSON");
    assert_eq!(document["findings"].as_array().map(Vec::len), Some(3), "documents have every pair");
}
