//! The classic bugs of `examples/bugs`, compiled with the plugin: each is predicted, and happens when it is forced; nothing of the
//! sort is found in its fixed twin.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{OLDER, Program, is_there, output, plugins, predict, reweave};

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

/// An example: its text, its language, and the bug that it says it has.
struct Example {
    text: String,
    language: &'static str,
    bug: [String; 3],
}

impl Example {
    fn read(file: &Path) -> Example {
        let text = fs::read_to_string(file).expect("a source");
        let language = if file.extension().is_some_and(|end| end == "cpp") { "cpp" } else { "c" };
        let bug = text.lines().find_map(|line| line.strip_prefix("// bug: ")).expect("it says its bug");
        let words: Vec<String> = bug.splitn(3, ' ').map(str::to_owned).collect();
        Example { bug: words.try_into().expect("kind, pattern and target"), text, language }
    }

    /// The finding that is its bug.
    #[track_caller]
    fn bug_in<'f>(&self, found: &'f [Value], file: &Path) -> &'f Value {
        let [_, pattern, target] = &self.bug;
        let is_it = |finding: &&Value| {
            finding["pattern"] == **pattern
                && finding["target"].as_str().is_some_and(|name| name.contains(target))
        };
        found.iter().find(is_it).unwrap_or_else(|| panic!("{}: {found:#?}", file.display()))
    }
}

fn check(file: &Path, front: &str) {
    let example = Example::read(file);
    let Example { text, language, bug: [kind, ..] } = &example;
    let build = (*language, front);
    let (program, found) = findings(text, build, &["-O1"], kind);
    let name = format!("{} {front}", file.display());
    let finding = example.bug_in(&found, file);
    let mut replay = reweave();
    replay.arg("replay").arg(program.folder.path().join("trace.rw"));
    replay.arg(finding["fingerprint"].as_str().expect("a fingerprint")).arg("--").arg(&program.path);
    let ran = replay.output().expect("the command starts");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(said.starts_with("confirmed: "), "{name}: {said}{}", String::from_utf8_lossy(&ran.stderr));
    let (_, found) = findings(text, build, &["-O1", "-DFIXED"], "race,deadlock,atomicity,order,uaf");
    assert!(found.is_empty(), "{name}: its twin has {found:#?}");
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs");
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "c" || end == "cpp"));
    files.sort();
    assert!(files.len() > 20, "{files:?}");
    files
}

#[test]
fn each_bug_is_predicted_and_confirmed_and_its_twin_has_none() {
    if is_there() {
        examples().iter().for_each(|file| check(file, "plugin"));
    }
    if plugins().contains(&OLDER) {
        examples().iter().step_by(8).for_each(|file| check(file, OLDER));
    }
}

/// Those of the examples that every run of the tests looks at with dependences, too: one or two of
/// each kind, and those that need nothing, so that their tables have no entry.
const WITH_DEPENDENCES: [&str; 10] = [
    "barrier_misuse",
    "broadcast_before_wait",
    "container",
    "gate",
    "home_made_lock",
    "if_instead_of_while",
    "never_unlocked",
    "three_way",
    "two_variables",
    "use_after_free_racy",
];

/// With dependences each bug is found, too, whatever else is found happens when it is forced, and
/// twins have nothing. `REWEAVE_DEPENDENCES=all` looks at every example.
#[test]
fn with_dependences_all_that_is_found_is_confirmed() {
    if !is_there() {
        return;
    }
    let all = std::env::var_os("REWEAVE_DEPENDENCES").is_some_and(|which| which == "all");
    let mut files = examples();
    files.retain(|file| {
        all || WITH_DEPENDENCES.iter().any(|name| file.file_stem().is_some_and(|stem| stem == *name))
    });
    assert!(all || files.len() == WITH_DEPENDENCES.len(), "{files:?}");
    let mut confirmed = 0;
    for file in &files {
        let example = Example::read(file);
        let found = with_dependences(&example, &["-O1"], file);
        example.bug_in(&found, file);
        for finding in &found {
            assert_eq!(finding["replay"], "confirmed", "{}: {finding:#}", file.display());
            confirmed += 1;
        }
        let found = with_dependences(&example, &["-O1", "-DFIXED"], file);
        assert!(found.is_empty(), "{}: its twin has {found:#?}", file.display());
    }
    eprintln!("{} programs, {confirmed} findings confirmed", files.len());
}

/// What is found in a recording with dependences, each finding replayed.
fn with_dependences(example: &Example, flags: &[&str], file: &Path) -> Vec<Value> {
    let program = Program::new(&example.text, example.language, "plugin", flags);
    let trace = program.folder.path().join("trace.rw");
    let mut record = reweave();
    record.args(["record", "--quiet", "--policy", "plain", "--dependences", "--timeout", "60s", "-o"]);
    output(record.arg(&trace).arg("--").arg(&program.path));
    let mut predict = reweave();
    predict.args(["predict", "--quiet", "--kinds", "race,deadlock,atomicity,order,uaf", "--json", "-"]);
    let ran = predict.arg("--confirm").arg(&trace).arg("--").arg(&program.path).output().expect("it starts");
    let found: Value = serde_json::from_slice(&ran.stdout)
        .unwrap_or_else(|_| panic!("{}: {}", file.display(), String::from_utf8_lossy(&ran.stderr)));
    assert_eq!(found["model"], "dep+value", "{}", file.display());
    found["findings"].as_array().cloned().unwrap_or_default()
}
