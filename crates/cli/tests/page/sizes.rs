//! What a page may take: folds that open in parts, views that are left out.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{reweave, try_page};

/// The data in a page.
fn data(page: &Path) -> Value {
    let html = fs::read_to_string(page).expect("a page");
    let (_, from) = html.split_once("id=\"data\">").expect("a block of data");
    let (json, _) = from.split_once("</script>").expect("its end");
    serde_json::from_str(json).expect("JSON")
}

fn page_of(folder: &Path, trace: &str) -> std::path::PathBuf {
    let (path, page) = (folder.join("trace.std"), folder.join("page.html"));
    fs::write(&path, trace).expect("it is written");
    let [path, page_path] = [&path, &page].map(|path| path.display().to_string());
    assert_eq!(reweave(&["predict", "--quiet", "--kinds", "race", "--html", &page_path, &path]), Some(1));
    page
}

/// Two threads that race, and a third one that has nothing to do with that, before and after.
fn trace(races: &[String], others: usize) -> String {
    let mut text = String::new();
    for thread in 1..=3 {
        let _ = writeln!(text, "main|fork(T{thread})|main.c:{thread}");
    }
    let busy = |text: &mut String, from: usize| {
        for number in from..from + others {
            let _ = writeln!(text, "T3|w(y)|busy.c:{}", number % 10 + 1);
        }
    };
    busy(&mut text, 0);
    for (line, name) in races.iter().enumerate() {
        let _ = writeln!(text, "T1|w({name})|a.c:{}", line + 1);
        let _ = writeln!(text, "T2|w({name})|b.c:{}", line + 1);
    }
    busy(&mut text, others);
    text
}

#[test]
fn folded_events_open_a_part_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = page_of(folder.path(), &trace(&["x".to_owned()], 350));
    let data = data(&page);
    let board = &data["results"][0]["findings"][0]["view"]["board"];
    let fold = board["witness"][0].as_object().expect("a fold, or events");
    assert!(fold.contains_key("folded") || fold.contains_key("event"), "{fold:?}");
    assert_eq!(board["unfolded"].as_array().map(Vec::len), Some(400));
    try_page("unfold", &page, &["unfold"]);
}

#[test]
fn pages_have_a_size_that_they_keep() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut races: Vec<String> = (0..230).map(|number| format!("x{number}")).collect();
    races.push("long".repeat(10_000));
    let page = page_of(folder.path(), &trace(&races, 250));
    let data = data(&page);
    let findings = data["results"][0]["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 231);
    let with_board = findings.iter().filter(|finding| finding["view"]["board"].is_object()).count();
    let left_out = data["left_out"].as_u64().expect("a number") as usize;
    assert_eq!(with_board + left_out, findings.len());
    // Of one trace, 200 have a picture; all pictures together fit five megabytes.
    assert!(left_out > 31, "{left_out}");
    let mut sizes = Vec::new();
    for finding in findings {
        let view = &finding["view"];
        let size = view.to_string().len();
        sizes.push(if view.is_null() { 0 } else { size });
        assert!(view["board"].is_null() || size <= 64_000, "a view of {size} bytes");
    }
    let all: usize = sizes.iter().sum();
    assert!((4_000_000..=5_000_000).contains(&all), "{all}");
}

/// However much was found, a page has a size, says what it has not, and begins with as few
/// elements as any other.
#[test]
fn more_findings_than_a_page_has_room_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let races: Vec<String> = (0..6_000)
        .map(|number| {
            format!("a_variable_whose_name_is_so_long_that_entries_of_a_list_take_some_room_{number}")
        })
        .collect();
    let page = page_of(folder.path(), &trace(&races, 0));
    let size = fs::metadata(&page).expect("a page").len();
    assert!((5_000_000..8_000_000).contains(&size), "{size} bytes");
    let data = data(&page);
    let findings = data["results"][0]["findings"].as_array().expect("findings");
    let (whole, listed): (Vec<&Value>, Vec<&Value>) =
        findings.iter().partition(|finding| finding["witness_prefix"].is_u64());
    let not_listed = data["not_listed"].as_u64().unwrap_or_default();
    assert_eq!(data["about"]["findings"], 6_000);
    assert_eq!(findings.len() as u64 + not_listed, 6_000);
    assert!(whole.len() > 50 && listed.len() > 1_000, "{} and {}", whole.len(), listed.len());
    assert!(not_listed > 100, "{not_listed}");
    let has_picture = |finding: &&&Value| finding["view"]["board"].is_object();
    let pictures = whole.iter().filter(has_picture).count() as u64;
    assert_eq!(data["left_out"].as_u64(), Some(findings.len() as u64 - pictures));
    try_page("large", &page, &["large"]);
}

/// An answer has limits, too, and says what it leaves out.
#[test]
fn long_answers_are_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let text = "<b>long</b> ".repeat(400_000);
    let explored = serde_json::json!({"schema": 1, "verdict": "stopped", "engine": "trace", "runs": 3,
        "failures": (0..1_000).map(|number| serde_json::json!({"kind": "panic", "site": format!("{number} {text:.2000}")}))
            .collect::<Vec<_>>(), "text": text});
    fs::write(folder.path().join("explored.json"), explored.to_string()).expect("it is written");
    assert_eq!(reweave(&["report", &path("explored.json"), "--html", &path("page.html")]), Some(0));
    let html = fs::read_to_string(folder.path().join("page.html")).expect("a page");
    assert!((100_000..1_500_000).contains(&html.len()), "{} bytes", html.len());
    assert!(html.contains("more characters in the JSON"));
}
