//! The locks that threads hold while a schedule is forced.

use reweave_wire::Op;

use crate::sched::forced::Forced;

/// A lock that is held.
#[derive(Clone, Copy)]
pub(crate) struct Hold {
    /// The thread, plus one.
    pub(crate) thread: u32,
    pub(crate) at: usize,
    pub(crate) code: usize,
}

impl Forced {
    /// A lock was taken or given back.
    pub(crate) fn lock(&mut self, index: usize, op: Op, at: usize, code: usize) {
        let mine = index as u32 + 1;
        match op {
            Op::Acquire | Op::TryAcquire | Op::SharedAcquire => {
                if let Some(room) = self.holds.as_mut().get_mut(self.hold_count) {
                    *room = Hold { thread: mine, at, code };
                    self.hold_count += 1;
                }
            }
            Op::Release | Op::SharedRelease => {
                let count = self.hold_count;
                let holds = self.holds.as_mut();
                if let Some(place) =
                    holds.iter().take(count).rposition(|hold| hold.thread == mine && hold.at == at)
                {
                    holds.copy_within(place + 1..count, place);
                    self.hold_count -= 1;
                }
            }
            _ => {}
        }
    }
}
