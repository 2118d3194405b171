//! A rustc of another version whose LLVM is that of the plugin: std's primitives are known there,
//! too.

use std::process::Command;

use crate::project::{Project, findings, is_there};

/// What each of std's primitives publishes is read without a race; `RACED` is not published.
const PROGRAM: &str = "\
use std::sync::{Arc, Condvar, Mutex, OnceLock, mpsc};
static mut RACED: u32 = 0;
static mut FOR_LOCK: u32 = 0;
static mut FOR_ONCE: u32 = 0;
static mut FOR_CHANNEL: u32 = 0;
static ONCE: OnceLock<u32> = OnceLock::new();
fn main() {
    let state = Arc::new((Mutex::new(false), Condvar::new()));
    let (send, receive) = mpsc::sync_channel(1);
    let other = Arc::clone(&state);
    let thread = std::thread::spawn(move || unsafe {
        RACED += 1;
        FOR_ONCE = 1;
        ONCE.get_or_init(|| 1);
        FOR_LOCK = 1;
        *other.0.lock().unwrap() = true;
        other.1.notify_one();
        FOR_CHANNEL = 1;
        send.send(()).unwrap();
    });
    unsafe {
        RACED += 1;
        let mut ready = state.0.lock().unwrap();
        while !*ready {
            ready = state.1.wait(ready).unwrap();
        }
        drop(ready);
        FOR_LOCK += 1;
        if ONCE.get().is_some() {
            FOR_ONCE += 1;
        }
        receive.recv().unwrap();
        FOR_CHANNEL += 1;
    }
    thread.join().unwrap();
}
";

/// A toolchain of rustup's, and no other by what this test was built with.
fn with_toolchain(mut command: Command, toolchain: &str) -> Command {
    command.env("RUSTUP_TOOLCHAIN", toolchain).env_remove("CARGO").env_remove("RUSTC");
    command
}

#[test]
fn a_rustc_with_the_same_llvm_is_recorded_like_the_one_that_is_supported() {
    let asked = with_toolchain(Command::new("rustc"), "nightly").arg("-vV").output();
    let said = asked.map_or_else(|_| String::new(), |ran| String::from_utf8_lossy(&ran.stdout).into_owned());
    if !is_there() || !said.contains("-nightly") || !said.contains("LLVM version: 22.") {
        return eprintln!("there is no nightly toolchain with LLVM 22: not tested");
    }
    let project = Project::new("", &[("src/main.rs", PROGRAM)]);
    let mut run = with_toolchain(project.in_it(crate::common::reweave()), "nightly");
    let ran = run.args(["cargo", "run", "--quiet", "--offline", "-o", "trace.rw"]).output();
    let ran = ran.expect("the command starts");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(ran.status.success() && said.contains("with values and branches"), "{said}");
    let found = findings(&project.path().join("trace.rw"), "race");
    assert!(!found.is_empty(), "{said}");
    assert!(found.iter().all(|head| head.contains("RACED")), "{found:?}");
}
