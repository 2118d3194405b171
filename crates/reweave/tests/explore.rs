//! Explorations of closures.

use std::cell::Cell;
use std::time::Duration;

use reweave::sync::atomic::Ordering::SeqCst;
use reweave::sync::atomic::{AtomicBool, AtomicU32};
use reweave::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, OnceLock, RwLock, RwLockWriteGuard, mpsc};
use reweave::{Builder, Engine, Verdict, thread};

fn counter(threads: u32) -> impl Fn() + 'static {
    move || {
        let sum = Arc::new(Mutex::new(0));
        let all: Vec<_> = (0..threads)
            .map(|_| {
                let sum = Arc::clone(&sum);
                thread::spawn(move || *sum.lock().unwrap() += 1)
            })
            .collect();
        all.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*sum.lock().unwrap(), threads);
    }
}

#[test]
fn mutex_counters() {
    for (threads, classes) in [(3, 6), (4, 24), (5, 120)] {
        let proved = Builder::new().explore(counter(threads));
        assert!(matches!(proved.verdict, Verdict::Proved), "{proved}");
        let traced = Builder::new().engine(Engine::Trace).explore(counter(threads));
        assert!(matches!(traced.verdict, Verdict::Proved), "{traced}");
        assert_eq!(traced.executions, classes, "{traced}");
    }
}

fn proved(body: impl Fn() + 'static) {
    let exploration = Builder::new().explore(body);
    assert!(matches!(exploration.verdict, Verdict::Proved), "{exploration}");
}

/// The text of a failure. Its schedule fails in the same way each time that it is replayed.
fn failed(body: impl Fn() + Clone + 'static) -> String {
    let exploration = Builder::new().explore(body.clone());
    let Verdict::Failed { schedule } = &exploration.verdict else { panic!("{exploration}") };
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let text = first_line(exploration.to_string());
    for _ in 0..100 {
        let replayed = Builder::new().replay(schedule, body.clone());
        assert_eq!(first_line(replayed.to_string()), text, "{schedule}");
    }
    text
}

#[test]
fn lost_updates_are_found_and_replayed() {
    let text = failed(|| {
        let count = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&count);
        let thread = thread::spawn(move || {
            let seen = other.load(SeqCst);
            other.store(seen + 1, SeqCst);
        });
        let seen = count.load(SeqCst);
        count.store(seen + 1, SeqCst);
        thread.join().unwrap();
        assert_eq!(count.load(SeqCst), 2);
    });
    assert!(text.contains("assertion"), "{text}");
}

#[test]
#[should_panic(expected = "explore: FAILED  assertion failed")]
fn a_failure_is_a_panic_of_the_test() {
    reweave::explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        thread::spawn(move || other.store(true, SeqCst));
        assert!(!flag.load(SeqCst));
    });
}

#[test]
fn deadlocks_say_where() {
    let text = failed(|| {
        let forks: Vec<_> = (0..3).map(|_| Arc::new(Mutex::new(()))).collect();
        for index in 0..3 {
            let (left, right) = (Arc::clone(&forks[index]), Arc::clone(&forks[(index + 1) % 3]));
            thread::spawn(move || {
                let _left = left.lock().unwrap();
                let _right = right.lock().unwrap();
            });
        }
    });
    assert!(text.contains("deadlock of main.1, main.2, main.3"), "{text}");
}

#[test]
fn a_spin_waits_for_what_it_watches() {
    proved(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        thread::spawn(move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
    });
    // Without a yield, too.
    proved(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        thread::spawn(move || other.store(true, SeqCst));
        while !flag.load(SeqCst) {}
    });
    // A lock of one's own: tests, and swaps.
    proved(|| {
        let lock = Arc::new((AtomicBool::new(false), AtomicU32::new(0)));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let lock = Arc::clone(&lock);
                thread::spawn(move || {
                    while lock.0.swap(true, SeqCst) {
                        reweave::hint::spin_loop();
                    }
                    let seen = lock.1.load(SeqCst);
                    lock.1.store(seen + 1, SeqCst);
                    lock.0.store(false, SeqCst);
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(lock.1.load(SeqCst), 2);
    });
}

#[test]
fn a_spin_that_nobody_ends_is_a_livelock() {
    let text = failed(|| {
        let flag = Arc::new(AtomicBool::new(false));
        while !flag.load(SeqCst) {
            thread::yield_now();
        }
    });
    assert!(text.contains("livelock of main"), "{text}");
}

/// A thread that counts its looks does not wait: its slow path is explored.
#[test]
fn spinning_for_a_while_is_no_waiting() {
    let text = failed(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let other = Arc::clone(&flag);
        thread::spawn(move || other.store(true, SeqCst));
        for _ in 0..4 {
            if flag.load(SeqCst) {
                return;
            }
            thread::yield_now();
        }
        panic!("the slow path");
    });
    assert!(text.contains("the slow path"), "{text}");
}

