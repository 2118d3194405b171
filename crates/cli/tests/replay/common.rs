//! Compiling, recording and replaying small programs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The command.
pub(crate) fn reweave() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    command.stdin(Stdio::null());
    // What is told here is told of the hooks of ThreadSanitizer; the plugin has tests of its own.
    command.env("REWEAVE_FRONT", "tsan");
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

/// A compiled program with its recording, in a folder of its own.
pub(crate) struct Program {
    pub(crate) folder: TempDir,
    pub(crate) path: PathBuf,
    pub(crate) trace: PathBuf,
}

impl Program {
    /// Compiles a source.
    #[track_caller]
    pub(crate) fn compile(source: &Path, flags: &[&str]) -> Program {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, trace) = (folder.path().join("program"), folder.path().join("trace.rw"));
        let command = if source.extension().is_some_and(|end| end == "cpp") { "c++" } else { "cc" };
        let built = ran(reweave().arg(command).args(["-O1"]).args(flags).arg(source).arg("-o").arg(&path));
        assert_eq!(built.code, Some(0), "{}: {}", source.display(), built.err);
        Program { folder, path, trace }
    }

    /// Compiles a text as C.
    #[track_caller]
    pub(crate) fn of_text(text: &str) -> Program {
        let folder = tempfile::tempdir().expect("a folder");
        let source = folder.path().join("program.c");
        std::fs::write(&source, text).expect("it is written");
        Program::compile(&source, &[])
    }

    /// Records one run, with the threads one after another as far as they can.
    pub(crate) fn record(&self, arguments: &[&str]) -> Ran {
        let mut command = reweave();
        command.args(["record", "--quiet", "--policy", "plain", "--timeout", "60s", "-o"]).arg(&self.trace);
        ran(command.arg("--").arg(&self.path).args(arguments))
    }

    /// The findings of the recording.
    #[track_caller]
    pub(crate) fn predict(&self, kinds: &str) -> Vec<Value> {
        let mut command = reweave();
        command.args(["predict", "--quiet", "--json", "-"]).arg(&self.trace);
        if !kinds.is_empty() {
            command.args(["--kinds", kinds]);
        }
        let found = ran(&mut command);
        let document: Value = serde_json::from_str(&found.out).unwrap_or_else(|_| panic!("{}", found.err));
        document["findings"].as_array().cloned().unwrap_or_default()
    }

    /// All findings of the recording, replayed.
    #[track_caller]
    pub(crate) fn confirm(&self) -> Vec<Value> {
        let mut command = reweave();
        command.args(["predict", "--quiet", "--confirm", "--json", "-"]).arg(&self.trace);
        let found = ran(command.arg("--").arg(&self.path));
        let document: Value = serde_json::from_str(&found.out).unwrap_or_else(|_| panic!("{}", found.err));
        document["findings"].as_array().cloned().unwrap_or_default()
    }

    /// Replays a finding with more flags.
    pub(crate) fn replay(&self, finding: &str, flags: &[&str], arguments: &[&str]) -> Ran {
        let mut command = reweave();
        command.arg("replay").arg(&self.trace).arg(finding).args(flags);
        ran(command.arg("--").arg(&self.path).args(arguments))
    }
}

/// The fingerprint of a finding.
pub(crate) fn fingerprint(finding: &Value) -> &str {
    finding["fingerprint"].as_str().expect("a fingerprint")
}
