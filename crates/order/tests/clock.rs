//! Clocks against arrays.

mod common;

use common::Random;
use reweave_order::clock::{Clock, Epoch};
use reweave_trace::ThreadId;

const THREADS: u32 = 9;

type Twin = [u32; THREADS as usize];

fn check(clock: &Clock, twin: &Twin) {
    let mut again = Clock::new();
    for thread in (0..THREADS + 3).map(ThreadId) {
        let time = twin.get(thread.index()).copied().unwrap_or(0);
        assert_eq!(clock.get(thread), time);
        assert_eq!(clock.epoch(thread), Epoch::new(thread, time));
        assert!(clock.covers(Epoch::new(thread, time)));
        assert!(!clock.covers(Epoch::new(thread, time + 1)));
        again.set(thread, time);
    }
    assert_eq!(*clock, again, "equal clocks are stored alike");
    let epochs: Vec<(usize, u32)> = clock.epochs().map(|e| (e.thread().index(), e.time())).collect();
    let expected: Vec<(usize, u32)> = twin.iter().copied().enumerate().filter(|e| e.1 != 0).collect();
    assert_eq!(epochs, expected);
}

#[test]
fn clocks_agree_with_arrays() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let mut clocks: Vec<(Clock, Twin)> = vec![Default::default(); 3];
        for _ in 0..40 {
            let (i, j) = (random.below(3) as usize, random.below(3) as usize);
            let thread = ThreadId(random.below(THREADS));
            match random.below(4) {
                0 => {
                    let time = if random.once_in(3) { 0 } else { random.below(4) };
                    clocks[i].0.set(thread, time);
                    clocks[i].1[thread.index()] = time;
                }
                1 => {
                    clocks[i].1[thread.index()] += 1;
                    assert_eq!(clocks[i].0.increment(thread), clocks[i].1[thread.index()]);
                }
                2 => {
                    let (other, twin) = clocks[j].clone();
                    clocks[i].0.join(&other);
                    clocks[i].1.iter_mut().zip(twin).for_each(|(time, other)| *time = other.max(*time));
                }
                _ => {
                    let le = clocks[i].1.iter().zip(&clocks[j].1).all(|(a, b)| a <= b);
                    assert_eq!(clocks[i].0.le(&clocks[j].0), le);
                    assert_eq!(clocks[i].0 == clocks[j].0, clocks[i].1 == clocks[j].1);
                }
            }
            check(&clocks[i].0, &clocks[i].1);
        }
    }
}

#[test]
fn a_clock_and_an_epoch_are_small() {
    assert_eq!(size_of::<Clock>(), size_of::<Vec<u32>>());
    assert_eq!(size_of::<Epoch>(), 8);
    let epoch = Epoch::new(ThreadId(u32::MAX - 1), u32::MAX);
    assert_eq!((epoch.thread(), epoch.time()), (ThreadId(u32::MAX - 1), u32::MAX));
}
