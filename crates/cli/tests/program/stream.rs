//! One-pass analyses, through the program.

use std::fmt::Write;
use std::fs;

use reweave_testkit::recorded;
use serde_json::{Value, json};

use crate::common::{data, golden, run, run_with};

const BANK: &str = "../../../../examples/bank.std";

/// Runs commands, one a line, and compares all that they print with the file `name`.
#[track_caller]
fn check(name: &str, commands: &str) {
    let mut text = String::new();
    for line in commands.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let ran = run(["stream"].into_iter().chain(line.split_whitespace()));
        writeln!(text, "$ reweave stream {line}").expect("strings take everything");
        text += ran.text();
        for line in ran.err.lines() {
            writeln!(text, "stderr: {line}").expect("strings take everything");
        }
        writeln!(text, "exit {}\n", ran.code.expect("no signal")).expect("strings take everything");
    }
    golden(name, &text);
}

#[test]
fn answers() {
    let litmus = |name: &str| format!("../../../../litmus/{name}/trace.std");
    let (figure, reversal) = (litmus("seqcheck-figure1"), litmus("race-needs-reversal"));
    let (commuting, lock) = (litmus("calls-commute"), litmus("use-of-a-lock-in-an-object"));
    let guarded = litmus("use-after-free-guarded");
    check(
        "stream",
        &format!(
            "{BANK}
             {BANK} --analysis hb
             {BANK} --analysis wcp
             {BANK} --analysis wcp,wdc --vindicate
             {BANK} --analysis wdc --all --json -
             {figure} --analysis wdc --all
             {figure} --analysis wdc --vindicate
             {reversal}
             {reversal} --analysis syncp --vindicate --work 0
             {commuting} --analysis edc --vindicate
             {lock} --analysis edc
             {lock} --analysis edc --vindicate
             {guarded} --analysis edc --vindicate
             rich.std
             rich.std --analysis shb --all",
        ),
    );
}

#[test]
fn refusals() {
    check(
        "stream-refuses",
        "broken.std
         broken.std --repair
         malformed.std
         unknown-op.std
         missing.std
         rich.std --analysis fast
         rich.std --budget 1s
         rich.std --vindicate --model fast",
    );
}

#[test]
fn the_document_has_exactly_what_is_promised() {
    let ran = run(["stream", BANK, "--analysis", "wcp,hb", "--json", "-"]).exits(1);
    let document: Value = serde_json::from_slice(&ran.out).expect("only JSON");
    let expected = json!({"schema": 1, "analyses": [
        {"name": "hb", "racy_events": 0, "racy_sites": 0, "pairs": []},
        {"name": "wcp", "racy_events": 1, "racy_sites": 1, "pairs": [[5, 10]]},
    ]});
    assert_eq!(document, expected);
    assert_eq!(ran.err, "");
}

#[test]
fn pipes_of_every_format_give_what_the_file_gives() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = run(["stream", "rich.std", "--json", "-", "--all"]).out;
    let text = fs::read(data("rich.std")).expect("test data");
    assert_eq!(run_with(["stream", "-", "--json", "-", "--all"], &text).out, expected);
    let path = folder.path().join("rich.rw");
    let path = path.to_str().expect("a plain name");
    run(["convert", "rich.std", path]).exits(0);
    assert_eq!(run(["stream", path, "--json", "-", "--all"]).out, expected);
    let mut bytes = fs::read(path).expect("the file");
    assert_eq!(run_with(["stream", "-", "--json", "-", "--all"], &bytes).out, expected);
    // What a recorder has written so far is of use, and what is missing is said.
    bytes.truncate(bytes.len() - 30);
    let cut = run_with(["stream", "-", "--json", "-", "--all"], &bytes);
    assert!(cut.err.contains("cut off"), "{}", cut.err);
    let damaged = bytes.len() / 2;
    bytes[damaged] ^= 1;
    run_with(["stream", "-"], &bytes).exits(2);
}

#[test]
fn the_race_that_was_injected_is_not_seen_by_happens_before_but_by_weaker_orders() {
    for path in recorded("raceinjector").iter().filter(|path| path.to_string_lossy().contains("-injected-")) {
        let name = path.to_string_lossy();
        let ran = run(["stream", "--repair", "--quiet", &name, "--json", "-"]).exits(1);
        let document: Value = serde_json::from_slice(&ran.out).expect("JSON");
        let counts: Vec<u64> = document["analyses"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|analysis| analysis["racy_events"].as_u64().expect("a number"))
            .collect();
        let [hb, shb, wcp, wdc, syncp, _edc] = counts[..] else { panic!("{counts:?}") };
        assert!(shb <= hb && hb <= wcp && wcp <= wdc && shb <= syncp, "{name}: {counts:?}");
        let text = fs::read_to_string(path).expect("a trace");
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
        let injected = |analysis: usize| {
            let pairs = document["analyses"][analysis]["pairs"].as_array().expect("pairs");
            pairs
                .iter()
                .any(|pair| lines[pair[1].as_u64().expect("an event") as usize].contains("BUGGY_ADDR"))
        };
        assert_eq!([0, 1, 3].map(injected), [false, false, true], "{name}");
    }
}
