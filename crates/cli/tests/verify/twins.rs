//! The programs of `examples/bugs`: their fixed twins are sufficient, their half-fixed ones are not.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Pair, has_plugin};

/// Programs that no half of a fix comes to mind for.
const NO_HALF: [&str; 2] = ["double_checked.cpp", "if_instead_of_while.c"];

/// Fixed twins about which nothing is said, and why.
const UNDECIDED: [(&str, &str); 2] = [
    // The fixed program starts other threads: what the old ones did cannot be asked of them.
    ("barrier_misuse.c", "cannot be taken over"),
    // Whoever spins has thousands of pairs of the same two sites, and not all are looked at.
    ("home_made_lock.c", "candidates were passed over"),
];

/// Whose bug has to be named: the recorded runs have its order without the harm.
const NAMED: [(&str, &str); 1] = [("if_instead_of_while.c", "RWR")];

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs");
    let all = fs::read_dir(folder).expect("the examples").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> = all.collect();
    all.sort();
    all
}

fn check(source: &Path) {
    let name = source.file_name().and_then(|name| name.to_str()).expect("a name");
    let fixed = Pair::of_flags(source, &[], &["-DFIXED"]);
    let mut said = fixed.document(&[]);
    if NAMED.iter().any(|(named, _)| *named == name) {
        assert_eq!(said["verdict"], "not-shown", "{name}: {said:#}");
        let text = fixed.verify(&[]).out;
        let finding = text.split("--finding ").nth(1).and_then(|rest| rest.split(' ').next());
        said = fixed.document(&["--finding", finding.expect("the command says how to name it")]);
    }
    match UNDECIDED.iter().find(|(open, _)| *open == name) {
        Some((_, why)) => {
            assert_eq!(said["verdict"], "undecided", "{name} is not open any more: {said:#}");
            assert!(said["gaps"].to_string().contains(why), "{name}: {said:#}");
        }
        None => assert_eq!(said["verdict"], "sufficient", "{name}: {said:#}"),
    }
    if NO_HALF.contains(&name) {
        return;
    }
    let half = Pair::of_flags(source, &[], &["-DHALF"]);
    let said = half.document(&[]);
    assert!(said["verdict"] == "insufficient" || said["verdict"] == "new-bug", "{name}: {said:#}");
    assert!(said["runs"].as_u64().is_some_and(|runs| runs <= 8), "{name}: {said:#}");
    assert_eq!(said["schedules"].as_array().map(Vec::len), Some(1), "{name}: {said:#}");
}

/// Checks every `of`th program.
fn check_part(part: usize, of: usize) {
    if has_plugin() {
        programs().iter().skip(part).step_by(of).for_each(|source| check(source));
    }
}

#[test]
fn fixed_twins_are_sufficient_and_half_fixed_ones_are_not_one() {
    check_part(0, 2);
}

#[test]
fn fixed_twins_are_sufficient_and_half_fixed_ones_are_not_two() {
    check_part(1, 2);
}

/// What is not checked any more is not forgotten either.
#[test]
fn every_program_has_twins() {
    for source in programs() {
        let text = fs::read_to_string(&source).expect("it is read");
        let name = source.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(text.contains("FIXED"), "{name}");
        assert_eq!(text.contains("HALF"), !NO_HALF.contains(&name), "{name}");
    }
}
