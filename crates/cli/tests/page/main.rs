//! The page of `--html`, tried in a real browser; and its bundle, made again from its sources.
//!
//! Where Chromium, node or npm is not to be had, a notice says what was not tried.

mod recorded;
mod sizes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let files = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    files.into_iter().find(|file| file.is_file())
}

fn reweave(arguments: &[&str]) -> Option<i32> {
    let output = Command::new(env!("CARGO_BIN_EXE_reweave")).args(arguments).output().expect("it starts");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
    output.status.code()
}

/// Tries a page in Chromium; its screenshots stay for build artefacts, in the folder `page/NAME`
/// of the tests.
fn try_page(name: &str, page: &Path, more: &[&str]) {
    let (Some(chromium), Some(node)) =
        (find(&["chromium", "chromium-browser", "google-chrome"]), find(&["node"]))
    else {
        println!("chromium or node is not installed: the page is not tried in a browser");
        return;
    };
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page").join(name);
    fs::create_dir_all(&shots).expect("a folder for screenshots");
    let script = here().join("crates/report/page/test.mjs");
    let output = Command::new(node)
        .arg(script)
        .arg(chromium)
        .arg(page)
        .arg(&shots)
        .args(more)
        .output()
        .expect("it starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}:\n{out}{err}", page.display());
}

/// A channel that can be closed before the last send.
const CHANNEL: &str = "\
main|fork(T1)|main.c:1
main|fork(T2)|main.c:2
T1|call(channel c.send(1)=())|send.c:1
T2|call(channel c.close()=())|close.c:2
";

#[test]
fn a_page_is_tried_in_a_browser() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    let tests = here().join("crates/cli/tests/data/predict");
    let (bank, deadlock) = (here().join("examples/bank.std"), here().join("litmus/deadlock-two/trace.std"));
    let channel = folder.path().join("channel.std");
    fs::write(&channel, CHANNEL).expect("it is written");
    let asleep = here().join("litmus/lost-wake-up/trace.std");
    let traces = [bank, deadlock, tests.join("freed.std"), tests.join("lost-update.std"), asleep, channel];
    let mut arguments = vec!["predict".to_owned(), "--quiet".to_owned(), "--html".to_owned()];
    arguments.extend([&page].into_iter().chain(&traces).map(|path| path.display().to_string()));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    assert_eq!(reweave(&arguments), Some(1));
    let size = fs::metadata(&page).expect("a page").len();
    assert!(size < 500_000, "{size}");
    try_page("kinds", &page, &["race", "deadlock", "uaf", "atomicity", "order"]);
}

/// Two threads that hold the same lock.
const LOCKED: &str = "\
main|fork(T1)|main.c:1
main|fork(T2)|main.c:2
T1|acq(m)|a.c:10
T1|w(x)|a.c:11
T1|rel(m)|a.c:12
T2|acq(m)|b.c:20
T2|r(x)|b.c:21
T2|rel(m)|b.c:22
";

/// What `reweave verify --json` writes.
const VERIFIED: &str = r#"{"schema": 1, "tool": "reweave", "verdict": "insufficient", "before": "./old", "after": "./new",
  "bug": {"kind": "race", "pattern": "race", "fingerprint": "0123456789abcdef", "title": "data race on <b>total</b>\u202e",
    "sites": ["add total.c:7", "add total.c:7"], "state": "shown", "by": "the patched program shows it", "steps": [4, 4]},
  "claims": [{"kind": "race", "pattern": "race", "fingerprint": "0123456789abcdee", "title": "data race on last",
    "relation": "changed", "events": [3, 5], "sites_before": [], "sites_after": ["add total.c:9"], "state": "open", "by": ""}],
  "gaps": [], "runs": 3, "traces": 2, "candidates": 5, "excluded": 2, "schedules": ["verify-01234567.schedule"],
  "hints": ["the write at <img src=x onerror=window.broken=1> \u2066total.c:9 lies outside of the section"]}"#;

/// What an exploration writes.
const EXPLORED: &str = r#"{"schema": 1, "verdict": "failed", "engine": "trace", "runs": 3, "executions": 21, "states": 21,
  "failures": [{"kind": "panic", "site": "assertion failed: total == 2", "schedule": "0 1 1 0", "preemptions": 1}],
  "relied_on": ["counter"], "assumptions": ["memory is sequentially consistent", "no spurious wake-ups"],
  "estimate": {"pass": 2, "share": 0.125}, "seconds": 0.012, "text": "explore: failed\n  T0   T1\n"}"#;

