//! Loops that keep where they are outside of registers and stack.

use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::rc::Rc;

use reweave::sync::Arc;
use reweave::sync::atomic::Ordering::SeqCst;
use reweave::sync::atomic::{AtomicBool, AtomicU32};
use reweave::{Builder, Engine, Exploration, Verdict, thread};

/// What a loop does between two looks, kept on the heap.
struct Patience {
    left: Box<Cell<u32>>,
}

impl Patience {
    fn new(left: u32) -> Patience {
        Patience { left: black_box(Box::new(Cell::new(left))) }
    }

    #[inline(never)]
    fn is_over(&self) -> bool {
        let left = black_box(self.left.get());
        self.left.set(left.saturating_sub(1));
        left == 0
    }
}

reweave::thread_local! {
    static LEFT: Cell<u32> = Cell::new(0);
}

#[inline(never)]
fn is_over_here() -> bool {
    LEFT.with(|left| {
        left.set(left.get().saturating_sub(1));
        left.get() == 0
    })
}

/// Spins until the flag is up or the patience is over: whether the flag was up.
fn spin(flag: &AtomicBool, is_over: impl Fn() -> bool) -> bool {
    while !flag.load(SeqCst) {
        if is_over() {
            return false;
        }
        thread::yield_now();
    }
    true
}

/// A spin that somebody may end, or nobody does, and then the slow path.
fn slow_path(
    raised: bool,
    fails: bool,
    patience: impl Fn() -> Box<dyn Fn() -> bool> + 'static,
) -> Exploration {
    Builder::new().explore(move || {
        let flag = Arc::new(AtomicBool::new(false));
        if raised {
            let other = Arc::clone(&flag);
            thread::spawn(move || other.store(true, SeqCst));
        }
        let up = spin(&flag, patience());
        assert!(up || !fails, "the slow path");
    })
}

fn on_the_heap(rounds: u32) -> impl Fn() -> Box<dyn Fn() -> bool> {
    move || {
        let patience = Patience::new(rounds);
        Box::new(move || patience.is_over())
    }
}

fn shared_on_the_heap(rounds: u32) -> impl Fn() -> Box<dyn Fn() -> bool> {
    move || {
        let left = Rc::new(RefCell::new(vec![rounds]));
        Box::new(move || {
            let mut left = left.borrow_mut();
            left[0] = left[0].saturating_sub(1);
            left[0] == 0
        })
    }
}

fn of_the_thread(rounds: u32) -> impl Fn() -> Box<dyn Fn() -> bool> {
    move || {
        LEFT.with(|left| left.set(rounds));
        Box::new(is_over_here)
    }
}

/// A loop that counts its looks on the heap does not wait: what it does when it has counted to the
/// end is found.
#[test]
fn what_is_counted_on_the_heap_is_found() {
    for rounds in [5, 40] {
        for found in [
            slow_path(true, true, on_the_heap(rounds)),
            slow_path(true, true, shared_on_the_heap(rounds)),
            slow_path(true, true, of_the_thread(rounds)),
        ] {
            assert!(found.to_string().contains("FAILED  the slow path"), "{rounds}: {found}");
        }
    }
}

/// And where nobody changes what it looks at, it ends all the same: it is no livelock.
#[test]
fn what_is_counted_on_the_heap_is_no_livelock() {
    for rounds in [5, 40, 1000] {
        for found in [
            slow_path(false, false, on_the_heap(rounds)),
            slow_path(false, false, shared_on_the_heap(rounds)),
            slow_path(false, false, of_the_thread(rounds)),
        ] {
            assert!(matches!(found.verdict, Verdict::Proved), "{rounds}: {found}");
        }
    }
}

/// A livelock is named only after its loops were followed for many rounds.
#[test]
fn patience_may_be_long() {
    let long = slow_path(false, false, on_the_heap(100_000));
    assert!(matches!(long.verdict, Verdict::Stopped), "{long}");
    assert!(long.to_string().contains("spins.rs:"), "{long}");
}

/// The schedule of a failure names the loops that count, so that it means the same when it is
/// replayed.
#[test]
fn a_schedule_names_the_loops_that_count() {
    let body = |limit: u32| {
        move || {
            let flag = Arc::new(AtomicBool::new(false));
            let other = Arc::clone(&flag);
            thread::spawn(move || other.store(true, SeqCst));
            let patience = Patience::new(limit);
            let up = spin(&flag, || patience.is_over());
            assert!(up, "the slow path");
        }
    };
    let found = Builder::new().explore(body(5));
    let Verdict::Failed { schedule } = &found.verdict else { panic!("{found}") };
    assert!(schedule.starts_with("counts=") && schedule.contains("spins.rs:"), "{schedule}");
    for _ in 0..100 {
        let again = Builder::new().replay(schedule, body(5));
        assert!(again.to_string().contains("FAILED  the slow path"), "{again}");
    }
}

/// Loops that do nothing but look still wait, whatever the engine; the proof says how far they were
/// followed.
#[test]
fn loops_that_only_look_are_followed_and_wait() {
    for engine in [Engine::Saturate, Engine::Trace] {
        let proof = Builder::new().engine(engine).explore(|| {
            let shared = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
            let other = Arc::clone(&shared);
            thread::spawn(move || {
                while !other.0.load(SeqCst) {
                    thread::yield_now();
                }
                other.1.store(1, SeqCst);
            });
            shared.0.store(true, SeqCst);
            while shared.1.load(SeqCst) != 1 {
                thread::yield_now();
            }
        });
        assert!(matches!(proof.verdict, Verdict::Proved), "{proof}");
        assert!(proof.to_string().contains("followed for 256 rounds"), "{proof}");
    }
    let livelock = Builder::new().explore(|| {
        let flag = AtomicBool::new(false);
        while !flag.load(SeqCst) {}
    });
    assert!(livelock.to_string().contains("livelock of main"), "{livelock}");
    assert!(livelock.to_string().contains("1000000 rounds"), "{livelock}");
}

/// Steps while its thread unwinds.
struct StepsWhenDropped(Arc<AtomicU32>);

impl Drop for StepsWhenDropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        self.0.fetch_add(1, SeqCst);
    }
}

/// A run ends where a loop was followed, or because it is too long, also while a thread unwinds.
#[test]
fn runs_end_while_threads_unwind() {
    let body = || {
        let shared = Arc::new((AtomicBool::new(false), Arc::new(AtomicU32::new(0))));
        let other = Arc::clone(&shared);
        let panics = thread::spawn(move || {
            let _steps = StepsWhenDropped(Arc::clone(&other.1));
            other.0.store(true, SeqCst);
            panic!("as it should");
        });
        while shared.1.load(SeqCst) < 2 {
            thread::yield_now();
        }
        assert!(panics.join().is_err());
    };
    let proof = Builder::new().explore(body);
    assert!(matches!(proof.verdict, Verdict::Proved), "{proof}");
    for steps in 1..12 {
        let stopped = Builder::new().max_steps(steps).explore(body);
        assert!(!matches!(stopped.verdict, Verdict::Failed { .. }), "{stopped}");
    }
}
