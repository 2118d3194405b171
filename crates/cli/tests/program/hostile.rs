//! Hostile files and little memory: messages and exit codes.

use std::fs;
use std::process::Command;

/// What the command ends with and says, under a shell's limits.
fn shell(line: &str, folder: &std::path::Path) -> (Option<i32>, String) {
    let line = line.replace("REWEAVE", env!("CARGO_BIN_EXE_reweave"));
    let ran = Command::new("bash").args(["-c", &line]).current_dir(folder).output().expect("bash runs");
    let said = [ran.stdout, ran.stderr].concat();
    (ran.status.code(), String::from_utf8_lossy(&said).into_owned())
}

fn folder_with(name: &str, content: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(name), content).expect("it is written");
    folder
}

/// What our own colours, and those of messages on the command line, are made of.
const STYLES: [&str; 8] = ["[0m", "[1m", "[2m", "[4m", "[31m", "[32m", "[33m", "[36m"];

#[test]
fn control_characters_never_reach_the_terminal() {
    // What hides, recolours, clears, renames and turns around.
    let evil = "a\u{1b}[31m\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}";
    let (w, site) = (format!("w({evil})"), format!("f {evil}.c:1"));
    let text = format!(
        "T1|acq({evil})|{site}\nT1|rel({evil})|{site}\nT{evil}|{w}|{site}\nT1|{w}|{site}\n\
         T1|call(set {evil}.add(1)=true)|{site}\n"
    );
    let folder = folder_with("t.std", text.as_bytes());
    fs::write(folder.path().join(format!("{evil}.std")), "T1|rel(x)|s\n").expect("it is written");
    for colour in ["auto", "always"] {
        for line in [
            "stream t.std",
            "stream --analysis all t.std",
            "predict t.std",
            "predict --all t.std",
            "predict --markdown - t.std",
            "stats t.std",
            "validate t.std",
            "validate *owned*.std",
            "validate missing$'\\e'.std",
            "query t.std race $'\\e[31m' 1",
            "query t.std race 2 3",
            "convert t.std out.$'\\e[31m'",
            "explain $'\\e[31m'",
            "report $'\\e[31m'",
            "predict --json f.json t.std",
            "report f.json",
            "explain f.json",
            "check t.std $'\\e[31m'",
            "predict --kinds $'\\e[31m' t.std",
            "predict --suppressions $'\\e[31m' t.std",
            "$'\\e[31m'",
        ] {
            let (_, mut said) = shell(&format!("REWEAVE --color {colour} {line}"), folder.path());
            assert!(!said.is_empty(), "{line}");
            // The name's own colour would come back between its first letter and what is spelled out.
            assert!(
                !said.contains("a\u{1b}[31m\u{1b}") && !said.contains("\u{1b}[31m\\u"),
                "{line}: {said:?}"
            );
            for style in STYLES.iter().filter(|_| colour == "always") {
                said = said.replace(&format!("\u{1b}{style}"), "");
            }
            let drives = |c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}';
            assert!(!said.contains(drives), "{colour} {line}: {said:?}");
        }
    }
}

#[test]
fn an_output_that_is_also_an_input_is_refused() {
    let folder = folder_with("t.std", b"T1|w(x)|a\nT2|w(x)|b\n");
    fs::hard_link(folder.path().join("t.std"), folder.path().join("same.std")).expect("a link");
    let before = fs::read(folder.path().join("t.std")).expect("it is there");
    for line in [
        "REWEAVE convert t.std ./t.std",
        "REWEAVE convert t.std same.std",
        "REWEAVE predict t.std --json t.std",
        "REWEAVE stream t.std --json same.std",
    ] {
        let (code, said) = shell(line, folder.path());
        assert_eq!(code, Some(2), "{line}: {said}");
        assert!(said.contains("the output is also an input"), "{said}");
        assert_eq!(fs::read(folder.path().join("t.std")).expect("it is there"), before);
    }
}

/// A file that was made to expand, and files that have no end.
#[test]
fn small_files_do_not_become_large_ones() {
    let bomb = zstd_of_lines(80_000_000);
    let folder = folder_with("bomb.std.zst", &bomb);
    assert!(bomb.len() < 338_000, "{}", bomb.len());
    fs::write(folder.path().join("t.std"), "T1|w(x)|a\n").expect("it is written");
    for line in
        ["REWEAVE validate bomb.std.zst", "REWEAVE predict bomb.std.zst", "REWEAVE stream bomb.std.zst"]
    {
        let (code, said) = shell(&format!("ulimit -v 3000000; {line}"), folder.path());
        assert_eq!(code, Some(2), "{line}: {said}");
        assert!(said.contains("more than traces do"), "{said}");
    }
}

