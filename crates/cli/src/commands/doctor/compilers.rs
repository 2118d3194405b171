//! Compilers, each tried on a small program from its source to a finding.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::Check;
use crate::commands::cargo::LLVM;
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

/// The same in Rust.
const RUST_PROGRAM: &str = "\
static mut SHARED: u32 = 0;
fn work() { unsafe { SHARED += 1 } }
fn main() {
    let thread = std::thread::spawn(work);
    work();
    thread.join().unwrap();
}
";

const RUST_PROJECT: &str =
    "[package]\nname = \"race\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";

/// Compilers of C that have ThreadSanitizer's hooks, and those of C++ beside them.
const OTHERS: [(&str, &str); 3] = [("gcc", "g++"), ("clang", "clang++"), ("cc", "c++")];

/// The rows of the compilers, and whether C programs can be recorded with one of them.
pub(super) fn checks() -> (Vec<Check>, bool) {
    if !runtime_library::is_there() {
        let found = format!("this is {} {}", env::consts::ARCH, env::consts::OS);
        let advice = "programs are recorded on Linux on x86-64";
        return (vec![Check::missing("record, any compiler", found, advice)], false);
    }
    let mut checks: Vec<Check> = runtime_library::versions().map(plugin).collect();
    let mut known = BTreeSet::new();
    for (c, cpp) in OTHERS {
        // The same compiler has several names.
        let path = in_path(OsStr::new(c)).map(|path| (fs::canonicalize(&path).unwrap_or(path.clone()), path));
        if let Some((_, path)) = path.filter(|(real, _)| known.insert(real.clone())) {
            checks.push(tried(format!("record, {c}"), "tsan", &path, in_path(OsStr::new(cpp)).as_deref()));
        }
    }
    if known.is_empty() {
        let names = OTHERS.map(|(c, _)| c).join(", ");
        let advice = "install one of them (Debian: apt-get install gcc)";
        checks.push(Check::missing("record, any compiler", format!("no {names} on the PATH"), advice));
    }
    let records = checks.iter().any(Check::is_ok);
    checks.push(rust());
    (checks, records)
}

/// The plugin for one LLVM, in the clang of that version.
fn plugin(llvm: u32) -> Check {
    let name = format!("record, plugin {llvm}");
    // One of them is enough for branches.
    let lacks = if runtime_library::versions().any(|other| other != llvm && is_usable(other)) {
        Check::limited
    } else {
        Check::missing
    };
    if !runtime_library::has_plugin(llvm) {
        let advice = format!(
            "install llvm-{llvm}-dev and clang-{llvm} (Debian), then build reweave again; traces have no branches without a plugin"
        );
        return lacks(name, format!("this reweave was built without LLVM {llvm}'s headers"), advice);
    }
    let clang = format!("clang-{llvm}");
    let Some(compiler) = in_path(OsStr::new(&clang)) else {
        let advice = format!("install it (Debian: apt-get install {clang})");
        return lacks(name, format!("no {clang} on the PATH"), advice);
    };
    tried(name, "plugin", &compiler, in_path(OsStr::new(&format!("clang++-{llvm}"))).as_deref())
}

fn is_usable(llvm: u32) -> bool {
    runtime_library::has_plugin(llvm) && in_path(OsStr::new(&format!("clang-{llvm}"))).is_some()
}

/// A compiler of C, and that of C++ beside it, each from a source to a finding.
fn tried(name: String, front: &str, c: &Path, cpp: Option<&Path>) -> Check {
    let version = first_line(Command::new(c).arg("--version").output());
    let outcome =
        try_out(front, "cc", c).and_then(|()| cpp.map_or(Ok(()), |compiler| try_out(front, "c++", compiler)));
    match (outcome, cpp) {
        (Err(failure), _) => {
            Check::missing(name, format!("{version}: {failure}"), "see the message in this row")
        }
        (Ok(()), Some(_)) => {
            Check::ok(name, format!("{version}: C and C++ compiled, recorded, and a race found"))
        }
        (Ok(()), None) => {
            Check::ok(name, format!("{version}: C compiled, recorded, and a race found; its C++ is not here"))
        }
    }
}

