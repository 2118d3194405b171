//! Work in parallel whose results are taken in order.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work` for each item of `next` on `jobs` threads, this one included, and `take` for each result on this one, in the
/// order of the items. Stops at the first error. Never more than two items a thread are under way, so that memory is bounded.
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
        for _ in 1..jobs {
            let (sender, queue, work) = (sender.clone(), &queue, &work);
            // Without memory for a thread, those that there are do its share.
            let _ = thread::Builder::new().spawn_scoped(scope, move || run(queue, work, &sender));
        }
        drop(sender);
        // Dropped first when this returns, which ends the threads.
        let permit = permit;
        let (mut early, mut due) = (BTreeMap::new(), 0_u64);
        loop {
            while let Some(result) = early.remove(&due) {
                take(result?)?;
                due += 1;
                // Without a receiver no thread is left to wait for it.
                let _ = permit.send(());
            }
            // What is done comes first, so that nobody has to wait for a permit; else this thread works, too.
            let done = results.try_recv().ok();
            let done = done.or_else(|| try_start(&queue).and_then(|started| finish(started, &work)));
            let Some((place, result)) = done.or_else(|| results.recv().ok()) else { return Ok(()) };
            early.insert(place, result);
        }
    })
}

struct Queue<F> {
    next: F,
    permits: Receiver<()>,
    started: u64,
    ended: bool,
}

/// An item with its place, or why there is none.
type Started<T, E> = (u64, Result<Option<T>, E>);

impl<T, E, F: FnMut() -> Result<Option<T>, E>> Queue<F> {
    /// The next item, for which there is a permit.
    fn start(&mut self) -> Started<T, E> {
        let item = (self.next)();
        self.ended = !matches!(item, Ok(Some(_)));
        self.started += 1;
        (self.started - 1, item)
    }
}

/// Waits for the next item.
fn start<T, E, F>(queue: &Mutex<Queue<F>>) -> Option<Started<T, E>>
where
    F: FnMut() -> Result<Option<T>, E>,
{
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let ended = queue.ended || queue.permits.recv().is_err();
    (!ended).then(|| queue.start())
}

/// The next item, if it is there at once.
fn try_start<T, E, F>(queue: &Mutex<Queue<F>>) -> Option<Started<T, E>>
where
    F: FnMut() -> Result<Option<T>, E>,
{
    let mut queue = queue.try_lock().ok()?;
    let ended = queue.ended || queue.permits.try_recv().is_err();
    (!ended).then(|| queue.start())
}

fn finish<T, R, E>((place, item): Started<T, E>, work: &impl Fn(T) -> R) -> Option<(u64, Result<R, E>)> {
    Some((place, item.transpose()?.map(work)))
}

fn run<T, R, E, F>(queue: &Mutex<Queue<F>>, work: &impl Fn(T) -> R, results: &Sender<(u64, Result<R, E>)>)
where
    F: FnMut() -> Result<Option<T>, E>,
{
    while let Some(result) = start(queue).and_then(|started| finish(started, work)) {
        if results.send(result).is_err() {
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
