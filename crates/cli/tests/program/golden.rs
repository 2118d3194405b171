//! What the commands print, word for word.

use std::fmt::Write;

use crate::common::{golden, run};

/// Runs commands, one a line, and compares all that they print with the file `name`.
#[track_caller]
fn check(name: &str, commands: &str) {
    let mut text = String::new();
    for line in commands.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let ran = run(line.split_whitespace());
        writeln!(text, "$ reweave {line}").expect("strings take everything");
        text += ran.text();
        for line in ran.err.lines() {
            writeln!(text, "stderr: {line}").expect("strings take everything");
        }
        writeln!(text, "exit {}\n", ran.code.expect("no signal")).expect("strings take everything");
    }
    golden(name, &text);
}

#[test]
fn help() {
    check(
        "help",
        "--help\n predict --help\n report --help\n explain --help\n merge --help\n validate --help\n stats --help\n convert --help\n generate --help\n check --help\n query --help\n stream --help",
    );
}

#[test]
fn usage() {
    check(
        "usage",
        "frobnicate
         validate
         validate --format xml rich.std
         validate --jobs 0 rich.std
         validate --color pink rich.std
         validate - -
         convert rich.std -
         convert rich.std out.xyz
         convert rich.std out.rr
         generate out.xyz
         generate x.std --events many
         generate x.std --threads 0
         generate x.std --shared 2
         check - -",
    );
}

#[test]
fn validate() {
    check(
        "validate",
        "validate ../../../../examples/bank.std rich.std
         validate broken.std
         validate --repair broken.std
         validate malformed.std
         validate unknown-op.std
         validate prose.txt
         validate --format std prose.txt
         validate missing.std
         validate malformed.std rich.std
         validate folder
         validate folder/inner folder/b.std
         validate ../golden",
    );
}

#[test]
fn stats() {
    check(
        "stats",
        "stats ../../../../examples/bank.std
         stats rich.std
         stats --repair broken.std
         stats broken.std
         stats folder/inner folder/b.std",
    );
}

#[test]
fn stats_json() {
    check("stats-json", "stats rich.std --json -\n stats --repair broken.std folder/b.std --json - --quiet");
}

#[test]
fn accepted_witnesses() {
    check(
        "check-accepts",
        "check ../../../../examples/bank.std ../../../../examples/bank-race.json
         check deadlock.std deadlock.json
         check deadlock.std sequence.json
         check deadlock.std before.json",
    );
}

#[test]
fn rejected_witnesses() {
    check(
        "check-rejects",
        "check deadlock.std locked.json
         check deadlock.std not-next.json
         check deadlock.std not-before.json
         check deadlock.std no-event.json
         check deadlock.std no-cycle.json
         check deadlock.std long-prefix.json",
    );
}

#[test]
fn witness_files_that_say_nothing() {
    check(
        "check-refuses",
        "check deadlock.std unsound.json
         check deadlock.std extra-field.json
         check deadlock.std bad-model.json
         check deadlock.std not-json.json
         check deadlock.std missing.json
         check deadlock.std folder
         check missing.std deadlock.json
         check broken.std deadlock.json",
    );
}
