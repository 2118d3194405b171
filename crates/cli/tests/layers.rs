//! The rules of the house that a machine can keep; `CONTRIBUTING.md` gives the reasons.

#[path = "layers/sizes.rs"]
mod sizes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Each crate, with the crates of ours that it may use.
const MAY_USE: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("program", &[]),
    ("trace", &[]),
    ("testkit", &["trace"]),
    ("format", &["trace", "wire"]),
    ("depend", &["program"]),
    ("capture", &["trace", "wire", "format", "program", "depend"]),
    ("spec", &["trace"]),
    ("witness", &["trace", "spec"]),
    ("order", &["trace"]),
    ("decide", &["trace", "order", "witness", "spec"]),
    ("stream", &["trace", "order", "spec"]),
    ("detect", &["trace", "format", "spec", "witness", "order", "decide", "stream"]),
    ("session", &["capture"]),
    ("replay", &["trace", "capture", "witness", "detect", "session"]),
    ("verify", &["trace", "capture", "detect", "replay"]),
    ("explore", &["spec"]),
    ("report", &["trace", "witness", "decide", "detect"]),
    ("runtime", &["wire"]),
    ("plugin", &["wire", "program"]),
    // For users' programs: it brings nothing along but the search, and that only where asked for.
    ("reweave", &["explore", "spec"]),
];

/// These may use whatever is listed above them.
const TOP: &[&str] = &["cli", "bench"];

/// Only for tests: no crate has it as a normal dependency, every crate may have it as one of its tests.
const FOR_TESTS: &[&str] = &["testkit", "bench"];

/// The crates that touch files, processes or the clock.
const OUTSIDE: &[&str] =
    &["format", "capture", "session", "replay", "runtime", "plugin", "reweave", "cli", "testkit", "bench"];

/// The crates that may have unsafe code.
const UNSAFE: &[&str] = &["wire", "runtime", "plugin", "format", "reweave"];

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("crates/cli is two levels down").to_owned()
}

/// The packages of the workspace, as cargo describes them.
fn packages() -> Vec<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    list(&metadata["packages"])
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// Per crate of ours, by its short name: the crates of ours that it uses, and whether only in tests.
fn edges() -> BTreeMap<String, Vec<(String, bool)>> {
    let short = |name: &Value| {
        let name = name.as_str()?;
        if name == "reweave" { Some(name) } else { name.strip_prefix("reweave-") }.map(str::to_owned)
    };
    packages()
        .iter()
        .filter_map(|package| {
            let uses = list(&package["dependencies"])
                .iter()
                .filter_map(|used| Some((short(&used["name"])?, used["kind"] == "dev")))
                .collect();
            Some((short(&package["name"])?, uses))
        })
        .collect()
}

/// The short names of the members, in the order of the manifest.
fn members() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    manifest
        .lines()
        .filter_map(|line| line.trim().strip_prefix("\"crates/")?.strip_suffix("\","))
        .map(str::to_owned)
        .collect()
}

/// Every source file of a crate, tests aside, with its text.
fn sources(member: &str) -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root().join("crates").join(member).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("sources are text");
                files.push((path, text));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn lower_crates_know_nothing_of_higher_ones() {
    let known: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    for (member, uses) in edges() {
        for (used, for_tests) in uses {
            let allowed = if TOP.contains(&member.as_str()) {
                !matches!(used.as_str(), "runtime" | "plugin")
            } else {
                let may_use =
                    known.get(member.as_str()).unwrap_or_else(|| panic!("{member} is not in the table"));
                may_use.contains(&used.as_str())
            };
            let in_tests = for_tests && FOR_TESTS.contains(&used.as_str());
            let in_product = !for_tests && FOR_TESTS.contains(&used.as_str()) && member != "bench";
            assert!((allowed || in_tests) && !in_product, "{member} must not use {used}");
        }
    }
}

#[test]
fn members_are_listed_in_topological_order() {
    let members = members();
    let edges = edges();
    assert_eq!(members.len(), edges.len(), "every member is in `crates/`");
    let place = |name: &str| members.iter().position(|member| member == name).expect("a member");
    for (member, uses) in &edges {
        // Tests may use what is built on the crate: cargo breaks that circle.
        for (used, _) in uses.iter().filter(|(_, for_tests)| !for_tests) {
            assert!(place(used) < place(member), "{member} uses {used}, which is listed after it");
        }
    }
}

#[test]
fn only_the_outer_crates_touch_files_processes_and_the_clock() {
    let words = ["std::fs", "std::process", "std::time", "std::net", "SystemTime", "Instant", "std::env"];
    for member in members().iter().filter(|member| !OUTSIDE.contains(&member.as_str())) {
        for (path, text) in sources(member) {
            let word = words.iter().find(|word| text.contains(**word));
            assert!(word.is_none(), "{}: {} is not for this crate", path.display(), word.unwrap_or(&""));
        }
    }
}

#[test]
fn unsafe_code_is_forbidden_but_where_it_is_needed() {
    for member in members().iter().filter(|member| !UNSAFE.contains(&member.as_str())) {
        let roots = sources(member).into_iter().filter(|(path, _)| {
            path.parent().is_some_and(|folder| folder.ends_with("src"))
                && path
                    .file_name()
                    .is_some_and(|name| name == "lib.rs" || member == "cli" && name == "main.rs")
        });
        for (path, text) in roots {
            assert!(text.contains("#![forbid(unsafe_code)]"), "{}", path.display());
        }
    }
}

#[test]
fn every_module_opens_with_what_it_is() {
    for member in members() {
        for (path, text) in sources(&member) {
            assert!(
                text.starts_with("//! "),
                "{} does not open with a line of documentation",
                path.display()
            );
        }
    }
}

#[test]
fn the_architecture_page_names_files_that_are_there() {
    let page = fs::read_to_string(root().join("docs/architecture.md")).expect("the page is there");
    let named: Vec<_> =
        page.split('`').skip(1).step_by(2).filter(|code| code.starts_with("crates/")).collect();
    assert!(named.len() > 15, "the page was read: {named:?}");
    for path in named {
        assert!(root().join(path).exists(), "docs/architecture.md: there is no {path}");
    }
}

/// `cargo test --workspace` leaves a test out whose features are off, and says nothing.
#[test]
fn every_test_behind_a_feature_is_run() {
    let script = fs::read_to_string(root().join("scripts/test")).expect("scripts/test");
    let lines: Vec<Vec<&str>> = script.lines().map(|line| line.split_whitespace().collect()).collect();
    let has = |line: &[&str], pair: [&str; 2]| line.windows(2).any(|words| words == pair);
    let mut tests = 0;
    for package in packages() {
        let name = package["name"].as_str().expect("a name");
        for target in list(&package["targets"]) {
            let features = list(&target["required-features"]);
            if !list(&target["kind"]).contains(&"test".into()) || features.is_empty() {
                continue;
            }
            let test = target["name"].as_str().expect("a name");
            tests += 1;
            for command in ["test", "clippy"] {
                let run = lines.iter().any(|line| {
                    line.starts_with(&["cargo", command])
                        && has(line, ["--package", name])
                        && has(line, ["--test", test])
                        && features
                            .iter()
                            .all(|feature| has(line, ["--features", feature.as_str().unwrap_or("")]))
                });
                assert!(run, "scripts/test has no `cargo {command}` for the test {test} of {name}");
            }
        }
    }
    assert!(tests >= 6, "only {tests} tests behind features: are they told apart?");
}
