//! Channels of many senders and one receiver.

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

use std::collections::VecDeque;
use std::fmt;
use std::sync::mpsc as real;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reweave_explore::{Early, Init, ObjectId, Op, Watch, tag};

use super::super::{data, host, spin};

/// Messages of an explored channel. The search decides who gets at them, so nobody ever waits for the lock.
struct Queue<T> {
    channel: ObjectId,
    messages: Mutex<VecDeque<T>>,
}

impl<T> Queue<T> {
    fn push(&self, message: T) {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).push_back(message);
    }

    fn pop(&self) -> Option<T> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    #[inline(never)]
    #[track_caller]
    fn receive_timed(&self, round: bool) -> Result<T, RecvTimeoutError> {
        let early = spin::early(round);
        let outcome = host::step(Op::Receive { channel: self.channel, timed: true, early });
        if outcome.tag & tag::TIMEOUT != 0 {
            spin::saw(Watch::Empty(self.channel));
            return Err(RecvTimeoutError::Timeout);
        }
        spin::stop();
        if outcome.tag & tag::FAILED != 0 {
            return Err(RecvTimeoutError::Disconnected);
        }
        self.pop().ok_or(RecvTimeoutError::Disconnected)
    }

    #[track_caller]
    fn send(&self, message: T) -> Result<(), SendError<T>> {
        spin::stop();
        let outcome = host::step(Op::Send { channel: self.channel, message: data::of(&message) });
        if outcome.tag & tag::FAILED != 0 {
            return Err(SendError(message));
        }
        self.push(message);
        Ok(())
    }
}

enum Side<T, R> {
    Explored(Arc<Queue<T>>),
    Real(R),
}

/// `std::sync::mpsc::Sender`, explored.
pub struct Sender<T>(Side<T, real::Sender<T>>);

/// `std::sync::mpsc::SyncSender`, explored.
pub struct SyncSender<T>(Side<T, real::SyncSender<T>>);

/// `std::sync::mpsc::Receiver`, explored.
pub struct Receiver<T>(Side<T, real::Receiver<T>>);

fn explored<T>(capacity: Option<u32>) -> Option<Arc<Queue<T>>> {
    let channel = host::object("channel", Init::Channel(capacity))?;
    Some(Arc::new(Queue { channel, messages: Mutex::default() }))
}

/// A channel without a bound.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    match explored(None) {
        Some(queue) => (Sender(Side::Explored(Arc::clone(&queue))), Receiver(Side::Explored(queue))),
        None => {
            let (sender, receiver) = real::channel();
            (Sender(Side::Real(sender)), Receiver(Side::Real(receiver)))
        }
    }
}

/// A channel that holds so many messages.
///
/// # Panics
///
/// An explored channel has to hold at least one: handing a message over directly is not modelled.
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    assert!(bound > 0 || !host::explored(), "sync_channel(0) is not supported in an exploration");
    match explored(Some(bound as u32)) {
        Some(queue) => (SyncSender(Side::Explored(Arc::clone(&queue))), Receiver(Side::Explored(queue))),
        None => {
            let (sender, receiver) = real::sync_channel(bound);
            (SyncSender(Side::Real(sender)), Receiver(Side::Real(receiver)))
        }
    }
}

impl<T> Sender<T> {
    /// Sends.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Side::Explored(queue) => queue.send(message),
            Side::Real(sender) => sender.send(message),
        }
    }
}

impl<T> SyncSender<T> {
    /// Waits for room, and sends.
    #[track_caller]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        match &self.0 {
            Side::Explored(queue) => queue.send(message),
            Side::Real(sender) => sender.send(message),
        }
    }

    /// Sends if there is room.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let queue = match &self.0 {
            Side::Explored(queue) => queue,
            Side::Real(sender) => return sender.try_send(message),
        };
        spin::stop();
        let outcome = host::step(Op::TrySend { channel: queue.channel, message: data::of(&message) });
        if outcome.tag & tag::FAILED == 0 {
            queue.push(message);
            return Ok(());
        }
        let gone = outcome.tag & tag::CHOSEN != 0;
        Err(if gone { TrySendError::Disconnected(message) } else { TrySendError::Full(message) })
    }
}

impl<T> Receiver<T> {
    /// Waits for a message.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            Side::Explored(queue) => {
                spin::stop();
                let op = Op::Receive { channel: queue.channel, timed: false, early: Early::Always };
                let outcome = host::step(op);
                if outcome.tag & tag::FAILED != 0 { Err(RecvError) } else { queue.pop().ok_or(RecvError) }
            }
            Side::Real(receiver) => receiver.recv(),
        }
    }

    /// Takes a message if there is one.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        let queue = match &self.0 {
            Side::Explored(queue) => queue,
            Side::Real(receiver) => return receiver.try_recv(),
        };
        let outcome = host::step(Op::TryReceive { channel: queue.channel });
        if outcome.tag & tag::FAILED == 0 {
            spin::stop();
            return queue.pop().ok_or(TryRecvError::Disconnected);
        }
        spin::saw(Watch::Empty(queue.channel));
        Err(if outcome.tag & tag::CHOSEN != 0 { TryRecvError::Disconnected } else { TryRecvError::Empty })
    }

    /// Waits for a message, but not longer than this. In an exploration the time may be up at once, or never.
    #[inline(always)]
    #[track_caller]
    pub fn recv_timeout(&self, time: Duration) -> Result<T, RecvTimeoutError> {
        let queue = match &self.0 {
            Side::Explored(queue) => queue,
            Side::Real(receiver) => return receiver.recv_timeout(time),
        };
        let round = spin::round(u64::from(queue.channel.0), 0);
        queue.receive_timed(round)
    }

    /// Messages, until there are no senders any more.
    #[track_caller]
    pub fn iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.recv().ok())
    }

    /// Messages, until there are none just now.
    #[track_caller]
    pub fn try_iter(&self) -> impl Iterator<Item = T> {
        std::iter::from_fn(|| self.try_recv().ok())
    }
}

/// The messages of a receiver.
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

impl<T, R: Clone> Side<T, R> {
    #[track_caller]
    fn another(&self) -> Side<T, R> {
        match self {
            Side::Explored(queue) => {
                spin::stop();
                host::step(Op::AddSender { channel: queue.channel });
                Side::Explored(Arc::clone(queue))
            }
            Side::Real(sender) => Side::Real(sender.clone()),
        }
    }
}

impl<T, R> Side<T, R> {
    #[track_caller]
    fn gone(&self) {
        if let Side::Explored(queue) = self {
            spin::stop();
            host::step(Op::DropSender { channel: queue.channel });
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender(self.0.another())
    }
}

impl<T> Clone for SyncSender<T> {
    fn clone(&self) -> SyncSender<T> {
        SyncSender(self.0.another())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.gone();
    }
}

impl<T> Drop for SyncSender<T> {
    fn drop(&mut self) {
        self.0.gone();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Side::Explored(queue) = &self.0 {
            spin::stop();
            host::step(Op::DropReceiver { channel: queue.channel });
            while queue.pop().is_some() {}
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for SyncSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}
