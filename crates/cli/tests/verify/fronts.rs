//! Builds that differ in more than the fix: by another compiler, with other hooks, with a source
//! that was split.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Pair, has_plugin, ran, reweave};
use crate::verdicts::{bare, fixed, half};

/// How a program is compiled.
#[derive(Clone, Copy)]
struct How {
    front: &'static str,
    compiler: &'static str,
    level: &'static str,
}

const PLUGIN: How = How { front: "plugin", compiler: "", level: "-O1" };
const GCC: How = How { front: "tsan", compiler: "gcc", level: "-O1" };
const CLANG: How = How { front: "tsan", compiler: "clang", level: "-O1" };

fn compile(sources: &[std::path::PathBuf], how: How, to: &Path) {
    let mut command = reweave();
    command.arg("cc").args([how.level, "-g", &format!("--reweave-front={}", how.front)]);
    command.args(sources).arg("-o").arg(to);
    if !how.compiler.is_empty() {
        command.env("REWEAVE_CC", how.compiler);
    }
    let built = ran(&mut command);
    assert_eq!(built.code, Some(0), "{}", built.err);
}

/// Texts of the program before and after, each in files of its own.
fn pair(before: &[&str], how: How, after: &[&str], then: How) -> Pair {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, texts, how) in [("old", before, how), ("new", after, then)] {
        let sources = folder.path().join(format!("{name}-sources"));
        fs::create_dir(&sources).expect("a folder");
        let names = ["cache.c", "reader.c"].map(|name| sources.join(name));
        for (text, path) in texts.iter().zip(&names) {
            fs::write(path, text).expect("it is written");
        }
        compile(&names[..texts.len()], how, &folder.path().join(name));
    }
    Pair { folder }
}

fn has(compiler: &str) -> bool {
    let found = compiler.is_empty() || Command::new(compiler).arg("--version").output().is_ok();
    if !found {
        println!("{compiler} is not installed: not tried with it");
    }
    found
}

#[track_caller]
fn agree(pairs: &[(How, How)]) {
    for &(before, after) in pairs {
        if !has(before.compiler) || !has(after.compiler) {
            continue;
        }
        for (text, verdict) in [(half("", "reader"), "insufficient"), (fixed("", "reader"), "sufficient")] {
            let said = pair(&[&bare()], before, &[&text], after).document(&[]);
            let names = [before, after].map(|how| format!("{} {} {}", how.front, how.compiler, how.level));
            assert_eq!(said["verdict"], verdict, "{names:?}: {said:#}");
        }
    }
}

/// The program after the fix has other hooks than the one before it.
#[test]
fn hooks_change_no_verdict() {
    if has_plugin() {
        agree(&[(PLUGIN, GCC), (GCC, PLUGIN)]);
    }
}

#[test]
fn compilers_change_no_verdict() {
    agree(&[(GCC, CLANG), (CLANG, GCC), (How { level: "-O0", ..GCC }, How { level: "-O2", ..CLANG })]);
}

/// The reader moves to a file of its own, together with the fix.
#[test]
fn a_source_that_was_split_changes_no_verdict() {
    for (whole, verdict) in [(half("", "reader"), "insufficient"), (fixed("", "reader"), "sufficient")] {
        let (rest, reader) = split(&whole);
        let said = pair(&[&bare()], GCC, &[&rest, &reader], GCC).document(&[]);
        assert_eq!(said["verdict"], verdict, "{said:#}");
    }
}

/// The program without the function `reader`, and that function.
fn split(text: &str) -> (String, String) {
    let from = text.find("static void *reader").expect("a reader");
    let length = text[from..].find("\n}\n").expect("its end") + 3;
    let reader = text[from..from + length].replacen("static ", "", 1);
    let rest = format!("{}void *reader(void *);\n{}", &text[..from], &text[from + length..]);
    let head = "#include <pthread.h>\nextern pthread_mutex_t lock;\nextern int current, gone, argument;\n";
    (rest, format!("{head}{reader}"))
}
