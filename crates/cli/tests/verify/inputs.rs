//! What a verification can be asked about: commits, traces, patches, and what counts as a failure.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{Pair, Ran, has_plugin, ran, reweave};
use crate::verdicts::{LOCK, UNLOCK, bare, cache, fixed, half, looks_twice};

#[track_caller]
pub(crate) fn git(folder: &Path, words: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "user.name=Nobody",
        "-c",
        "user.email=nobody@localhost",
        "-c",
        "commit.gpgsign=false",
    ]);
    let said = ran(command.args(words).current_dir(folder));
    assert_eq!(said.code, Some(0), "git {words:?}: {}", said.err);
    said.out
}

/// A repository whose commits have these texts, as `cache.c` in the folder `src`.
pub(crate) fn repository(texts: &[String]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = folder.path().join("src");
    fs::create_dir(&sources).expect("a folder");
    git(folder.path(), &["init", "--quiet"]);
    for text in texts {
        fs::write(sources.join("cache.c"), text).expect("it is written");
        git(folder.path(), &["add", "src"]);
        git(folder.path(), &["commit", "--quiet", "-m", "a commit"]);
    }
    folder
}

#[test]
fn commits_are_built_and_the_repository_stays_as_it_is() {
    if !has_plugin() {
        return;
    }
    let folder = repository(&[bare(), half("", "reader"), fixed("", "reader")]);
    let build = format!("{} cc -O1 -g cache.c -o cache", env!("CARGO_BIN_EXE_reweave"));
    let verify = |range: &str, build: &str, more: &[&str]| {
        let mut command = reweave();
        command.args(["verify", "--git", range, "--build", build]).args(more).args(["--", "./cache"]);
        ran(command.current_dir(folder.path().join("src")))
    };
    let said = verify("HEAD~2..HEAD~1", &build, &["--keep", "kept"]);
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(said.out.contains("reader src/cache.c:7 is not under global lock"), "{}", said.out);
    let again = reweave()
        .args(["replay", "--schedule"])
        .args(schedules(&folder.path().join("src/kept")))
        .args(["--", "./kept/after/src/cache"])
        .current_dir(folder.path().join("src"))
        .output()
        .expect("it runs");
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    fs::remove_dir_all(folder.path().join("src/kept")).expect("it is removed");

    let said = verify("HEAD~2..HEAD", &build, &[]);
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let said = verify("HEAD~2..HEAD", "echo no compiler; exit 3", &[]);
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(said.err.contains("cannot be built") && said.err.contains("no compiler"), "{}", said.err);
    let said = verify("HEAD~9..HEAD", &build, &[]);
    assert!(said.code == Some(2) && said.err.contains("there is no commit `HEAD~9`"), "{}", said.err);
    let said = verify("HEAD", &build, &[]);
    assert!(said.code == Some(2) && said.err.contains("two commits are expected"), "{}", said.err);
    assert_eq!(git(folder.path(), &["status", "--porcelain"]), "");
    assert_eq!(git(folder.path(), &["worktree", "list"]).lines().count(), 1);
}

pub(crate) fn schedules(folder: &Path) -> Vec<std::path::PathBuf> {
    let all = fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
    all.filter(|path| path.extension().is_some_and(|end| end == "schedule")).collect()
}

/// Records the old program of a pair, and takes the program away; the fingerprint of what was found in it.
fn only_a_trace(pair: &Pair) -> String {
    let folder = pair.folder.path();
    let said = ran(reweave().args(["record", "-o", "old.rw", "--", "./old"]).current_dir(folder));
    assert!(folder.join("old.rw").exists(), "{}", said.err);
    let said = ran(reweave().args(["predict", "old.rw", "--json", "-"]).current_dir(folder));
    let found: Value = serde_json::from_str(&said.out).expect("JSON");
    fs::remove_file(folder.join("old")).expect("it is removed");
    found["findings"][0]["fingerprint"].as_str().expect("a finding").to_owned()
}

fn patch(pair: &Pair) {
    let mut command = Command::new("diff");
    command.args(["-u", "old-sources/cache.c", "new-sources/cache.c"]);
    let said = ran(command.current_dir(pair.folder.path()));
    fs::write(pair.folder.path().join("fix.patch"), said.out).expect("it is written");
}

