//! Pages of recorded programs, with replays, sources and outputs, from each command that writes
//! one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use super::{here, try_page};

/// A command, run in a folder.
fn ran(folder: &Path, arguments: &[&str], code: i32) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_reweave"));
    let output = command.args(arguments).current_dir(folder).output().expect("it starts");
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
    output
}

/// A compiled program of `examples`.
fn compiled(source: &str, flags: &[&str], program: &Path) {
    let program = program.display().to_string();
    let mut arguments = vec!["cc", "-O1", "-g", source, "-o", &program];
    arguments.extend(flags);
    ran(&here(), &arguments, 0);
}

/// The shop, recorded once in a run in which nothing goes wrong, as `scripts/demo` does.
fn shop(folder: &Path) {
    compiled("examples/shop.c", &[], &folder.join("shop"));
    ran(folder, &["record", "--quiet", "--policy", "plain", "-o", "shop.rw", "--", "./shop"], 0);
}

#[test]
fn the_page_of_the_demo_shows_sources_and_both_outputs() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    shop(folder);
    let root = here().display().to_string();
    let kinds = ["--kinds", "race,deadlock,uaf", "--source-root", &root];
    let mut predict = vec!["predict", "--quiet", "--confirm"];
    predict.extend(kinds);
    predict.extend(["--html", "page.html", "--json", "shop.json", "shop.rw", "--", "./shop"]);
    ran(folder, &predict, 1);
    try_page("demo", &folder.join("page.html"), &["race", "deadlock", "uaf", "recorded"]);
    // The guide begins with a picture of that page, and says of which finding.
    let found = fs::read_to_string(folder.join("shop.json")).expect("a document");
    let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    let mut findings = found["findings"].as_array().expect("findings").iter();
    let deadlock = findings.find(|one| one["kind"] == "deadlock").expect("a deadlock");
    let name = &deadlock["fingerprint"].as_str().expect("a fingerprint")[..8];
    let guide = fs::read_to_string(here().join("docs/guide/README.md")).expect("the guide");
    assert!(guide.contains(&format!("finding {name}")), "scripts/report-picture takes the picture of {name}");
    // The same page, from the document alone, in the browser that the user has named.
    let browser = folder.join("browser");
    fs::write(&browser, "#!/bin/sh\ncp \"$1\" opened.html\n").expect("a file");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("a program");
    let mut report = Command::new(env!("CARGO_BIN_EXE_reweave"));
    report.args(["--quiet", "report", "shop.json", "--open", "--html", "again.html", "--source-root", &root]);
    let opened = report.env("BROWSER", &browser).current_dir(folder).output().expect("it starts");
    assert_eq!(opened.status.code(), Some(0), "{opened:?}");
    let page = fs::read(folder.join("page.html")).expect("a page");
    assert!(fs::read(folder.join("opened.html")).expect("it was opened") == page, "another page was opened");
    // A browser that does not start is an error, and the page is there.
    report.env("BROWSER", "/nowhere/browser").env("PATH", "/nowhere");
    let none = report.output().expect("it starts");
    let said = String::from_utf8_lossy(&none.stderr);
    assert!(none.status.code() == Some(2) && said.contains("name a browser in BROWSER"), "{none:?}");
}

#[test]
fn hunts_write_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiled("examples/bugs/use_after_free_locked.c", &[], &folder.join("session"));
    let hunt = ["hunt", "--quiet", "--runs", "1", "--deepen", "0", "--html", "page.html", "--", "./session"];
    ran(folder, &hunt, 1);
    try_page("hunt", &folder.join("page.html"), &["uaf"]);
}

/// A fix that is not enough and one that is: each with a picture of the bug before it, and of its
/// events after it.
#[test]
fn verdicts_on_fixes_have_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compiled("examples/bugs/lost_update.c", &[], &folder.join("old"));
    for (name, flag, code, tone) in [("half-fixed", "-DHALF", 1, "bad"), ("fixed", "-DFIXED", 0, "good")] {
        compiled("examples/bugs/lost_update.c", &[flag], &folder.join("new"));
        let files = ["--html", "page.html", "--json", "verdict.json"];
        ran(folder, &[&["verify", "--before", "./old", "--after", "./new"], &files[..]].concat(), code);
        let page = fs::read_to_string(folder.join("page.html")).expect("a page");
        assert!(page.contains(&format!("\"tone\":\"{tone}\"")), "{name}");
        try_page(name, &folder.join("page.html"), &["answer-pictures"]);
        // The document has the same pictures.
        ran(folder, &["report", "verdict.json", "--html", "again.html"], 0);
        let again = fs::read_to_string(folder.join("again.html")).expect("a page");
        assert!(page == again, "{name}: the page of the document is another one");
    }
}
