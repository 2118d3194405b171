//! Threads, scopes, parking, thread-local values and reference counts in safe Rust.
#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread;
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_micros(100);

#[test]
fn result_of_a_thread() {
    assert_eq!(thread::spawn(|| vec![1, 2, 3]).join().unwrap().len(), 3);
}

#[test]
fn moved_and_given_back() {
    let list = vec![1, 2];
    let mut list = thread::spawn(move || list.into_iter().map(|number| number + 1).collect::<Vec<_>>()).join().unwrap();
    list.push(9);
    assert_eq!(list, [2, 3, 9]);
}

#[test]
fn named() {
    let thread = thread::Builder::new().name("worker".to_owned()).spawn(|| thread::current().name().map(str::to_owned));
    assert_eq!(thread.unwrap().join().unwrap().as_deref(), Some("worker"));
}

#[test]
fn panics() {
    assert!(thread::spawn(|| panic!("on purpose")).join().is_err());
}

#[test]
fn detached() {
    let done = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&done);
    drop(thread::spawn(move || other.store(true, Ordering::SeqCst)));
    while !done.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}

#[test]
fn is_finished() {
    let thread = thread::spawn(|| 5);
    while !thread.is_finished() {
        thread::yield_now();
    }
    assert_eq!(thread.join().unwrap(), 5);
}

#[test]
fn halves_of_an_array() {
    let mut numbers = [1, 2, 3, 4];
    let (left, right) = numbers.split_at_mut(2);
    thread::scope(|scope| {
        scope.spawn(move || left.iter_mut().for_each(|number| *number *= 2));
        scope.spawn(move || right.iter_mut().for_each(|number| *number *= 3));
    });
    assert_eq!(numbers, [2, 4, 9, 12]);
}

#[test]
fn chunks() {
    let mut numbers = vec![1u64; 12];
    thread::scope(|scope| {
        for chunk in numbers.chunks_mut(4) {
            scope.spawn(move || chunk.iter_mut().for_each(|number| *number += 1));
        }
    });
    assert_eq!(numbers.iter().sum::<u64>(), 24);
}

#[test]
fn scope_in_a_scope() {
    let total = AtomicUsize::new(0);
    thread::scope(|outer| {
        outer.spawn(|| {
            thread::scope(|inner| {
                inner.spawn(|| total.fetch_add(1, Ordering::Relaxed));
            });
            total.fetch_add(1, Ordering::Relaxed);
        });
    });
    assert_eq!(total.into_inner(), 2);
}

#[test]
fn scope_with_results() {
    let words = ["a", "bc", "def"];
    let lengths: usize = thread::scope(|scope| {
        let threads = words.map(|word| scope.spawn(move || word.len()));
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(lengths, 6);
}

#[test]
fn scopes_one_after_another() {
    let mut number = 0;
    for _ in 0..3 {
        thread::scope(|scope| _ = scope.spawn(|| number += 1));
    }
    assert_eq!(number, 3);
}

#[test]
fn parked() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let thread = thread::spawn(move || {
        while !other.load(Ordering::Acquire) {
            thread::park();
        }
    });
    flag.store(true, Ordering::Release);
    thread.thread().unpark();
    thread.join().unwrap();
}

#[test]
fn parked_with_a_message() {
    let message = Arc::new(Mutex::new(None));
    let other = Arc::clone(&message);
    let thread = thread::spawn(move || {
        loop {
            if let Some(text) = other.lock().unwrap().take() {
                return text;
            }
            thread::park();
        }
    });
    *message.lock().unwrap() = Some(String::from("hello"));
    thread.thread().unpark();
    assert_eq!(thread.join().unwrap(), "hello");
}

#[test]
fn parked_for_a_while() {
    let (first, second) = (thread::spawn(|| thread::park_timeout(SHORT)), thread::spawn(|| thread::park_timeout(SHORT)));
    first.thread().unpark();
    first.join().unwrap();
    second.join().unwrap();
}

#[test]
fn sleeps() {
    let start = Instant::now();
    let number = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                thread::sleep(SHORT);
                *number.lock().unwrap() += 1;
            });
        }
    });
    assert!(start.elapsed() >= SHORT && number.into_inner().unwrap() == 2);
}