/// A loop that writes is no waiting either: no false deadlock.
#[test]
fn a_heartbeat_is_no_deadlock() {
    let exploration = Builder::new().max_steps(60).explore(|| {
        let shared = Arc::new((AtomicBool::new(false), AtomicBool::new(false)));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            while !other.0.load(SeqCst) {
                other.1.store(true, SeqCst);
                thread::yield_now();
            }
        });
        shared.1.store(false, SeqCst);
        while !shared.1.load(SeqCst) {
            thread::yield_now();
        }
        shared.0.store(true, SeqCst);
    });
    assert!(matches!(exploration.verdict, Verdict::Stopped), "{exploration}");
}

#[test]
fn a_sum_of_looks_is_no_waiting() {
    proved(|| {
        let step = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&step);
        thread::spawn(move || other.store(1, SeqCst));
        let mut sum = 0;
        while sum < 4 {
            sum += step.load(SeqCst);
            thread::yield_now();
        }
    });
}

#[test]
fn a_condition_is_waited_for_in_a_loop() {
    let body = |again: bool| {
        move || {
            let pair = Arc::new((Mutex::new(false), Condvar::new()));
            let other = Arc::clone(&pair);
            let thread = thread::spawn(move || {
                *other.0.lock().unwrap() = true;
                other.1.notify_one();
            });
            let mut ready = pair.0.lock().unwrap();
            if again {
                while !*ready {
                    ready = pair.1.wait(ready).unwrap();
                }
            } else if !*ready {
                ready = pair.1.wait(ready).unwrap();
            }
            assert!(*ready);
            drop(ready);
            thread.join().unwrap();
        }
    };
    proved(body(true));
    let text = failed(body(false));
    assert!(text.contains("assertion failed: *ready"), "{text}");
    let without = Builder::new().spurious(false).explore(body(false));
    assert!(matches!(without.verdict, Verdict::Proved), "{without}");
    assert!(without.to_string().contains("without spurious wake-ups"), "{without}");
}

#[test]
fn waiting_while_something_holds() {
    let body = |timed: bool| {
        move || {
            let pair = Arc::new((Mutex::new(2), Condvar::new()));
            let other = Arc::clone(&pair);
            let thread = thread::spawn(move || {
                for _ in 0..2 {
                    *other.0.lock().unwrap() -= 1;
                    other.1.notify_one();
                }
            });
            let left = pair.0.lock().unwrap();
            if timed {
                let time = Duration::from_secs(1);
                let (left, result) = pair.1.wait_timeout_while(left, time, |left| *left > 0).unwrap();
                assert!(result.timed_out() == (*left > 0));
                assert!(*left == 0, "the time was up");
            } else {
                let left = pair.1.wait_while(left, |left| *left > 0).unwrap();
                assert_eq!(*left, 0);
            }
            thread.join().unwrap();
        }
    };
    proved(body(false));
    let text = failed(body(true));
    assert!(text.contains("the time was up"), "{text}");
    let without = Builder::new().timeouts(false).explore(body(true));
    assert!(matches!(without.verdict, Verdict::Proved), "{without}");
}

/// Who goes on as a reader still sees what it wrote; who gives the lock up and reads again may not.
#[test]
fn a_writer_goes_on_as_a_reader() {
    let body = |downgrades: bool| {
        move || {
            let lock = Arc::new(RwLock::new(0));
            let other = Arc::clone(&lock);
            let thread = thread::spawn(move || *other.write().unwrap() += 10);
            let mut writes = lock.write().unwrap();
            let before = *writes;
            *writes += 1;
            let reads = if downgrades {
                let reads = RwLockWriteGuard::downgrade(writes);
                // Another reader may come in now.
                assert!(lock.try_write().is_err());
                reads
            } else {
                drop(writes);
                lock.read().unwrap()
            };
            assert_eq!(*reads, before + 1, "another wrote in between");
            drop(reads);
            thread.join().unwrap();
            assert_eq!(*lock.read().unwrap(), 11);
        }
    };
    proved(body(true));
    let text = failed(body(false));
    assert!(text.contains("another wrote in between"), "{text}");
    // Nothing is explored here.
    let lock = RwLock::new(1);
    let mut writes = lock.write().unwrap();
    *writes = 2;
    let reads = RwLockWriteGuard::downgrade(writes);
    assert_eq!((*reads, lock.read().map(|again| *again).ok(), lock.try_write().is_err()), (2, Some(2), true));
    drop(reads);
    assert!(lock.try_write().is_ok());
}

