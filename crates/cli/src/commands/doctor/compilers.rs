//! Compilers, each tried on a small program from its source to a finding.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output};

use super::Check;
use crate::commands::cc::in_path;
use crate::runtime_library;

/// A program with one race.
const PROGRAM: &str = "\
#include <pthread.h>
static int shared;
static void *work(void *unused) { shared++; return unused; }
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
";

/// What instruments, by the name of its row: the value of `REWEAVE_FRONT`, and the compilers that it can be used with.
const FRONTS: [(&str, &str, &[&str]); 2] =
    [("record, plugin", "plugin", &["clang-22"]), ("record, any compiler", "tsan", &["gcc", "clang", "cc"])];

/// Whether the row of this name says that C programs can be recorded.
pub(super) fn records(name: &str) -> bool {
    FRONTS.iter().any(|(row, ..)| *row == name)
}

pub(super) fn checks() -> Vec<Check> {
    if !runtime_library::is_there() {
        let found = format!("this is {} {}", env::consts::ARCH, env::consts::OS);
        return vec![Check::missing(FRONTS[1].0, found, "programs are recorded on Linux on x86-64")];
    }
    let mut checks: Vec<Check> =
        FRONTS.iter().map(|(name, front, compilers)| front_check(name, front, compilers)).collect();
    checks.push(rust());
    checks
}

fn front_check(name: &'static str, front: &str, compilers: &[&str]) -> Check {
    if front == "plugin" && !runtime_library::has_plugin() {
        let advice = "install llvm-22-dev and clang-22 (Debian), then build reweave again; traces have no branches without";
        return Check::missing(name, "this reweave was built without LLVM 22's headers", advice);
    }
    let found = compilers.iter().find_map(|compiler| in_path(OsStr::new(compiler)));
    let Some(compiler) = found else {
        let advice = format!("install one of them (Debian: apt-get install {})", compilers[0]);
        return Check::missing(name, format!("no {} on the PATH", compilers.join(", ")), advice);
    };
    let version = first_line(Command::new(&compiler).arg("--version").output());
    match try_out(front, &compiler) {
        Ok(()) => Check::ok(name, format!("{version}: compiled, recorded, and a race found")),
        Err(failure) => Check::missing(name, format!("{version}: {failure}"), "see the message above it"),
    }
}

/// Compiles the program, records it and predicts, as a user would.
fn try_out(front: &str, compiler: &Path) -> Result<(), String> {
    let ours = env::current_exe().map_err(|error| format!("this program is not to be found: {error}"))?;
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let source = folder.path().join("race.c");
    std::fs::write(&source, PROGRAM).map_err(|error| format!("{}: {error}", source.display()))?;
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&ours);
        command.args(arguments).current_dir(folder.path());
        command.env("REWEAVE_FRONT", front).env("REWEAVE_CC", compiler);
        command.output().map_err(|error| error.to_string())
    };
    let steps: [(&[&str], i32); 3] = [
        (&["cc", "-O1", "race.c", "-o", "race"], 0),
        (&["record", "-o", "race.rw", "--", "./race"], 0),
        (&["predict", "--kinds", "race", "race.rw"], 1),
    ];
    for (arguments, expected) in steps {
        let output = run(arguments)?;
        if output.status.code() != Some(expected) {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned();
            return Err(format!("`reweave {}` failed ({}): {said}", arguments[0], output.status));
        }
    }
    Ok(())
}

/// Rust is recorded by the same plugin, loaded by rustc.
fn rust() -> Check {
    const NAME: &str = "record, Rust";
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Ok(answer) = Command::new(&rustc).arg("-vV").output() else {
        return Check::missing(NAME, "no rustc on the PATH", "install a Rust toolchain, 1.95 or later");
    };
    let said = String::from_utf8_lossy(&answer.stdout).into_owned();
    let version = said.lines().next().unwrap_or("rustc of an unknown version").to_owned();
    let llvm = said.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or("unknown");
    match (runtime_library::has_plugin(), llvm.split('.').next()) {
        (true, Some("22")) => Check::ok(NAME, format!("{version}, LLVM {llvm}: loads the plugin")),
        (true, _) => Check::limited(
            NAME,
            format!("{version}, LLVM {llvm}: the plugin is for LLVM 22"),
            "use rustc 1.95, or REWEAVE_FRONT=tsan, which records std's own locks in part only",
        ),
        (false, _) => Check::limited(
            NAME,
            format!("{version}; this reweave was built without the plugin"),
            "install llvm-22-dev (Debian), then build reweave again",
        ),
    }
}

fn first_line(output: std::io::Result<Output>) -> String {
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("a compiler of an unknown version").to_owned()
}
