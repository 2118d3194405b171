//! Two builds of a program, and what `reweave verify` says of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn reweave() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    command.stdin(Stdio::null());
    command
}

/// What a command came to.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

pub(crate) fn ran(command: &mut Command) -> Ran {
    let Output { status, stdout, stderr } = command.output().expect("the command starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { code: status.code(), out: text(stdout), err: text(stderr) }
}

/// Whether programs can have tables here: without them, nothing can be said to be sufficient.
pub(crate) fn has_plugin() -> bool {
    let found = ["clang-22", "clang"].into_iter().any(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("version 22."))
    });
    if !found {
        println!("skipped: clang 22, which compiles with the plugin, is not installed");
    }
    found
}

/// A program before a fix and after it.
pub(crate) struct Pair {
    pub(crate) folder: TempDir,
}

impl Pair {
    /// Two builds of one source, with different flags.
    #[track_caller]
    pub(crate) fn of_flags(source: &Path, before: &[&str], after: &[&str]) -> Pair {
        let folder = tempfile::tempdir().expect("a folder");
        compile(source, before, &folder.path().join("old"));
        compile(source, after, &folder.path().join("new"));
        Pair { folder }
    }

    /// Builds of two texts, each in a file `cache.c` of its own folder.
    #[track_caller]
    pub(crate) fn of_texts(before: &str, after: &str) -> Pair {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [("old", before), ("new", after)] {
            let sources = folder.path().join(format!("{name}-sources"));
            fs::create_dir(&sources).expect("a folder");
            let source = sources.join("cache.c");
            fs::write(&source, text).expect("it is written");
            compile(&source, &[], &folder.path().join(name));
        }
        Pair { folder }
    }

    /// The verdict.
    pub(crate) fn verify(&self, flags: &[&str]) -> Ran {
        let path = |name: &str| -> PathBuf { self.folder.path().join(name) };
        let mut command = reweave();
        command.arg("verify").arg("--before").arg(path("old")).arg("--after").arg(path("new")).args(flags);
        ran(command.current_dir(self.folder.path()))
    }

    /// The verdict as a document.
    #[track_caller]
    pub(crate) fn document(&self, flags: &[&str]) -> Value {
        let said = self.verify(&[&["--json", "-"], flags].concat());
        serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{}{}", said.out, said.err))
    }
}

/// Compiles a source.
#[track_caller]
pub(crate) fn compile(source: &Path, flags: &[&str], to: &Path) {
    let command = if source.extension().is_some_and(|end| end == "cpp") { "c++" } else { "cc" };
    let built = ran(reweave().arg(command).args(["-O1", "-g"]).args(flags).arg(source).arg("-o").arg(to));
    assert_eq!(built.code, Some(0), "{}: {}", source.display(), built.err);
}
