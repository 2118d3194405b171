//! `reweave spec`.

use crate::common::run;

const FIGURE: &str = "type file sync internal
  state closed: bool
  state data: seq
  method write(x) needs not closed   { data := push(data, x) }
  method close()                     { closed := true }
  commute close write                if true
";

fn written(name: &str, text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("a file");
    let path = path.to_str().expect("a readable path").to_owned();
    (folder, path)
}

#[test]
fn a_built_in_type_is_shown_as_it_can_be_checked() {
    let names = run(["spec", "show"]).exits(0).text().to_owned();
    assert_eq!(names.lines().count(), 20);
    for name in names.lines() {
        let shown = run(["spec", "show", name]).exits(0).text().to_owned();
        let (_folder, path) = written("t.rwspec", &shown);
        let checked = run(["spec", "check", &path]).exits(0).text().to_owned();
        assert!(checked.contains(&format!("{name}: sound")), "{checked}");
    }
    let ran = run(["spec", "show", "sett"]).exits(2);
    assert!(
        ran.err.contains("there is no built-in type `sett`") && ran.err.contains("refcount"),
        "{}",
        ran.err
    );
}

#[test]
fn an_unsound_specification_is_refused_with_a_counterexample() {
    let (_folder, path) = written("figure.rwspec", FIGURE);
    let ran = run(["spec", "check", &path]).exits(1);
    for part in
        ["NOT SOUND", "line 6", "in the state closed = false, data = []", "the other way: done, fails"]
    {
        assert!(ran.text().contains(part), "{part}: {}", ran.text());
    }
}

#[test]
fn a_mistake_has_its_position() {
    let (_folder, path) = written("bad.rwspec", "type t sync internal\n  mehtod f() { }\n");
    let ran = run(["spec", "check", &path]).exits(2);
    assert!(ran.err.contains("bad.rwspec:2:3: expected a part of the type"), "{}", ran.err);
    assert!(ran.err.contains("did you mean `method`?"), "{}", ran.err);
}
