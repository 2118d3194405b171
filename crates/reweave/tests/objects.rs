//! Objects with specifications, threads that are alike, plain memory, pointers and futures, explored.

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::task::{Context, Poll, Waker};

use reweave::cell::UnsafeCell;
use reweave::sync::atomic::Ordering::SeqCst;
use reweave::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};
use reweave::sync::{Arc, Mutex};
use reweave::{Builder, Engine, Exploration, Object, Verdict, future, spawn_same, thread};

fn explored(body: impl Fn() + 'static) -> Exploration {
    Builder::new().explore(body)
}

fn proved(body: impl Fn() + 'static) -> Exploration {
    let exploration = explored(body);
    assert!(matches!(exploration.verdict, Verdict::Proved), "{exploration}");
    exploration
}

fn failed(body: impl Fn() + Clone + 'static) -> String {
    let exploration = explored(body.clone());
    let Verdict::Failed { schedule } = &exploration.verdict else { panic!("{exploration}") };
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    for _ in 0..20 {
        let replayed = Builder::new().replay(schedule, body.clone());
        assert_eq!(first_line(replayed.to_string()), first_line(exploration.to_string()), "{schedule}");
    }
    exploration.to_string()
}

fn counter(threads: i64) -> impl Fn() + 'static {
    move || {
        let count = Arc::new(Object::new("counter", Mutex::new(0)));
        let all: Vec<_> = (0..threads)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || count.call("inc", &[], |count| *count.lock().unwrap() += 1))
            })
            .collect();
        all.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(count.call("get", &[], |count| *count.lock().unwrap()), threads);
    }
}

#[test]
fn a_counter_of_calls_runs_once() {
    for threads in [3, 4, 5] {
        let one = proved(counter(threads));
        assert_eq!(one.runs, 1, "{one}");
        assert!(one.to_string().contains("the specifications of counter hold"), "{one}");
        let traced = Builder::new().engine(Engine::Trace).explore(counter(threads));
        assert_eq!(traced.executions, 1, "{traced}");
    }
    let ordered = Builder::new().engine(Engine::Trace).commuting(false).explore(counter(4));
    assert!(matches!(ordered.verdict, Verdict::Proved), "{ordered}");
    assert_eq!(ordered.executions, 24, "{ordered}");
    assert!(!ordered.to_string().contains("specifications"), "{ordered}");
}

#[test]
fn what_a_call_sees_depends_on_the_order() {
    let text = failed(|| {
        let set = Arc::new(Object::new("set", Mutex::new(BTreeSet::new())));
        let other = Arc::clone(&set);
        thread::spawn(move || other.call("add", &[&1], |set| set.lock().unwrap().insert(1)));
        let size = set.call("size", &[], |set| set.lock().unwrap().len());
        assert_eq!(size, 0);
    });
    assert!(text.contains("set.add(1)") && text.contains("set.size()"), "{text}");
}

/// An implementation that does not do as its specification says is no proof of anything.
#[test]
fn a_wrong_implementation_is_named() {
    let exploration = explored(|| {
        let set = Object::new("set", Mutex::new(BTreeSet::new()));
        set.call("add", &[&1], |set| !set.lock().unwrap().insert(1));
    });
    assert!(matches!(exploration.verdict, Verdict::Stopped), "{exploration}");
    assert!(
        exploration
            .to_string()
            .contains("set.add(1) returned false, and by its specification it returns true")
    );
}

#[test]
fn calls_are_single_steps() {
    let shared = explored(|| {
        let cell = Arc::new(AtomicU32::new(0));
        let count = Object::new("counter", Arc::clone(&cell));
        count.call("inc", &[], |cell| {
            cell.fetch_add(1, SeqCst);
        });
        assert_eq!(cell.load(SeqCst), 1);
    });
    assert!(shared.to_string().contains("is touched inside of a call"), "{shared}");
    let starts = explored(|| {
        let count = Object::new("counter", ());
        count.call("inc", &[], |()| drop(thread::spawn(|| ())));
    });
    assert!(starts.to_string().contains("starts a thread"), "{starts}");
}

