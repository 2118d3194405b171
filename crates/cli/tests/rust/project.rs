//! Projects to be recorded, in folders of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::common::{Line, Recorded, reweave};

/// A project.
pub(crate) struct Project {
    folder: TempDir,
}

/// The folder of the project that this is a test of.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/cli is two levels down")
}

/// Whether programs of Rust can be recorded with the plugin here; says so where they cannot.
pub(crate) fn is_there() -> bool {
    let says = |name: &str, flag: &str| {
        let ran = Command::new(name).arg(flag).output();
        ran.map_or_else(|_| String::new(), |ran| String::from_utf8_lossy(&ran.stdout).into_owned())
    };
    let there = says("llvm-config-22", "--version").starts_with("22.")
        && says("rustc", "-vV").contains("LLVM version: 22.");
    if !there {
        eprintln!("LLVM 22 is not installed, or rustc has another one: recording Rust is not tested");
    }
    there
}

impl Project {
    /// A project with these dependencies and files.
    pub(crate) fn new(dependencies: &str, files: &[(&str, &str)]) -> Project {
        let folder = tempfile::tempdir().expect("a folder");
        let manifest = format!(
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\n{dependencies}\n\
             [workspace]\n"
        );
        for (name, text) in [("Cargo.toml", manifest.as_str())].iter().chain(files) {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        Project { folder }
    }

    /// What a project needs that uses our crate.
    pub(crate) fn needs_ours() -> String {
        format!("reweave = {{ path = {:?} }}", root().join("crates/reweave"))
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A command in the project's folder, away from what this test itself was built with.
    pub(crate) fn in_it(&self, mut command: Command) -> Command {
        command.current_dir(self.path());
        for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUST_BACKTRACE"] {
            command.env_remove(name);
        }
        command
    }

    /// `reweave cargo` with these arguments.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Output {
        let mut command = self.in_it(reweave());
        command.arg("cargo").args(arguments).output().expect("the command starts")
    }

    /// The same, which must succeed.
    #[track_caller]
    pub(crate) fn cargo_ok(&self, arguments: &[&str]) -> String {
        let ran = self.cargo(arguments);
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success(), "{arguments:?}: {out}{err}");
        out.into_owned()
    }

    /// The trace of a test.
    pub(crate) fn trace(&self, program: &str, test: &str) -> PathBuf {
        self.path().join("target/reweave/traces").join(program).join(format!("{test}.rw"))
    }

    /// The events of the trace of a test, which is found to be well formed and right about values.
    #[track_caller]
    pub(crate) fn events(&self, program: &str, test: &str) -> Vec<Line> {
        let trace = self.trace(program, test);
        Recorded { code: Some(0), out: String::new(), err: format!("{test}: "), trace }.events()
    }
}

/// The findings in a trace, as they are headed.
#[track_caller]
pub(crate) fn findings(trace: &Path, kinds: &str) -> Vec<String> {
    let ran = reweave().args(["predict", "--kinds", kinds]).arg(trace).output().expect("the command starts");
    let out = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.code().is_some_and(|code| code < 2), "{out}{}", String::from_utf8_lossy(&ran.stderr));
    out.lines().filter_map(|line| Some(line.strip_prefix("WARNING: ")?.to_owned())).collect()
}
