//! What programs do with `std::sync` and `std::thread`, one test for each thing. The tests of the command run this file once
//! more with `std` in the place of `reweave`, and recorded in both ways; they count its events by the tests' names.
#![allow(clippy::disallowed_names, missing_docs, reason = "a program that is looked at")]

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use reweave::sync::mpsc::{self, RecvTimeoutError, TryRecvError, TrySendError};
use reweave::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, RwLock, TryLockError};
use reweave::thread;

#[test]
fn mutex() {
    let sum = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let sum = Arc::clone(&sum);
            thread::spawn(move || (0..3).for_each(|_| *sum.lock().unwrap() += 1))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let guard = sum.try_lock().unwrap();
    assert_eq!(*guard, 6);
    let other = Arc::clone(&sum);
    let failed = thread::spawn(move || matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
    assert!(failed.join().unwrap());
    drop(guard);
    let mut sum = Arc::try_unwrap(sum).unwrap();
    *sum.get_mut().unwrap() += 1;
    assert_eq!(format!("{sum:?}"), "Mutex { data: 7, poisoned: false, .. }");
    assert_eq!(sum.into_inner().unwrap(), 7);
    assert_eq!(*Mutex::<u8>::default().lock().unwrap(), *Mutex::from(0u8).lock().unwrap());
}

#[test]
fn rwlock() {
    let list = Arc::new(RwLock::new(vec![1]));
    let other = Arc::clone(&list);
    let writer = thread::spawn(move || other.write().unwrap().push(2));
    let other = Arc::clone(&list);
    let reader = thread::spawn(move || other.read().unwrap().len());
    writer.join().unwrap();
    assert!((1..=2).contains(&reader.join().unwrap()));
    let (first, second) = (list.read().unwrap(), list.try_read().unwrap());
    assert_eq!(first.len(), second.len());
    let other = Arc::clone(&list);
    assert!(thread::spawn(move || other.try_write().is_err()).join().unwrap());
    drop((first, second));
    list.try_write().unwrap().clear();
    assert!(list.read().unwrap().is_empty());
}

#[test]
fn condvar() {
    let pair = Arc::new((Mutex::new(0), Condvar::new()));
    let other = Arc::clone(&pair);
    let thread = thread::spawn(move || {
        let (value, changed) = &*other;
        *value.lock().unwrap() = 1;
        changed.notify_one();
        let mut seen = value.lock().unwrap();
        while *seen != 2 {
            seen = changed.wait(seen).unwrap();
        }
    });
    let (value, changed) = &*pair;
    let mut seen = changed.wait_while(value.lock().unwrap(), |value| *value != 1).unwrap();
    *seen = 2;
    changed.notify_all();
    drop(seen);
    thread.join().unwrap();
    let short = Duration::from_millis(2);
    let (guard, result) = changed.wait_timeout(value.lock().unwrap(), short).unwrap();
    assert!(result.timed_out());
    let (guard, result) = changed.wait_timeout_while(guard, short, |value| *value == 2).unwrap();
    assert!(result.timed_out() && *guard == 2);
}

#[test]
fn barrier() {
    let barrier = Arc::new(Barrier::new(3));
    let wait = |barrier: &Arc<Barrier>| {
        let barrier = Arc::clone(barrier);
        move || usize::from(barrier.wait().is_leader())
    };
    let threads = [thread::spawn(wait(&barrier)), thread::spawn(wait(&barrier))];
    let own = wait(&barrier)();
    assert_eq!(own + threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), 1);
}

static ONCE: Once = Once::new();
static CELL: OnceLock<String> = OnceLock::new();
static LAZY: LazyLock<Vec<u8>> = LazyLock::new(|| vec![1, 2, 3]);

#[test]
fn once() {
    static RAN: AtomicUsize = AtomicUsize::new(0);
    let look = || {
        ONCE.call_once(|| _ = RAN.fetch_add(1, Ordering::SeqCst));
        assert!(ONCE.is_completed());
    };
    let threads = [thread::spawn(look), thread::spawn(look)];
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(RAN.load(Ordering::SeqCst), 1);
    let poisoned = Once::new();
    assert!(std::panic::catch_unwind(|| poisoned.call_once(|| panic!("in vain"))).is_err());
    poisoned.call_once_force(|state| assert!(state.is_poisoned()));
}

#[test]
fn once_lock() {
    let look = || (CELL.get_or_init(|| "made".to_owned()).len(), LAZY.len());
    let threads = [thread::spawn(look), thread::spawn(look)];
    assert!(threads.into_iter().all(|thread| thread.join().unwrap() == (4, 3)));
    assert_eq!((CELL.get().unwrap().as_str(), CELL.set("late".to_owned())), ("made", Err("late".to_owned())));
    assert_eq!(OnceLock::from(3).into_inner(), Some(3));
}