#[test]
fn types_are_checked_before_they_are_used() {
    let text = "type flag sync internal\n  state up: bool\n  method raise() { up := true }\n  \
                method look() = r { r := up }\n  commute raise raise, look look iff true\n";
    let flag = || {
        let flag = Arc::new(Object::new("flag", AtomicBool::new(false)));
        let other = Arc::clone(&flag);
        let raises = thread::spawn(move || other.call("raise", &[], |flag| flag.store(true, SeqCst)));
        flag.call("raise", &[], |flag| flag.store(true, SeqCst));
        raises.join().unwrap();
        assert!(flag.call("look", &[], |flag| flag.load(SeqCst)));
    };
    let good = Builder::new().spec(text).explore(flag);
    assert!(matches!(good.verdict, Verdict::Proved), "{good}");
    assert_eq!(good.runs, 1, "{good}");
    let wrong = text.replace("look look", "look look, raise look");
    let refused = std::panic::catch_unwind(|| Builder::new().spec(&wrong)).expect_err("a wrong claim");
    let text = refused.downcast_ref::<String>().expect("a text");
    assert!(text.contains("the specification of flag does not hold"), "{text}");
}

fn same(threads: u32) -> impl Fn() + 'static {
    move || {
        let sum = Arc::new(Mutex::new(0));
        let other = Arc::clone(&sum);
        spawn_same(threads, move || *other.lock().unwrap() += 1).join().unwrap();
        assert_eq!(*sum.lock().unwrap(), threads);
    }
}

#[test]
fn threads_that_are_alike_are_taken_for_each_other() {
    let with = proved(same(5));
    let without = Builder::new().symmetry(false).explore(same(5));
    assert!(matches!(without.verdict, Verdict::Proved), "{without}");
    assert!(with.states * 4 < without.states, "{with} {without}");
    let text = failed(|| {
        let count = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&count);
        let threads = spawn_same(3, move || {
            let seen = other.load(SeqCst);
            other.store(seen + 1, SeqCst);
        });
        threads.join().unwrap();
        assert_eq!(count.load(SeqCst), 3);
    });
    assert!(text.contains("FAILED  assertion"), "{text}");
}

/// Threads that ask who they are, or make something of their own, are not alike.
#[test]
fn threads_that_say_who_they_are_are_told_apart() {
    let text = failed(|| {
        let first = Arc::new(Mutex::new(None));
        let other = Arc::clone(&first);
        let threads = spawn_same(2, move || {
            let own = thread::current().id();
            let seen = other.lock().unwrap().get_or_insert(own).to_owned();
            assert!(seen == own, "not the first");
        });
        threads.join().unwrap();
    });
    assert!(text.contains("unwrap"), "{text}");
    proved(|| {
        spawn_same(2, || {
            let own = Mutex::new(0);
            *own.lock().unwrap() += 1;
        })
        .join()
        .unwrap();
    });
}

struct Shared(UnsafeCell<u32>);

// SAFETY: the test is about whether this is so.
unsafe impl Sync for Shared {}

#[test]
fn plain_memory_races_unless_it_is_protected() {
    let body = |locked: bool| {
        move || {
            let shared = Arc::new((Shared(UnsafeCell::new(0)), Mutex::new(())));
            let other = Arc::clone(&shared);
            let add = move |shared: &(Shared, Mutex<()>)| {
                let _guard = locked.then(|| shared.1.lock().unwrap());
                // SAFETY: as the lock says.
                shared.0.0.with_mut(|value| unsafe { *value += 1 });
            };
            let thread = thread::spawn(move || add(&other));
            add(&shared);
            thread.join().unwrap();
            // SAFETY: the other thread has ended.
            assert_eq!(shared.0.0.with(|value| unsafe { *value }), 2);
        }
    };
    proved(body(true));
    let text = failed(body(false));
    assert!(text.contains("data race of main, main.1"), "{text}");
}

struct Node {
    value: u32,
    next: *mut Node,
}

/// A stack by one pointer that is exchanged.
#[derive(Default)]
struct Stack(AtomicPtr<Node>);

impl Stack {
    fn push(&self, value: u32) {
        let node = Box::into_raw(Box::new(Node { value, next: ptr::null_mut() }));
        let mut top = self.0.load(SeqCst);
        loop {
            // SAFETY: nobody else knows the node yet.
            unsafe { (*node).next = top };
            match self.0.compare_exchange(top, node, SeqCst, SeqCst) {
                Ok(_) => return,
                Err(other) => top = other,
            }
        }
    }

    /// Takes all; no node is taken twice, so none is used after it was freed.
    fn take(&self) -> Vec<u32> {
        let mut values = Vec::new();
        let mut top = self.0.swap(ptr::null_mut(), SeqCst);
        while !top.is_null() {
            // SAFETY: the list is this thread's alone since the swap.
            let node = unsafe { Box::from_raw(top) };
            values.push(node.value);
            top = node.next;
        }
        values
    }
}

