//! What all programs in Rust have in common.

pub(super) const PRELUDE: &str = r#"#![allow(unused, non_snake_case)]
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::*};
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::sync::{Arc, Barrier, Condvar, LazyLock, Mutex, Once, OnceLock, PoisonError, RwLock, TryLockError};
use std::time::{Duration, Instant};

const SHORT: Duration = Duration::from_micros(100);
static START: LazyLock<Instant> = LazyLock::new(Instant::now);
static FILE: LazyLock<File> = LazyLock::new(|| File::open("/proc/self/exe").unwrap());

#[derive(Default)]
struct Data { x: [i32; 2], a: [i32; 4], u: i32, v: i32, p: Option<Box<i32>> }

fn data(number: i32) -> Data { Data { p: Some(Box::new(number)), ..Data::default() } }

/// Something that lets one thread at a time have its data.
trait Guard {
    fn with<R>(&self, run: impl FnOnce(&mut Data) -> R) -> R;
    fn attempt<R>(&self, run: impl FnOnce(&mut Data) -> R) -> Option<R>;
    fn timed<R>(&self, run: impl FnOnce(&mut Data) -> R) -> Option<R> { self.attempt(run) }
}

impl Guard for Mutex<Data> {
    fn with<R>(&self, run: impl FnOnce(&mut Data) -> R) -> R {
        run(&mut self.lock().unwrap_or_else(PoisonError::into_inner))
    }
    fn attempt<R>(&self, run: impl FnOnce(&mut Data) -> R) -> Option<R> {
        match self.try_lock() {
            Ok(mut guard) => Some(run(&mut guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(run(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Guard for RwLock<Data> {
    fn with<R>(&self, run: impl FnOnce(&mut Data) -> R) -> R {
        run(&mut self.write().unwrap_or_else(PoisonError::into_inner))
    }
    fn attempt<R>(&self, run: impl FnOnce(&mut Data) -> R) -> Option<R> {
        self.try_write().ok().map(|mut guard| run(&mut guard))
    }
}

/// A number that the holder changes by compare-exchange.
struct Spin { held: AtomicBool, data: UnsafeCell<Data> }
unsafe impl Sync for Spin {}

impl Spin {
    fn new(data: Data) -> Spin { Spin { held: AtomicBool::new(false), data: UnsafeCell::new(data) } }
    fn enter(&self) -> bool { self.held.compare_exchange(false, true, Acquire, Relaxed).is_ok() }
    fn held<R>(&self, run: impl FnOnce(&mut Data) -> R) -> R {
        let result = run(unsafe { &mut *self.data.get() });
        self.held.store(false, Release);
        result
    }
}

impl Guard for Spin {
    fn with<R>(&self, run: impl FnOnce(&mut Data) -> R) -> R {
        while !self.enter() { std::thread::yield_now(); }
        self.held(run)
    }
    fn attempt<R>(&self, run: impl FnOnce(&mut Data) -> R) -> Option<R> {
        self.enter().then(|| self.held(run))
    }
}

/// A number of permits with a mutex and a condition variable.
struct Permit { free: Mutex<bool>, changed: Condvar, data: UnsafeCell<Data> }
unsafe impl Sync for Permit {}

impl Permit {
    fn new(data: Data) -> Permit { Permit { free: Mutex::new(true), changed: Condvar::new(), data: UnsafeCell::new(data) } }
    fn held<R>(&self, run: impl FnOnce(&mut Data) -> R) -> R {
        let result = run(unsafe { &mut *self.data.get() });
        *self.free.lock().unwrap() = true;
        self.changed.notify_one();
        result
    }
}

impl Guard for Permit {
    fn with<R>(&self, run: impl FnOnce(&mut Data) -> R) -> R {
        let free = self.free.lock().unwrap();
        *self.changed.wait_while(free, |free| !*free).unwrap() = false;
        self.held(run)
    }
    fn attempt<R>(&self, run: impl FnOnce(&mut Data) -> R) -> Option<R> {
        let got = std::mem::replace(&mut *self.free.lock().unwrap(), false);
        got.then(|| self.held(run))
    }
    fn timed<R>(&self, run: impl FnOnce(&mut Data) -> R) -> Option<R> {
        let free = self.free.lock().unwrap();
        let (mut free, _) = self.changed.wait_timeout_while(free, SHORT, |free| !*free).unwrap();
        let got = std::mem::replace(&mut *free, false);
        drop(free);
        got.then(|| self.held(run))
    }
}

/// A channel with the data in it, which the holder takes.
struct Carried { from: Mutex<Receiver<Box<Data>>>, to: Sender<Box<Data>> }

impl Carried {
    fn new(data: Data) -> Carried {
        let (to, from) = mpsc::channel();
        to.send(Box::new(data)).unwrap();
        Carried { from: Mutex::new(from), to }
    }
}

impl Guard for Carried {
    fn with<R>(&self, run: impl FnOnce(&mut Data) -> R) -> R {
        let mut data = self.from.lock().unwrap().recv().unwrap();
        let result = run(&mut data);
        self.to.send(data).unwrap();
        result
    }
    fn attempt<R>(&self, run: impl FnOnce(&mut Data) -> R) -> Option<R> {
        let mut data = self.from.lock().unwrap().try_recv().ok()?;
        let result = run(&mut data);
        self.to.send(data).unwrap();
        Some(result)
    }
}

/// What is handed over.
enum Item { Number(i32), Block(Arc<Box<i32>>) }

impl Item {
    fn number(&self) -> i32 { match self { Item::Number(number) => *number, Item::Block(block) => ***block } }
}

/// By a channel; with a bound, where it has one.
struct Sent { to: Sender<Item>, from: Mutex<Receiver<Item>> }
struct Bound { to: SyncSender<Item>, from: Mutex<Receiver<Item>> }

impl Sent {
    fn new() -> Sent { let (to, from) = mpsc::channel(); Sent { to, from: Mutex::new(from) } }
    fn give(&self, item: Item) { self.to.send(item).unwrap(); }
    fn take(&self) -> Option<Item> { self.from.lock().unwrap().recv().ok() }
    fn look(&self) -> Option<Item> { self.from.lock().unwrap().try_recv().ok() }
    fn timed(&self) -> Option<Item> { self.from.lock().unwrap().recv_timeout(SHORT).ok() }
}

impl Bound {
    fn new() -> Bound { let (to, from) = mpsc::sync_channel(16); Bound { to, from: Mutex::new(from) } }
    fn give(&self, item: Item) { self.to.send(item).unwrap(); }
    fn take(&self) -> Option<Item> { self.from.lock().unwrap().recv().ok() }
    fn look(&self) -> Option<Item> { self.from.lock().unwrap().try_recv().ok() }
    fn timed(&self) -> Option<Item> { self.take() }
}

/// By a queue with a condition variable.
#[derive(Default)]
struct Queue { items: Mutex<VecDeque<Item>>, changed: Condvar }

impl Queue {
    fn new() -> Queue { Queue::default() }
    fn give(&self, item: Item) {
        let mut items = self.items.lock().unwrap();
        let odd = item.number() & 1 == 1;
        items.push_back(item);
        if odd { self.changed.notify_all(); } else { self.changed.notify_one(); }
    }
    fn take(&self) -> Option<Item> {
        let mut items = self.items.lock().unwrap();
        while items.is_empty() { items = self.changed.wait(items).unwrap(); }
        items.pop_front()
    }
    fn look(&self) -> Option<Item> { self.items.lock().unwrap().pop_front() }
    fn timed(&self) -> Option<Item> {
        let items = self.items.lock().unwrap();
        self.changed.wait_timeout_while(items, SHORT, |items| items.is_empty()).unwrap().0.pop_front()
    }
}

/// By a flag, at which the receiver looks once.
struct Flag { given: AtomicBool, item: UnsafeCell<Option<Item>> }
unsafe impl Sync for Flag {}

impl Flag {
    fn new() -> Flag { Flag { given: AtomicBool::new(false), item: UnsafeCell::new(None) } }
    fn give(&self, item: Item) { unsafe { *self.item.get() = Some(item) }; self.given.store(true, Release); }
    fn look(&self) -> Option<Item> {
        if self.given.load(Acquire) { unsafe { (*self.item.get()).take() } } else { None }
    }
    fn take(&self) -> Option<Item> { self.look() }
    fn timed(&self) -> Option<Item> { self.look() }
}

fn offset() -> i32 { let mut byte = [0]; (&*FILE).read_exact(&mut byte).unwrap(); i32::from(byte[0]) }
fn environment() -> i32 {
    let old = std::env::var("CASE").map_or(0, |text| text.len() as i32);
    unsafe { std::env::set_var("CASE", if old & 1 == 1 { "ab" } else { "abc" }) };
    old
}
fn helper(value: i32) -> i32 {
    let mut mine = value;
    std::thread::scope(|scope| { scope.spawn(|| mine = (mine + 3) & 7); });
    mine
}
"#;
