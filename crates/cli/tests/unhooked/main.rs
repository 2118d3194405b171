//! Correct programs that do what no hook tells of: they divide, synchronise by inline assembly, or hand things over
//! inside of libraries that were not compiled for it. Nothing may be found in them, and none may hang.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const SEEDS: u32 = 5;
const KINDS: &str = "race,deadlock,order,uaf";

fn reweave() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    command.stdin(Stdio::null());
    command
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|answer| answer.status.success())
}

/// The fronts that can be tried here: clang 22 with the plugin, gcc with ThreadSanitizer's hooks.
fn fronts() -> Vec<&'static str> {
    let there = [("plugin", "clang-22"), ("tsan", "gcc")];
    let (found, missing): (Vec<_>, Vec<_>) = there.into_iter().partition(|(_, compiler)| has(compiler));
    missing
        .iter()
        .for_each(|(front, compiler)| eprintln!("{compiler} is not installed: {front} is not tested"));
    found.into_iter().map(|(front, _)| front).collect()
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unhooked/programs").join(name)
}

#[track_caller]
fn succeeds(command: &mut Command) -> (String, String) {
    let ran = command.output().expect("the command starts");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success(), "{command:?}: {said}");
    (String::from_utf8_lossy(&ran.stdout).into_owned(), said)
}

/// A program in a folder of its own.
struct Program {
    folder: TempDir,
}

impl Program {
    #[track_caller]
    fn new(folder: TempDir, name: &str, front: &str, flags: &[&str]) -> Program {
        Program::with(folder, name, (front, None), flags)
    }

    /// The same with a compiler that is named.
    #[track_caller]
    fn with(folder: TempDir, name: &str, (front, compiler): (&str, Option<&str>), flags: &[&str]) -> Program {
        let mut build = reweave();
        build.envs(compiler.map(|compiler| ("REWEAVE_CC", compiler)));
        build.args(["cc", &format!("--reweave-front={front}"), "-O1"]).arg(source(name)).arg("-o");
        succeeds(build.arg(folder.path().join("program")).args(flags));
        Program { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Records one run; what was said, and the program's own output.
    #[track_caller]
    fn record(&self, seed: u32) -> (String, String) {
        let mut record = reweave();
        record.args(["record", "--timeout", "60s", "--seed", &seed.to_string(), "-o"]);
        let (out, said) = succeeds(record.arg(self.path("trace.rw")).arg("--").arg(self.path("program")));
        succeeds(reweave().args(["validate", "--quiet"]).arg(self.path("trace.rw")));
        (out, said)
    }

    /// What `predict` finds in the last run.
    fn predict(&self, flags: &[&str]) -> serde_json::Value {
        let mut predict = reweave();
        predict.args(["predict", "--quiet", "--kinds", KINDS, "--json", "-"]).args(flags);
        let ran = predict.arg(self.path("trace.rw")).output().expect("the command starts");
        serde_json::from_slice(&ran.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)))
    }

