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
    let line = "\n  findings by model: 1 in rf, 2 in value, 2 in branch, 3 in branch+value\n";
    assert!(ran.text().contains(line), "{}", ran.text());
    assert!(ran.text().contains("\n  model branch+value: "), "{}", ran.text());
}

#[test]
fn the_numbers_are_those_that_a_search_in_each_model_comes_to() {
    let all = races(&[]);
    let models = all["models"].as_array().unwrap();
    assert_eq!(models.len(), 4);
    for count in models {
        let model = count["model"].as_str().unwrap();
        let alone = races(&["--model", model]);
        let found = alone["findings"].as_array().unwrap().len() as u64;
        assert_eq!(count["findings"].as_u64(), Some(found), "{model}");
    }
}