#[test]
fn expires() {
    let (deadline, place) = (Instant::now() + SHORT, Mutex::new(Some(Box::new(5))));
    thread::scope(|scope| {
        scope.spawn(|| {
            let place = place.lock().unwrap();
            if Instant::now() < deadline {
                assert_eq!(place.as_deref(), Some(&5));
            }
        });
        scope.spawn(|| {
            thread::sleep(2 * SHORT);
            let mut place = place.lock().unwrap();
            if Instant::now() >= deadline {
                *place = None;
            }
        });
    });
}

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static LIST: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn thread_local_count() {
    let threads = [1, 2].map(|times| {
        thread::spawn(move || {
            (0..times).for_each(|_| COUNT.set(COUNT.get() + 1));
            COUNT.get()
        })
    });
    assert_eq!(threads.map(|thread| thread.join().unwrap()), [1, 2]);
    assert_eq!(COUNT.get(), 0);
}

#[test]
fn thread_local_list() {
    for _ in 0..2 {
        let threads = [1, 2].map(|number| {
            thread::spawn(move || {
                LIST.with_borrow_mut(|list| list.extend([number; 3]));
                LIST.take().len()
            })
        });
        threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 3));
    }
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

thread_local! {
    static KEPT: RefCell<Option<Counted>> = const { RefCell::new(None) };
}

#[test]
fn thread_local_with_a_destructor() {
    let count = Arc::new(AtomicUsize::new(0));
    let threads = [0; 2].map(|_| {
        let count = Arc::clone(&count);
        thread::spawn(move || KEPT.set(Some(Counted(count))))
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[test]
fn last_reference() {
    let drops = Arc::new(AtomicUsize::new(0));
    let shared = Arc::new(Counted(Arc::clone(&drops)));
    let threads = [0; 3].map(|_| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || drop(shared))
    });
    drop(shared);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(drops.load(Ordering::SeqCst), 1);
}

#[test]
fn weak_references() {
    let shared = Arc::new(String::from("shared"));
    let threads = [0; 2].map(|_| {
        let weak: Weak<String> = Arc::downgrade(&shared);
        thread::spawn(move || weak.upgrade().map_or(0, |text| text.len()))
    });
    drop(shared);
    threads.into_iter().for_each(|thread| assert!([0, 6].contains(&thread.join().unwrap())));
}

#[test]
fn unwrapped_by_the_last() {
    let shared = Arc::new(vec![1, 2]);
    let threads = [0; 2].map(|_| {
        let shared = Arc::clone(&shared);
        thread::spawn(move || Arc::into_inner(shared).is_some())
    });
    let mine = Arc::into_inner(shared).is_some();
    let theirs = threads.into_iter().filter(|_| true).map(|thread| thread.join().unwrap());
    assert_eq!(theirs.chain([mine]).filter(|&last| last).count(), 1);
}

#[test]
fn made_mutable() {
    let mut shared = Arc::new(vec![1]);
    let other = Arc::clone(&shared);
    let thread = thread::spawn(move || other.len());
    Arc::make_mut(&mut shared).push(2);
    assert_eq!((thread.join().unwrap(), shared.len()), (1, 2));
}

#[test]
fn slice_and_text() {
    let (list, text): (Arc<[u32]>, Arc<str>) = (Arc::from([1, 2, 3]), Arc::from("abc"));
    let threads = [0; 2].map(|_| {
        let (list, text) = (Arc::clone(&list), Arc::clone(&text));
        thread::spawn(move || list.iter().sum::<u32>() as usize + text.len())
    });
    drop((list, text));
    threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), 9));
}
