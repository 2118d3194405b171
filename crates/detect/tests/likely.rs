//! Which interleavings are taken for likely bugs: each clause of the rule, and what it refuses, on traces that are possible bugs all.

use reweave_detect::{Atomicity, Finding, Kind, Options, Prediction, predict};
use reweave_testkit::parse;
use reweave_trace::{DependenceBuilder, EventId, Model, Space, ThreadId, Trace};

/// A trace, with a table of dependences if the text has one.
fn trace_of(text: &str) -> Trace {
    let trace = parse(text).expect("a trace");
    if !text.contains("dependences") {
        return trace;
    }
    let mut table = DependenceBuilder::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("#! ")) {
        let (who, reads) = line.split_once(": ").expect("a set");
        let reads: Vec<EventId> =
            reads.split(' ').filter_map(|read| read.parse().ok()).map(EventId).collect();
        match who.split_once(' ') {
            Some(("needs", event)) => _ = table.needs(EventId(event.parse().expect("an event")), &reads),
            Some(("feeds", event)) => _ = table.feeds(EventId(event.parse().expect("an event")), &reads),
            Some(("end", name)) => {
                let thread = trace.names().space(Space::Thread).find(name).expect("a thread");
                table.end_needs(ThreadId(thread), &reads);
            }
            _ => {}
        }
    }
    trace.with_dependences(table.finish()).expect("a table of earlier reads")
}

fn search(text: &str, atomicity: Atomicity, kinds: &[Kind]) -> Prediction {
    let trace = trace_of(text);
    let options = Options { kinds: kinds.to_vec(), atomicity, ..Options::default() };
    predict(&trace, Model::Rf, &options).expect("every yes passes the checker")
}