fn of_trace(pair: &Pair, more: &[&str]) -> Ran {
    let mut command = reweave();
    command.args(["verify", "--trace", "old.rw", "--after", "./new"]).args(more);
    ran(command.current_dir(pair.folder.path()))
}

#[test]
fn a_trace_of_the_old_program_is_enough_together_with_the_patch() {
    if !has_plugin() {
        return;
    }
    let above = "// A line.\n".repeat(3);
    for (after, code) in [(half(&above, "reader"), 1), (fixed(&above, "reader"), 0)] {
        let pair = Pair::of_texts(&bare(), &after);
        let finding = only_a_trace(&pair);
        patch(&pair);
        let said = of_trace(&pair, &["--finding", &finding, "--diff", "fix.patch"]);
        assert_eq!(said.code, Some(code), "{}{}", said.out, said.err);
        // Without the patch, nobody knows what changed: that is never sufficient.
        let said = of_trace(&pair, &["--finding", &finding]);
        assert_eq!(said.code, Some(if code == 0 { 3 } else { code }), "{}{}", said.out, said.err);
        let said = of_trace(&pair, &["--finding", "0000", "--diff", "fix.patch"]);
        assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
        assert!(said.out.contains("does not show a bug whose fingerprint begins with 0000"), "{}", said.out);
    }
}

#[test]
fn each_line_of_a_patch_that_does_something_has_to_run() {
    if !has_plugin() {
        return;
    }
    let read = format!("{}    if (argument)\n        gone = 2;\n", looks_twice(LOCK, "", UNLOCK));
    let after = cache(&read, &format!("{LOCK}    current = 0;\n{UNLOCK}"), "", "reader");
    let pair = Pair::of_texts(&bare(), &after);
    patch(&pair);
    for flags in [&["--diff", "fix.patch"][..], &[]] {
        let said = pair.verify(flags);
        assert_eq!(said.code, Some(3), "{}{}", said.out, said.err);
        assert!(said.out.contains("changed code did not run: reader cache.c:"), "{}", said.out);
    }
    fs::write(pair.folder.path().join("fix.patch"), "--- a\n+++ b\n@@ -1,3 +1 @@\n x\n").expect("written");
    let said = pair.verify(&["--diff", "fix.patch"]);
    assert!(said.code == Some(2) && said.err.contains("fix.patch: "), "{}{}", said.out, said.err);
}

#[test]
fn the_user_says_when_a_run_failed() {
    if !has_plugin() {
        return;
    }
    // Every access has the lock: nothing is an error by itself.
    let again = format!("{UNLOCK}{LOCK}");
    let evict = format!("{LOCK}    current = 0;\n{UNLOCK}");
    let old = cache(&looks_twice(LOCK, &again, UNLOCK), &evict, "", "reader");
    let pair = Pair::of_texts(&old, &fixed("", "reader"));
    for (flags, code) in [
        (&["--fails", "status"][..], 0),
        (&["--fails", "signal"], 2),
        (&["--fails", "signal", "--fails", "cmd test \"$STATUS\" = 0"], 0),
        (&["--fails", "text stale"], 2),
        (&["--expect-status", "0,1"], 2),
    ] {
        let said = pair.verify(flags);
        assert_eq!(said.code, Some(code), "{flags:?}: {}{}", said.out, said.err);
    }
    let said = pair.verify(&["--fails", "cmd no-such-command-here"]);
    assert!(said.code == Some(2) && said.err.contains("could not be run"), "{}{}", said.out, said.err);
    let tells = |text: String| text.replace("gone = 1;", "puts(\"a stale one\");");
    let above = "#include <stdio.h>";
    let old = cache(&looks_twice(LOCK, &again, UNLOCK), &evict, above, "reader");
    let pair = Pair::of_texts(&tells(old), &tells(fixed(above, "reader")));
    assert_eq!(pair.verify(&[]).code, Some(2));
    let said = pair.verify(&["--fails", "text ^a sta.e"]);
    // Where the text is written did not run after the fix: that is no change.
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    assert!(said.out.contains("it wrote what --fails 'text ^a sta.e' names"), "{}", said.out);
}
