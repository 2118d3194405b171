//! What others leave for us: folders in our name, pipes where rings are, names that drive a terminal.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{GCC, compile, reweave, source};
use crate::safe::is_root;

/// Nobody.
const OTHER: u32 = 65534;
const LIBRARY: &str = "libreweave_runtime.a";

/// A temporary folder that everybody may write to, and no other place for what compilers load.
struct Shared {
    folder: TempDir,
    temporary: PathBuf,
}

impl Shared {
    fn new() -> Shared {
        let folder = tempfile::tempdir().unwrap();
        let temporary = folder.path().join("tmp");
        fs::create_dir(&temporary).unwrap();
        let shared = Shared { folder, temporary };
        shared.open_to_all(0o1777);
        shared
    }

    fn open_to_all(&self, mode: u32) {
        fs::set_permissions(&self.temporary, Permissions::from_mode(mode)).unwrap();
    }

    /// Compiles a program; its status and what was said.
    fn build(&self) -> (Option<i32>, String) {
        let program = self.folder.path().join("program");
        let _ = fs::remove_file(&program);
        let ran = reweave()
            .env_remove("XDG_CACHE_HOME")
            .env("HOME", "/dev/null")
            .env("TMPDIR", &self.temporary)
            .env("REWEAVE_CC", "gcc")
            .args(["cc", "-O1"])
            .args([&source("places.c"), Path::new("-o"), &program])
            .output()
            .unwrap();
        assert_eq!(ran.status.success(), program.exists());
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    }

    /// The folder that our files are in.
    fn ours(&self) -> PathBuf {
        let mut all = fs::read_dir(&self.temporary).unwrap().map(|entry| entry.unwrap().path());
        all.find(|path| path.file_name().unwrap().to_string_lossy().starts_with("reweave-")).unwrap()
    }

    #[track_caller]
    fn is_refused(&self, why: &str) {
        let (code, said) = self.build();
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(why) && said.contains("set XDG_CACHE_HOME"), "{said}");
    }
}

/// Whoever comes first to a folder whose name is known beforehand does not decide what others compile with.
#[test]
fn a_folder_that_somebody_planted_in_the_temporary_one_is_not_used() {
    let shared = Shared::new();
    assert_eq!(shared.build().0, Some(0));
    let ours = shared.ours();
    assert_eq!(fs::metadata(&ours).unwrap().mode() & 0o777, 0o700);

    // Everything in it is right, but others may change it.
    fs::set_permissions(&ours, Permissions::from_mode(0o777)).unwrap();
    shared.is_refused("others may write to it");
    fs::set_permissions(&ours, Permissions::from_mode(0o700)).unwrap();
    // It is right in a folder in which anybody may put another in its place.
    shared.open_to_all(0o777);
    shared.is_refused("may be written to by everybody");
    shared.open_to_all(0o1777);
    // It is only a link.
    let elsewhere = shared.folder.path().join("elsewhere");
    fs::rename(&ours, &elsewhere).unwrap();
    symlink(&elsewhere, &ours).unwrap();
    shared.is_refused("belongs to another user");
    fs::remove_file(&ours).unwrap();
    fs::rename(&elsewhere, &ours).unwrap();
    // It is another user's, however closed.
    if is_root() {
        chown(&ours, Some(OTHER), None).unwrap();
        shared.is_refused("belongs to another user");
        chown(&ours, Some(0), None).unwrap();
    }
    assert_eq!(shared.build().0, Some(0));
}

