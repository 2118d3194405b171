//! A test for loom, with nothing changed but its imports; docs/guide/loom.md shows it.
#![expect(clippy::undocumented_unsafe_blocks, reason = "as loom's tests are")]

// begin
use reweave::cell::UnsafeCell;
use reweave::sync::Arc;
use reweave::sync::atomic::AtomicBool;
use reweave::sync::atomic::Ordering::{Acquire, Release};
use reweave::thread;

struct Slot {
    full: AtomicBool,
    value: UnsafeCell<u32>,
}

unsafe impl Sync for Slot {}

#[test]
fn what_is_put_is_taken() {
    reweave::model(|| {
        let slot = Arc::new(Slot { full: AtomicBool::new(false), value: UnsafeCell::new(0) });
        let other = slot.clone();
        let puts = thread::spawn(move || {
            other.value.with_mut(|value| unsafe { *value = 7 });
            other.full.store(true, Release);
        });
        while !slot.full.load(Acquire) {
            thread::yield_now();
        }
        assert_eq!(slot.value.with(|value| unsafe { *value }), 7);
        puts.join().unwrap();
    });
}
// end

#[test]
fn the_guide_shows_this_test() {
    let page = include_str!("../../../docs/guide/loom.md");
    let own = include_str!("loom.rs");
    let start = own.find("// begin\n").expect("a beginning") + "// begin\n".len();
    let end = own.find("// end\n").expect("an end");
    assert!(page.contains(&own[start..end]), "the example of docs/guide/loom.md is not this file's");
}

/// The same with the mistake that loom's users look for: the flag is raised too early.
#[test]
#[should_panic(expected = "data race of main, main.1")]
fn what_is_put_too_late_is_found() {
    reweave::model(|| {
        let slot = Arc::new(Slot { full: AtomicBool::new(false), value: UnsafeCell::new(0) });
        let other = slot.clone();
        thread::spawn(move || {
            other.full.store(true, Release);
            // SAFETY: there is none: that is the mistake.
            other.value.with_mut(|value| unsafe { *value = 7 });
        });
        while !slot.full.load(Acquire) {
            thread::yield_now();
        }
        // SAFETY: there is none.
        slot.value.with(|value| unsafe { *value });
    });
}