fn patterns(findings: &[Finding]) -> Vec<&'static str> {
    let mut names: Vec<&str> = findings.iter().map(|finding| finding.pattern().name()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Of the atomicity violations that are possible, `pattern` among them, whether that is a likely one.
#[track_caller]
fn is_likely(pattern: &str, text: &str) -> bool {
    let all = search(text, Atomicity::All, &[Kind::Atomicity]);
    assert!(patterns(&all.findings).contains(&pattern), "possible are {:?}", patterns(&all.findings));
    assert_eq!(all.refused, 0);
    let likely = search(text, Atomicity::Likely, &[Kind::Atomicity]);
    let prints: Vec<&str> = all.findings.iter().map(Finding::fingerprint).collect();
    assert!(likely.findings.iter().all(|finding| prints.contains(&finding.fingerprint())));
    let found = patterns(&likely.findings).contains(&pattern);
    assert!(found || likely.refused > 0, "what is not looked at is counted");
    found
}

/// `lock` around accesses, each with its site.
fn section(thread: &str, place: &str, accesses: &[&str]) -> String {
    let inside: String = accesses.iter().map(|access| format!("{thread}|{access}\n")).collect();
    format!("{thread}|acq(l)|{place}a\n{inside}{thread}|rel(l)|{place}b\n")
}

#[test]
fn a_write_after_a_read_that_nobody_looks_at_again() {
    let local = section("a", "f 1", &["r(x)|f 2"]) + &section("a", "f 3", &["w(x)|f 4"]);
    let other = section("b", "g 1", &["w(x)|g 2"]);
    assert!(is_likely("RWW", &(local.clone() + &other)));
    // The other thread is started in between: it cannot come any earlier by accident.
    let started = local.replace("a|acq(l)|f 3a", "a|fork(b)|f 5\na|acq(l)|f 3a") + &other;
    assert!(!is_likely("RWW", &started));
}

#[test]
fn another_round_of_a_loop_is_not_the_same_step() {
    let round = section("a", "f 1", &["r(x)|f 2"]) + &section("a", "f 3", &["w(x)|f 4"]);
    let other = section("b", "g 1", &["w(x)|g 2"]);
    // From the write to the read of the next round.
    assert!(!is_likely("WWR", &(round.clone() + &round + &other)));
    // The same two accesses in a straight line.
    let line = section("a", "f 3", &["w(x)|f 4"]) + &section("a", "f 5", &["r(x)|f 6"]);
    assert!(is_likely("WWR", &(line.clone() + &other)));
    // In two functions nothing says that they are one step.
    assert!(!is_likely("WWR", &(line.replace("f 6", "h 6") + &other)));
}

#[test]
fn a_value_that_is_carried_over() {
    let other = section("b", "g 1", &["w(x)|g 2"]);
    let second = section("a", "f 3", &["r(x)|f 4"]);
    assert!(is_likely("RWR", &(section("a", "f 1", &["r(x)|f 2"]) + &second + &other)));
    // It is decided on where it is read, under the lock.
    assert!(!is_likely("RWR", &(section("a", "f 1", &["r(x)|f 2", "br|f 2"]) + &second + &other)));
    // The lock is held all the time: the other thread comes in without it, and that is a race.
    assert!(!is_likely("RWR", &(section("a", "f 1", &["r(x)|f 2", "r(x)|f 4"]) + "b|w(x)|g 2\n")));
}

#[test]
fn what_is_not_looked_at_again_after_a_wait() {
    let wait = |again: &str| {
        let local = format!(
            "a|acq(l)|f 1\na|r(x)|f 2\na|rel(l)|f 3\nb|acq(l)|g 1\nb|w(x)|g 2\nb|notify(c)|g 3\nb|rel(l)|g 4\na|wait(c)|f 3\na|acq(l)|f 3\na|r(x)|{again}\na|rel(l)|f 5\n"
        );
        local + &section("d", "h 1", &["w(x)|h 2"])
    };
    assert!(is_likely("RWR", &wait("f 4")));
    // The condition of the loop looks again.
    assert!(!is_likely("RWR", &wait("f 2")));
}

#[test]
fn two_variables_that_one_section_writes() {
    let local = section("a", "f 1", &["r(x)|f 2"]) + &section("a", "f 3", &["r(y)|f 4"]);
    let together = section("b", "g 1", &["w(x)|g 2", "w(y)|g 3"]);
    let apart = section("b", "g 1", &["w(x)|g 2"]) + &section("b", "g 4", &["w(y)|g 3"]);
    assert!(is_likely("RxWxWyRy", &(local.clone() + &together)));
    assert!(!is_likely("RxWxWyRy", &(local + &apart)));
    // What is half done is seen by one section of another thread.
    let (first, second) = (section("a", "f 1", &["w(x)|f 2"]), section("a", "f 3", &["w(y)|f 4"]));
    let between = section("b", "g 1", &["r(x)|g 2", "r(y)|g 3"]);
    assert!(is_likely("WxRxRyWy", &(first.clone() + &between + &second)));
    assert!(!is_likely("WxRxRyWy", &(first + &between + &second.replace("f 4", "h 4"))));
}

#[test]
fn an_atomic_that_is_stored_from_an_earlier_load() {
    assert!(is_likely("RWW", "a|ar(x)|f 1\na|aw(x)|f 2\nb|aw(x)|g 1\n"));
    assert!(!is_likely("WRW", "a|aw(x)|f 1\na|aw(x)|f 2\nb|ar(x)|g 1\n"));
}

#[test]
fn marked_regions_are_taken_at_their_word() {
    let text = "a|enter(u)|f 0\na|w(x)|f 1\na|w(x)|f 2\na|exit(u)|f 3\nb|w(x)|g 1\n";
    assert!(is_likely("WWW", text));
    assert!(!is_likely("WWW", "a|w(x)|f 1\na|w(x)|f 2\nb|w(x)|g 1\n"));
}

#[test]
fn what_nothing_uses_any_more_is_forgotten() {
    let other = section("b", "g 1", &["w(x)|g 2"]);
    // The read is event 1; the write, or the second read, is event 4.
    let writes = section("a", "f 1", &["r(x)|f 2"]) + &section("a", "f 3", &["w(x)|f 4"]) + &other;
    let reads = section("a", "f 1", &["r(x)|f 2"]) + &section("a", "f 3", &["r(x)|f 4"]) + &other;
    let table = |lines: &str, text: &str| format!("#! capabilities: dependences\n{lines}{text}");
    for (pattern, text) in [("RWW", &writes), ("RWR", &reads)] {
        assert!(!is_likely(pattern, &table("", text)), "{pattern}: nobody looks at it");
        assert!(
            is_likely(pattern, &table("#! needs 3: 1\n", text)),
            "{pattern}: it decides that the thread goes on"
        );
        assert!(
            is_likely(pattern, &table("#! needs 2: 1\n", text)),
            "{pattern}: also what was decided before counts"
        );
        assert!(is_likely(pattern, &table("#! end a: 1\n", text)), "{pattern}: the thread returns it");
    }
    assert!(is_likely("RWW", &table("#! feeds 4: 1\n", &writes)), "what is written is computed from it");
    // It is stored in another variable before the lock is given back, and that is not looked at again, or it is.
    let kept = |again: &str| {
        section("a", "f 1", &["r(x)|f 2", "w(y)|f 5"]) + &section("a", "f 3", &["w(x)|f 4", again]) + &other
    };
    let stored = "#! feeds 2: 1\n";
    assert!(!is_likely("RWW", &table(stored, &kept("r(z)|f 6"))));
    assert!(!is_likely("RWW", &table(stored, &kept("r(y)|f 6"))), "it is looked at, and nothing comes of it");
    assert!(is_likely("RWW", &table("#! feeds 2: 1\n#! needs 7: 6\n", &kept("r(y)|f 6"))));
    // Atomics have no section: the other thread can come in at once.
    let atomics = "a|ar(x)|f 1\na|aw(y)|f 2\na|aw(x)|f 3\nb|aw(x)|g 1\n";
    assert!(!is_likely("RWW", &table("", atomics)));
    assert!(is_likely("RWW", &table("#! feeds 1: 0\n", atomics)));
}

#[test]
fn what_races_is_told_with_the_race() {
    let local = section("a", "f 1", &["r(x)|f 2"]) + &section("a", "f 3", &["w(x)|f 4"]);
    let text = local + "b|w(x)|g 2\n";
    let kinds = [Kind::Race, Kind::Atomicity];
    let folded = search(&text, Atomicity::Likely, &kinds).findings;
    assert!(folded.iter().all(|finding| finding.kind() == Kind::Race), "{folded:?}");
    let torn: Vec<_> = folded.iter().flat_map(|finding| finding.torn()).collect();
    assert_eq!(torn.len(), 1, "{torn:?}");
    assert_eq!(torn[0].pattern.name(), "RWW");
    let alone = search(&text, Atomicity::Likely, &[Kind::Atomicity]).findings;
    assert_eq!(patterns(&alone), ["RWW"], "where nobody asks for races, it is a finding of its own");
    let all = search(&text, Atomicity::All, &kinds).findings;
    assert_eq!(patterns(&all), ["RWW", "race"]);
}
