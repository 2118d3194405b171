//! Runs a second of a mutex counter, each along a schedule of its own: `cargo run --release --features explore --example explore_rate`.

use std::time::Instant;

use reweave::sync::{Arc, Mutex};
use reweave::{Builder, thread};

fn main() {
    for threads in [2, 3, 4] {
        let runs = 200_000;
        let started = Instant::now();
        let exploration = Builder::new().audit(runs).explore(move || {
            let sum = Arc::new(Mutex::new(0));
            let all: Vec<_> = (0..threads)
                .map(|_| {
                    let sum = Arc::clone(&sum);
                    thread::spawn(move || *sum.lock().unwrap() += 1)
                })
                .collect();
            all.into_iter().for_each(|thread| thread.join().unwrap());
            assert_eq!(*sum.lock().unwrap(), threads);
        });
        let rate = f64::from(runs) / started.elapsed().as_secs_f64();
        println!("{threads} threads: {rate:.0} runs/s\n{exploration}");
    }
}
