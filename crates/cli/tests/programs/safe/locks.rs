//! Mutexes, reader/writer locks, condition variables and barriers in safe Rust.
#![forbid(unsafe_code)]

use std::sync::{Arc, Barrier, Condvar, Mutex, RwLock};
use std::thread;
use std::time::Duration;

const SHORT: Duration = Duration::from_micros(100);

#[test]
fn counter() {
    let number = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let number = Arc::clone(&number);
            thread::spawn(move || (0..3).for_each(|_| *number.lock().unwrap() += 1))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*number.lock().unwrap(), 9);
}

#[test]
fn mutex_in_an_option() {
    let place = Arc::new(Mutex::new(Some(vec![1, 2, 3])));
    let taken: usize = thread::scope(|scope| {
        let takers = [0; 2].map(|_| {
            let place = Arc::clone(&place);
            scope.spawn(move || place.lock().unwrap().take().map_or(0, |list| list.len()))
        });
        takers.into_iter().map(|taker| taker.join().unwrap()).sum()
    });
    assert_eq!(taken, 3);
}

#[test]
fn attempts() {
    let number = Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                if let Ok(mut number) = number.try_lock() {
                    *number += 1;
                }
            });
        }
    });
    assert!((1..=3).contains(&number.into_inner().unwrap()));
}

#[test]
fn two_mutexes_in_order() {
    let (a, b) = (Mutex::new(1), Mutex::new(2));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut first = a.lock().unwrap();
                let mut second = b.lock().unwrap();
                std::mem::swap(&mut *first, &mut *second);
            });
        }
    });
    assert_eq!(*a.lock().unwrap() + *b.lock().unwrap(), 3);
}

#[test]
fn poisoned() {
    let number = Arc::new(Mutex::new(0));
    let other = Arc::clone(&number);
    let failed = thread::spawn(move || {
        let mut number = other.lock().unwrap();
        *number = 1;
        panic!("on purpose");
    })
    .join();
    assert!(failed.is_err() && number.is_poisoned());
    assert_eq!(*number.lock().unwrap_or_else(|poisoned| poisoned.into_inner()), 1);
}

#[test]
fn got_mut() {
    let mut number = Arc::new(Mutex::new(0));
    let other = Arc::clone(&number);
    thread::spawn(move || *other.lock().unwrap() = 4).join().unwrap();
    assert_eq!(*Arc::get_mut(&mut number).unwrap().get_mut().unwrap(), 4);
}

#[test]
fn readers_and_a_writer() {
    let list = RwLock::new(vec![1]);
    thread::scope(|scope| {
        scope.spawn(|| list.write().unwrap().push(2));
        for _ in 0..2 {
            scope.spawn(|| assert!(list.read().unwrap().iter().sum::<i32>() >= 1));
        }
    });
    assert_eq!(list.into_inner().unwrap(), [1, 2]);
}

#[test]
fn readers_and_writers_that_try() {
    let number = RwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                if let Ok(mut number) = number.try_write() {
                    *number += 1;
                }
            });
            scope.spawn(|| number.try_read().map_or(0, |number| *number));
        }
    });
    assert!(*number.read().unwrap() <= 2);
}

#[test]
fn readers_at_once() {
    let (number, both) = (RwLock::new(7), Barrier::new(2));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let held = number.read().unwrap();
                both.wait();
                assert_eq!(*held, 7);
            });
        }
    });
}

#[test]
fn queue() {
    let (items, news) = (Mutex::new(Vec::new()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            for item in 0..3 {
                items.lock().unwrap().push(item);
                news.notify_one();
            }
        });
        let mut held = items.lock().unwrap();
        while held.len() < 3 {
            held = news.wait(held).unwrap();
        }
    });
    assert_eq!(items.into_inner().unwrap(), [0, 1, 2]);
}

#[test]
fn wait_while() {
    let (ready, news) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let ready = news.wait_while(ready.lock().unwrap(), |ready| !*ready).unwrap();
                assert!(*ready);
            });
        }
        *ready.lock().unwrap() = true;
        news.notify_all();
    });
}

#[test]
fn wait_for_a_while() {
    let (ready, news) = (Mutex::new(false), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let (ready, result) = news.wait_timeout(ready.lock().unwrap(), SHORT).unwrap();
            assert!(*ready || result.timed_out() || !*ready);
        });
        scope.spawn(|| {
            *ready.lock().unwrap() = true;
            news.notify_one();
        });
    });
}

#[test]
fn wait_while_for_a_while() {
    let (count, news) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let held = count.lock().unwrap();
                let (held, result) = news.wait_timeout_while(held, SHORT, |count| *count == 0).unwrap();
                assert!(result.timed_out() || *held == 1);
            });
        }
        *count.lock().unwrap() = 1;
        news.notify_all();
    });
}

#[test]
fn ping_pong() {
    let (turn, news) = (Mutex::new(0), Condvar::new());
    thread::scope(|scope| {
        for mine in 0..2 {
            let (turn, news) = (&turn, &news);
            scope.spawn(move || {
                for _ in 0..2 {
                    let mut held = news.wait_while(turn.lock().unwrap(), |turn| *turn % 2 != mine).unwrap();
                    *held += 1;
                    news.notify_all();
                }
            });
        }
    });
    assert_eq!(turn.into_inner().unwrap(), 4);
}

#[test]
fn barrier() {
    let (barrier, numbers) = (Barrier::new(3), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for number in 0..3 {
            let (barrier, numbers) = (&barrier, &numbers);
            scope.spawn(move || {
                numbers.lock().unwrap().push(number);
                barrier.wait();
                assert_eq!(numbers.lock().unwrap().len(), 3);
            });
        }
    });
}

#[test]
fn barrier_twice() {
    let barrier = Arc::new(Barrier::new(2));
    let leaders: usize = thread::scope(|scope| {
        let threads = [0; 2].map(|_| {
            let barrier = Arc::clone(&barrier);
            scope.spawn(move || (0..2).filter(|_| barrier.wait().is_leader()).count())
        });
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(leaders, 2);
}

#[test]
fn mutex_per_slot() {
    let slots = [const { Mutex::new(0) }; 4];
    thread::scope(|scope| {
        for first in 0..2 {
            let slots = &slots;
            scope.spawn(move || {
                for slot in slots.iter().skip(first).step_by(2) {
                    *slot.lock().unwrap() += 1;
                }
            });
        }
    });
    assert!(slots.iter().all(|slot| *slot.lock().unwrap() == 1));
}

#[test]
fn replaced_box() {
    let place = Arc::new(Mutex::new(Box::new(1)));
    thread::scope(|scope| {
        for number in 2..4 {
            let place = Arc::clone(&place);
            scope.spawn(move || *place.lock().unwrap() = Box::new(number));
        }
        let place = Arc::clone(&place);
        scope.spawn(move || assert!((1..4).contains(&**place.lock().unwrap())));
    });
}