#[test]
fn pointers_are_exchanged() {
    proved(|| {
        let stack = Arc::new(Stack::default());
        let other = Arc::clone(&stack);
        let thread = thread::spawn(move || other.push(1));
        stack.push(2);
        thread.join().unwrap();
        let mut values = stack.take();
        values.sort_unstable();
        assert_eq!(values, [1, 2]);
    });
    let text = failed(|| {
        let stack = Arc::new(Stack::default());
        let other = Arc::clone(&stack);
        let thread = thread::spawn(move || other.push(1));
        let seen = stack.take();
        thread.join().unwrap();
        stack.take();
        assert!(seen.is_empty(), "too early");
    });
    assert!(text.contains("too early"), "{text}");
}

/// A flag that a task waits for.
#[derive(Default)]
struct Raised {
    up: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

struct Wait(Arc<Raised>, bool);

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let early = self.1;
        if early && self.0.up.load(SeqCst) {
            return Poll::Ready(());
        }
        *self.0.waker.lock().unwrap() = Some(context.waker().clone());
        if !early && self.0.up.load(SeqCst) { Poll::Ready(()) } else { Poll::Pending }
    }
}

#[test]
fn wakers_are_steps() {
    let body = |early: bool| {
        move || {
            let raised = Arc::new(Raised::default());
            let other = Arc::clone(&raised);
            let thread = thread::spawn(move || {
                other.up.store(true, SeqCst);
                if let Some(waker) = other.waker.lock().unwrap().take() {
                    waker.wake();
                }
            });
            future::block_on(Wait(raised, early));
            thread.join().unwrap();
        }
    };
    let good = Builder::new().spurious(false).explore(body(false));
    assert!(matches!(good.verdict, Verdict::Proved), "{good}");
    // Looked before it said whom to wake: the wake-up between the two is lost.
    let lost = Builder::new().spurious(false).explore(body(true));
    assert!(lost.to_string().contains("deadlock of main"), "{lost}");
    proved(|| {
        let task = future::spawn(async { 1 + future::block_on(async { 1 }) });
        assert_eq!(task.join().unwrap(), 2);
    });
}

/// Says when it is dropped.
struct Last(Arc<AtomicU32>);

impl Drop for Last {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Who drops last is seen, and so are counts.
#[test]
fn counted_owners_are_steps() {
    use reweave::sync::counted;
    proved(|| {
        let drops = Arc::new(AtomicU32::new(0));
        let shared = counted::Arc::new(Last(Arc::clone(&drops)));
        let other = counted::Arc::clone(&shared);
        let thread = thread::spawn(move || drop(other));
        drop(shared);
        thread.join().unwrap();
        assert_eq!(drops.load(SeqCst), 1);
    });
    let early = failed(|| {
        let drops = Arc::new(AtomicU32::new(0));
        let shared = counted::Arc::new(Last(Arc::clone(&drops)));
        let other = counted::Arc::clone(&shared);
        thread::spawn(move || drop(other));
        drop(shared);
        assert_eq!(drops.load(SeqCst), 1, "the other is the last");
    });
    assert!(early.contains("the other is the last"), "{early}");
    proved(|| {
        let shared = counted::Arc::new(5);
        let other = counted::Arc::clone(&shared);
        let thread = thread::spawn(move || counted::Arc::into_inner(other));
        let own = counted::Arc::into_inner(shared);
        let all = [own, thread.join().unwrap()];
        assert_eq!(all.iter().flatten().count(), 1, "one of them gets it");
    });
    let both = failed(|| {
        let shared = counted::Arc::new(5);
        let other = counted::Arc::clone(&shared);
        let thread = thread::spawn(move || counted::Arc::try_unwrap(other).is_ok());
        let own = counted::Arc::try_unwrap(shared).is_ok();
        assert!(own || thread.join().unwrap(), "each saw the other");
    });
    assert!(both.contains("each saw the other"), "{both}");
    let weak = failed(|| {
        let shared = counted::Arc::new(5);
        let weak = counted::Arc::downgrade(&shared);
        let thread = thread::spawn(move || weak.upgrade().map(|value| *value));
        drop(shared);
        assert_eq!(thread.join().unwrap(), Some(5));
    });
    assert!(weak.contains("FAILED"), "{weak}");
    let mut outside = counted::Arc::new(1);
    *counted::Arc::get_mut(&mut outside).expect("alone") += 1;
    assert_eq!((*outside, counted::Arc::strong_count(&outside)), (2, 1));
}
