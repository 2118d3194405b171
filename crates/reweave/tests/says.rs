//! What explorations say: names, assumptions, failures, samples.

use reweave::cell::UnsafeCell;
use reweave::sync::Arc;
use reweave::sync::atomic::Ordering::SeqCst;
use reweave::sync::atomic::{AtomicBool, AtomicU32};
use reweave::{Builder, Verdict, thread};

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
