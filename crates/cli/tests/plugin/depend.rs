//! Dependences of recorded programs: the figures of "Reduce Dependence for Sound Concurrency Bug Prediction" as C programs.

use crate::common::{Program, is_there, output, predict, reweave};

/// Volatile, so that optimised code reads and writes what the source does.
const HEAD: &str = "
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
volatile int x, y, z, t, m, n, a, b, c, d, s, p[2];
";

const MAIN: &str = "
int main(void) {
    pthread_t u[3]; void *(*f[3])(void *) = {one, two, three};
    for (int i = 0; i < 3; i++) pthread_create(&u[i], 0, f[i], 0);
    for (int i = 0; i < 3; i++) pthread_join(u[i], 0);
    return 0;
}
";

/// The first thread writes p; the last one does so depending on x alone. The second one starts while the last one sleeps.
const FIGURE_2: &str = "
static void *one(void *u) { x = 0; p[x] = 0; y = 1; return u; }
static void *two(void *u) { z = 2; usleep(1000); z = y; if (x == 2) p[0] = y; return u; }
static void *three(void *u) { t = y; if (z == 0) z = t; x = z; if (y > 0) printf(\".\"); y = 3; return u; }
";

/// What is read of z goes through memory of the thread's own, and decides nothing.
const FIGURE_3: &str = "
static void *one(void *u) { x = 1; y = 1; z = 1; return u; }
static void *two(void *u) { m = z; n = m + 1; if (x > 1) return u; y = 2; return u; }
static void *three(void *u) { return u; }
";

/// What is read of a goes through a recursion, whose depth does not depend on it. c does, d does not.
const FIGURE_4: &str = "
static __attribute__((noinline)) int f(int k, int v, int w) { if (k == 0) return 0; return v * 2 + f(k - 1, w, v); }
static void *one(void *u) { s = 1; a = 7; return u; }
static void *two(void *u) { c = f(2, a, b); d = 5; return u; }
static void *three(void *u) { if (WHICH > 2) s = 2; return u; }
";

fn record(text: &str, level: &str) -> Program {
    // A line for each statement: races are told apart by their lines.
    let text = format!("{HEAD}{}{MAIN}", text.replace("; ", ";\n"));
    let program = Program::new(&text, "c", "plugin", &[level]);
    let trace = program.folder.path().join("trace.rw");
    let mut record = reweave();
    record.args(["record", "--quiet", "--policy", "plain", "--dependences", "--timeout", "60s", "-o"]);
    output(record.arg(trace).arg("--").arg(&program.path));
    program
}

/// The races on a variable that are found in a model.
fn races(program: &Program, model: &str, variable: &str) -> Vec<serde_json::Value> {
    let document = predict(&program.folder.path().join("trace.rw"), &["--kinds", "race", "--model", model]);
    let all = document["findings"].as_array().expect("findings").iter();
    all.filter(|finding| finding["target"] == format!("global {variable}")).cloned().collect()
}

#[track_caller]
fn only_dependences_find(text: &str, variable: &str) {
    for level in ["-O0", "-O2"] {
        let program = record(text, level);
        for model in ["rf", "value", "branch", "branch+value"] {
            assert_eq!(races(&program, model, variable), Vec::<serde_json::Value>::new(), "{level} {model}");
        }
        for model in ["dep", "dep+value", "auto"] {
            assert!(!races(&program, model, variable).is_empty(), "{level} {model}: {text}");
        }
        let trace = program.folder.path().join("trace.rw");
        let found = predict(&trace, &["--kinds", "race"]);
        assert_eq!(found["model"], "dep+value");
        let all = found["findings"].as_array().expect("findings");
        for finding in all {
            let fingerprint = finding["fingerprint"].as_str().expect("a fingerprint");
            let mut replay = reweave();
            replay.arg("replay").arg(&trace).arg(fingerprint).arg("--").arg(&program.path);
            let ran = replay.output().expect("it starts");
            let said = String::from_utf8_lossy(&ran.stdout);
            assert!(said.contains("confirmed"), "{level}: {said}{}", String::from_utf8_lossy(&ran.stderr));
        }
    }
}

#[test]
fn a_race_behind_reads_that_decide_nothing_is_found_with_dependences_only() {
    if is_there() {
        only_dependences_find(FIGURE_2, "p");
        only_dependences_find(FIGURE_3, "y");
        only_dependences_find(&FIGURE_4.replace("WHICH", "d"), "s");
    }
}

#[test]
fn what_comes_back_from_a_recursion_is_followed() {
    if !is_there() {
        return;
    }
    for level in ["-O0", "-O2"] {
        let program = record(&FIGURE_4.replace("WHICH", "c"), level);
        for model in ["branch+value", "dep", "dep+value"] {
            assert_eq!(races(&program, model, "s"), Vec::<serde_json::Value>::new(), "{level} {model}");
        }
        let text = output(
            reweave().arg("convert").arg(program.folder.path().join("trace.rw")).args(["-", "--to", "std"]),
        );
        assert!(text.contains("#! feeds ") && text.contains("#! capabilities: "), "{text}");
        let events: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let write = events.iter().position(|event| event.contains("w(global c)")).expect("a write of c");
        let said = output(
            reweave()
                .arg("stats")
                .arg(program.folder.path().join("trace.rw"))
                .args(["--depends", &write.to_string()]),
        );
        assert!(
            said.contains("writes what was computed from event ") && said.contains("r(global a)"),
            "{said}"
        );
    }
}

#[test]
fn a_hunt_and_a_recorded_replay_have_dependences_where_they_are_asked_for() {
    if !is_there() {
        return;
    }
    let program = record(FIGURE_3, "-O0");
    let at = |name: &str| program.folder.path().join(name);
    let hunted = |more: &[&str]| {
        let kept = at("hunted");
        let mut hunt = reweave();
        hunt.args(["hunt", "--quiet", "--runs", "1", "--policy", "plain", "--kinds", "race", "--json", "-"]);
        hunt.args(more).arg("--keep").arg(&kept).arg("--").arg(&program.path);
        let ran = hunt.output().expect("it starts");
        let said: serde_json::Value = serde_json::from_slice(&ran.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ran.stderr)));
        let found = said["findings"].as_array().expect("findings").iter();
        let on_y = found.filter(|finding| finding["target"] == "global y").cloned().collect::<Vec<_>>();
        (on_y, output(reweave().arg("stats").arg(kept.join("run.rw"))))
    };
    let (found, stats) = hunted(&["--deepen", "0"]);
    assert!(found.is_empty() && !stats.contains("dependences"), "{found:?} {stats}");
    let (found, stats) = hunted(&["--deepen", "2", "--dependences"]);
    assert!(stats.contains("auto takes dep+value"), "{stats}");
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding["replay"], "confirmed");
    let trace = at("trace.rw");
    for (more, claims) in [(&[][..], false), (&["--dependences"], true)] {
        let again = at("again.rw");
        let mut replay = reweave();
        replay.arg("replay").arg(&trace).arg(finding["fingerprint"].as_str().expect("a fingerprint"));
        replay.args(["--order", "ab", "--record"]).arg(&again).args(more).arg("--").arg(&program.path);
        assert!(replay.output().expect("it starts").status.success());
        let stats = output(reweave().arg("stats").arg(&again));
        assert_eq!(stats.contains("auto takes dep+value"), claims, "{stats}");
    }
}
