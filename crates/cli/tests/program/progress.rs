//! Progress: a line on a terminal for what takes more than a second, and nothing elsewhere.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Whether a command can be started.
fn has(name: &str) -> bool {
    let found = Command::new(name).arg("--version").output().is_ok();
    if !found {
        println!("{name} is not installed: not tried on a terminal");
    }
    found
}

/// A pipe with a name, through which a trace comes as slowly as the test wants.
fn pipe(folder: &Path) -> PathBuf {
    let pipe = folder.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    pipe
}

/// Opens the pipe for writing, and writes one event: the command is at work, and waits for more.
fn begin(pipe: &Path) -> File {
    let mut trace = OpenOptions::new().write(true).open(pipe).expect("the pipe opens");
    trace.write_all(b"T1|w(x)|1\n").expect("the command reads");
    trace
}

#[test]
fn a_terminal_shows_what_is_being_done_until_it_is_done() {
    if !has("script") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = pipe(folder.path());
    let command = format!("'{}' validate - <'{}'", env!("CARGO_BIN_EXE_reweave"), pipe.display());
    let mut terminal = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script starts");
    let trace = begin(&pipe);
    // The trace ends once the line is there; without a line after a minute, too, and that is a failure.
    let (seen, wait) = channel::<()>();
    let end = thread::spawn(move || {
        let result = wait.recv_timeout(Duration::from_secs(60));
        drop(trace);
        result
    });
    let (mut shown, mut room) = (Vec::new(), [0; 4096]);
    let mut out = terminal.stdout.take().expect("a pipe");
    let mut seen = Some(seen);
    loop {
        match out.read(&mut room).expect("it writes") {
            0 => break,
            count => shown.extend_from_slice(&room[..count]),
        }
        if String::from_utf8_lossy(&shown).contains("reading -, for ")
            && let Some(seen) = seen.take()
        {
            let _ = seen.send(());
        }
    }
    let shown = String::from_utf8_lossy(&shown);
    assert_ne!(end.join().expect("it ends"), Err(RecvTimeoutError::Timeout), "no progress: {shown}");
    assert!(terminal.wait().expect("it ends").success(), "{shown}");
    // The line is wiped out before the answer.
    let (_, last) =
        shown.rsplit_once("\r\u{1b}[2K").unwrap_or_else(|| panic!("no line is wiped out: {shown}"));
    assert!(last.contains("well formed") && !last.contains("reading"), "{shown}");
}

/// In a pipe or a file the same wait leaves nothing but the answer.
#[test]
fn elsewhere_there_is_no_progress() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = pipe(folder.path());
    let path = pipe.clone();
    let writer = thread::spawn(move || {
        let trace = begin(&path);
        // Twice as long as a terminal would wait for the line.
        thread::sleep(Duration::from_secs(2));
        drop(trace);
    });
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    let ran = command.args(["validate", "-"]).stdin(File::open(&pipe).expect("the pipe")).output();
    let ran = ran.expect("it starts");
    writer.join().expect("it writes");
    assert_eq!(String::from_utf8_lossy(&ran.stderr), "", "{ran:?}");
    assert!(String::from_utf8_lossy(&ran.stdout).starts_with("-: well formed"), "{ran:?}");
}
