//! Requests for locks that nobody granted: threads that waited for each other when the run ended.

use std::sync::Arc;

use hashbrown::HashMap;

use super::Columns;
use crate::{Ending, Kind, LockId, Names, Op, Space, ThreadId};

/// The last request of each thread.
#[derive(Clone, Default, Debug)]
pub(super) struct Requests(Vec<Option<Request>>);

#[derive(Clone, Copy, Debug)]
struct Request {
    position: usize,
    lock: LockId,
}

impl Requests {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// `thread` asked for `lock` at `position`.
    pub(super) fn ask(&mut self, position: usize, thread: ThreadId, lock: LockId) {
        if self.0.len() <= thread.index() {
            self.0.resize(thread.index() + 1, None);
        }
        self.0[thread.index()] = Some(Request { position, lock });
    }

    /// Appends those of a block that starts at `start`, with ids as `threads` and `locks` have them.
    pub(super) fn append(&mut self, block: &Requests, start: usize, threads: &[u32], locks: &[u32]) {
        for (thread, request) in block.0.iter().enumerate() {
            if let Some(Request { position, lock }) = *request {
                self.ask(start + position, ThreadId(threads[thread]), LockId(locks[lock.index()]));
            }
        }
    }

    /// Follows events that were moved: `order` has the former position of each.
    pub(super) fn rearrange(&mut self, order: &[usize]) {
        let of: HashMap<usize, usize> =
            self.0.iter().enumerate().filter_map(|(thread, one)| Some(((*one)?.position, thread))).collect();
        for (place, former) in order.iter().enumerate() {
            if let Some(request) = of.get(former).and_then(|&thread| self.0[thread].as_mut()) {
                request.position = place;
            }
        }
    }

    /// The deadlock that a well-formed trace ended in, if there is one.
    fn deadlock(&self, columns: &Columns, names: &Names) -> Option<Ending> {
        let mut asked = self.ungranted(columns);
        if asked.is_empty() {
            return None;
        }
        let holders = holders(columns, &asked);
        let holder = |thread: ThreadId, lock: LockId, asked: &HashMap<ThreadId, LockId>| {
            let of = holders.get(&lock)?;
            of.keys().copied().filter(|other| *other != thread && asked.contains_key(other)).min()
        };
        // Who waits for nobody that waits goes on.
        loop {
            let before = asked.clone();
            asked.retain(|thread, lock| holder(*thread, *lock, &before).is_some());
            if asked.len() == before.len() {
                break;
            }
        }
        let mut threads: Vec<(ThreadId, LockId)> = asked.iter().map(|(t, l)| (*t, *l)).collect();
        threads.sort_unstable();
        let wait = |(thread, lock): (ThreadId, LockId)| {
            let name = |thread: ThreadId| names.space(Space::Thread).get(thread.0);
            let by = holder(thread, lock, &asked).map_or("", name);
            let lock = names.space(Space::Lock).get(lock.0);
            (name(thread).to_owned(), format!("{lock}, which {by} holds"))
        };
        let waits: Vec<_> = threads.into_iter().map(wait).collect();
        (!waits.is_empty()).then(|| Ending { status: Ending::DEADLOCK, waits, ..Ending::default() })
    }

    /// How a run ended: as its recorder tells of a failure, else in the deadlock that requests show.
    pub(super) fn or_deadlock(
        &self,
        told: Option<Arc<Ending>>,
        columns: &Columns,
        names: &Names,
    ) -> Option<Arc<Ending>> {
        if told.as_ref().is_some_and(|ending| ending.failed()) {
            return told;
        }
        let Some(mut deadlock) = self.deadlock(columns, names) else { return told };
        deadlock.extend(&told.unwrap_or_default());
        Some(Arc::new(deadlock))
    }

    /// The threads whose last event is a request.
    fn ungranted(&self, columns: &Columns) -> HashMap<ThreadId, LockId> {
        let mut open: HashMap<ThreadId, Request> = HashMap::new();
        for (thread, request) in self.0.iter().enumerate() {
            open.extend(request.map(|request| (ThreadId::from_index(thread), request)));
        }
        let mut found = HashMap::new();
        for position in (0..columns.kinds.len()).rev() {
            if open.is_empty() {
                break;
            }
            let thread = columns.threads.get(position);
            let Some(request) = open.get(&thread) else { continue };
            if columns.kinds[position] != Kind::Skip {
                open.remove(&thread);
            } else if position == request.position {
                found.insert(thread, request.lock);
                open.remove(&thread);
            }
        }
        found
    }
}

/// Who holds each lock that was asked for at the end, in any mode, and how often.
fn holders(columns: &Columns, asked: &HashMap<ThreadId, LockId>) -> HashMap<LockId, HashMap<ThreadId, u32>> {
    let mut holders: HashMap<LockId, HashMap<ThreadId, u32>> =
        asked.values().map(|lock| (*lock, HashMap::new())).collect();
    for (position, (&kind, &target)) in columns.kinds.iter().zip(&columns.targets).enumerate() {
        let (lock, takes) = match Op::new(kind, target) {
            Op::Acquire(lock) | Op::TryAcquire(lock) | Op::SharedAcquire(lock) => (lock, true),
            Op::Release(lock) | Op::SharedRelease(lock) => (lock, false),
            _ => continue,
        };
        let Some(of) = holders.get_mut(&lock) else { continue };
        let thread = columns.threads.get(position);
        let depth = of.entry(thread).or_default();
        match takes {
            true => *depth += 1,
            false => *depth = depth.saturating_sub(1),
        }
        if *depth == 0 {
            of.remove(&thread);
        }
    }
    holders
}
