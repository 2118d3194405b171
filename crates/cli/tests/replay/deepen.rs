//! Failures that hang on the order of critical sections, each of which is correctly locked: `programs/ordered`. No prediction tells
//! of them. Each program is recorded in one run that ends well; a hunt finds the failure, with a schedule that replays, and nothing in the
//! twin that is compiled with `FIXED`.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Program, Ran, ran, reweave};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/programs/ordered/{name}.c"))
}

fn hunt(program: &Program, deepen: Option<&str>, keep: Option<&Path>) -> Ran {
    let mut command = reweave();
    command.args(["hunt", "--quiet", "--runs", "1", "--policy", "plain", "--json", "-"]);
    command.args(deepen.into_iter().flat_map(|runs| ["--deepen", runs]));
    if let Some(folder) = keep {
        command.arg("--keep").arg(folder);
    }
    ran(command.arg("--").arg(&program.path))
}

fn check(name: &str) {
    let program = Program::compile(&source(name), &[]);
    let kept = program.folder.path().join("kept");
    let before = hunt(&program, Some("0"), None);
    assert_eq!(before.code, Some(0), "{name}: nothing is found without it: {}", before.out);
    let found = hunt(&program, None, Some(&kept));
    assert_eq!(found.code, Some(1), "{name}: {}{}", found.out, found.err);
    let document: Value = serde_json::from_str(&found.out).expect("JSON");
    let run = &document["failed_runs"][0];
    assert_eq!(run["status"], 134, "{name}: {document}");
    assert!(run["differs"].as_str().is_some_and(|text| text.contains("read of")), "{run}");
    assert!(run["output"].as_str().is_some_and(|text| text.contains("Assertion")), "{run}");
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/predict.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).expect("a schema")).expect("JSON");
    assert!(jsonschema::is_valid(&schema, &document), "{document}");
    let schedule = run["schedule"].as_str().expect("it is kept");
    assert!(run["again"].as_str().is_some_and(|again| again.contains(schedule)), "{run}");
    for _ in 0..5 {
        let mut command = reweave();
        let again = ran(command.args(["replay", "--schedule", schedule, "--"]).arg(&program.path));
        assert!(again.out.contains("Assertion"), "{name}: {}{}", again.out, again.err);
    }
    let twin = Program::compile(&source(name), &["-DFIXED"]);
    let clean = hunt(&twin, Some("20"), None);
    assert_eq!(clean.code, Some(0), "{name}: {}{}", clean.out, clean.err);
}

#[test]
fn an_account() {
    check("account");
}

#[test]
fn a_thread_that_comes_last() {
    check("lazy");
}

#[test]
fn two_stages() {
    check("twostage");
}

#[test]
fn a_token_in_a_ring() {
    check("ring");
}

#[test]
fn a_queue() {
    check("queue");
}

/// What reads nothing but its own has nothing new; and one that needs its input is not taken for one that fails without.
#[test]
fn nothing_new_and_input_that_is_not_there() {
    let text = "#include <pthread.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int x;\n\
         static void *f(void *p) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return p; }\n\
         #include <stdio.h>\nint main(void) { pthread_t t; int c = getchar(); pthread_create(&t, 0, f, 0); f(0);\n\
         pthread_join(t, 0); return c == 'y' ? 0 : 3; }\n";
    let program = Program::of_text(text);
    let input = program.folder.path().join("input");
    fs::write(&input, "y").expect("it is written");
    let mut command = reweave();
    command.stdin(fs::File::open(&input).expect("it is there"));
    let found = ran(command.args(["hunt", "--runs", "1", "--policy", "plain", "--"]).arg(&program.path));
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    assert!(found.err.contains("not deepened: by itself"), "{}", found.err);
    let mut command = reweave();
    command.stdin(fs::File::open(&input).expect("it is there"));
    command.args(["hunt", "--runs", "1", "--policy", "plain", "--input"]).arg(&input);
    let found = ran(command.arg("--").arg(&program.path));
    assert_eq!(found.code, Some(0), "{}{}", found.out, found.err);
    assert!(!found.err.contains("not deepened"), "{}", found.err);
}
