//! What an exploration cannot see: never proved, and named where it can be.

use std::process::Command;
use std::sync::Arc as Hidden;
use std::sync::atomic::AtomicBool as HiddenBool;

use reweave::sync::atomic::AtomicU32;
use reweave::sync::atomic::Ordering::SeqCst;
use reweave::sync::{Arc, Mutex};
use reweave::{Builder, Engine, Exploration, Object, Verdict, thread};

/// One thread takes steps and writes something hidden; another takes steps and fails if it finds that.
fn hidden(before: u32, after: u32) -> impl Fn() + 'static {
    move || {
        let hidden = Hidden::new(HiddenBool::new(false));
        let other = Hidden::clone(&hidden);
        let steps = |count: u32| {
            let own = AtomicU32::new(0);
            for _ in 0..count {
                own.fetch_add(1, SeqCst);
            }
        };
        let writes = thread::spawn(move || {
            steps(before);
            other.store(true, SeqCst);
        });
        let reads = thread::spawn(move || {
            steps(after);
            assert!(!hidden.load(SeqCst));
        });
        writes.join().unwrap();
        let _ = reads.join();
    }
}

fn is_named(exploration: &Exploration) -> bool {
    let text = exploration.to_string();
    matches!(exploration.verdict, Verdict::Stopped) && text.contains("Something is hidden from the search")
}

/// A search runs each of these once, in one order, and sees nothing.
#[test]
fn what_is_hidden_is_named_however_far_in_it_is() {
    let mut unseen = 0;
    for before in 0..4 {
        for after in 0..4 {
            for engine in [Engine::Saturate, Engine::Trace] {
                let exploration = Builder::new().engine(engine).audit(1).explore(hidden(before, after));
                assert!(is_named(&exploration), "{before} {after}: {exploration}");
                let without = Builder::new().engine(engine).audit(0).explore(hidden(before, after));
                unseen += u32::from(matches!(without.verdict, Verdict::Proved));
            }
        }
    }
    assert!(unseen > 0, "the audit is what finds it");
}

/// The same under a lock, whose data says nothing of it.
#[test]
fn what_is_hidden_under_a_lock_is_named() {
    let body = || {
        let hidden = Hidden::new(HiddenBool::new(false));
        let lock = Arc::new(Mutex::new(()));
        let (other, own) = (Hidden::clone(&hidden), Arc::clone(&lock));
        let writes = thread::spawn(move || {
            let _guard = own.lock().unwrap();
            other.store(true, SeqCst);
        });
        let reads = thread::spawn(move || {
            let _guard = lock.lock().unwrap();
            if hidden.load(SeqCst) {
                reweave::hint::spin_loop();
            }
        });
        writes.join().unwrap();
        reads.join().unwrap();
    };
    let exploration = Builder::new().audit(1).explore(body);
    assert!(is_named(&exploration), "{exploration}");
}

/// The audit says how much of what was learnt it saw again.
#[test]
fn a_proof_says_how_it_was_checked() {
    let exploration = Builder::new().explore(|| {
        let count = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&count);
        let adds = thread::spawn(move || other.fetch_add(1, SeqCst));
        count.fetch_add(1, SeqCst);
        adds.join().unwrap();
    });
    assert!(matches!(exploration.verdict, Verdict::Proved), "{exploration}");
    let text = exploration.to_string();
    let line = text.lines().find(|line| line.contains("histories occurred twice or more")).expect("a line");
    let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [runs, twice, all] = numbers[..] else { panic!("{line}") };
    assert!(runs > 32 && twice == all && all > 4, "{line}");
}

/// `first` of a set that is a list returns what was added first: no function of the set.
#[test]
fn a_result_that_is_no_function_of_the_state_is_named() {
    const SET: &str = "type bag sync internal\n  state s: set\n  \
                       method add(v) { s := insert(s, v) }\n  \
                       method first() { s := s }\n  commute add add iff true\n";
    let body = |first: bool| {
        move || {
            let list = Arc::new(Object::new("bag", Mutex::new(Vec::new())));
            let adds = |value: i32| {
                let list = Arc::clone(&list);
                thread::spawn(move || list.call("add", &[&value], |list| list.lock().unwrap().push(value)))
            };
            let threads = [adds(1), adds(2)];
            threads.into_iter().for_each(|thread| thread.join().unwrap());
            if first {
                list.call("first", &[], |list| list.lock().unwrap()[0]);
            }
        }
    };
    let without = Builder::new().spec(SET).explore(body(false));
    assert!(matches!(without.verdict, Verdict::Proved), "{without}");
    assert!(without.to_string().contains("the specifications of bag hold"), "{without}");
    let with = Builder::new().spec(SET).explore(body(true));
    assert!(matches!(with.verdict, Verdict::Stopped), "{with}");
    assert!(with.to_string().contains("by its specification it returns nothing"), "{with}");
}

