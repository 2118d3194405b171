//! Traces that are large in one way: the work follows what is different in them, and not how often it comes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use reweave_detect::{Finding, Kind, Options, Prediction, predict};
use reweave_format::{LoadOptions, load_bytes};
use reweave_trace::{Model, Trace};

fn trace(text: &str) -> Trace {
    load_bytes("t.std", text.as_bytes(), &LoadOptions::default()).expect("it is well formed").trace
}

/// What was found, and how many questions were asked.
fn asked(trace: &Trace, kinds: &[Kind]) -> (Prediction, u64) {
    let questions = AtomicU64::new(0);
    let count = || {
        questions.fetch_add(1, Ordering::Relaxed);
        Arc::new(AtomicBool::new(false))
    };
    let options = Options { kinds: kinds.to_vec(), timer: Some(&count), ..Options::default() };
    let prediction = predict(trace, Model::Rf, &options).expect("every yes passes the checker");
    (prediction, questions.into_inner())
}

#[test]
fn many_accesses_of_one_variable_are_a_finding_for_each_pair_of_sites() {
    // Seven threads at three sites.
    let rounds = |rounds: usize| -> String {
        let one = |n: usize| format!("t{}|{}(x)|a.c:{}\n", n % 7, ["r", "w", "w"][n / 7 % 3], n / 7 % 3);
        (0..21 * rounds).map(one).collect()
    };
    let (few, asked_of_few) = asked(&trace(&rounds(10)), &Kind::ALL);
    let (many, asked_of_many) = asked(&trace(&rounds(70)), &Kind::ALL);
    let races =
        |prediction: &Prediction| prediction.findings.iter().filter(|f| f.kind() == Kind::Race).count();
    // Two reads do not race: five pairs of sites are left.
    assert_eq!((races(&few), races(&many)), (5, 5));
    assert_eq!(few.findings.len(), many.findings.len());
    assert!(asked_of_many <= asked_of_few.max(100), "{asked_of_few} {asked_of_many}");
    // The number of candidates is bounded, too: where there are enough of a group, no more are looked for.
    assert!(many.counts.candidates < 8 * few.counts.candidates, "{:?} {:?}", few.counts, many.counts);
}

/// Threads that push to and pop from a stack by compare-exchange: 114 events.
fn stack() -> String {
    let mut text = String::new();
    for round in 0..6 {
        for thread in 0..3 {
            for (place, op) in
                ["ar(top)", "w(next)", "au(top)", "ar(count)", "au(count)", "r(next)"].iter().enumerate()
            {
                text += &format!("t{thread}|{op}|stack.c:{}\n", 10 * (round % 2) + place);
            }
        }
    }
    text + &"t0|ar(top)|main.c:1\n".repeat(6)
}

#[test]
fn a_lock_free_stack_takes_a_few_questions_for_each_pair_of_sites() {
    let trace = trace(&stack());
    assert_eq!(trace.len(), 114);
    let (prediction, questions) = asked(&trace, &[Kind::Atomicity]);
    let groups = prediction.findings.len() as u64 + prediction.undecided.len() as u64;
    assert!(groups > 10 && prediction.undecided.is_empty(), "{groups}");
    assert!(questions < 64 * (groups + prediction.counts.infeasible), "{questions} {groups}");
    let sites: BTreeSet<_> = prediction
        .findings
        .iter()
        .map(|f| (f.pattern(), f.sites()[0], f.sites()[f.sites().len() - 1]))
        .collect();
    assert_eq!(sites.len(), prediction.findings.len(), "one for each pair of sites");
}

#[test]
fn a_deep_nest_is_searched_for_each_depth_once() {
    let nest = |depth: usize| {
        let mut text = String::new();
        for (thread, order) in [(0..depth).collect::<Vec<_>>(), (0..depth).rev().collect()].iter().enumerate()
        {
            order.iter().for_each(|lock| text += &format!("t{thread}|acq(l{lock})|a.c:{thread}\n"));
            text += &format!("t{thread}|w(x)|b.c:{thread}\nt{thread}|w(x)|b.c:{thread}\n");
            order.iter().rev().for_each(|lock| text += &format!("t{thread}|rel(l{lock})|c.c:{thread}\n"));
        }
        trace(&text)
    };
    let (prediction, questions) = asked(&nest(400), &Kind::ALL);
    // Each two neighbours can block each other, and all of that is at one pair of sites.
    assert_eq!(prediction.findings.len(), 1);
    assert_eq!((prediction.findings[0].kind(), prediction.findings[0].instances()), (Kind::Deadlock, 399));
    assert!(questions < 10, "{questions}");
}

#[test]
fn many_threads_with_many_fields_are_not_each_compared_with_each() {
    let (threads, fields) = (2_000, 50);
    let mut text = String::new();
    for thread in 0..threads {
        text += &format!("main|fork(t{thread})|main.c:1\n");
    }
    for thread in 0..threads {
        for field in 0..fields {
            // Its own fields, and those that it takes over from its neighbour under a lock.
            let neighbour = (thread + 1) % threads;
            text += &format!("t{thread}|w(f{thread}.{field})|t.c:1\n");
            if field == 0 {
                text += &format!("t{thread}|acq(m)|t.c:2\nt{thread}|w(g{neighbour})|t.c:3\n");
                text += &format!("t{thread}|w(g{thread})|t.c:4\nt{thread}|rel(m)|t.c:5\n");
            }
        }
    }
    text += "t1|w(x)|t.c:6\nt2|w(x)|t.c:7\n";
    let (prediction, questions) = asked(&trace(&text), &[Kind::Race, Kind::Deadlock]);
    assert_eq!(prediction.findings.len(), 1);
    assert!(questions < 10, "{questions}");
}

#[test]
fn the_first_finding_of_each_variable_and_kind_comes_early_and_each_comes_once() {
    let mut text = "#! capabilities: branches\n".to_owned();
    // One variable with many pairs of sites, and others with one, which come last in the trace.
    for site in 0..30 {
        text += &format!("a|w(hot)|a.c:{site}\nb|w(hot)|b.c:{site}\n");
    }
    for variable in ["x", "y", "z"] {
        text += &format!("a|w({variable})|a.c:{variable}\nb|w({variable})|b.c:{variable}\n");
    }
    let trace = trace(&text);
    let seen = Mutex::new(Vec::new());
    let found = |finding: &Finding| {
        let mut seen = seen.lock().expect("no thread panics");
        seen.push((finding.kind(), finding.target(&trace), finding.fingerprint().to_owned()));
    };
    let options = Options { kinds: vec![Kind::Race], found: Some(&found), ..Options::default() };
    let prediction = predict(&trace, Model::Branch, &options).expect("every yes passes the checker");
    let seen = seen.into_inner().expect("no thread panics");
    let first: BTreeSet<&str> = seen[..4].iter().map(|(_, target, _)| target.as_str()).collect();
    assert_eq!(first, BTreeSet::from(["hot", "x", "y", "z"]));
    let mut told: Vec<&str> = seen.iter().map(|(.., fingerprint)| fingerprint.as_str()).collect();
    let mut listed: Vec<&str> = prediction.findings.iter().map(|finding| finding.fingerprint()).collect();
    told.sort_unstable();
    listed.sort_unstable();
    assert!(listed.len() > 30 && told == listed, "{} {}", told.len(), listed.len());
}
