//! What the commands do to files and pipes.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use crate::common::{data, reweave, run, run_with};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("a readable path").to_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a readable name"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_trace_survives_the_round_through_formats() {
    let folder = folder();
    let (rw, zst, back) = (path(&folder, "t.rw"), path(&folder, "t.std.zst"), path(&folder, "back.std"));
    run(["convert", "rich.std", &rw]).exits(0);
    run(["convert", &rw, &zst]).exits(0);
    run(["convert", &zst, &back]).exits(0);
    let without_comments = |text: String| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("# ")).map(str::to_owned).collect()
    };
    let original = without_comments(fs::read_to_string(data("rich.std")).expect("the data"));
    assert_eq!(without_comments(fs::read_to_string(&back).expect("the copy")), original);
    assert_eq!(names(folder.path()), ["back.std", "t.rw", "t.std.zst"]);
}

#[test]
fn convert_says_what_it_wrote_unless_quiet() {
    let folder = folder();
    let out = path(&folder, "t.std");
    let ran = run(["convert", "deadlock.std", &out]).exits(0);
    let bytes = fs::metadata(&out).expect("the file").len();
    assert_eq!(
        ran.err,
        format!("{out}: 8 events, {bytes} bytes, {:.1} bytes an event\n", bytes as f64 / 8.0)
    );
    assert!(ran.out.is_empty());
    let ran = run(["convert", "deadlock.std", &out, "--quiet"]).exits(0);
    assert!(ran.err.is_empty() && ran.out.is_empty());
}

#[test]
fn a_dash_is_standard_input_and_output() {
    let text = fs::read(data("deadlock.std")).expect("the data");
    let rw = run_with(["convert", "-", "-", "--to", "rw", "--quiet"], &text).exits(0).out;
    let back = run_with(["convert", "-", "-", "--to", "std", "--from", "rw"], &rw).exits(0);
    assert_eq!(back.out, text);
    assert_eq!(back.err, "-: 8 events\n");
    assert!(run_with(["validate", "-"], &rw).exits(0).text().starts_with("-: well formed: 8 events"));
    let witness = fs::read(data("deadlock.json")).expect("the data");
    run_with(["check", "deadlock.std", "-"], &witness).exits(0);
    run_with(["check", "-", "deadlock.json"], &text).exits(0);
}

#[test]
fn a_failed_convert_leaves_the_old_file_and_nothing_else() {
    let folder = folder();
    let out = path(&folder, "t.std");
    fs::write(&out, "precious").expect("the file");
    run(["convert", "broken.std", &out]).exits(2);
    run(["convert", "missing.std", &out]).exits(2);
    // A site with `|` has no place in STD, which is found out on the way.
    let csv = path(&folder, "odd.csv");
    fs::write(&csv, "w(x|y)\n").expect("the file");
    let before = names(folder.path());
    run(["convert", &csv, &out]).exits(2);
    assert_eq!(names(folder.path()), before);
    assert_eq!(fs::read_to_string(&out).expect("the file"), "precious");
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing_half_written() {
    for signal in ["-INT", "-TERM"] {
        let folder = folder();
        let out = path(&folder, "t.std");
        let mut child = reweave()
            .args(["generate", &out, "--events", "4G"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        // The temporary file is there once signals are deferred.
        while names(folder.path()).is_empty() {
            assert!(child.try_wait().expect("a child").is_none(), "the program ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let killed = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(killed.expect("kill runs").success());
        let status = child.wait().expect("the program ends");
        let mut err = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        assert_eq!(status.code(), Some(130), "{err}");
        assert!(err.contains("interrupted"), "{err}");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    for args in [&["generate", "-", "--to", "std", "--events", "1M"][..], &["stats", "rich.std"], &["--help"]]
    {
        let mut child = reweave()
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("text");
        assert_eq!((child.wait().expect("the program ends").code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("linux has one");
    let output = reweave().args(["stats", "rich.std"]).stdout(full).output().expect("the program starts");
    let ran = crate::common::Ran::new(output).exits(2);
    assert!(ran.err.starts_with("error: ") && ran.err.contains("No space"), "{}", ran.err);
}

#[test]
fn json_goes_to_a_file_beside_the_text() {
    let folder = folder();
    let json = path(&folder, "stats.json");
    let ran = run(["stats", "rich.std", "--json", &json]).exits(0);
    assert!(ran.text().starts_with("rich.std: std, "));
    let text = fs::read_to_string(&json).expect("the document");
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["schema"], 1);
    assert_eq!(document["traces"][0]["events"], 36);
    assert_eq!(run(["stats", "rich.std", "--json", "-"]).exits(0).text(), text);
    assert_eq!(names(folder.path()), ["stats.json"]);
}

#[test]
fn colour_is_there_when_asked_for() {
    assert!(run(["validate", "rich.std", "--color", "always"]).exits(0).text().contains("\x1b["));
    assert!(run(["validate", "broken.std", "--color=always"]).exits(2).err.contains("\x1b["));
    assert!(run(["frobnicate", "--color=always"]).exits(2).err.contains("\x1b["));
    assert!(run(["--help", "--color", "always"]).exits(0).text().contains("\x1b["));
    for args in [&["validate", "rich.std"][..], &["validate", "rich.std", "--color", "never"]] {
        assert!(!run(args).exits(0).text().contains('\x1b'));
    }
}

#[test]
fn repairs_are_never_silent() {
    let folder = folder();
    for quiet in [&[][..], &["--quiet"]] {
        let out = path(&folder, "t.std");
        let args = ["convert", "--repair", "broken.std", &out];
        let ran = run(args.iter().chain(quiet)).exits(0);
        assert!(
            ran.err
                .contains("warning: broken.std: repaired: 1 x acquire of a lock that another thread holds"),
            "{}",
            ran.err
        );
        run(["validate", &out]).exits(0);
    }
}