/// A kernel thread that uses an object of the exploration is no explored thread.
#[test]
fn threads_of_std_are_named() {
    let exploration = Builder::new().explore(|| {
        let count = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&count);
        let joined = std::thread::spawn(move || other.fetch_add(1, SeqCst)).join();
        assert!(joined.is_err(), "it has no answer");
        count.load(SeqCst);
    });
    assert!(matches!(exploration.verdict, Verdict::Stopped), "{exploration}");
    assert!(exploration.to_string().contains("is used by a thread of std"), "{exploration}");
}

/// Runs a test of this file in a process of its own, which does what it does there only.
fn in_a_process(test: &str) -> Option<String> {
    if std::env::var_os("REWEAVE_TEST_BLOCKS").is_some() {
        return None;
    }
    let own = std::env::current_exe().expect("this test");
    let mut command = Command::new(own);
    let ran = command.args(["--exact", test]).env("REWEAVE_TEST_BLOCKS", "1").output().expect("it runs");
    assert_eq!(ran.status.code(), Some(101), "{ran:?}");
    Some(String::from_utf8_lossy(&ran.stderr).into_owned())
}

/// A lock of std that is held over a step blocks all threads; that is said instead of hanging.
#[test]
fn a_lock_of_std_that_blocks_is_named() {
    let Some(said) = in_a_process("a_lock_of_std_that_blocks_is_named") else {
        return reweave::explore(|| {
            let lock = Hidden::new(std::sync::Mutex::new(()));
            let other = Hidden::clone(&lock);
            let thread = thread::spawn(move || {
                let _guard = other.lock().unwrap();
                thread::yield_now();
            });
            let _guard = lock.lock().unwrap();
            thread::yield_now();
            drop(_guard);
            thread.join().unwrap();
        });
    };
    assert!(said.contains("in a_lock_of_std_that_blocks_is_named, main"), "{said}");
    assert!(said.contains("waits for a lock, a condition variable, a channel or a thread of std"), "{said}");
}

#[test]
fn a_channel_of_std_that_blocks_is_named() {
    let Some(said) = in_a_process("a_channel_of_std_that_blocks_is_named") else {
        return reweave::explore(|| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let receives = thread::spawn(move || receiver.recv().unwrap());
            thread::yield_now();
            sender.send(1).unwrap();
            assert_eq!(receives.join().unwrap(), 1);
        });
    };
    assert!(said.contains("a channel or a thread of std"), "{said}");
}

type Shared = (Mutex<()>, Mutex<()>, Arc<AtomicU32>);

/// Steps while a thread unwinds: others run in between.
struct StepsWhenDropped(Arc<AtomicU32>);

impl Drop for StepsWhenDropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
        self.0.fetch_add(1, SeqCst);
    }
}

/// A thread that panics while another unwinds poisons what it holds; one that does not panic
/// poisons nothing.
#[test]
fn panics_of_threads_that_unwind_at_once_are_their_own() {
    for engine in [Engine::Saturate, Engine::Trace] {
        let proof = Builder::new().engine(engine).explore(|| {
            let shared = Arc::new((Mutex::new(()), Mutex::new(()), Arc::new(AtomicU32::new(0))));
            let start = |run: fn(&Shared)| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || run(&shared))
            };
            let unwinds = start(|shared| {
                let _steps = StepsWhenDropped(Arc::clone(&shared.2));
                panic!("the first");
            });
            let poisons = start(|shared| {
                let _held = shared.0.lock().unwrap();
                panic!("the second");
            });
            let locks = start(|shared| {
                assert!(!thread::panicking());
                drop(shared.1.lock().unwrap());
            });
            assert!(unwinds.join().is_err() && poisons.join().is_err() && locks.join().is_ok());
            assert!(shared.0.is_poisoned() && !shared.1.is_poisoned());
        });
        assert!(matches!(proof.verdict, Verdict::Proved), "{proof}");
    }
}
