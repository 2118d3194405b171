//! Licences, sources and versions of everything that is linked: the rules of `deny.toml`, kept where cargo-deny is not installed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Crates that are there in several versions, because others want them: a new one is to be noticed.
const TWICE: &[&str] = &["bit-vec", "getrandom", "strum", "strum_macros", "syn"];

/// The workspaces beside the main one. What they need is there once they were built, as `scripts/test` does first.
const OTHERS: &[&str] = &["fuzz", "crates/python"];

/// Licences of single crates that only those workspaces build with, and that are in nothing we give away.
const TOOLS: &[(&str, &str)] =
    &[("libfuzzer-sys", "NCSA"), ("target-lexicon", "Apache-2.0 WITH LLVM-exception")];

/// What is linked into users' programs: nothing but our own code, which may be used anywhere.
const LINKED: &[&str] = &["reweave-runtime", "reweave-wire", "reweave"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/cli is two levels down")
}

/// What cargo knows of the workspace in a folder; its message where that is not all on this machine.
fn metadata_of(folder: &str) -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let ran = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"])
        .current_dir(root().join(folder))
        .output()
        .expect("cargo runs");
    if !ran.status.success() {
        return Err(String::from_utf8_lossy(&ran.stderr).into_owned());
    }
    Ok(serde_json::from_slice(&ran.stdout).expect("cargo writes JSON"))
}

fn metadata() -> Value {
    metadata_of("").unwrap_or_else(|message| panic!("{message}"))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// The licences that `deny.toml` allows.
fn allowed() -> BTreeSet<String> {
    let rules = fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    let line = rules.lines().find(|line| line.starts_with("allow = [")).expect("it allows licences");
    line.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a licence expression can be met with what is allowed: `A OR (B AND C)`, `A/B`, `A WITH exception`.
fn can_be_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (met, rest) = any_of(&words, allowed);
    met && rest.is_empty()
}

fn any_of<'w>(words: &'w [&'w str], allowed: &BTreeSet<String>) -> (bool, &'w [&'w str]) {
    let (mut met, mut rest) = all_of(words, allowed);
    while let ["OR", after @ ..] = rest {
        let (also, left) = all_of(after, allowed);
        (met, rest) = (met || also, left);
    }
    (met, rest)
}

fn all_of<'w>(words: &'w [&'w str], allowed: &BTreeSet<String>) -> (bool, &'w [&'w str]) {
    let (mut met, mut rest) = one(words, allowed);
    while let ["AND", after @ ..] = rest {
        let (also, left) = one(after, allowed);
        (met, rest) = (met && also, left);
    }
    (met, rest)
}

fn one<'w>(words: &'w [&'w str], allowed: &BTreeSet<String>) -> (bool, &'w [&'w str]) {
    match words {
        ["(", inner @ ..] => {
            let (met, rest) = any_of(inner, allowed);
            (met, rest.strip_prefix(&[")"]).unwrap_or(rest))
        }
        [licence, "WITH", exception, rest @ ..] => {
            (allowed.contains(&format!("{licence} WITH {exception}")), rest)
        }
        [licence, rest @ ..] => (allowed.contains(*licence), rest),
        [] => (false, words),
    }
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    let allowed = ["MIT", "Apache-2.0", "Zlib"].map(str::to_owned).into();
    for yes in ["MIT", "MIT OR GPL-3.0", "GPL-3.0/MIT", "(MIT OR X) AND Zlib", "X OR (MIT AND Apache-2.0)"] {
        assert!(can_be_met(yes, &allowed), "{yes}");
    }
    for no in
        ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR X) AND Y", "Apache-2.0 WITH LLVM-exception", "X OR Y"]
    {
        assert!(!can_be_met(no, &allowed), "{no}");
    }
}

/// The packages that are compiled for users: build scripts and tests aside, they are what is linked.
fn packages(metadata: &Value) -> Vec<&Value> {
    metadata["packages"].as_array().expect("cargo lists packages").iter().collect()
}

fn assert_licences_and_sources(metadata: &Value, tools: &[(&str, &str)]) {
    assert!(allowed().contains("MIT"));
    for package in packages(metadata) {
        let (name, licence) = (text(package, "name"), text(package, "license"));
        let mut allowed = allowed();
        allowed.extend(tools.iter().filter(|(tool, _)| *tool == name).map(|(_, more)| (*more).to_owned()));
        assert!(can_be_met(licence, &allowed), "{name}: licence {licence:?} is not among those of deny.toml");
        match package["source"].as_str() {
            None => assert!(text(package, "manifest_path").starts_with(&*root().to_string_lossy()), "{name}"),
            Some(source) => assert!(
                source.starts_with("registry+https://github.com/rust-lang/crates.io-index"),
                "{name} comes from {source}"
            ),
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let wildcard = text(dependency, "req") == "*" && dependency["path"].is_null();
            assert!(
                !wildcard || package["source"].is_string(),
                "{name} takes any {}",
                text(dependency, "name")
            );
        }
    }
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed_and_a_source_that_is_known() {
    assert_licences_and_sources(&metadata(), &[]);
}

#[test]
fn so_have_those_of_the_fuzz_targets_and_of_the_python_package() {
    for folder in OTHERS {
        match metadata_of(folder) {
            Ok(metadata) => assert_licences_and_sources(&metadata, TOOLS),
            Err(message) if message.contains("--offline was specified") => {
                println!("{folder} is skipped: it was not built here yet")
            }
            Err(message) => panic!("{folder}: {message}"),
        }
    }
}

#[test]
fn no_dependency_is_there_twice() {
    let metadata = metadata();
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages(&metadata) {
        versions.entry(text(package, "name")).or_default().insert(text(package, "version"));
    }
    let twice: Vec<_> = versions.iter().filter(|(_, versions)| versions.len() > 1).collect();
    let expected: Vec<_> = twice.iter().filter(|(name, _)| !TWICE.contains(name)).collect();
    assert!(expected.is_empty(), "{expected:?}");
}

#[test]
fn what_is_linked_into_users_programs_brings_nothing_along() {
    let metadata = metadata();
    let ours = packages(&metadata).into_iter().filter(|package| LINKED.contains(&text(package, "name")));
    let mut seen = 0;
    for package in ours {
        seen += 1;
        assert_eq!(text(package, "license"), "MIT OR Apache-2.0", "{}", text(package, "name"));
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let (name, kind) = (text(dependency, "name"), text(dependency, "kind"));
            // What only a feature for tests brings in is in no program that a user ships.
            let optional = dependency["optional"].as_bool() == Some(true);
            let allowed = kind == "dev" || optional || LINKED.contains(&name);
            assert!(allowed, "{} uses {name}", text(package, "name"));
        }
    }
    assert_eq!(seen, LINKED.len());
}
