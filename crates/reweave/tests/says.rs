//! What explorations say: names, assumptions, failures, samples.

use reweave::cell::UnsafeCell;
use reweave::sync::atomic::Ordering::SeqCst;
use reweave::sync::atomic::{AtomicBool, AtomicU32};
use reweave::sync::{Arc, Mutex};
use reweave::{Builder, Engine, Verdict, thread};

struct Shared(UnsafeCell<u32>);

// SAFETY: a flag says when to look.
unsafe impl Sync for Shared {}

/// Threads are named by who made them, so a schedule means the same in every run.
#[test]
fn names_do_not_depend_on_the_schedule() {
    let body = || {
        let cell = Arc::new(AtomicU32::new(0));
        let start = |number: u32| {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                let inner = thread::spawn(move || cell.swap(number, SeqCst));
                inner.join().unwrap()
            })
        };
        let (first, second) = (start(1), start(2));
        let (_, seen) = (first.join().unwrap(), second.join().unwrap());
        assert_eq!(seen, 1, "the second was first");
    };
    let failed = Builder::new().explore(body);
    let Verdict::Failed { schedule } = &failed.verdict else { panic!("{failed}") };
    assert!(schedule.contains("main.2.1"), "{schedule}");
    for _ in 0..100 {
        let again = Builder::new().replay(schedule, body);
        assert!(again.to_string().contains("the second was first"), "{again}");
    }
}

/// Every ordering is taken for the strongest, and a proof says so.
#[test]
fn weaker_orderings_are_named() {
    use reweave::sync::atomic::Ordering::Relaxed;
    let proof = Builder::new().explore(|| {
        let shared = Arc::new((Shared(UnsafeCell::new(0)), AtomicBool::new(false)));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            // SAFETY: nobody looks before the flag is up, where orderings are not weaker.
            other.0.0.with_mut(|value| unsafe { *value = 1 });
            other.1.store(true, Relaxed);
        });
        if shared.1.load(Relaxed) {
            // SAFETY: as above.
            assert_eq!(shared.0.0.with(|value| unsafe { *value }), 1);
        }
    });
    assert!(matches!(proof.verdict, Verdict::Proved), "{proof}");
    assert!(proof.to_string().contains("orderings weaker than SeqCst were taken as SeqCst"), "{proof}");
}

/// A loop that writes never comes back to where it was: it is stepped through, and no proof comes of it.
#[test]
fn a_loop_that_writes_is_no_proof() {
    let exploration = Builder::new().max_steps(40).explore(|| {
        let shared = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let other = Arc::clone(&shared);
        thread::spawn(move || other.0.load(SeqCst));
        while shared.0.load(SeqCst) != 1 {
            shared.1.store(0, SeqCst);
            shared.1.swap(1, SeqCst);
        }
    });
    assert!(matches!(exploration.verdict, Verdict::Stopped), "{exploration}");
    assert!(exploration.to_string().contains("not proved"), "{exploration}");
}

fn two_failures() {
    let cell = Arc::new(AtomicU32::new(0));
    let other = Arc::clone(&cell);
    let thread = thread::spawn(move || other.swap(1, SeqCst));
    let seen = cell.swap(2, SeqCst);
    assert!(seen == 0, "the other \"first\"");
    let left = thread.join().unwrap();
    assert!(left == 0, "the other last");
}

/// A failure is shown in columns and as JSON; all of them, where that is asked for.
#[test]
fn failures_are_listed() {
    let one = Builder::new().explore(two_failures);
    assert_eq!(one.failures.len(), 1, "{one}");
    let text = one.to_string();
    assert!(
        text.lines().any(|line| line.trim_end() == "        main                        main.1"),
        "{text}"
    );
    let all = Builder::new().keep_going(true).explore(two_failures);
    let said: Vec<&str> = all.failures.iter().map(|failure| failure.what.as_str()).collect();
    assert_eq!(said.len(), 2, "{all}");
    assert!(said.iter().any(|what| what.contains("the other last")), "{all}");
    assert!(all.to_string().contains("2 failures:"), "{all}");
    for failure in &all.failures {
        // Each of them has happened, and happens again.
        let schedule = failure.schedule.as_deref().unwrap_or_else(|| panic!("{failure:?}"));
        let again = Builder::new().replay(schedule, two_failures);
        assert!(again.to_string().contains(&failure.what), "{again}");
        assert!(failure.preemptions.is_some(), "{failure:?}");
    }
    let json = all.json();
    assert!(json.starts_with("{\"schema\": 1, \"verdict\": \"failed\", \"engine\": \"saturate\""), "{json}");
    assert!(json.contains("the other \\\"first\\\""), "{json}");
}

