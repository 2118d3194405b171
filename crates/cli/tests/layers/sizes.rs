//! Files of 400 lines, functions of 60, comments of 100 columns. What is larger stands in a list,
//! which may only become shorter.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{members, root};

const FILE: usize = 400;
const FUNCTION: usize = 60;
const COMMENT: usize = 100;

/// Files with more lines, and how many they may have.
const LONG_FILES: &[(&str, usize)] = &[
    ("crates/bench/src/explore/programs.rs", 594),
    ("crates/capture/src/drain.rs", 407),
    ("crates/capture/src/modules.rs", 425),
    ("crates/cli/src/commands/record.rs", 402),
    ("crates/decide/src/decider.rs", 430),
    ("crates/decide/src/exact/audit.rs", 435),
    ("crates/detect/src/locksets.rs", 537),
    ("crates/detect/tests/oracle.rs", 522),
    ("crates/format/src/rw/tests/mod.rs", 453),
    ("crates/report/src/json/predict.rs", 472),
    ("crates/reweave/tests/explore.rs", 568),
    ("crates/runtime/src/libc/blocking.rs", 409),
    ("crates/trace/src/build.rs", 477),
    ("crates/wire/src/path.rs", 410),
    ("crates/witness/src/machine.rs", 416),
    ("crates/witness/tests/must_reject.rs", 401),
];

/// Functions with more lines, and how many they may have.
const LONG_FUNCTIONS: &[(&str, &str, usize)] = &[
    ("crates/bench/src/explore/programs.rs", "steal", 117),
    ("crates/cli/src/commands/predict.rs", "hunted", 73),
    ("crates/cli/src/commands/predict/confirm.rs", "all", 69),
    ("crates/cli/src/commands/record.rs", "report", 91),
    ("crates/cli/src/commands/verify.rs", "run", 65),
    ("crates/cli/src/commands/verify/show.rs", "verdict", 63),
    ("crates/cli/src/main.rs", "run", 64),
    (
        "crates/cli/tests/record/company.rs",
        "whatever_recorders_and_replays_name_does_not_reach_the_terminal_as_it_is",
        65,
    ),
    ("crates/explore/src/footprint.rs", "atoms", 84),
    ("crates/explore/src/law.rs", "begin", 74),
    ("crates/explore/tests/common/mod.rs", "op", 72),
    ("crates/format/src/rw/read/parts.rs", "chunk", 65),
    ("crates/report/src/refutation/clash.rs", "demand", 71),
    ("crates/report/src/view/words.rs", "summary", 70),
    ("crates/reweave/src/explored/report.rs", "exploration", 76),
    ("crates/reweave/tests/explore.rs", "the_rest_of_sync_and_thread", 61),
    ("crates/runtime/src/libc/process.rs", "start", 68),
    ("crates/runtime/src/libc/syscalls.rs", "known", 68),
    ("crates/stream/src/front.rs", "steps", 70),
    ("crates/testkit/src/calls.rs", "pair", 72),
    ("crates/testkit/src/interleave/draw.rs", "piece", 99),
    ("crates/testkit/src/interleave/lives.rs", "last", 84),
    ("crates/testkit/src/interleave/world.rs", "ready", 96),
    ("crates/testkit/src/interleave/world.rs", "rest", 97),
    ("crates/witness/tests/oracle.rs", "claims_hold_exactly_where_the_oracle_says", 67),
];

/// Per crate, how many lines of comments are wider. A crate that is not here has none.
const WIDE_COMMENTS: &[(&str, usize)] = &[
    ("wire", 184),
    ("program", 35),
    ("trace", 133),
    ("testkit", 85),
    ("format", 144),
    ("depend", 30),
    ("capture", 172),
    ("spec", 42),
    ("witness", 47),
    ("order", 75),
    ("decide", 189),
    ("stream", 147),
    ("detect", 191),
    ("session", 35),
    ("replay", 27),
    ("verify", 36),
    ("explore", 98),
    ("report", 69),
    ("runtime", 468),
    ("plugin", 70),
    ("reweave", 79),
    ("bench", 33),
    ("cli", 329),
];

