//! The litmus traces: the oracle gives exactly the verdicts that were derived by hand.
//!
//! `REWEAVE_BLESS=1` rewrites the files with what the oracle says instead; read the difference before you keep it.

use reweave_testkit::litmus;

#[test]
fn the_oracle_gives_the_expected_verdicts() {
    let bless = std::env::var_os("REWEAVE_BLESS").is_some_and(|value| value == "1");
    let litmus = litmus::all();
    assert!(litmus.len() >= 40, "some litmus traces are gone: {} left", litmus.len());
    let mut wrong = Vec::new();
    for test in &litmus {
        let mut found = Vec::new();
        for (model, expected) in &test.expected {
            let verdicts =
                test.judge(*model, expected).unwrap_or_else(|error| panic!("{}: {error}", test.name));
            if verdicts != *expected {
                wrong.push(format!("{} {model}:\nexpected {expected:?}\nfound    {verdicts:?}", test.name));
            }
            found.push((*model, verdicts));
        }
        if bless {
            test.bless(&found).unwrap_or_else(|error| panic!("{}: {error}", test.name));
        }
    }
    assert!(bless || wrong.is_empty(), "{}", wrong.join("\n"));
}