/// Files that have no end, wherever a small one is expected.
#[test]
fn small_files_have_a_size_that_they_may_have() {
    let folder = folder_with("t.std", b"T1|w(x)|a\n");
    let witness = r#"{"model": "rf", "witness": [], "claim": {"coenabled": [0]}}"#;
    fs::write(folder.path().join("w.json"), witness).expect("it is written");
    for line in [
        "REWEAVE predict --suppressions /dev/zero t.std",
        "REWEAVE predict --baseline /dev/zero t.std",
        "REWEAVE predict --spec /dev/zero t.std",
        "REWEAVE check --spec /dev/zero t.std w.json",
        "REWEAVE check t.std /dev/zero",
        "REWEAVE spec check /dev/zero",
        "REWEAVE merge -o out.json /dev/zero t.std",
        "REWEAVE report /dev/zero",
        "REWEAVE replay --schedule /dev/zero -- REWEAVE",
        "REWEAVE record --schedule /dev/zero -- REWEAVE",
    ] {
        let (code, said) = shell(&format!("ulimit -v 4000000; {line}"), folder.path());
        assert_eq!(code, Some(2), "{line}: {said}");
        let refused = ["the most that such a file may have", "is larger than 1 GiB"];
        assert!(refused.iter().any(|part| said.contains(part)), "{line}: {said}");
    }
}

fn zstd_of_lines(lines: usize) -> Vec<u8> {
    // Frames may follow each other: one of them, many times.
    let text = "T1|r(x)|s\n".repeat(lines / 100);
    let folder = folder_with("part.std", text.as_bytes());
    let (code, said) = shell("REWEAVE convert part.std part.std.zst && cat part.std.zst", folder.path());
    assert_eq!(code, Some(0), "{said}");
    fs::read(folder.path().join("part.std.zst")).expect("it is there").repeat(100)
}

#[test]
fn files_of_the_system_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, said) = shell("REWEAVE validate --format std /proc/self/status", folder.path());
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("/proc/self/status:1"), "its first line is not one of a trace: {said}");
}

/// Whatever limit is hit, and wherever: a message and a code of ours.
#[test]
fn without_memory_there_is_a_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, said) = shell("REWEAVE generate --events 400000 t.rw", folder.path());
    assert_eq!(code, Some(0), "{said}");
    let mut stopped = 0;
    // With less not even the program's own code finds room.
    let runs = |limit: &i32| {
        shell(&format!("ulimit -v {limit}; exec REWEAVE --version"), folder.path()).0 == Some(0)
    };
    let least = (10_000..400_000).step_by(5_000).find(runs).expect("it runs with so much");
    for more in [2_000, 5_000, 10_000, 20_000, 40_000, 60_000, 100_000] {
        let limit = least + more;
        for command in
            ["validate --jobs 1 t.rw", "convert --jobs 1 t.rw out.std", "predict --budget 10ms t.rw"]
        {
            let (code, said) = shell(&format!("ulimit -v {limit}; exec REWEAVE {command}"), folder.path());
            assert!(matches!(code, Some(0 | 1 | 3)), "{command}, {limit} kB: {code:?} {said}");
            if code == Some(3) {
                stopped += 1;
                assert!(said.contains("emory"), "{said}");
            }
        }
        let left = fs::read_dir(folder.path())
            .expect("it is there")
            .map(|entry| entry.expect("an entry").file_name());
        let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".reweave")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
    assert!(stopped > 0);
}

#[test]
fn the_limit_on_memory_holds_within_a_tenth() {
    let folder = tempfile::tempdir().expect("a folder");
    let (code, said) = shell("REWEAVE generate --events 2000000 t.rw", folder.path());
    assert_eq!(code, Some(0), "{said}");
    if !std::path::Path::new("/usr/bin/time").exists() {
        eprintln!("time is not installed: nothing is measured");
        return;
    }
    // From a pipe, nothing is known of its size before.
    for (limit, from) in [(60, "t.rw"), (100, "t.rw"), (150, "t.rw"), (40, "- < t.rw"), (60, "- < t.rw")] {
        let line = format!("/usr/bin/time -f %M -o peak REWEAVE predict --max-memory {limit}M {from}");
        let (code, said) = shell(&line, folder.path());
        let peak = fs::read_to_string(folder.path().join("peak")).expect("it is measured");
        let peak: u64 = peak.lines().last().and_then(|line| line.parse().ok()).expect("a number");
        assert!(peak * 1024 <= (limit << 20) * 11 / 10, "{limit} MB: {peak} kB, {code:?}: {said}");
        assert!(matches!(code, Some(1 | 3)), "{code:?}: {said}");
    }
}
