//! Long work that Python can interrupt, and that may have a time limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::bug;

/// How long to wait between two looks at the clock and at Python's signals.
const LOOK: Duration = Duration::from_millis(20);

/// Does `work` beside Python. Its flag is set when the time is up, or when Python was interrupted: then its result is
/// thrown away, and the interrupt goes on.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    time: Option<Duration>,
    work: impl FnOnce(Arc<AtomicBool>) -> T + Send,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let end = time.and_then(|time| Instant::now().checked_add(time));
    thread::scope(|scope| {
        let (done, mut wait) = mpsc::channel();
        let flag = Arc::clone(&stop);
        scope.spawn(move || {
            // The other end is there for as long as this thread is.
            let _ = done.send(work(flag));
        });
        let mut interrupt = None;
        loop {
            let wait = &mut wait;
            match py.detach(move || wait.recv_timeout(LOOK)) {
                Ok(result) => return interrupt.map_or(Ok(result), Err),
                Err(RecvTimeoutError::Disconnected) => return Err(bug("the work panicked")),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupt.is_none() {
                interrupt = py.check_signals().err();
            }
            if interrupt.is_some() || end.is_some_and(|end| Instant::now() >= end) {
                stop.store(true, Ordering::Relaxed);
            }
        }
    })
}
