//! Compiling and recording the test programs.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The command.
pub(crate) fn reweave() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    command.stdin(Stdio::null());
    command
}

/// A source of a test program.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name)
}

/// Compilers for C and C++ under their names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compiler {
    pub(crate) c: &'static str,
    pub(crate) cpp: &'static str,
}

pub(crate) const GCC: Compiler = Compiler { c: "gcc", cpp: "g++" };
const CLANG: Compiler = Compiler { c: "clang", cpp: "clang++" };
/// The one that loads the plugin.
pub(crate) const CLANG_22: Compiler = Compiler { c: "clang-22", cpp: "clang++-22" };

/// The compilers that are there; gcc must be, and a missing clang is said.
pub(crate) fn compilers() -> Vec<Compiler> {
    let is_there =
        |name: &str| Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success());
    let mut there = vec![GCC];
    if is_there(CLANG.c) && is_there(CLANG.cpp) {
        there.push(CLANG);
    } else {
        eprintln!("clang is not installed: only gcc is tested");
    }
    if is_there(CLANG_22.c) && is_there(CLANG_22.cpp) {
        there.push(CLANG_22);
    } else {
        eprintln!("clang 22 is not installed: the plugin is not tested");
    }
    there
}

/// A compiled program in a folder of its own.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
}

/// Compiles a test program, and demands that it works.
#[track_caller]
pub(crate) fn compile(compiler: Compiler, name: &str, flags: &[&str]) -> Program {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program");
    let command = if name.ends_with(".cpp") { "c++" } else { "cc" };
    let ran = reweave()
        .env("REWEAVE_CC", compiler.c)
        .env("REWEAVE_CXX", compiler.cpp)
        .arg(command)
        .args(flags)
        .arg(source(name))
        .arg("-o")
        .arg(&path)
        .output()
        .expect("the command starts");
    assert!(ran.status.success(), "{compiler:?} {name}: {}", String::from_utf8_lossy(&ran.stderr));
    Program { folder, path }
}

/// What a recording came to.
pub(crate) struct Recorded {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) trace: PathBuf,
}

impl Program {
    /// Records the program with these flags and arguments.
    pub(crate) fn record<A: AsRef<OsStr>>(&self, flags: &[&str], arguments: &[A]) -> Recorded {
        let trace = self.folder.path().join("trace.rw");
        let ran = reweave()
            .arg("record")
            .args(if flags.contains(&"--timeout") { &[][..] } else { &["--timeout", "60s"] })
            .args(flags)
            .arg("-o")
            .arg(&trace)
            .arg("--")
            .arg(&self.path)
            .args(arguments)
            .output()
            .expect("the command starts");
        Recorded::new(&ran, trace)
    }
}

impl Program {
    /// Records the program with these flags and variables of the environment.
    pub(crate) fn record_with(&self, environment: &[(&str, &str)], flags: &[&str]) -> Recorded {
        let trace = self.folder.path().join("trace.rw");
        let ran = reweave()
            .args(["record", "--timeout", "60s"])
            .args(flags)
            .arg("-o")
            .arg(&trace)
            .arg("--")
            .arg(&self.path)
            .envs(environment.iter().copied())
            .output()
            .expect("the command starts");
        Recorded::new(&ran, trace)
    }
}

/// Demands that nothing but atomicity is found in a recording, in the strictest model and the most permissive one.
#[track_caller]
pub(crate) fn nothing_is_found(recorded: &Recorded, what: &str) {
    for model in ["rf", "auto"] {
        let ran = reweave()
            .args(["predict", "--quiet", "--kinds", "race,deadlock,uaf,order", "--model", model])
            .arg(&recorded.trace)
            .output()
            .expect("the command starts");
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(
            ran.status.code() == Some(0),
            "{what}, {model}: {said}{}",
            String::from_utf8_lossy(&ran.stderr)
        );
    }
}

impl Recorded {
    fn new(ran: &Output, trace: PathBuf) -> Recorded {
        Recorded {
            code: ran.status.code(),
            out: String::from_utf8_lossy(&ran.stdout).into_owned(),
            err: String::from_utf8_lossy(&ran.stderr).into_owned(),
            trace,
        }
    }

    /// The events as text, once the trace is found to be well formed, with all values, and right about them.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Line> {
        let ran =
            reweave().args(["validate", "--quiet"]).arg(&self.trace).output().expect("the command starts");
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success(), "{}{said}{}", self.err, String::from_utf8_lossy(&ran.stderr));
        assert!(said.contains("capabilities: ") && said.contains("values"), "{said}");
        let text =
            reweave().arg("convert").arg(&self.trace).args(["-", "--to", "std"]).output().expect("it starts");
        let text = String::from_utf8(text.stdout).expect("a trace is text");
        let lines: Vec<Line> = text.lines().filter(|line| !line.starts_with('#')).map(Line::parse).collect();
        check_values(&lines);
        lines
    }
}

/// A line of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) thread: String,
    pub(crate) op: String,
    pub(crate) target: String,
    pub(crate) site: String,
    pub(crate) value: Option<String>,
}

impl Line {
    fn parse(line: &str) -> Line {
        let mut fields = line.split('|').map(str::to_owned);
        let thread = fields.next().unwrap_or_default();
        let what = fields.next().unwrap_or_default();
        let (op, target) = match what.split_once('(') {
            Some((op, target)) => (op.to_owned(), target.trim_end_matches(')').to_owned()),
            None => (what, String::new()),
        };
        Line { thread, op, target, site: fields.next().unwrap_or_default(), value: fields.next() }
    }
}

/// The naive check that each read has the value of the write before it.
#[track_caller]
fn check_values(lines: &[Line]) {
    let mut memory: HashMap<&str, Option<&str>> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        let value = line.value.as_deref();
        let (read, written) = match line.op.as_str() {
            "r" | "ar" => (value, None),
            "w" | "aw" | "unseen" => (None, value),
            "af" => (value.map(|value| value.split_once('!').map_or(value, |(found, _)| found)), None),
            "au" => value
                .and_then(|value| value.split_once('>'))
                .map_or((None, None), |(a, b)| (Some(a), Some(b))),
            "alloc" | "free" => {
                let fields = format!("{}.", line.target);
                memory
                    .iter_mut()
                    .filter(|(name, _)| name.starts_with(&fields))
                    .for_each(|(_, value)| *value = None);
                continue;
            }
            _ => continue,
        };
        assert!(read.is_some() || written.is_some(), "event {number} has no value: {line:?}");
        let there = memory.entry(&line.target).or_insert(None);
        if let (Some(read), Some(there)) = (read, *there) {
            assert_eq!(read, there, "event {number}: {line:?}");
        }
        *there = written.or(read);
    }
}

/// How many events do `op`.
pub(crate) fn count(lines: &[Line], op: &str) -> usize {
    lines.iter().filter(|line| line.op == op).count()
}
