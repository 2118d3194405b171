//! One-time initialisation and atomics in safe Rust.
#![forbid(unsafe_code)]

use std::hint::spin_loop;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize, fence};
use std::sync::{Arc, LazyLock, Mutex, Once, OnceLock};
use std::thread;

#[test]
fn once() {
    static ONCE: Once = Once::new();
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let threads = [0; 3].map(|_| {
        thread::spawn(|| {
            ONCE.call_once(|| _ = NUMBER.fetch_add(1, Relaxed));
            NUMBER.load(Relaxed)
        })
    });
    threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 1));
    assert!(ONCE.is_completed());
}

#[test]
fn once_that_panics() {
    static ONCE: Once = Once::new();
    assert!(thread::spawn(|| ONCE.call_once(|| panic!("on purpose"))).join().is_err());
    let mut ran = 0;
    ONCE.call_once_force(|state| ran += 1 + usize::from(state.is_poisoned()));
    assert_eq!(ran, 2);
}

#[test]
fn once_lock() {
    static CELL: OnceLock<String> = OnceLock::new();
    let threads = [1, 2].map(|number| thread::spawn(move || CELL.get_or_init(|| format!("made by {number}")).len()));
    threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 9));
}

#[test]
fn once_lock_set_by_two() {
    let cell = Arc::new(OnceLock::new());
    let threads = [1, 2].map(|number| {
        let cell = Arc::clone(&cell);
        thread::spawn(move || cell.set(Box::new(number)).is_ok())
    });
    assert_eq!(threads.into_iter().filter(|_| true).map(|thread| thread.join().unwrap()).filter(|&ok| ok).count(), 1);
    assert!([1, 2].contains(&**cell.get().unwrap()));
}

#[test]
fn once_lock_in_a_loop() {
    for _ in 0..2 {
        let cell: OnceLock<u64> = OnceLock::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                loop {
                    if let Some(number) = cell.get() {
                        assert_eq!(*number, 7);
                        break;
                    }
                }
            });
            scope.spawn(|| cell.set(7));
        });
    }
}

#[test]
fn once_lock_taken() {
    let mut cell = OnceLock::new();
    for round in 0..2 {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| assert_eq!(*cell.get_or_init(|| vec![round; 2]), [round; 2]));
            }
        });
        assert_eq!(cell.take().map(|list| list.len()), Some(2));
    }
}

#[test]
fn lazy() {
    static LAZY: LazyLock<Mutex<Vec<u32>>> = LazyLock::new(|| Mutex::new(vec![1]));
    let threads = [2, 3].map(|number| thread::spawn(move || LAZY.lock().unwrap().push(number)));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(LAZY.lock().unwrap().iter().sum::<u32>(), 6);
}

#[test]
fn lazy_on_the_stack() {
    for round in 0..2 {
        let lazy = LazyLock::new(move || vec![round]);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| assert_eq!(lazy[0], round));
            }
        });
    }
}

#[test]
fn counted() {
    let count = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..3).for_each(|_| _ = count.fetch_add(1, Relaxed)));
        }
    });
    assert_eq!(count.into_inner(), 9);
}

#[test]
fn compared_and_exchanged() {
    let number = AtomicI64::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut now = number.load(Relaxed);
                while let Err(other) = number.compare_exchange_weak(now, now + 2, AcqRel, Relaxed) {
                    now = other;
                }
            });
        }
    });
    assert_eq!(number.into_inner(), 6);
}

#[test]
fn first_wins() {
    let (winner, number) = (AtomicBool::new(false), Mutex::new(0));
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                if winner.compare_exchange(false, true, SeqCst, SeqCst).is_ok() {
                    *number.lock().unwrap() += 1;
                }
            });
        }
    });
    assert_eq!(number.into_inner().unwrap(), 1);
}

#[test]
fn spin_lock() {
    let (locked, number) = (AtomicBool::new(false), AtomicU8::new(0));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while locked.swap(true, Acquire) {
                    spin_loop();
                }
                number.store(number.load(Relaxed) + 1, Relaxed);
                locked.store(false, Release);
            });
        }
    });
    assert_eq!(number.into_inner(), 2);
}

#[test]
fn published() {
    let (data, ready) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            data.store(42, Relaxed);
            fence(Release);
            ready.store(true, Relaxed);
        });
        while !ready.load(Acquire) {
            thread::yield_now();
        }
        assert_eq!(data.load(Relaxed), 42);
    });
}

#[test]
fn updated() {
    let number = AtomicUsize::new(1);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| number.fetch_update(SeqCst, SeqCst, |number| (number < 8).then_some(number * 2)));
        }
        scope.spawn(|| number.fetch_max(1, SeqCst));
    });
    assert_eq!(number.into_inner(), 4);
}

#[test]
fn flag_guards_a_mutex() {
    let (some, list) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        scope.spawn(|| {
            list.lock().unwrap().push(Box::new(3));
            some.store(true, Release);
        });
        scope.spawn(|| {
            if some.load(Acquire) {
                assert_eq!(list.lock().unwrap().pop().as_deref(), Some(&3));
            }
        });
    });
}

#[test]
fn tickets() {
    let (next, turn, order) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mine = next.fetch_add(1, Relaxed);
                while turn.load(Acquire) != mine {
                    thread::yield_now();
                }
                order.lock().unwrap().push(mine);
                turn.store(mine + 1, Release);
            });
        }
    });
    assert_eq!(order.into_inner().unwrap(), [0, 1]);
}
