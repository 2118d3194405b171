//! Channels from many senders to one receiver.
//!
//! The queue is our own: std's receiver waits inside of std, where nobody could give it its turn.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{self, Arc, PoisonError};
use std::time::{Duration, Instant};

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use crate::told::{self, What};

struct Shared<T> {
    state: sync::Mutex<State<T>>,
    changed: sync::Condvar,
}

struct State<T> {
    queue: VecDeque<T>,
    /// How many messages may wait; none where any number may.
    bound: Option<usize>,
    senders: usize,
    /// Whether somebody may still receive.
    receives: bool,
    /// Whether somebody waits for a message.
    waits: bool,
    sent: u64,
    received: u64,
}

type Guard<'a, T> = sync::MutexGuard<'a, State<T>>;

/// How long to wait.
#[derive(Clone, Copy)]
enum Until {
    Now,
    Never,
    Time(Instant),
}

/// A look at the queue, or a change: from here to its end the thread is told.
struct Turn<'a, T> {
    shared: &'a Shared<T>,
    at: usize,
    told: bool,
}

impl<T> Shared<T> {
    fn turn(self: &Arc<Shared<T>>) -> Turn<'_, T> {
        let told = told::begin();
        Turn { shared: self, at: Arc::as_ptr(self) as *const () as usize, told }
    }
}

impl<'a, T> Turn<'a, T> {
    fn state(&self) -> Guard<'a, T> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until something changes; whether there was time.
    fn wait(&self, state: Guard<'a, T>, until: Until) -> (Guard<'a, T>, bool) {
        let left = match until {
            Until::Now => return (state, false),
            Until::Never => None,
            Until::Time(time) => Some(time.saturating_duration_since(Instant::now())),
        };
        if self.told {
            drop(state);
            let timed_out = told::block(self.at, left);
            return (self.state(), !timed_out);
        }
        if left == Some(Duration::ZERO) {
            return (state, false);
        }
        let woken = match left {
            None => self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(left) => {
                self.shared.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            }
        };
        (woken, true)
    }

    /// Something has changed.
    fn step(&self) {
        if self.told {
            told::step(self.at, What::Messages);
        } else {
            self.shared.changed.notify_all();
        }
    }

    /// Nothing has, but that was seen.
    fn look(&self) {
        if self.told {
            told::look(self.at, What::Messages);
        }
    }

    fn send(&self, message: T, until: Until) -> Result<(), TrySendError<T>> {
        let mut state = self.state();
        loop {
            if !state.receives {
                self.look();
                return Err(TrySendError::Disconnected(message));
            }
            let room = match (state.bound, until) {
                (None, _) => true,
                (Some(0), Until::Now) => state.queue.is_empty() && state.waits,
                (Some(bound), _) => state.queue.len() < bound.max(1),
            };
            if room {
                break;
            }
            if matches!(until, Until::Now) {
                self.look();
                return Err(TrySendError::Full(message));
            }
            state = self.wait(state, until).0;
        }
        state.queue.push_back(message);
        state.sent += 1;
        let number = state.sent;
        self.step();
        if state.bound != Some(0) || matches!(until, Until::Now) {
            return Ok(());
        }
        self.hand_over(state, number)
    }

    /// Waits until a message is received, where there is no room for it to wait.
    fn hand_over(&self, mut state: Guard<'a, T>, number: u64) -> Result<(), TrySendError<T>> {
        while state.received < number {
            if !state.receives {
                self.look();
                return state.queue.pop_back().map_or(Ok(()), |back| Err(TrySendError::Disconnected(back)));
            }
            state = self.wait(state, Until::Never).0;
        }
        self.look();
        Ok(())
    }

    fn receive(&self, until: Until) -> Result<T, TryRecvError> {
        let mut state = self.state();
        loop {
            if let Some(message) = state.queue.pop_front() {
                state.received += 1;
                self.step();
                return Ok(message);
            }
            if state.senders == 0 {
                self.look();
                return Err(TryRecvError::Disconnected);
            }
            state.waits = true;
            let (again, time) = self.wait(state, until);
            state = again;
            state.waits = false;
            if !time && state.queue.is_empty() && state.senders > 0 {
                self.look();
                return Err(TryRecvError::Empty);
            }
        }
    }
}