/// Schedules by chance find what is likely, and prove nothing.
#[test]
fn samples_prove_nothing() {
    use reweave::Sampling;
    for how in [Sampling::Random, Sampling::Pct(2)] {
        let found = Builder::new().sample(how, 200).explore(two_failures);
        assert!(matches!(found.verdict, Verdict::Failed { .. }), "{found}");
        let none = Builder::new().sample(how, 50).explore(|| {
            let cell = Arc::new(AtomicU32::new(0));
            let other = Arc::clone(&cell);
            thread::spawn(move || other.fetch_add(1, SeqCst));
            assert!(cell.load(SeqCst) < 2);
        });
        assert!(matches!(none.verdict, Verdict::Stopped), "{none}");
        assert_eq!((none.runs, none.failures.len()), (50, 0), "{none}");
        assert!(none.to_string().contains("not proved"), "{none}");
    }
}

fn both_ways() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let other = Arc::clone(&locks);
    thread::spawn(move || {
        let _second = other.1.lock().unwrap();
        let _first = other.0.lock().unwrap();
    });
    let _first = locks.0.lock().unwrap();
    let _second = locks.1.lock().unwrap();
}

/// The line of a text in this file.
fn line_of(text: &str) -> usize {
    let own = include_str!("says.rs");
    own.lines().position(|line| line.trim() == text).expect("it is in this file") + 1
}

/// Where threads wait, and each step of a schedule, is named by file and line; what the crate does
/// itself is not.
#[test]
fn steps_have_places() {
    for engine in [Engine::Saturate, Engine::Trace] {
        let text = Builder::new().engine(engine).explore(both_ways).to_string();
        let waits = [
            ("main at lock mutex main#2", "let _second = locks.1.lock().unwrap();"),
            ("main.1 at lock mutex main#1", "let _first = other.0.lock().unwrap();"),
        ];
        for (what, line) in waits {
            let place = format!("{what} (crates/reweave/tests/says.rs:{})", line_of(line));
            assert!(text.contains(&place), "{place} in {text}");
        }
        let spawns = "spawn main.1  (crates/reweave/tests/says.rs:";
        assert!(text.lines().any(|line| line.contains(spawns)), "{text}");
        assert!(!text.contains("src/explored"), "{text}");
    }
}

/// A search that is not audited says so.
#[test]
fn what_was_not_audited_is_named() {
    let body = || {
        let cell = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&cell);
        thread::spawn(move || other.store(1, SeqCst));
        cell.load(SeqCst);
    };
    let audited = Builder::new().explore(body);
    assert!(!audited.to_string().contains("not audited"), "{audited}");
    let proof = Builder::new().audit(0).explore(body);
    assert!(matches!(proof.verdict, Verdict::Proved), "{proof}");
    assert!(proof.to_string().contains("; not audited: nothing is hidden from the search"), "{proof}");
    assert!(proof.json().contains("\"not audited: nothing is hidden from the search\""), "{}", proof.json());
}

/// Where a run does not end, the report names the thread that went on and on, and its line.
#[test]
fn a_run_that_is_too_long_names_its_loop() {
    for engine in [Engine::Saturate, Engine::Trace] {
        let exploration = Builder::new().engine(engine).max_steps(60).explore(|| {
            let cells = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
            let other = Arc::clone(&cells);
            thread::spawn(move || {
                while other.0.load(SeqCst) == 0 {
                    other.1.fetch_add(1, SeqCst);
                }
            });
        });
        let text = exploration.to_string();
        assert!(matches!(exploration.verdict, Verdict::Stopped), "{text}");
        assert!(text.contains("more than 60 steps, most of the last ones of main.1 at "), "{text}");
        let lines = ["while other.0.load(SeqCst) == 0 {", "other.1.fetch_add(1, SeqCst);"].map(line_of);
        assert!(lines.iter().any(|line| text.contains(&format!("says.rs:{line})"))), "{text}");
    }
}

/// The document for machines has what a proof relies on, and how far a search came that was ended.
#[test]
fn the_document_has_assumptions_and_an_estimate() {
    let body = || {
        let cells: Vec<_> = (0..6).map(|_| Arc::new(AtomicU32::new(0))).collect();
        for own in 0..6 {
            let cells = cells.clone();
            thread::spawn(move || (0..6).map(|at| cells[(own + at) % 6].fetch_add(1, SeqCst)).sum::<u32>());
        }
    };
    let short = Builder::new().time(std::time::Duration::ZERO).explore(body).json();
    assert!(short.contains("\"verdict\": \"stopped\""), "{short}");
    assert!(short.contains("\"estimate\": {\"pass\": 1, \"share\": 0."), "{short}");
    let whole = Builder::new().explore(two_failures).json();
    assert!(whole.contains("\"estimate\": null"), "{whole}");
    assert!(whole.contains("\"assumptions\": [\"for sequential consistency\", "), "{whole}");
}
