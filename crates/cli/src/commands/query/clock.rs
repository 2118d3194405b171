//! A time limit: a thread that says stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Runs until it is dropped.
pub(in crate::commands) struct Clock {
    stop: Arc<AtomicBool>,
    /// The thread ends when this does.
    _alive: Sender<()>,
}

impl Clock {
    /// Starts a clock that says stop after `time`.
    pub(in crate::commands) fn start(time: Duration) -> Clock {
        let stop = Arc::new(AtomicBool::new(time.is_zero()));
        let (alive, dropped) = mpsc::channel();
        let flag = Arc::clone(&stop);
        thread::spawn(move || {
            if dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Relaxed);
            }
        });
        Clock { stop, _alive: alive }
    }

    /// The flag that is set when the time is up.
    pub(in crate::commands) fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }
}
