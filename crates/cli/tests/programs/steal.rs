//! A queue that one thread fills and two threads steal from, until one of them comes too late once.
use crossbeam_deque::{Steal, Worker};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const ITEMS: usize = 100;

fn main() {
    let worker = Worker::new_fifo();
    let (pushed, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let (pushed, taken) = (&pushed, &taken);
        for stays in [true, false] {
            let stealer = worker.stealer();
            scope.spawn(move || {
                while taken.load(SeqCst) < ITEMS {
                    if pushed.load(SeqCst) == taken.load(SeqCst) {
                        std::thread::yield_now();
                        continue;
                    }
                    match stealer.steal() {
                        Steal::Success(_) => _ = taken.fetch_add(1, SeqCst),
                        Steal::Retry if !stays => return,
                        _ => {}
                    }
                }
            });
        }
        for item in 0..ITEMS {
            worker.push(item);
            pushed.store(item + 1, SeqCst);
            while taken.load(SeqCst) + 2 < item {
                std::thread::yield_now();
            }
        }
    });
    println!("{}", taken.into_inner());
}
