//! Classic bugs and their fixed twins: `examples/bugs`.
//!
//! Each is recorded once, in a run that ends well; the bug is predicted from it and replayed. `REWEAVE_REPLAYS` says how
//! often, 3 without. Whatever else is found in it is replayed, too, and confirmed. The twin is the same file compiled with `FIXED`, and nothing may be found in it. A line `// bug: kind
//! pattern target` in each file says what is to be found.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Program, fingerprint};

/// A program, and its bug: the kind, the pattern and what it is about.
struct Row {
    file: PathBuf,
    kind: String,
    pattern: String,
    target: String,
}

fn rows() -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bugs");
    let files = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    let is_source = |path: &PathBuf| path.extension().is_some_and(|end| end == "c" || end == "cpp");
    let mut rows: Vec<Row> = files.filter(is_source).map(row).collect();
    rows.sort_by(|a, b| a.file.cmp(&b.file));
    rows
}

fn row(file: PathBuf) -> Row {
    let text = fs::read_to_string(&file).expect("a source");
    let bug = text.lines().find_map(|line| line.strip_prefix("// bug: "));
    let bug = bug.unwrap_or_else(|| panic!("{} does not say what its bug is", file.display()));
    let mut words = bug.splitn(3, ' ').map(str::to_owned);
    let mut word = || words.next().unwrap_or_default();
    let (kind, pattern, target) = (word(), word(), word());
    Row { file, kind, pattern, target }
}

/// How often each bug is replayed.
fn times() -> String {
    std::env::var("REWEAVE_REPLAYS").unwrap_or_else(|_| "3".to_owned())
}

fn check(row: &Row) {
    let Row { file, kind, pattern, target } = row;
    let name = file.file_name().unwrap_or_default().display();
    let program = Program::compile(file, &[]);
    let recorded = program.record(&[]);
    assert_eq!(recorded.code, Some(0), "{name}: nothing goes wrong when it is recorded: {}", recorded.err);
    let findings = program.confirm();
    for finding in &findings {
        assert_eq!(finding["replay"], "confirmed", "{name}: {finding}");
    }
    let found = findings.iter().find(|finding| {
        finding["kind"] == **kind
            && finding["pattern"] == **pattern
            && finding["target"].as_str().is_some_and(|name| name.contains(target))
    });
    let found = found.unwrap_or_else(|| panic!("{name}: no {pattern} of {target} in {findings:?}"));
    let times = times();
    let replayed = program.replay(fingerprint(found), &["--times", &times], &[]);
    assert_eq!(replayed.code, Some(0), "{name}: {}{}", replayed.out, replayed.err);
    assert!(replayed.out.starts_with("confirmed: "), "{name}: {}", replayed.out);
    assert!(
        replayed.out.contains(&format!("confirmed {times} of {times} times")),
        "{name}: {}",
        replayed.out
    );
    let twin = Program::compile(file, &["-DFIXED"]);
    assert_eq!(twin.record(&[]).code, Some(0), "{name}");
    let findings = twin.predict("");
    assert!(findings.is_empty(), "{name}: its twin has {findings:?}");
}

/// The programs in four parts, so that they run at the same time.
macro_rules! parts {
    ($($name:ident $part:literal;)*) => { $(
        #[test]
        fn $name() {
            rows().iter().skip($part).step_by(4).for_each(check);
        }
    )* };
}

parts! {
    each_bug_is_predicted_and_confirmed_and_its_twin_has_none_1 0;
    each_bug_is_predicted_and_confirmed_and_its_twin_has_none_2 1;
    each_bug_is_predicted_and_confirmed_and_its_twin_has_none_3 2;
    each_bug_is_predicted_and_confirmed_and_its_twin_has_none_4 3;
}

#[test]
fn there_are_enough_of_them() {
    assert!(rows().len() >= 25);
}