    #[track_caller]
    fn has_nothing(&self, flags: &[&str]) {
        let found = self.predict(flags);
        assert_eq!(found["findings"].as_array().map(Vec::len), Some(0), "{found:#}");
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Compiles the library without hooks.
fn library(name: &str) -> TempDir {
    let folder = folder();
    let mut build = Command::new("gcc");
    build.args(["-shared", "-fPIC", "-O1"]).arg(source(name)).arg("-o");
    succeeds(build.arg(folder.path().join("libhandover.so")));
    folder
}

#[test]
fn a_division_that_may_trap_decides_whether_its_thread_goes_on() {
    if !fronts().contains(&"plugin") {
        return;
    }
    let program = Program::new(folder(), "division.c", "plugin", &[]);
    for seed in 1..=2 * SEEDS {
        // Where the schedule has it divide by zero, the program ends by a signal, and the trace is still one.
        let mut record = reweave();
        record.args(["record", "--quiet", "--seed", &seed.to_string(), "-o"]).arg(program.path("trace.rw"));
        record.arg("--").arg(program.path("program")).output().expect("the command starts");
        for model in ["branch", "branch+value"] {
            program.has_nothing(&["--model", model, "--kinds", "race"]);
        }
    }
}

/// The plugin sees operands; compilers mark inline assembly for the assembler, which tells that it runs, not what it touches.
#[test]
fn inline_assembly_orders_what_it_orders() {
    for (front, compiler, how) in [
        ("plugin", "clang-22", "-DHOW=1"),
        ("plugin", "clang-22", "-DHOW=2"),
        ("plugin", "clang-22", "-DHOW=3"),
        ("tsan", "gcc", "-DHOW=2"),
        ("tsan", "gcc", "-DHOW=3"),
        ("tsan", "clang", "-DHOW=2"),
        ("tsan", "clang", "-DHOW=3"),
        ("tsan", "clang-22", "-DHOW=2"),
        ("tsan", "clang-22", "-DHOW=3"),
    ] {
        if !has(compiler) {
            continue;
        }
        let program = Program::with(folder(), "assembly.c", (front, Some(compiler)), &[how]);
        for seed in 1..=SEEDS {
            program.record(seed);
            program.has_nothing(&[]);
        }
    }
}

#[test]
fn what_passes_through_a_library_without_hooks_keeps_its_order() {
    for front in fronts() {
        let hows: &[&str] = if front == "plugin" {
            &["-DHOW=1", "-DHOW=2", "-DHOW=3", "-DHOW=4"]
        } else {
            &["-DHOW=1", "-DHOW=2", "-DHOW=3"]
        };
        for how in hows {
            let folder = library("handover.c");
            let run_path = format!("-Wl,-rpath,{}", folder.path().display());
            let library = folder.path().join("libhandover.so").display().to_string();
            let program = Program::new(folder, "hands.c", front, &[how, &library, &run_path]);
            for seed in 1..=SEEDS {
                let (out, said) = program.record(seed);
                assert_eq!(out, "7\n", "{front} {how} {seed}");
                assert!(
                    said.contains("libhandover.so was not compiled with `reweave cc`: what passes"),
                    "{said}"
                );
                program.has_nothing(&[]);
            }
        }
    }
}

#[test]
fn a_library_that_is_trusted_orders_nothing() {
    for front in fronts() {
        let folder = library("handover.c");
        let run_path = format!("-Wl,-rpath,{}", folder.path().display());
        let library = folder.path().join("libhandover.so").display().to_string();
        let program = Program::new(folder, "hands.c", front, &["-DHOW=1", &library, &run_path]);
        program.record(1);
        let found = program.predict(&[]);
        assert_eq!(found["libraries"][0]["name"], "libhandover.so");
        let trusting = program.predict(&["--trust-library", "libhandover"]);
        let number = trusting["findings"].as_array().map_or(0, Vec::len);
        assert!(number > 0, "{trusting:#}");
        assert_eq!(found["ordered_by_libraries"].as_u64(), Some(number as u64));
        assert!(trusting["libraries"].is_null());
    }
}

#[test]
fn queues_of_glib_keep_the_order_of_what_passes_through() {
    let glib = Path::new("/usr/lib/x86_64-linux-gnu/libglib-2.0.so.0");
    if !glib.exists() {
        eprintln!("GLib is not installed (Debian: libglib2.0-0): its queues are not tested");
        return;
    }
    for front in fronts() {
        let program = Program::new(folder(), "glib.c", front, &[&glib.display().to_string()]);
        for seed in 1..=SEEDS {
            assert_eq!(program.record(seed).0, "40\n");
            program.has_nothing(&[]);
        }
    }
}

/// The libraries of OpenMP: libgomp waits by system calls of its own, libomp by condition variables and loops.
#[test]
fn openmp_programs_neither_hang_nor_race() {
    for (front, library) in [("tsan", "libgomp"), ("plugin", "libomp")] {
        if !fronts().contains(&front) {
            continue;
        }
        let folder = folder();
        let compiler = if front == "tsan" { "gcc" } else { "clang-22" };
        let mut plain = Command::new(compiler);
        plain.args(["-fopenmp"]).arg(source("openmp.c")).arg("-o").arg(folder.path().join("plain"));
        if !plain.output().is_ok_and(|ran| ran.status.success()) {
            eprintln!("{library} is not installed: OpenMP with {compiler} is not tested");
            continue;
        }
        let (expected, _) = succeeds(&mut Command::new(folder.path().join("plain")));
        let program = Program::new(folder, "openmp.c", front, &["-fopenmp"]);
        for seed in 1..=SEEDS {
            let (out, said) = program.record(seed);
            assert_eq!(out, expected, "{said}");
            assert!(said.contains(library), "{said}");
            program.has_nothing(&[]);
        }
    }
}