impl<T> Drop for Turn<'_, T> {
    fn drop(&mut self) {
        if self.told {
            told::end();
        }
    }
}

/// A channel in which any number of messages may wait.
#[must_use]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let shared = new(None);
    (Sender { shared: Arc::clone(&shared) }, Receiver { shared, alone: PhantomData })
}

/// A channel in which so many messages may wait.
#[must_use]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let shared = new(Some(bound));
    (SyncSender { shared: Arc::clone(&shared) }, Receiver { shared, alone: PhantomData })
}

fn new<T>(bound: Option<usize>) -> Arc<Shared<T>> {
    let state = State {
        queue: VecDeque::new(),
        bound,
        senders: 1,
        receives: true,
        waits: false,
        sent: 0,
        received: 0,
    };
    Arc::new(Shared { state: sync::Mutex::new(state), changed: sync::Condvar::new() })
}

/// `std::sync::mpsc::Sender`, told to the recorder.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// `std::sync::mpsc::SyncSender`, told to the recorder.
pub struct SyncSender<T> {
    shared: Arc<Shared<T>>,
}

/// `std::sync::mpsc::Receiver`, told to the recorder.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// It can be sent to another thread, but not be shared.
    alone: PhantomData<Cell<()>>,
}

impl<T> Sender<T> {
    /// Sends a message; in vain where nobody will receive it.
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.shared.turn().send(t, Until::Never).map_err(SendError::from_message)
    }
}

impl<T> SyncSender<T> {
    /// Sends a message, once there is room for it; in vain where nobody will receive it.
    pub fn send(&self, t: T) -> Result<(), SendError<T>> {
        self.shared.turn().send(t, Until::Never).map_err(SendError::from_message)
    }

    /// Sends a message, if there is room for it.
    pub fn try_send(&self, t: T) -> Result<(), TrySendError<T>> {
        self.shared.turn().send(t, Until::Now)
    }
}

/// What could not be sent.
trait FromMessage<T> {
    fn from_message(error: TrySendError<T>) -> Self;
}

impl<T> FromMessage<T> for SendError<T> {
    fn from_message(error: TrySendError<T>) -> SendError<T> {
        match error {
            TrySendError::Full(message) | TrySendError::Disconnected(message) => SendError(message),
        }
    }
}

/// What both senders are alike in.
macro_rules! sender {
    ($sender:ident) => {
        impl<T> Clone for $sender<T> {
            fn clone(&self) -> $sender<T> {
                let turn = self.shared.turn();
                turn.state().senders += 1;
                turn.step();
                drop(turn);
                $sender { shared: Arc::clone(&self.shared) }
            }
        }

        impl<T> Drop for $sender<T> {
            fn drop(&mut self) {
                let turn = self.shared.turn();
                turn.state().senders -= 1;
                turn.step();
            }
        }

        impl<T> fmt::Debug for $sender<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($sender)).finish_non_exhaustive()
            }
        }
    };
}

sender!(Sender);
sender!(SyncSender);

impl<T> Receiver<T> {
    /// The next message, if there is one.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.shared.turn().receive(Until::Now)
    }

    /// Waits for the next message; in vain where nobody will send one.
    pub fn recv(&self) -> Result<T, RecvError> {
        self.shared.turn().receive(Until::Never).map_err(|_| RecvError)
    }

    /// The same, but waits no longer than this.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        let until = Instant::now().checked_add(timeout).map_or(Until::Never, Until::Time);
        self.shared.turn().receive(until).map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    /// The messages to come.
    pub fn iter(&self) -> Iter<'_, T> {
        Iter { receiver: self }
    }

    /// The messages that are there.
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let turn = self.shared.turn();
        let mut state = turn.state();
        state.receives = false;
        // One that is being handed over goes back to its sender.
        let left = if state.bound == Some(0) { VecDeque::new() } else { std::mem::take(&mut state.queue) };
        drop(state);
        turn.step();
        drop(turn);
        // The messages are the program's.
        drop(left);
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

/// The messages to come.
#[derive(Debug)]
pub struct Iter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// The messages that are there.
#[derive(Debug)]
pub struct TryIter<'a, T> {
    receiver: &'a Receiver<T>,
}

/// The messages to come, with their receiver.
#[derive(Debug)]
pub struct IntoIter<T> {
    receiver: Receiver<T>,
}

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { receiver: self }
    }
}
