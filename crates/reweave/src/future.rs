//! Futures, on an executor that is a thread: wakers unpark it, and so are steps of an exploration.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use crate::thread;

struct Wakes(thread::Thread);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future until it is done; the thread is parked in between.
///
/// ```
/// assert_eq!(reweave::future::block_on(async { 1 + 1 }), 2);
/// ```
#[inline(always)]
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Wakes(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Starts a task: a thread that polls the future.
pub fn spawn<F>(future: F) -> thread::JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    thread::spawn(move || block_on(future))
}
