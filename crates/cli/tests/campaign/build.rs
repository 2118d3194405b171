//! Random programs, many to a binary.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use reweave_testkit::program::{Bug, Program, c_binary, draw, rust_binary};
use tempfile::TempDir;

/// What tells of a program's accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Front {
    /// Our plugin for clang 22.
    Plugin,
    /// The hooks of ThreadSanitizer.
    Tsan,
}

impl Front {
    fn name(self) -> &'static str {
        match self {
            Front::Plugin => "plugin",
            Front::Tsan => "tsan",
        }
    }

    /// The fronts that can be had here.
    pub(crate) fn all() -> Vec<Front> {
        let clang = Command::new("clang-22").arg("--version").output();
        if clang.is_ok_and(|answer| answer.status.success()) {
            return vec![Front::Plugin, Front::Tsan];
        }
        eprintln!("clang 22 is not installed: the plugin is not tested");
        vec![Front::Tsan]
    }
}

/// Whether programs of Rust can be recorded here; says so where they cannot.
pub(crate) fn has_rust() -> bool {
    let says = |name: &str, flag: &str| {
        let ran = Command::new(name).arg(flag).output();
        ran.map_or_else(|_| String::new(), |ran| String::from_utf8_lossy(&ran.stdout).into_owned())
    };
    let there = says("llvm-config-22", "--version").starts_with("22.")
        && says("rustc", "-vV").contains("LLVM version: 22.");
    if !there {
        eprintln!("LLVM 22 is not installed, or rustc has another one: programs of Rust are not tested");
    }
    there
}

const RUST_MANIFEST: &str = "[package]\nname = \"cases\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
    [profile.dev]\nopt-level = 1\n[workspace]\n";

/// Some programs, compiled together.
pub(crate) struct Binary {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) front: Front,
    pub(crate) programs: Vec<Program>,
    /// Whether schedules are forced on them.
    pub(crate) forced: bool,
}

impl Binary {
    /// Compiles the programs of these seeds as C.
    #[track_caller]
    pub(crate) fn c(seeds: &[u64], bug: Option<Bug>, front: Front) -> Binary {
        let programs: Vec<Program> = seeds.iter().map(|&seed| draw(seed, bug)).collect();
        let binary = Binary::of(&c_binary(&programs), front);
        Binary { programs, ..binary }
    }

    /// Compiles the programs of these seeds as Rust, with the plugin.
    #[track_caller]
    pub(crate) fn rust(seeds: &[u64]) -> Binary {
        let programs: Vec<Program> = seeds.iter().map(|&seed| draw(seed, None)).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
        std::fs::create_dir(folder.path().join("src")).expect("a folder");
        write("Cargo.toml", RUST_MANIFEST);
        write("src/main.rs", &rust_binary(&programs));
        let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
        for name in ["CARGO_TARGET_DIR", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"] {
            command.env_remove(name);
        }
        command.current_dir(folder.path()).stdin(Stdio::null()).args(["cargo", "build", "--offline"]);
        let built = command.output().expect("the command starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let path = folder.path().join("target/reweave/x86_64-unknown-linux-gnu/debug/cases");
        Binary { folder, path, front: Front::Plugin, programs, forced: false }
    }

    /// Compiles a text of C.
    #[track_caller]
    pub(crate) fn of(text: &str, front: Front) -> Binary {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, path) = (folder.path().join("cases.c"), folder.path().join("cases"));
        std::fs::write(&source, text).expect("it is written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
        command.stdin(Stdio::null()).env("REWEAVE_FRONT", front.name());
        command.args(["cc", "-O1", "-w"]).arg(&source).arg("-o").arg(&path);
        let built = command.output().expect("the command starts");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Binary { folder, path, front, programs: Vec::new(), forced: true }
    }
}
