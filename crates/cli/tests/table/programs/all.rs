//! What Rust makes: results, panics, matches, iterators, atomics, trait objects.
#![crate_type = "lib"]
use std::sync::atomic::{AtomicU64, AtomicU8, Ordering, fence};
use std::sync::{Arc, Mutex};

pub static COUNT: AtomicU64 = AtomicU64::new(0);
pub static FLAG: AtomicU8 = AtomicU8::new(0);

pub trait Shape {
    fn area(&self) -> f64;
}

pub enum Kind {
    Empty,
    One(u32),
    Many(Vec<u32>),
}

pub fn sum(kind: &Kind) -> Result<u64, String> {
    match kind {
        Kind::Empty => Err("empty".to_owned()),
        Kind::One(number) if *number > 10 => Ok(u64::from(*number) * 3),
        Kind::One(number) => Ok(u64::from(*number)),
        Kind::Many(list) => list.iter().map(|&item| u64::from(item)).try_fold(0u64, |sum, item| {
            sum.checked_add(item).ok_or_else(|| format!("too large at {item}"))
        }),
    }
}

pub fn atomics(value: u64) -> u64 {
    fence(Ordering::SeqCst);
    let _ = COUNT.compare_exchange(1, value, Ordering::AcqRel, Ordering::Relaxed);
    FLAG.fetch_nand(3, Ordering::Release);
    COUNT.fetch_max(value, Ordering::Relaxed) + COUNT.load(Ordering::Acquire)
}

pub fn areas(shapes: &[Box<dyn Shape + Send>]) -> f64 {
    shapes.iter().map(|shape| shape.area()).sum()
}

// No thread is spawned: of what the standard library does at its end, the plugin makes a twin, which the text does not have.
pub fn locks(shared: Arc<Mutex<Vec<u64>>>) -> u64 {
    let other = Arc::clone(&shared);
    let push = Box::new(move || other.lock().unwrap().push(1)) as Box<dyn Fn() + Send>;
    push();
    shared.lock().unwrap().push(2);
    drop(push);
    let list = shared.lock().unwrap();
    list[0] + list[list.len() - 1]
}