#[test]
fn answers_that_are_no_findings_have_pages() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let text = |name: &str| path(name).display().to_string();
    for (name, content) in [("locked.std", LOCKED), ("verified.json", VERIFIED), ("explored.json", EXPLORED)]
    {
        fs::write(path(name), content).expect("it is written");
    }
    let (locked, page) = (text("locked.std"), text("page.html"));
    for (name, arguments, code, answer) in [
        ("circle", vec!["query", &locked, "--coenabled", "3,6", "--html", &page], 1, "answer-refutation"),
        (
            "race",
            vec!["query", &locked, "--race", "a.c:11", "b.c:21", "--html", &page],
            1,
            "answer-refutation",
        ),
        ("query", vec!["query", &locked, "--coenabled", "2,5", "--html", &page], 0, "answer-query"),
        ("verified", vec!["report", &text("verified.json"), "--html", &page], 0, "answer-verification"),
        ("explored", vec!["report", &text("explored.json"), "--html", &page], 0, "answer-exploration"),
    ] {
        assert_eq!(reweave(&arguments), Some(code), "{arguments:?}");
        let html = fs::read_to_string(path("page.html")).expect("a page");
        assert!(
            !html.contains("<b>") && !html.contains("<img") && html.matches("</script>").count() == 2,
            "{arguments:?}"
        );
        try_page(name, &path("page.html"), &[answer]);
    }
    // Without a page there is nothing to show of them.
    assert_eq!(reweave(&["report", &text("explored.json")]), Some(2));
}

/// Names that would be script, markup or a change of direction in a page that took them for more than text.
#[test]
fn hostile_names_are_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("</script><script>broken=1<!--\u{202e}'\u{1}.std");
    let trace = folder.path().join(trace.file_name().unwrap_or_default().to_string_lossy().replace('/', "_"));
    let names = [
        "</script><script>window.broken=1</script>",
        "<img src=x onerror=window.broken=1>",
        "\u{202e}\u{2066}evil\u{2028}\u{2029}",
        "__proto__",
        "<b>\"'&amp;",
    ];
    let mut text = String::from("main|fork(T</script><b>)|<!--\n");
    for (place, name) in names.iter().enumerate() {
        text += &format!("main|w({name})|<b>{name} </style>/<script>.c:{}\n", place + 1);
        text += &format!("T</script><b>|r({name})|javascript:alert(1)\n");
    }
    fs::write(&trace, text).expect("it is written");
    let page = folder.path().join("page.html");
    let arguments = ["predict", "--quiet", "--html"].map(str::to_owned).into_iter();
    let arguments: Vec<String> =
        arguments.chain([&page, &trace].map(|path| path.display().to_string())).collect();
    assert_eq!(reweave(&arguments.iter().map(String::as_str).collect::<Vec<_>>()), Some(1));
    let html = fs::read_to_string(&page).expect("a page");
    assert_eq!(html.matches("</script>").count(), 2, "only its own two scripts end");
    assert!(!html.contains("<img") && !html.contains("<b>") && !html.contains('\u{2028}'));
    try_page("hostile", &page, &["hostile"]);
}

#[test]
fn the_bundle_is_made_from_its_sources() {
    let (Some(node), Some(npm)) = (find(&["node"]), find(&["npm"])) else {
        println!("node or npm is not installed: the page's bundle is not made again");
        return;
    };
    let page = here().join("crates/report/page");
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("src")).expect("a folder");
    for name in ["package.json", "package-lock.json", "tsconfig.json", "build.mjs"] {
        fs::copy(page.join(name), folder.path().join(name)).expect(name);
    }
    for entry in fs::read_dir(page.join("src")).expect("sources") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, folder.path().join("src").join(path.file_name().unwrap_or_default()))
            .expect("a copy");
    }
    let flags = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    let installed = Command::new(npm).args(flags).current_dir(&folder).output().expect("npm starts");
    if !installed.status.success() {
        println!("npm cannot install esbuild here: the page's bundle is not made again");
        return;
    }
    let checks =
        Command::new(folder.path().join("node_modules/.bin/tsc")).current_dir(&folder).output().expect("tsc");
    assert!(checks.status.success(), "{}", String::from_utf8_lossy(&checks.stdout));
    let built =
        Command::new(node).args(["build.mjs", "made"]).current_dir(&folder).output().expect("node starts");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for name in ["page.js", "page.css", "policy.txt"] {
        let (made, stored) =
            (fs::read(folder.path().join("made").join(name)), fs::read(page.join("dist").join(name)));
        let same = made.expect("it was made") == stored.expect("it is checked in");
        assert!(
            same,
            "{name} is not what its sources give: run `npm ci && npm run build` in crates/report/page"
        );
    }
}
