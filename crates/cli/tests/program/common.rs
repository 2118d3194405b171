//! Running the program, and comparing what it says with what is on file.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The command, run in the folder of test data.
pub(crate) fn reweave() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    command.current_dir(data("")).env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

/// Runs the command with these arguments.
pub(crate) fn run<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>) -> Ran {
    Ran::new(reweave().args(args).output().expect("the program starts"))
}

/// Runs the command with `input` on standard input.
pub(crate) fn run_with<A: AsRef<OsStr>>(args: impl IntoIterator<Item = A>, input: &[u8]) -> Ran {
    let mut command = reweave();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_owned();
    let feeder = std::thread::spawn(move || {
        // A program that has seen enough closes the pipe early.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().expect("the program ends");
    feeder.join().expect("no panic");
    Ran::new(output)
}

/// What a run came to.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn new(output: Output) -> Ran {
        let err = String::from_utf8(output.stderr).expect("errors are text");
        Ran { code: output.status.code(), out: output.stdout, err }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.out).expect("results are text")
    }

    /// Demands an exit code, and shows everything otherwise.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Ran {
        let Ran { code: found, err, .. } = &self;
        assert_eq!(*found, Some(code), "stdout: {}\nstderr: {err}", String::from_utf8_lossy(&self.out));
        self
    }
}

/// A file of test data.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Compares `text` with the file `tests/golden/<name>.txt`; `REWEAVE_BLESS=1` writes it instead.
#[track_caller]
pub(crate) fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    if std::env::var_os("REWEAVE_BLESS").is_some_and(|value| value == "1") {
        return std::fs::write(&path, text).expect("golden files can be written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == text,
        "{} differs; look at it, and bless it with REWEAVE_BLESS=1\n--- expected\n{expected}--- found\n{text}",
        path.display()
    );
}
