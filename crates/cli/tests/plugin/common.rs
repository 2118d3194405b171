//! Compiling and recording small programs with the plugin.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The plugin for LLVM 19, as a front; `plugin` is the one for LLVM 22.
pub(crate) const OLDER: &str = "plugin-19";

/// Whether the plugin for LLVM 22 can be tested here; says so where it cannot.
pub(crate) fn is_there() -> bool {
    has_clang("22")
}

/// The plugins that can be tested here, the one for LLVM 22 first.
pub(crate) fn plugins() -> Vec<&'static str> {
    [("plugin", "22"), (OLDER, "19")]
        .into_iter()
        .filter(|(_, llvm)| has_clang(llvm))
        .map(|(front, _)| front)
        .collect()
}

fn has_clang(llvm: &str) -> bool {
    let there = ["clang", "clang++"].iter().all(|name| {
        let answer = Command::new(format!("{name}-{llvm}")).arg("--version").output();
        answer.is_ok_and(|answer| answer.status.success())
    });
    if !there {
        eprintln!("clang {llvm} is not installed: the plugin for LLVM {llvm} is not tested");
    }
    there
}

/// The command.
pub(crate) fn reweave() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    command.stdin(Stdio::null());
    command
}

/// Runs a command that has to succeed; what it writes to standard output.
#[track_caller]
pub(crate) fn output(command: &mut Command) -> String {
    let ran = command.output().expect("the command starts");
    assert!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text")
}

/// A program in a folder of its own.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
}

/// One run of it: its events, and the ways of its branches, by thread.
pub(crate) struct Run {
    pub(crate) trace: PathBuf,
    pub(crate) events: Vec<Event>,
    pub(crate) capabilities: String,
    ways: Vec<(String, String)>,
}

/// A line of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    pub(crate) thread: String,
    /// The operation with its target.
    pub(crate) what: String,
    pub(crate) site: String,
    pub(crate) value: String,
}

impl Program {
    /// Compiles a text as C, or as C++, through one front.
    #[track_caller]
    pub(crate) fn new(text: &str, language: &str, front: &str, flags: &[&str]) -> Program {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, path) =
            (folder.path().join(format!("program.{language}")), folder.path().join("program"));
        std::fs::write(&source, text).expect("it is written");
        let command = if language == "c" { "cc" } else { "c++" };
        let mut build = reweave();
        let front = match front {
            OLDER => {
                build.env("REWEAVE_CC", "clang-19").env("REWEAVE_CXX", "clang++-19");
                "plugin"
            }
            front => front,
        };
        build.arg(command).arg(format!("--reweave-front={front}")).args(flags).arg(&source).arg("-o");
        output(build.arg(&path));
        Program { folder, path }
    }

    /// Records a run, with the threads one after another as far as they can, and demands that its trace is well formed.
    #[track_caller]
    pub(crate) fn record(&self, name: &str, arguments: &[&str]) -> Run {
        let at = |end: &str| self.folder.path().join(format!("{name}.{end}"));
        let (trace, ways) = (at("rw"), at("ways"));
        let mut record = reweave();
        record.args(["record", "--quiet", "--policy", "plain", "--timeout", "60s", "-o"]).arg(&trace);
        output(record.arg("--ways").arg(&ways).arg("--").arg(&self.path).args(arguments));
        output(reweave().args(["validate", "--quiet"]).arg(&trace));
        let text = output(reweave().arg("convert").arg(&trace).args(["-", "--to", "std"]));
        let head = text.lines().find(|line| line.starts_with("#!")).unwrap_or_default();
        let ways = std::fs::read_to_string(ways).expect("the ways are written");
        Run {
            trace,
            capabilities: head.trim_start_matches("#! capabilities:").trim().to_owned(),
            events: text.lines().filter(|line| !line.starts_with('#')).map(Event::parse).collect(),
            ways: ways.lines().filter_map(way).collect(),
        }
    }
}

/// The thread, and the way with the number for those that were left out; without the site.
fn way(line: &str) -> Option<(String, String)> {
    let mut words = line.splitn(4, ' ');
    let thread = words.next()?.to_owned();
    Some((thread, format!("{} {}", words.next()?, words.next()?)))
}

impl Event {
    fn parse(line: &str) -> Event {
        let mut fields = line.split('|').map(str::to_owned);
        let mut next = || fields.next().unwrap_or_default();
        Event { thread: next(), what: next(), site: next(), value: next() }
    }
}

impl Run {
    /// What a thread did, with values where there are any: `r(global x)=3`.
    pub(crate) fn of(&self, thread: &str) -> Vec<String> {
        let own = self.events.iter().filter(|event| event.thread == thread);
        own.map(|event| match event.value.as_str() {
            "" => event.what.clone(),
            value => format!("{}={value}", event.what),
        })
        .collect()
    }

    /// The ways that a thread took.
    pub(crate) fn ways(&self, thread: &str) -> Vec<&str> {
        self.ways.iter().filter(|(of, _)| of == thread).map(|(_, way)| way.as_str()).collect()
    }
}

/// What `predict` finds in a trace, as JSON.
#[track_caller]
pub(crate) fn predict(trace: &Path, flags: &[&str]) -> serde_json::Value {
    let ran = reweave().args(["predict", "--quiet", "--json", "-"]).args(flags).arg(trace).output();
    let ran = ran.expect("the command starts");
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)))
}
