//! Work in parallel whose results are taken in order.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work` for each item of `next` on `jobs` threads, and `take` for each result on this one, in the order of the items.
/// Stops at the first error. Never more than two items a thread are under way, so that memory is bounded.
pub(crate) fn in_order<T, R, E>(
    jobs: usize,
    next: impl FnMut() -> Result<Option<T>, E> + Send,
    work: impl Fn(T) -> R + Sync,
    mut take: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E>
where
    R: Send,
    E: Send,
{
    let (permit, permits) = channel();
    let queue = Mutex::new(Queue { next, permits, started: 0, ended: false });
    for _ in 0..2 * jobs {
        // The receiver is right here.
        let _ = permit.send(());
    }
    thread::scope(|scope| {
        let (sender, results) = channel();
        for _ in 0..jobs {
            let (sender, queue, work) = (sender.clone(), &queue, &work);
            scope.spawn(move || run(queue, work, &sender));
        }
        drop(sender);
        // Dropped first when this returns, which ends the threads.
        let permit = permit;
        let (mut early, mut due) = (BTreeMap::new(), 0_u64);
        for (place, result) in results {
            early.insert(place, result);
            while let Some(result) = early.remove(&due) {
                take(result?)?;
                due += 1;
                // Without a receiver no thread is left to wait for it.
                let _ = permit.send(());
            }
        }
        Ok(())
    })
}

struct Queue<F> {
    next: F,
    permits: Receiver<()>,
    started: u64,
    ended: bool,
}

fn run<T, R, E, F>(queue: &Mutex<Queue<F>>, work: &impl Fn(T) -> R, results: &Sender<(u64, Result<R, E>)>)
where
    F: FnMut() -> Result<Option<T>, E>,
{
    loop {
        let (place, item) = {
            let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            if queue.ended || queue.permits.recv().is_err() {
                return;
            }
            let item = (queue.next)();
            queue.ended = !matches!(item, Ok(Some(_)));
            queue.started += 1;
            (queue.started - 1, item)
        };
        let result = match item {
            Ok(None) => return,
            Ok(Some(item)) => Ok(work(item)),
            Err(error) => Err(error),
        };
        if results.send((place, result)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_up_to_the_first_error() {
        for jobs in 1..=4 {
            for failing in [None, Some(0), Some(17)] {
                let mut items = 0..100_u64;
                let mut taken = Vec::new();
                let next = || match items.next() {
                    Some(item) if Some(item) == failing => Err("no more"),
                    item => Ok(item),
                };
                let result = in_order(
                    jobs,
                    next,
                    |item| item * 2,
                    |double| {
                        taken.push(double);
                        Ok(())
                    },
                );
                assert_eq!(result.is_err(), failing.is_some());
                assert_eq!(taken, (0..failing.unwrap_or(100)).map(|item| item * 2).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn an_error_while_taking_ends_it_all() {
        let mut items = 0..;
        let result = in_order(
            3,
            || Ok(items.next()),
            |item: u64| item,
            |item| if item < 9 { Ok(()) } else { Err(item) },
        );
        assert_eq!(result, Err(9));
    }
}