/// Compiles the program, records it and predicts, as a user would.
fn try_out(front: &str, language: &str, compiler: &Path) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let source = if language == "cc" { "race.c" } else { "race.cpp" };
    fs::write(folder.path().join(source), PROGRAM).map_err(|error| format!("{source}: {error}"))?;
    let variable = if language == "cc" { "REWEAVE_CC" } else { "REWEAVE_CXX" };
    let environment = [("REWEAVE_FRONT", OsStr::new(front)), (variable, compiler.as_os_str())];
    run_all(
        folder.path(),
        &environment,
        &[
            (&[language, "-O1", source, "-o", "race"], 0),
            (&["record", "-o", "race.rw", "--", "./race"], 0),
            (&["predict", "--kinds", "race", "race.rw"], 1),
        ],
    )
}

/// Runs commands of this program in a folder, each with the exit code that it has to have.
fn run_all(folder: &Path, environment: &[(&str, &OsStr)], steps: &[(&[&str], i32)]) -> Result<(), String> {
    let ours = env::current_exe().map_err(|error| format!("this program is not to be found: {error}"))?;
    for (arguments, expected) in steps {
        let mut command = Command::new(&ours);
        command.args(*arguments).current_dir(folder).envs(environment.iter().copied());
        let output = command.output().map_err(|error| error.to_string())?;
        if output.status.code() != Some(*expected) {
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
    let answer = match Command::new(&rustc).arg("-vV").output() {
        Err(_) => {
            return Check::missing(NAME, "no rustc on the PATH", "install a Rust toolchain, 1.95 or later");
        }
        // A name that rustup gave and that leads to no toolchain, for one.
        Ok(answer) if !answer.status.success() => {
            let said = String::from_utf8_lossy(&answer.stderr).lines().next().unwrap_or_default().to_owned();
            let advice = "install a Rust toolchain, 1.95 or later";
            return Check::missing(NAME, format!("rustc does not work: {said}"), advice);
        }
        Ok(answer) => String::from_utf8_lossy(&answer.stdout).into_owned(),
    };
    let version = answer.lines().next().unwrap_or("rustc of an unknown version").to_owned();
    let llvm = answer.lines().find_map(|line| line.strip_prefix("LLVM version: ")).unwrap_or("unknown");
    let found = format!("{version}, LLVM {llvm}");
    if !runtime_library::has_plugin(LLVM) {
        let advice = format!("install llvm-{LLVM}-dev (Debian), then build reweave again");
        return Check::limited(
            NAME,
            format!("{found}; this reweave was built without the plugin for LLVM {LLVM}"),
            advice,
        );
    }
    if llvm.split('.').next().and_then(|major| major.parse().ok()) != Some(LLVM) {
        let advice = "use rustc 1.95, or REWEAVE_FRONT=tsan, which records std's own locks in part only";
        return Check::limited(NAME, format!("{found}: the plugin is for LLVM {LLVM}"), advice);
    }
    match try_rust() {
        Ok(()) => Check::ok(NAME, format!("{found}: compiled, recorded, and a race found")),
        Err(failure) => Check::missing(NAME, format!("{found}: {failure}"), "see the message in this row"),
    }
}

/// A project of one file, built and recorded by cargo.
fn try_rust() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| format!("no temporary folder: {error}"))?;
    let put = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).map_err(|error| format!("{name}: {error}"))
    };
    put("Cargo.toml", RUST_PROJECT)?;
    fs::create_dir(folder.path().join("src")).map_err(|error| format!("src: {error}"))?;
    put("src/main.rs", RUST_PROGRAM)?;
    let target = folder.path().join("target");
    let environment = [
        ("REWEAVE_FRONT", OsStr::new("plugin")),
        ("CARGO_TARGET_DIR", target.as_os_str()),
        ("CARGO_NET_OFFLINE", OsStr::new("true")),
    ];
    run_all(
        folder.path(),
        &environment,
        &[
            (&["cargo", "run", "--quiet", "-o", "race.rw"], 0),
            (&["predict", "--kinds", "race", "race.rw"], 1),
        ],
    )
}

fn first_line(output: std::io::Result<Output>) -> String {
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("a compiler of an unknown version").to_owned()
}
