//! Calls that programs of C and C++ record with `reweave.h`: what is predicted of them, and its replays.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::{Program, fingerprint, ran, reweave};

/// All findings in a recording with the types of a specification, replayed.
#[track_caller]
fn confirm_with(program: &Program, spec: &str) -> Vec<Value> {
    let file = program.folder.path().join("own.rwspec");
    std::fs::write(&file, spec).expect("it is written");
    let mut command = reweave();
    command.args(["predict", "--quiet", "--confirm", "--json", "-", "--spec"]).arg(file).arg(&program.trace);
    let found = ran(command.arg("--").arg(&program.path));
    let document: Value = serde_json::from_str(&found.out).unwrap_or_else(|_| panic!("{}", found.err));
    document["findings"].as_array().cloned().unwrap_or_default()
}

/// A program of two threads, of which the second waits for the first where it is `fixed`.
fn two(more: &str, first: &str, second: &str, fixed: bool) -> String {
    let (early, late) = if fixed { ("pthread_join(a, 0);", "") } else { ("", "pthread_join(a, 0);") };
    format!(
        "#include <pthread.h>\n#include <reweave.h>\n#include <stdlib.h>\n{more}\nstatic pthread_t a;\n\
         static void *first(void *none) {{ {first} return none; }}\n\
         static void *second(void *none) {{ {early} {second} return none; }}\n\
         int main(void) {{ pthread_t b; pthread_create(&a, 0, first, 0); pthread_create(&b, 0, second, 0);\n\
         pthread_join(b, 0); {late} return 0; }}\n"
    )
}

/// Demands that the one finding of a program is calls in the wrong order, which a replay confirms, and that its twin has none.
#[track_caller]
fn is_found(spec: &str, text: &dyn Fn(bool) -> String) {
    let program = Program::of_text(&text(false));
    assert_eq!(program.record(&[]).code, Some(0), "nothing goes wrong when it is recorded");
    let findings = confirm_with(&program, spec);
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(finding["pattern"], "call-order", "{finding}");
    assert_eq!(finding["replay"], "confirmed", "{finding}");
    let twin = Program::of_text(&text(true));
    assert_eq!(twin.record(&[]).code, Some(0), "the twin");
    let findings = confirm_with(&twin, spec);
    assert!(findings.is_empty(), "{findings:?}");
}

#[test]
fn an_error_that_is_read_before_it_is_set() {
    let spec = "type request sync internal\n  state cancelled: bool\n  method cancel() { cancelled := true }\n  \
                method err() = r { r := cancelled }\n  commute cancel cancel, err err iff true\n  \
                order cancel before err loses \"error read before the request is cancelled\"\n";
    is_found(spec, &|fixed| {
        two(
            "static int cancelled;",
            "REWEAVE_OP(\"request\", &cancelled, cancelled = 1, \"cancel()=()\");",
            "int r = 0; REWEAVE_OP(\"request\", &cancelled, r = cancelled, \"err()=%s\", REWEAVE_BOOL(r));",
            fixed,
        )
    });
}

#[test]
fn an_object_that_is_used_once_it_was_collected() {
    let spec = "type object sync internal\n  state gone: bool\n  method use() needs not gone { }\n  \
                method collect() needs not gone { gone := true }\n  commute use use iff true\n  \
                order use before collect fails \"use of a collected object\"\n";
    is_found(spec, &|fixed| {
        two(
            "static struct { int gone, value; } object;\n\
             static int get(void) { if (object.gone) abort(); return object.value; }",
            "REWEAVE_OP(\"object\", &object, get(), \"use()=()\");",
            "REWEAVE_OP(\"object\", &object, object.gone = 1, \"collect()=()\");",
            fixed,
        )
    });
}

#[test]
fn calls_on_objects_of_the_heap_under_their_lock() {
    let text = "#include <pthread.h>\n#include <reweave.h>\n#include <stdlib.h>\n\
                static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstruct set { int has[9]; } *s;\n\
                static int add(int v) { pthread_mutex_lock(&m); int new = !s->has[v]; s->has[v] = 1;\n\
                REWEAVE_CALL(\"set\", s, \"add(%d)=%s\", v, REWEAVE_BOOL(new)); pthread_mutex_unlock(&m); return new; }\n\
                static void *run(void *v) { add((int)(long)v); return v; }\n\
                int main(void) { s = calloc(1, sizeof *s); REWEAVE_NEW(\"set\", s); pthread_t a; add(3);\n\
                pthread_create(&a, 0, run, (void *)4); pthread_join(a, 0); free(s); s = calloc(1, sizeof *s); add(3); return 0; }\n";
    let program = Program::of_text(text);
    assert_eq!(program.record(&[]).code, Some(0));
    let trace = ran(reweave().arg("convert").arg(&program.trace).args(["-", "--to", "std"])).out;
    let calls: Vec<&str> = trace
        .lines()
        .filter_map(|line| line.split('|').nth(1)?.strip_prefix("call("))
        .map(|call| call.trim_end_matches(')'))
        .collect();
    let block = calls[0].split_once(".new(").expect("it begins anew").0.trim_start_matches("set ");
    let old = block.trim_end_matches(" #2");
    assert_eq!(calls[0], format!("set {block}.new({old}"), "{calls:?}");
    assert_eq!(calls[1], format!("set {block}.add(3)=true"), "{calls:?}");
    assert_eq!(calls[2], format!("set {block}.add(4)=true"), "{calls:?}");
    // The second block is another object, though it may be where the first was.
    assert!(calls[3].ends_with(".add(3)=true") && !calls[3].contains(block), "{calls:?}");
}

