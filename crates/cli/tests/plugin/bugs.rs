//! The classic bugs of `examples/bugs`, compiled with the plugin: each is predicted, and happens when it is forced; nothing of the
//! sort is found in its fixed twin.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{OLDER, Program, is_there, plugins, predict, reweave};

fn findings(
    text: &str,
    (language, front): (&str, &str),
    flags: &[&str],
    kinds: &str,
) -> (Program, Vec<Value>) {
    let program = Program::new(text, language, front, flags);
    let found = predict(&program.record("trace", &[]).trace, &["--kinds", kinds]);
    assert_eq!(found["model"], "branch+value");
    (program, found["findings"].as_array().cloned().unwrap_or_default())
}

fn check(file: &Path, front: &str) {
    let text = fs::read_to_string(file).expect("a source");
    let language = if file.extension().is_some_and(|end| end == "cpp") { "cpp" } else { "c" };
    let bug = text.lines().find_map(|line| line.strip_prefix("// bug: ")).expect("it says what its bug is");
    let [kind, pattern, target] = bug.splitn(3, ' ').collect::<Vec<_>>()[..] else { panic!("{bug}") };
    let build = (language, front);
    let (program, found) = findings(&text, build, &["-O1"], kind);
    let is_it = |finding: &&Value| {
        finding["pattern"] == pattern && finding["target"].as_str().is_some_and(|name| name.contains(target))
    };
    let name = format!("{} {front}", file.display());
    let finding = found.iter().find(is_it).unwrap_or_else(|| panic!("{name}: {found:#?}"));
    let mut replay = reweave();
    replay.arg("replay").arg(program.folder.path().join("trace.rw"));
    replay.arg(finding["fingerprint"].as_str().expect("a fingerprint")).arg("--").arg(&program.path);
    let ran = replay.output().expect("the command starts");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.starts_with("confirmed: "), "{name}: {said}{}", String::from_utf8_lossy(&ran.stderr));
    let (_, found) = findings(&text, build, &["-O1", "-DFIXED"], "race,deadlock,atomicity,order,uaf");
    assert!(found.is_empty(), "{name}: its twin has {found:#?}");
}

#[test]
fn each_bug_is_predicted_and_confirmed_and_its_twin_has_none() {
    if !is_there() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "c" || end == "cpp"));
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    files.iter().for_each(|file| check(file, "plugin"));
    if plugins().contains(&OLDER) {
        files.iter().step_by(8).for_each(|file| check(file, OLDER));
    }
}
