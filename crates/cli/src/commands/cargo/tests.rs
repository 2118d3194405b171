//! What `cargo test` runs instead of a test program: each test in a process of its own, recorded to a trace of its own.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

use anyhow::Context;
use reweave_session::{Nested, adopt, interrupt};

use crate::args::CargoTestArgs;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plain::plain;
use crate::plural;

/// The status of test programs some of whose tests failed.
const FAILED: u8 = 101;

/// What became of the tests.
#[derive(Default)]
struct Count {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs the tests of one test program.
pub(crate) fn run(args: &CargoTestArgs, console: &Console) -> anyhow::Result<Exit> {
    let Some((program, arguments)) = args.program.split_first() else {
        return Err(Failure::new("no program with tests").into());
    };
    let folder = args.traces.join(stem(Path::new(program)));
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    interrupt::watch()?;
    adopt()?;
    let Some(tests) = list(program, arguments)? else {
        // It does not list its tests: all of it is one.
        let trace = folder.join("main.rw");
        let ran = record(args, &trace, program, arguments)?;
        pass_on(&ran)?;
        return Ok(Exit::of_program(ran.status));
    };
    let mut count = Count::default();
    say(format_args!("\nrunning {}, each on its own", plural::count(tests.len() as u64, "test")))?;
    for test in &tests {
        one(args, &folder, program, arguments, test, &mut count)?;
        if interrupt::requested() {
            return Ok(Exit::Interrupted);
        }
    }
    let Count { passed, failed, ignored } = count;
    let result = if failed == 0 { "ok" } else { "FAILED" };
    say(format_args!("\ntest result: {result}. {passed} passed; {failed} failed; {ignored} ignored"))?;
    if passed + failed > 0 {
        console.note(format_args!("traces are in {}", folder.display()));
    }
    Ok(if failed == 0 { Exit::Yes } else { Exit::Program(FAILED) })
}

/// Runs and records one test, and says what became of it.
fn one(
    args: &CargoTestArgs,
    folder: &Path,
    program: &OsStr,
    arguments: &[OsString],
    test: &str,
    count: &mut Count,
) -> anyhow::Result<()> {
    let trace = folder.join(file_name(test));
    let mut own: Vec<OsString> = vec![test.into(), "--exact".into(), "--test-threads=1".into()];
    // What chose the test has done so.
    let kept = ["--ignored", "--include-ignored", "--nocapture", "--no-capture", "--show-output"];
    own.extend(arguments.iter().filter(|argument| kept.iter().any(|kept| argument == kept)).cloned());
    let ran = record(args, &trace, program, &own)?;
    let ignored = String::from_utf8_lossy(&ran.stdout).contains("; 1 ignored");
    let said = match (ran.status.success(), ignored) {
        (true, true) => {
            count.ignored += 1;
            // Nothing of the program's own ran.
            for ending in ["", ".steps", ".inputs"] {
                let _ = fs::remove_file(folder.join(file_name(test) + ending));
            }
            "ignored"
        }
        (true, false) => {
            count.passed += 1;
            "ok"
        }
        (false, _) => {
            count.failed += 1;
            "FAILED"
        }
    };
    say(format_args!("test {test} ... {said}"))?;
    let shown = ["--nocapture", "--no-capture", "--show-output"];
    if said == "FAILED" || arguments.iter().any(|argument| shown.iter().any(|shown| argument == shown)) {
        pass_on(&ran)?;
    }
    Ok(())
}

/// Prints a line; where nobody reads it any more, that is an error and no panic.
fn say(line: fmt::Arguments<'_>) -> io::Result<()> {
    writeln!(io::stdout(), "{}", plain(line))
}

fn pass_on(ran: &Output) -> io::Result<()> {
    io::stdout().write_all(&ran.stdout)?;
    io::stderr().write_all(&ran.stderr)
}

/// Records the program with these arguments; what it says is kept.
fn record(
    args: &CargoTestArgs,
    trace: &Path,
    program: &OsStr,
    arguments: &[OsString],
) -> anyhow::Result<Output> {
    let ours = env::current_exe().context("this program is not to be found")?;
    let mut command = Command::new(ours);
    command.arg("record").arg("--output").arg(trace).args(args.recording());
    command.arg("--").arg(program).args(arguments);
    Nested::output(&mut command).with_context(|| program.display().to_string())
}

/// The names of the tests that the arguments choose; none where the program does not know what tests are.
fn list(program: &OsStr, arguments: &[OsString]) -> anyhow::Result<Option<Vec<String>>> {
    let ran = Command::new(program)
        .args(arguments)
        .args(["--list", "--format", "terse"])
        .output()
        .with_context(|| program.display().to_string())?;
    if !ran.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let names = |line: &str| Some(line.strip_suffix(": test")?.to_owned());
    Ok(Some(text.lines().filter_map(names).collect()))
}

/// The name of a test program without what cargo adds to it.
fn stem(program: &Path) -> PathBuf {
    let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match name.rsplit_once('-') {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            name.into()
        }
        _ => name.into(),
    }
}

/// The file for the trace of a test.
fn file_name(test: &str) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || "_-.".contains(letter) { letter } else { '-' };
    format!("{}.rw", test.replace("::", ".").chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn traces_are_named_by_test_program_and_test() {
        assert_eq!(stem(Path::new("/t/deps/shop-0123456789abcdef")), PathBuf::from("shop"));
        assert_eq!(stem(Path::new("/t/deps/a-shop")), PathBuf::from("a-shop"));
        assert_eq!(file_name("stock::tests::sells"), "stock.tests.sells.rw");
        assert_eq!(file_name("src/lib.rs - f (line 3)"), "src-lib.rs---f--line-3-.rw");
    }
}