/// A file counts by its owner, its mode and every byte; any other is made anew, and what it led to is left alone.
#[test]
fn a_file_that_is_not_what_it_should_be_is_made_anew() {
    let shared = Shared::new();
    assert_eq!(shared.build().0, Some(0));
    let library = shared.ours().join(LIBRARY);
    let good = fs::read(&library).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    let evil = shared.folder.path().join("evil.a");
    fs::write(&evil, &bad).unwrap();
    let is_mended = |what: &str| {
        assert_eq!(shared.build().0, Some(0), "{what}");
        let about = fs::symlink_metadata(&library).unwrap();
        let owner = fs::metadata("/proc/self").unwrap().uid();
        assert!(about.is_file() && about.uid() == owner && about.mode() & 0o022 == 0, "{what}: {about:?}");
        assert!(fs::read(&library).unwrap() == good, "{what}");
        assert!(fs::read(&evil).unwrap() == bad, "{what}");
    };
    fs::write(&library, &bad).unwrap();
    is_mended("another content of the same size");
    fs::write(&library, &good[..good.len() / 3]).unwrap();
    is_mended("a part of it");
    fs::set_permissions(&library, Permissions::from_mode(0o666)).unwrap();
    is_mended("one that others may write to");
    fs::remove_file(&library).unwrap();
    symlink(&evil, &library).unwrap();
    is_mended("a link");
    fs::remove_file(&library).unwrap();
    assert!(Command::new("mkfifo").arg(&library).status().unwrap().success());
    is_mended("a pipe");
    if is_root() {
        chown(&library, Some(OTHER), None).unwrap();
        is_mended("another user's");
    }
}

/// Files in shared memory that are named like ours, removed at the end.
struct Planted(Vec<PathBuf>);

impl Planted {
    fn new() -> Planted {
        let name = |what: &str| PathBuf::from(format!("/dev/shm/reweave-{}-{what}.ring", std::process::id()));
        let (pipe, folder) = (name("pipe"), name("folder"));
        fs::create_dir(&folder).unwrap();
        let planted = Planted(vec![pipe.clone(), folder.join("ring"), folder.clone()]);
        let made = Command::new("mkfifo").args([pipe, folder.join("ring")]).status().unwrap();
        assert!(made.success());
        planted
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        for path in &self.0 {
            // Recorders remove what looks like a ring that was left; a folder is no file.
            let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        }
    }
}

/// How long a recorder may take to do as it is told.
const LIMIT: Duration = Duration::from_secs(60);

#[test]
fn pipes_named_like_rings_keep_nobody_from_recording_nor_from_being_ended() {
    let _planted = Planted::new();
    let program = compile(GCC, "places.c", &["-O1"]);
    let mut recorder = reweave()
        .args(["record", "-o"])
        .args([&program.folder.path().join("trace.rw"), Path::new("--"), &program.path])
        .arg("wait")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (send, receive) = std::sync::mpsc::channel();
    let mut out = BufReader::new(recorder.stdout.take().unwrap());
    std::thread::spawn(move || {
        let mut line = String::new();
        let _ = out.read_line(&mut line);
        let _ = send.send(line);
    });
    let line = receive.recv_timeout(LIMIT);
    let id = recorder.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let started = Instant::now();
    let status = loop {
        match recorder.try_wait().unwrap() {
            None if started.elapsed() < LIMIT => std::thread::sleep(Duration::from_millis(10)),
            ended => break ended,
        }
    };
    if status.is_none() {
        let _ = recorder.kill();
    }
    assert_eq!(line.as_deref(), Ok("100\n"));
    assert_eq!(status.and_then(|status| status.code()), Some(128 + 15));
}

/// What a terminal would obey, beginning with what hides all that follows.
const EVIL: &str = "e\u{1b}[8m\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}";
/// What our own colours are made of.
const STYLES: [&str; 7] = ["[0m", "[1m", "[2m", "[31m", "[32m", "[33m", "[36m"];

#[track_caller]
fn is_plain(ran: &Output, what: &str) {
    let mut said = String::from_utf8_lossy(&[&ran.stdout[..], &ran.stderr].concat()).into_owned();
    assert!(!said.is_empty(), "{what}");
    for style in STYLES {
        said = said.replace(&format!("\u{1b}{style}"), "");
    }
    let drives = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || c == '\u{202e}';
    assert!(!said.contains(drives), "{what}: {said:?}");
}