/// A notification that comes before the wait is lost.
#[test]
fn lost_notifications_are_deadlocks() {
    let text = failed(|| {
        let pair = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
        let other = Arc::clone(&pair);
        thread::spawn(move || {
            other.2.store(true, SeqCst);
            other.1.notify_one();
        });
        let mut guard = pair.0.lock().unwrap();
        while !pair.2.load(SeqCst) {
            guard = pair.1.wait(guard).unwrap();
        }
    });
    assert!(text.contains("deadlock of main"), "{text}");
}

#[test]
fn time_may_be_up_at_any_moment() {
    let text = failed(|| {
        let shared = Arc::new((Mutex::new(()), Condvar::new(), AtomicBool::new(false)));
        let other = Arc::clone(&shared);
        thread::spawn(move || {
            assert!(!other.2.load(SeqCst), "cancelled");
            other.1.notify_one();
        });
        let guard = shared.0.lock().unwrap();
        let (_guard, result) = shared.1.wait_timeout(guard, Duration::from_secs(1)).unwrap();
        if result.timed_out() {
            shared.2.store(true, SeqCst);
        }
    });
    assert!(text.contains("panicked"), "{text}");
}

/// std's readers queue behind a waiting writer.
#[test]
fn reading_twice_may_deadlock_with_a_writer() {
    let text = failed(|| {
        let lock = Arc::new(RwLock::new(0));
        let other = Arc::clone(&lock);
        thread::spawn(move || *other.write().unwrap() += 1);
        let _first = lock.read().unwrap();
        let _second = lock.read().unwrap();
    });
    assert!(text.contains("deadlock of main, main.1"), "{text}");
}

/// What is hidden from the search is noticed: it never proves such a thing.
#[test]
fn hidden_communication_is_no_proof() {
    let exploration = Builder::new().explore(|| {
        let hidden = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (other, seen) = (Arc::clone(&hidden), Arc::new(AtomicU32::new(0)));
        let cell = Arc::clone(&seen);
        thread::spawn(move || {
            cell.fetch_add(0, SeqCst);
            other.store(true, SeqCst);
        });
        thread::yield_now();
        assert!(!hidden.load(SeqCst));
    });
    assert!(!matches!(exploration.verdict, Verdict::Proved), "{exploration}");
}

#[test]
fn poisoning_is_as_in_std() {
    proved(|| {
        let lock = Arc::new(Mutex::new(0));
        let other = Arc::clone(&lock);
        let panics = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("on purpose");
        });
        assert!(panics.join().is_err());
        assert!(lock.lock().is_err());
        assert!(lock.is_poisoned());
        lock.clear_poison();
        assert!(lock.lock().is_ok());
    });
    let text = failed(|| {
        thread::spawn(|| panic!("nobody looks"));
    });
    assert!(text.contains("main.1 panicked, and nobody joined it"), "{text}");
}

/// While one thread unwinds, another is not panicking: neither by its own word nor by the poison of its locks.
#[test]
fn panics_are_of_one_thread() {
    proved(|| {
        let (first, second) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let other = Arc::clone(&first);
        let unwinds = thread::spawn(move || {
            let _guard = other.lock().unwrap();
            panic!("on purpose");
        });
        let own = Arc::clone(&second);
        let calm = thread::spawn(move || {
            let guard = own.lock().unwrap();
            assert!(!thread::panicking());
            drop(guard);
            assert!(own.lock().is_ok());
        });
        calm.join().unwrap();
        assert!(unwinds.join().is_err());
        assert!(second.lock().is_ok());
        assert!(first.lock().is_err());
    });
}