#[test]
fn channel() {
    let (sender, receiver) = mpsc::channel();
    let threads: Vec<_> = (0..2)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(Box::new(number)).unwrap())
        })
        .collect();
    drop(sender);
    let mut all: Vec<i32> = receiver.iter().map(|number| *number).collect();
    all.sort_unstable();
    assert_eq!(all, [0, 1]);
    assert!(matches!(receiver.try_recv(), Err(TryRecvError::Disconnected)));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let (sender, receiver) = mpsc::channel::<()>();
    assert_eq!(receiver.recv_timeout(Duration::from_millis(2)), Err(RecvTimeoutError::Timeout));
    drop(receiver);
    assert!(sender.send(()).is_err());
}

#[test]
fn sync_channel() {
    for bound in [0, 2] {
        let (sender, receiver) = mpsc::sync_channel(bound);
        let thread = thread::spawn(move || (0..4).for_each(|number| sender.send(number).unwrap()));
        assert_eq!(receiver.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        thread.join().unwrap();
    }
    let (sender, receiver) = mpsc::sync_channel(1);
    sender.try_send(1).unwrap();
    assert!(matches!(sender.try_send(2), Err(TrySendError::Full(2))));
    assert_eq!(receiver.try_iter().count(), 1);
}

#[test]
fn park() {
    static READY: AtomicBool = AtomicBool::new(false);
    let thread = thread::spawn(|| {
        while !READY.load(Ordering::SeqCst) {
            thread::park();
        }
        thread::park_timeout(Duration::from_millis(2));
        thread::current().id()
    });
    READY.store(true, Ordering::SeqCst);
    thread.thread().unpark();
    let id = thread.thread().id();
    assert_eq!(thread.join().unwrap(), id);
}

#[test]
fn scope() {
    let (mut left, mut right) = (1, 2);
    let sum = thread::scope(|scope| {
        let named = thread::Builder::new().name("left".to_owned());
        let thread = named.spawn_scoped(scope, || left += 10).unwrap();
        assert_eq!(thread.thread().name(), Some("left"));
        scope.spawn(|| right += 20);
        thread.join().unwrap();
        5
    });
    assert_eq!((left, right, sum), (11, 22, 5));
}

#[test]
fn poison() {
    let lock = Arc::new(Mutex::new(1));
    let other = Arc::clone(&lock);
    let ended = thread::spawn(move || {
        let _guard = other.lock().unwrap();
        panic!("with a lock in its hands");
    });
    assert!(ended.join().is_err() && lock.is_poisoned());
    assert_eq!(*lock.lock().unwrap_err().into_inner(), 1);
    lock.clear_poison();
    assert_eq!(*lock.lock().unwrap(), 1);
}

#[test]
#[should_panic(expected = "as it should")]
fn panics() {
    let lock = Mutex::new(0);
    let _guard = lock.lock().unwrap();
    panic!("as it should");
}

#[test]
fn atomics() {
    static SMALL: AtomicU8 = AtomicU8::new(0);
    static LARGE: AtomicU64 = AtomicU64::new(7);
    let thread = thread::spawn(|| {
        SMALL.fetch_add(1, Ordering::Relaxed);
        SMALL.fetch_or(4, Ordering::AcqRel);
        LARGE.compare_exchange(7, 9, Ordering::SeqCst, Ordering::Relaxed)
    });
    assert_eq!(thread.join().unwrap(), Ok(7));
    assert_eq!(LARGE.compare_exchange(7, 8, Ordering::SeqCst, Ordering::Relaxed), Err(9));
    LARGE.store(1, Ordering::Release);
    assert_eq!((SMALL.swap(2, Ordering::SeqCst), LARGE.load(Ordering::Acquire)), (5, 1));
}

#[test]
fn race() {
    struct Shared(std::cell::UnsafeCell<u32>);
    // SAFETY: it is not: that is what is to be found.
    unsafe impl Sync for Shared {}
    static SHARED: Shared = Shared(std::cell::UnsafeCell::new(0));
    // SAFETY: as above.
    let thread = thread::spawn(|| unsafe { *SHARED.0.get() = 1 });
    thread::yield_now();
    // SAFETY: as above.
    unsafe { *SHARED.0.get() = 2 };
    thread.join().unwrap();
}

#[test]
fn deadlock() {
    let locks = Arc::new((Mutex::new(1), Mutex::new(2)));
    let other = Arc::clone(&locks);
    let first = thread::spawn(move || {
        let left = other.0.lock().unwrap();
        *left + *other.1.lock().unwrap()
    });
    // This time it comes after; nothing says that it must.
    thread::sleep(Duration::from_millis(30));
    let right = locks.1.lock().unwrap();
    assert_eq!(*right + *locks.0.lock().unwrap(), 3);
    drop(right);
    assert_eq!(first.join().unwrap(), 3);
}