#[test]
fn a_call_that_is_left_early_has_a_result_that_is_not_known() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("program.cpp");
    let text = "#include <reweave.h>\n#include <stdexcept>\nstatic int set;\n\
                static void add(int v) { if (v > 1) throw std::runtime_error(\"full\"); set = v; }\n\
                static int left() { REWEAVE_OP(\"set\", &set, return 7, \"size()=%d\", 1); return 0; }\n\
                int main() { try { REWEAVE_OP(\"set\", &set, add(2), \"add(%d)=true\", 2); } catch (std::exception &) {}\n\
                REWEAVE_OP(\"set\", &set, add(1), \"add(%d)=true\", 1); return left() - 7; }\n";
    std::fs::write(&source, text).expect("it is written");
    let program = Program::compile(&source, &[]);
    assert_eq!(program.record(&[]).code, Some(0));
    let trace = ran(reweave().arg("convert").arg(&program.trace).args(["-", "--to", "std"])).out;
    let calls: Vec<&str> =
        trace.lines().filter_map(|line| line.split('|').nth(1)?.strip_prefix("call(")).collect();
    assert_eq!(calls, ["global set.left())", "set global set.add(1)=true)", "global set.left())"]);
}

#[test]
fn other_compilers_make_nothing_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = ran(reweave().args(["spec", "header"]));
    assert_eq!(header.code, Some(0), "{}", header.err);
    std::fs::write(folder.path().join("reweave.h"), header.out).expect("it is written");
    let text = "#include \"reweave.h\"\nint main(void) { int s = 0, new; REWEAVE_NEW(\"set\", &s);\n\
                REWEAVE_OP(\"set\", &s, new = s += 3, \"add(%d)=%d\", 3, new); REWEAVE_CALL(\"set\", &s, \"size()=%d\", s); return s - 3; }\n";
    let text = |name: &str| text.replace("new", if name.ends_with("cpp") { "fresh" } else { "new" });
    for (compiler, name) in [("gcc", "a.c"), ("g++", "a.cpp")] {
        std::fs::write(folder.path().join(name), text(name)).expect("it is written");
        let program = folder.path().join("a");
        let flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", name, "-o", "a"];
        let built = ran(Command::new(compiler).args(flags).current_dir(folder.path()));
        assert_eq!(built.code, Some(0), "{compiler}: {}", built.err);
        assert_eq!(ran(&mut Command::new(&program)).code, Some(0), "the statement is run");
        let symbols = ran(Command::new("nm").arg(&program));
        assert!(!symbols.out.contains("reweave_told"), "{compiler}: {}", symbols.out);
        // A format that does not fit is told in any case.
        let wrong = text(name).replace("size()=%d", "size()=%s");
        std::fs::write(folder.path().join(name), wrong).expect("it is written");
        assert_ne!(ran(Command::new(compiler).args(flags).current_dir(folder.path())).code, Some(0));
    }
}

/// The shape of a known bug of pbzip2 0.9.4: each pair of a use and an end of life is a finding of its own. What comes after the use of a lock whose memory
/// is gone is predicted, too; whether it can be replayed depends on what the lock's memory holds by then.
#[test]
fn a_queue_that_is_deleted_under_its_consumers() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/replay/queue_deleted.c");
    let program = Program::compile(&source, &[]);
    assert_eq!(program.record(&[]).code, Some(0));
    let findings = program.confirm();
    let lives = findings.iter().filter(|finding| finding["kind"] == "uaf" || finding["kind"] == "order");
    let confirmed: Vec<String> = lives
        .filter(|finding| finding["replay"] == "confirmed")
        .map(|finding| finding["sites"].to_string())
        .collect();
    let pairs: std::collections::BTreeSet<&String> = confirmed.iter().collect();
    assert!(pairs.len() >= 7, "{pairs:?}");
    let twin = Program::compile(&source, &["-DFIXED"]);
    assert_eq!(twin.record(&[]).code, Some(0));
    assert!(twin.predict("").is_empty());
}

/// The example of the guide, with what it says of the replay.
#[test]
fn the_example_of_the_guide_is_replayed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let program = Program::compile(&root.join("pool.c"), &[]);
    assert_eq!(program.record(&[]).code, Some(0));
    let spec = std::fs::read_to_string(root.join("pool.rwspec")).expect("a specification");
    let findings = confirm_with(&program, &spec);
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(finding["replay"], "confirmed");
    let schedule = program.folder.path().join("late.schedule");
    let spec = program.folder.path().join("own.rwspec");
    let document = program.folder.path().join("found.json");
    let found = ran(reweave()
        .args(["predict", "--quiet", "--json"])
        .arg(&document)
        .arg("--spec")
        .arg(&spec)
        .arg(&program.trace));
    assert_eq!(found.code, Some(1), "{}", found.err);
    let given = spec.to_str().expect("a path");
    let flags = [
        "--spec",
        given,
        "--findings",
        document.to_str().expect("a path"),
        "--save",
        schedule.to_str().expect("a path"),
    ];
    let replayed = program.replay(fingerprint(finding), &flags, &[]);
    assert!(
        replayed.out.starts_with("confirmed: the call that must come last came first"),
        "{}",
        replayed.out
    );
    assert!(replayed.out.contains("ended with status 1"), "{}", replayed.out);
    let text = std::fs::read_to_string(schedule).expect("a schedule");
    assert!(text.contains("\nshows late\n"), "{text}");
}
