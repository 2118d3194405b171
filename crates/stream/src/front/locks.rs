//! Which thread holds which lock, and how often.

use reweave_trace::Defect;

use super::NONE;
use crate::step::{Code, Step, at};

#[derive(Default, Debug)]
pub(super) struct Locks {
    locks: Vec<Lock>,
}

#[derive(Debug)]
struct Lock {
    owner: u32,
    depth: u32,
    /// The threads that hold it shared, and how often, in order of acquiring.
    sharers: Vec<(u32, u32)>,
}

impl Default for Lock {
    fn default() -> Lock {
        Lock { owner: NONE, depth: 0, sharers: Vec::new() }
    }
}

impl Lock {
    fn owned_elsewhere(&self, thread: u32) -> bool {
        self.owner != NONE && self.owner != thread
    }

    fn sharer_elsewhere(&self, thread: u32) -> Option<u32> {
        self.sharers.iter().map(|&(sharer, _)| sharer).find(|&sharer| sharer != thread)
    }
}

impl Locks {
    pub(super) fn acquire(&mut self, thread: u32, lock: u32) -> Result<Option<Code>, Defect> {
        let lock = at(&mut self.locks, lock);
        if lock.owned_elsewhere(thread) || lock.sharer_elsewhere(thread).is_some() {
            return Err(Defect::HeldByAnother);
        }
        lock.owner = thread;
        lock.depth += 1;
        Ok((lock.depth == 1).then_some(Code::Acquire))
    }

    pub(super) fn release(&mut self, thread: u32, lock: u32) -> Result<Option<Code>, Defect> {
        let lock = at(&mut self.locks, lock);
        if lock.owner != thread {
            return Err(Defect::ReleaseWithoutAcquire);
        }
        lock.depth -= 1;
        if lock.depth > 0 {
            return Ok(None);
        }
        lock.owner = NONE;
        Ok(Some(Code::Release))
    }

    pub(super) fn acquire_shared(&mut self, thread: u32, lock: u32) -> Result<Option<Code>, Defect> {
        let lock = at(&mut self.locks, lock);
        if lock.owned_elsewhere(thread) {
            return Err(Defect::HeldByAnother);
        }
        if let Some((_, depth)) = lock.sharers.iter_mut().find(|(sharer, _)| *sharer == thread) {
            *depth += 1;
            return Ok(None);
        }
        lock.sharers.push((thread, 1));
        Ok(Some(Code::SharedAcquire))
    }

    pub(super) fn release_shared(&mut self, thread: u32, lock: u32) -> Result<Option<Code>, Defect> {
        let lock = at(&mut self.locks, lock);
        let place = lock.sharers.iter().position(|&(sharer, _)| sharer == thread);
        let place = place.ok_or(Defect::ReleaseWithoutAcquire)?;
        lock.sharers[place].1 -= 1;
        if lock.sharers[place].1 > 0 {
            return Ok(None);
        }
        lock.sharers.remove(place);
        Ok(Some(Code::SharedRelease))
    }

    /// Tells `step` whose hold made it fail: that of the owner or, of several sharers, of the one that came first.
    pub(super) fn busy(&mut self, step: &mut Step) -> Result<Code, Defect> {
        let lock = at(&mut self.locks, step.target);
        if lock.owned_elsewhere(step.thread) {
            step.site = lock.owner;
            return Ok(Code::Busy);
        }
        step.site = lock.sharer_elsewhere(step.thread).ok_or(Defect::BusyWithoutHolder)?;
        Ok(Code::SharedBusy)
    }
}