/// Every source file of a crate, its tests included, by its path in the repository.
fn files(member: &str) -> Vec<(String, String)> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates").join(member)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path: PathBuf = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default();
            // `embed` leads to other crates.
            if path.is_dir() && !["target", "node_modules", "embed"].iter().any(|other| name == *other) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("sources are text");
                found.push((short(&path, &root), text));
            }
        }
    }
    found.sort();
    found
}

fn short(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

fn all() -> Vec<(String, String)> {
    members().iter().flat_map(|member| files(member)).collect()
}

/// The name of the function that begins on a line.
fn function(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    loop {
        if let Some(named) = rest.strip_prefix("fn ") {
            return named.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next();
        }
        let (word, after) = rest.split_once(' ')?;
        let leads = ["pub", "const", "async", "unsafe", "extern", "default", "\"C\"", "\"system\""];
        if !leads.contains(&word) && !word.starts_with("pub(") {
            return None;
        }
        rest = after;
    }
}

/// The functions of a file with their lengths; rustfmt puts the closing brace where the first line
/// begins.
fn functions(text: &str) -> Vec<(&str, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function(line).filter(|_| !line.ends_with(['}', ';'])) else { continue };
        let margin = line.len() - line.trim_start().len();
        let is_end = |line: &&str| {
            line.get(margin..).is_some_and(|rest| rest == "}" || rest.starts_with(')') && rest.ends_with(';'))
                && line.trim_start().len() + margin == line.len()
        };
        let length = lines.iter().skip(at + 1).position(is_end).map_or(1, |end| end + 2);
        found.push((name, length));
    }
    found
}

/// What breaks a limit, against what may: whoever makes one smaller takes it off the list.
fn compare(what: &str, found: &BTreeMap<String, usize>, listed: &BTreeMap<String, usize>, limit: usize) {
    for (name, &size) in found.iter().filter(|(_, size)| **size > limit) {
        let most = listed.get(name).copied().unwrap_or(limit);
        assert!(size <= most, "{name} has {size} {what}, and {most} are allowed: split it");
    }
    for (name, most) in listed {
        let size = found.get(name).copied().unwrap_or(0);
        assert!(size > limit, "{name} has {size} {what} by now, no longer {most}: take it off the list");
    }
}

#[test]
fn files_are_short() {
    let found = all().into_iter().map(|(path, text)| (path, text.lines().count())).collect();
    let listed = LONG_FILES.iter().map(|&(path, most)| (path.to_owned(), most)).collect();
    compare("lines", &found, &listed, FILE);
}

#[test]
fn functions_are_short() {
    let mut found = BTreeMap::new();
    for (path, text) in all() {
        for (name, length) in functions(&text) {
            let longest: &mut usize = found.entry(format!("{path}: {name}")).or_default();
            *longest = length.max(*longest);
        }
    }
    let name = |path: &str, function: &str| format!("{path}: {function}");
    let listed = LONG_FUNCTIONS.iter().map(|&(path, function, most)| (name(path, function), most)).collect();
    compare("lines", &found, &listed, FUNCTION);
}

#[test]
fn comments_are_narrow() {
    for member in members() {
        let texts = files(&member);
        let lines = texts.iter().flat_map(|(path, text)| text.lines().map(move |line| (path, line)));
        let wide: Vec<_> = lines
            .filter(|(_, line)| line.trim_start().starts_with("//") && line.chars().count() > COMMENT)
            .collect();
        let most = WIDE_COMMENTS.iter().find(|(name, _)| *name == member).map_or(0, |(_, most)| *most);
        let last = wide.last().map_or("", |(path, _)| path.as_str());
        assert!(
            wide.len() <= most,
            "{member} has {} lines of comments beyond {COMMENT} columns, and {most} are allowed: wrap what you wrote (one is in {last})",
            wide.len()
        );
    }
}

#[test]
fn functions_are_measured_to_their_brace() {
    let text = "fn short() {}\n\npub(crate) const unsafe fn long(\n    a: usize,\n) -> usize {\n    let b = || {\n        a\n    };\n    b()\n}\ntrait T {\n    fn none(&self);\n    fn some(&self) {\n        loop {\n        }\n    }\n}\n";
    assert_eq!(functions(text), [("long", 8), ("some", 4)]);
}
