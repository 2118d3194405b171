//! What a verification may take: its budget covers builds and checks, its runs all bugs, and what
//! is left open is said.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{Pair, ran, reweave};
use crate::inputs::{repository, schedules};
use crate::verdicts::{bare, fixed, half};

/// Whether a process is alive that wrote its number there. On a machine that has much to do, the
/// budget may be over before it came to that.
fn is_alive(pid: &Path) -> bool {
    let Ok(pid) = fs::read_to_string(pid) else { return false };
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// It neither ends by itself nor when it is asked to.
const STUBBORN: &str = "echo $$ >pid; trap '' TERM INT; while :; do sleep 1; done";

#[test]
fn a_check_that_never_ends_is_ended_with_the_budget() {
    let pair = Pair::of_texts(&bare(), &fixed("", "reader"));
    let said = pair.verify(&["--budget", "2s", "--fails", &format!("cmd {STUBBORN}")]);
    assert_eq!(said.code, Some(3), "{}{}", said.out, said.err);
    assert!(said.out.starts_with("UNDECIDED: ") && said.out.contains("the time"), "{}", said.out);
    assert!(said.out.contains("--budget"), "{}", said.out);
    assert!(!is_alive(&pair.folder.path().join("pid")), "the check is still there");
}

#[test]
fn a_build_that_never_ends_is_ended_with_the_budget() {
    let folder = repository(&[bare(), fixed("", "reader")]);
    let pid = folder.path().join("pid");
    let build = STUBBORN.replace(">pid", &format!(">'{}'", pid.display()));
    let mut command = reweave();
    command.args(["verify", "--git", "HEAD~1..HEAD", "--budget", "1s", "--build", &build, "--", "./cache"]);
    let said = ran(command.current_dir(folder.path().join("src")));
    assert_eq!(said.code, Some(3), "{}{}", said.out, said.err);
    assert!(said.err.contains("the time of --budget was up while"), "{}", said.err);
    assert!(!is_alive(&pid), "the build is still there");
}

/// What a build leaves running does not stay either.
#[test]
fn nothing_that_a_build_started_stays() {
    let folder = repository(&[bare(), half("", "reader")]);
    let pid = folder.path().join("pid");
    let build = format!(
        "sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >'{}'; {} cc -O1 -g cache.c -o cache",
        pid.display(),
        env!("CARGO_BIN_EXE_reweave")
    );
    let mut command = reweave();
    command.args(["verify", "--git", "HEAD~1..HEAD", "--build", &build, "--", "./cache"]);
    let said = ran(command.current_dir(folder.path().join("src")));
    assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
    assert!(!is_alive(&pid), "what the build started is still there");
}

#[test]
fn what_the_runs_did_not_come_to_is_open() {
    let pair = Pair::of_texts(&bare(), &fixed("", "reader"));
    let said = pair.verify(&["--runs", "1"]);
    assert_eq!(said.code, Some(3), "{}{}", said.out, said.err);
    assert!(said.out.contains("because the runs were used up: --runs 1"), "{}", said.out);
}

#[test]
fn the_same_command_saves_the_same_schedule() {
    let pair = Pair::of_texts(&bare(), &half("", "reader"));
    let saved = ["first", "second"].map(|name| {
        let said = pair.verify(&["--keep", name]);
        assert_eq!(said.code, Some(1), "{}{}", said.out, said.err);
        let files = schedules(&pair.folder.path().join(name));
        let [only] = &files[..] else { panic!("one schedule is saved: {files:?}") };
        fs::read(only).expect("a schedule")
    });
    assert!(saved[0] == saved[1], "the schedules differ");
}

/// Nine counters that two threads look at twice, each in a function of its own.
fn counters(is_locked: bool) -> String {
    let (lock, unlock) = match is_locked {
        true => ("pthread_mutex_lock(&lock);", "pthread_mutex_unlock(&lock);"),
        false => ("", ""),
    };
    let mut text = String::from(
        "#include <pthread.h>\n#include <stdlib.h>\n\
         pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nint gone;\n",
    );
    let (mut reads, mut writes) = (String::new(), String::new());
    for number in 0..9 {
        let _ = write!(
            text,
            "int counter{number} = 1;\nstatic void look{number}(void) {{\n    {lock}\n    int seen = counter{number};\n\
             \x20   __asm__ volatile(\"\" ::: \"memory\");\n    if (seen != counter{number})\n        gone = 1;\n    {unlock}\n}}\n\
             static void set{number}(void) {{\n    {lock}\n    counter{number} = 0;\n    {unlock}\n}}\n"
        );
        let _ = write!(reads, "look{number}(); ");
        let _ = write!(writes, "set{number}(); ");
    }
    let _ = write!(
        text,
        "static void *reader(void *unused) {{ {reads}return unused; }}\n\
         static void *writer(void *unused) {{ {writes}return unused; }}\n\
         int main(void) {{\n    pthread_t a, b;\n    pthread_create(&a, NULL, reader, NULL);\n\
         \x20   pthread_create(&b, NULL, writer, NULL);\n    pthread_join(a, NULL);\n    pthread_join(b, NULL);\n\
         \x20   return gone;\n}}\n"
    );
    text
}

/// However many bugs a fix is for, the new program runs under the schedule of each before it is
/// called sufficient.
#[test]
fn every_bug_is_steered_at() {
    let pair = Pair::of_texts(&counters(false), &counters(true));
    let said = pair.document(&["--runs", "200"]);
    assert_eq!(said["verdict"], "sufficient", "{said:#}");
    let others = said["other_bugs"].as_array().expect("other bugs");
    assert!(others.len() >= 8, "{said:#}");
    for bug in others.iter().chain([&said["bug"]]) {
        assert!(bug["steps"].is_array(), "{}: its schedule was not run", bug["title"]);
    }
    // With fewer runs than bugs, not all of them can be looked at.
    let said = pair.document(&["--runs", "7"]);
    assert_eq!(said["verdict"], "undecided", "{said:#}");
    assert!(said["gaps"].to_string().contains("the runs were used up"), "{said:#}");
}

/// On a terminal it says which run it is in, of how many, and for how long that can go on.
#[test]
fn a_terminal_shows_how_far_a_verification_is() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("script is not installed: not tried on a terminal");
        return;
    }
    let pair = Pair::of_texts(&bare(), &half("", "reader"));
    let (pipe, go) = (pair.folder.path().join("pipe"), pair.folder.path().join("go"));
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo starts").success());
    let command = format!(
        "'{}' verify --before ./old --after ./new --fails 'cmd test -e go || cat pipe'",
        env!("CARGO_BIN_EXE_reweave")
    );
    let mut terminal = Command::new("script");
    terminal.args(["-qefc", &command, "/dev/null"]).env("TERM", "xterm").current_dir(pair.folder.path());
    let mut terminal = terminal.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("script starts");
    let (mut shown, mut room) = (Vec::new(), [0; 4096]);
    let mut out = terminal.stdout.take().expect("a pipe");
    let mut waits = true;
    loop {
        match out.read(&mut room).expect("it writes") {
            0 => break,
            count => shown.extend_from_slice(&room[..count]),
        }
        let text = String::from_utf8_lossy(&shown);
        if waits && text.contains("in the old program, run 1 of 3") && text.contains("at most") {
            waits = false;
            fs::write(&go, "").expect("it is written");
            let mut pipe = fs::OpenOptions::new().write(true).open(&pipe).expect("the check reads");
            pipe.write_all(b"go\n").expect("it reads");
        }
    }
    let shown = String::from_utf8_lossy(&shown);
    assert!(!waits && shown.contains("minutes left"), "no progress: {shown}");
    assert_eq!(terminal.wait().expect("it ends").code(), Some(1), "{shown}");
    let (_, last) = shown.rsplit_once("\r\u{1b}[2K").expect("the line is wiped out");
    assert!(last.contains("INSUFFICIENT") && !last.contains("looking for"), "{shown}");
}