#[test]
fn the_rest_of_sync_and_thread() {
    proved(|| {
        let (sender, receiver) = mpsc::channel();
        let second = sender.clone();
        thread::spawn(move || sender.send(1).unwrap());
        thread::spawn(move || second.send(2).unwrap());
        assert_eq!(receiver.iter().sum::<i32>(), 3);
    });
    proved(|| {
        let (sender, receiver) = mpsc::sync_channel(1);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
        });
        assert_eq!((receiver.recv(), receiver.recv()), (Ok(1), Ok(2)));
        thread.join().unwrap();
        assert!(receiver.recv().is_err());
    });
    proved(|| {
        let sum = Mutex::new(0);
        thread::scope(|scope| {
            scope.spawn(|| *sum.lock().unwrap() += 1);
            scope.spawn(|| *sum.lock().unwrap() += 2);
        });
        assert_eq!(sum.into_inner().unwrap(), 3);
    });
    proved(|| {
        let barrier = Arc::new(Barrier::new(2));
        let other = Arc::clone(&barrier);
        let thread = thread::spawn(move || other.wait().is_leader());
        let own = barrier.wait().is_leader();
        assert!(own != thread.join().unwrap());
    });
    proved(|| {
        let cell = Arc::new(OnceLock::new());
        let other = Arc::clone(&cell);
        let thread = thread::spawn(move || *other.get_or_init(|| 1));
        let own = *cell.get_or_init(|| 2);
        assert_eq!(own, thread.join().unwrap());
        let lazy = LazyLock::new(|| 5);
        assert_eq!(*lazy, 5);
    });
    proved(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let (other, main) = (Arc::clone(&flag), thread::current());
        thread::spawn(move || {
            other.store(true, SeqCst);
            main.unpark();
        });
        while !flag.load(SeqCst) {
            thread::park();
        }
    });
    proved(|| {
        LOCAL.with(|local| local.set(local.get() + 1));
        let other = thread::spawn(|| LOCAL.with(|local| local.get()));
        assert_eq!(other.join().unwrap(), 7);
        assert_eq!(LOCAL.with(|local| local.get()), 8);
        assert!(reweave::choose(3) < 3);
    });
}

reweave::thread_local! {
    static LOCAL: Cell<u32> = Cell::new(7);
}

#[test]
fn weak_exchanges_fail_and_loops_around_them_end() {
    proved(|| {
        let count = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&count);
        let thread =
            thread::spawn(move || other.fetch_update(SeqCst, SeqCst, |count| Some(count + 1)).unwrap());
        count.fetch_update(SeqCst, SeqCst, |count| Some(count + 1)).unwrap();
        thread.join().unwrap();
        assert_eq!(count.load(SeqCst), 2);
    });
    let text = failed(|| {
        let count = AtomicU32::new(0);
        count.compare_exchange_weak(0, 1, SeqCst, SeqCst).unwrap();
    });
    assert!(text.contains("unwrap"), "{text}");
}

#[test]
fn a_bound_proves_nothing() {
    let exploration = Builder::new().preemptions(1).explore(counter(2));
    assert!(matches!(exploration.verdict, Verdict::Stopped), "{exploration}");
    assert!(exploration.to_string().contains("not proved"), "{exploration}");
}

/// Symmetric at first sight, and yet one of two workers fails.
#[test]
fn joining_one_by_one_is_an_observation() {
    let text = failed(|| {
        let cell = Arc::new(AtomicU32::new(0));
        let spawn = || {
            let cell = Arc::clone(&cell);
            thread::spawn(move || assert_eq!(cell.load(SeqCst), 0))
        };
        let (first, second) = (spawn(), spawn());
        first.join().unwrap();
        cell.store(1, SeqCst);
        second.join().unwrap();
    });
    assert!(text.contains("unwrap"), "{text}");
}

#[test]
fn sixty_four_threads() {
    proved(|| {
        let threads: Vec<_> = (0..64u32).map(|index| thread::spawn(move || index)).collect();
        let sum: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(sum, 2016);
    });
}

/// What is wrong before the first step is found by either engine, and so is a program without any.
#[test]
fn the_first_state_counts() {
    for engine in [Engine::Saturate, Engine::Trace] {
        let explored = |body: fn()| Builder::new().engine(engine).explore(body);
        let panics = explored(|| panic!("at once"));
        assert!(panics.to_string().contains("FAILED  at once"), "{panics}");
        let waits = explored(|| {
            let (_sender, receiver) = mpsc::channel::<u32>();
            let _ = receiver.recv();
        });
        assert!(waits.to_string().contains("deadlock of main"), "{waits}");
        let nothing = explored(|| {});
        assert!(matches!(nothing.verdict, Verdict::Proved), "{nothing}");
    }
}

/// Two cells that are read one after the other: each pair of values that can be seen is.
#[test]
fn torn_reads_are_found() {
    let text = failed(|| {
        let pair = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let other = Arc::clone(&pair);
        thread::spawn(move || {
            other.0.store(1, SeqCst);
            other.1.store(1, SeqCst);
        });
        loop {
            let (first, second) = (pair.0.load(SeqCst), pair.1.load(SeqCst));
            assert!(second <= first);
            assert!(first == second, "torn");
            if first == 1 {
                break;
            }
            thread::yield_now();
        }
    });
    assert!(text.contains("torn"), "{text}");
}