/// Names of programs, of their sources, of files that are not there, and what compilers say of themselves.
#[test]
fn whatever_recorders_and_replays_name_does_not_reach_the_terminal_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join(EVIL);
    fs::create_dir(&inside).unwrap();
    let (code, program) = (inside.join(format!("{EVIL}.c")), inside.join(EVIL));
    let text = "#include <pthread.h>\nstatic int shared;\nstatic void *works(void *a) { shared++; return a; }\n\
                int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, works, 0);\n    shared++;\n    \
                return pthread_join(t, 0);\n}\n";
    fs::write(&code, text).unwrap();
    let run = |arguments: &[&str], rest: &[&Path]| {
        reweave().current_dir(&inside).args(arguments).args(rest).output().unwrap()
    };
    let built = reweave()
        .env("REWEAVE_CC", "gcc")
        .args(["cc", "-g", "-O1"])
        .args([&code, Path::new("-o"), &program])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let trace = inside.join(format!("{EVIL}.rw"));
    let line: [&Path; 2] = [Path::new("--"), &program];
    let recorded = run(&["--color", "always", "record", "-o"], &[&trace, line[0], line[1]]);
    assert_eq!(recorded.status.code(), Some(0), "{}", String::from_utf8_lossy(&recorded.stderr));
    is_plain(&recorded, "record");
    let found = run(&["--color", "always", "predict"], &[&trace]);
    assert_eq!(found.status.code(), Some(1));
    is_plain(&found, "predict");
    let json = run(&["predict", "--json", "-"], &[&trace]).stdout;
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["trace"]["path"].as_str(), trace.to_str(), "names are as they are for programs");
    let fingerprint = PathBuf::from(json["findings"][0]["fingerprint"].as_str().unwrap());
    let missing = inside.join("none");
    let evil = Path::new(EVIL);
    for (arguments, rest) in [
        (&["--color", "always", "hunt"][..], &line[..]),
        (&["--color", "always", "predict", "--confirm"], &[&trace, line[0], line[1]]),
        (&["--color", "always", "replay"], &[&trace, &fingerprint, line[0], line[1]]),
        (&["--color", "always", "replay"], &[&missing, &fingerprint, line[0], line[1]]),
        (&["replay"], &[&trace, evil, line[0], line[1]]),
        (&["replay", "--schedule"], &[&missing, line[0], line[1]]),
        (&["record", "--schedule"], &[&missing, line[0], line[1]]),
        (&["record"], &[line[0], &missing]),
        (&["record"], &[line[0], &code]),
        (&["hunt"], &[line[0], &missing]),
        (&["record", "--finish"], &[&missing]),
        (&["record", "--seed"], &[evil]),
        (&["--color", "always", "record", "--seed"], &[evil]),
        (&["spec", "check"], &[&missing]),
        (&["completions"], &[evil]),
        (&["cargo"], &[evil]),
    ] {
        is_plain(&run(arguments, rest), &format!("{arguments:?} {rest:?}"));
    }
    let unknown = reweave().env("REWEAVE_CC", &missing).args(["cc", "x.c"]).output().unwrap();
    is_plain(&unknown, "cc");
    let front = reweave().arg("cc").arg(format!("--reweave-front={EVIL}")).output().unwrap();
    is_plain(&front, "a front");
    // A compiler that says what it likes.
    let liar = inside.join("gcc");
    fs::write(&liar, format!("#!/bin/sh\nprintf '%s\\n' '{EVIL}'\nprintf '%s\\n' '{EVIL}' >&2\nexit 1\n"))
        .unwrap();
    fs::set_permissions(&liar, Permissions::from_mode(0o755)).unwrap();
    let doctor = reweave().args(["--color", "always", "doctor"]).env("PATH", &inside).output().unwrap();
    is_plain(&doctor, "doctor");
}
