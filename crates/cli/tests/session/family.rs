//! Programs with children.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use tempfile::TempDir;

/// A program that starts others, built to be recorded, in C or as a project in Rust.
pub(crate) struct Family {
    pub(crate) folder: TempDir,
    pub(crate) program: PathBuf,
    /// A recording of a run without children, and the finding in it.
    pub(crate) trace: PathBuf,
    pub(crate) finding: String,
}

/// How many runs there may be of one family.
pub(crate) const MOST_SCENES: usize = 20;

/// The name of a test in Rust; none begins with another.
pub(crate) fn test_name(number: usize) -> String {
    format!("lives_{number:03}")
}

pub(crate) fn reweave() -> process::Command {
    let mut command = process::Command::new(env!("CARGO_BIN_EXE_reweave"));
    for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUST_BACKTRACE"] {
        command.env_remove(name);
    }
    command
}

#[track_caller]
fn run(command: &mut process::Command) -> String {
    let ran = command.output().expect("the command starts");
    let err = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{command:?}: {err}");
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

impl Family {
    pub(crate) fn in_c() -> Family {
        let folder = tempfile::tempdir().expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/family.c");
        let (program, trace) = (folder.path().join("program"), folder.path().join("first.rw"));
        run(reweave().env("REWEAVE_FRONT", "tsan").args(["cc", "-O1"]).arg(source).arg("-o").arg(&program));
        run(reweave().args(["record", "-q", "-o"]).arg(&trace).arg("--").arg(&program));
        let mut predict = reweave();
        let found = predict.args(["predict", "-q", "--kinds", "race", "--json", "-"]).arg(&trace).output();
        let found = String::from_utf8_lossy(&found.expect("it starts").stdout).into_owned();
        let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
        let finding = found["findings"][0]["fingerprint"].as_str().expect("a race").to_owned();
        Family { folder, program, trace, finding }
    }

    /// None where programs in Rust cannot be recorded.
    pub(crate) fn in_rust() -> Option<Family> {
        let says = |name: &str, flag: &str| {
            let ran = process::Command::new(name).arg(flag).output();
            ran.map_or_else(|_| String::new(), |ran| String::from_utf8_lossy(&ran.stdout).into_owned())
        };
        if !says("llvm-config-22", "--version").starts_with("22.")
            || !says("rustc", "-vV").contains("LLVM version: 22.")
        {
            eprintln!("LLVM 22 is not installed, or rustc has another one: recording Rust is not tested");
            return None;
        }
        let folder = tempfile::tempdir().expect("a folder");
        // One for each run at the same time, so that each has a trace of its own.
        let test =
            |number: usize| format!("#[test]\nfn {}() {{\n    family::live();\n}}\n", test_name(number));
        let tests: String = (0..MOST_SCENES).map(test).collect();
        for (name, text) in [
            (
                "Cargo.toml",
                "[package]\nname = \"family\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
            ),
            ("src/lib.rs", include_str!("family_in_rust.rs.txt")),
            ("src/main.rs", "fn main() {\n    family::live();\n}\n"),
            ("tests/lives.rs", &tests),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        run(reweave().current_dir(folder.path()).args(["cargo", "build", "--all-targets"]));
        let none = PathBuf::new();
        Some(Family { folder, program: none.clone(), trace: none, finding: String::new() })
    }
}
