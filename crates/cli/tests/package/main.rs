//! Installation as users do it: from packaged crates, from the tarball and from the Debian package, each into a folder of its own.

mod crates;
mod release;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/cli is two levels down")
}

/// Runs a command that has to succeed, and gives what it printed.
#[track_caller]
fn run(command: &mut Command) -> String {
    let ran = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(ran.status.success(), "{command:?}\n{}", both(&ran));
    String::from_utf8(ran.stdout).expect("output is text")
}

fn both(ran: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr))
}

/// Whether there is such a program.
fn is_there(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success())
}

/// Tries an installed program as a new user would, in an empty folder that is also home: it predicts, and where there is a compiler, it
/// compiles and records.
fn try_out(program: &Path) {
    let home = tempfile::tempdir().expect("a folder");
    let reweave = || {
        let mut command = Command::new(program);
        command.current_dir(home.path()).env("HOME", home.path()).env_remove("XDG_CACHE_HOME");
        command
    };
    let version = run(reweave().arg("--version"));
    assert_eq!(version.trim(), concat!("reweave ", env!("CARGO_PKG_VERSION")));
    let predicted =
        reweave().arg("predict").arg(root().join("examples/bank.std")).output().expect("it starts");
    assert_eq!(predicted.status.code(), Some(1), "{}", both(&predicted));
    if !is_there("cc") {
        return eprintln!("notice: there is no C compiler: recording is not tried");
    }
    let source = root().join("examples/bugs/lost_update.c");
    run(reweave().args(["cc", "-g", "-pthread", "-o", "victim"]).arg(source));
    let recorded =
        reweave().args(["record", "-o", "victim.rw", "--", "./victim"]).output().expect("it starts");
    assert!(home.path().join("victim.rw").exists(), "{}", both(&recorded));
    let found = reweave().args(["predict", "victim.rw"]).output().expect("it starts");
    assert_eq!(found.status.code(), Some(1), "{}", both(&found));
}

/// Every file below a folder, relative to it, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).expect("a folder").flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).expect("it is below").to_owned());
            }
        }
    }
    found.sort();
    found
}
