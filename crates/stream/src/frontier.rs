//! Earlier accesses of each cell, as far as later ones can race with them.
//!
//! After FastTrack (Flanagan and Freund, PLDI 2009), but exact beyond the first race of a variable: an access is
//! forgotten only when a later one of the same cell is ordered after it and conflicts with whatever it conflicts with.
//! Then an event that is ordered after the later access is ordered after both, and one that is not is racy anyway. While
//! the accesses of a cell are ordered that leaves one write, and one read or none: an epoch each. At most two entries a
//! thread and cell.
//!
//! Atomic accesses do not race with each other; that a later one may stand for an earlier plain one is sound, because
//! every analysis orders conflicting atomic accesses.

use smallvec::SmallVec;

use crate::history::History;
use crate::step::{Cell, Cells, Step, Touch};

/// An access that is remembered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// The thread, and in the highest bit whether it is atomic: four of these fit a line of the cache.
    thread: u32,
    pub(crate) time: u32,
    pub(crate) event: u32,
    pub(crate) site: u32,
}

const ATOMIC: u32 = 1 << 31;

impl Access {
    /// The access of a step.
    #[inline]
    pub(crate) fn new(step: &Step, time: u32, touch: Touch) -> Access {
        let atomic = if touch.atomic { ATOMIC } else { 0 };
        Access { thread: step.thread | atomic, time, event: step.event, site: step.site }
    }

    #[inline]
    pub(crate) fn thread(&self) -> u32 {
        self.thread & !ATOMIC
    }

    #[inline]
    pub(crate) fn is_atomic(&self) -> bool {
        self.thread & ATOMIC != 0
    }
}

#[derive(Default, Debug)]
struct Entry {
    writes: SmallVec<[Access; 1]>,
    reads: SmallVec<[Access; 1]>,
}

impl Entry {
    /// Takes the access in where that is easy, as it is for nearly all: nothing races with it, and it stands for the
    /// accesses of its kind before it, or another of the same time does.
    #[inline]
    fn only(&mut self, access: &Access, writes: bool, ordered: &impl Fn(&Access) -> bool) -> bool {
        let before = |earlier: &Access| earlier.thread() == access.thread() || ordered(earlier);
        let (last_writes, last_reads) = (&mut self.writes[..], &mut self.reads[..]);
        if !writes {
            return match (last_writes, last_reads) {
                ([], [read]) if before(read) => {
                    *read = *access;
                    true
                }
                ([write], [read]) if before(write) && before(read) => {
                    *read = *access;
                    true
                }
                _ => false,
            };
        }
        match (last_writes, last_reads) {
            ([write], []) if before(write) => *write = *access,
            ([write], [read]) if before(write) && before(read) => {
                *write = *access;
                self.reads.clear();
            }
            _ => return false,
        }
        true
    }
}

/// The accesses of every cell.
#[derive(Debug)]
pub(crate) enum Accesses {
    /// Those that tell which events are racy.
    Frontier(Frontier),
    /// All of them.
    History(History),
}

/// The accesses that tell which events are racy.
#[derive(Default, Debug)]
pub(crate) struct Frontier {
    cells: Cells<Entry>,
}

impl Frontier {
    /// Compares an access with those before it, of its own cell and of `others`, and remembers it. Answers with one that
    /// it races with.
    #[inline]
    pub(crate) fn access(
        &mut self,
        cell: Cell,
        others: &[Cell],
        access: Access,
        touch: Touch,
        ordered: impl Fn(&Access) -> bool,
    ) -> Option<Access> {
        let entry = self.cells.get(cell);
        let mut partner = None;
        if entry.only(&access, touch.writes, &ordered) {
        } else if touch.writes {
            // Either way nothing that is ordered before this write has to be kept.
            settle(&mut entry.writes, &access, &ordered, &mut partner);
            settle(&mut entry.reads, &access, &ordered, &mut partner);
            entry.writes.push(access);
        } else {
            for earlier in &entry.writes {
                if races(earlier, &access, &ordered) {
                    partner = Some(*earlier);
                }
            }
            let mut none = None;
            settle(&mut entry.reads, &access, &ordered, &mut none);
            entry.reads.push(access);
        }
        for &other in others {
            let entry = self.cells.get(other);
            let reads = entry.reads.iter().filter(|_| touch.writes);
            partner =
                partner.or(entry.writes.iter().chain(reads).copied().find(|e| races(e, &access, &ordered)));
        }
        partner
    }
}

#[inline]
fn races(earlier: &Access, access: &Access, ordered: &impl Fn(&Access) -> bool) -> bool {
    earlier.thread() != access.thread() && !(earlier.is_atomic() && access.is_atomic()) && !ordered(earlier)
}

/// Drops what is ordered before `access`, and finds what races with it.
#[inline]
fn settle(
    list: &mut SmallVec<[Access; 1]>,
    access: &Access,
    ordered: &impl Fn(&Access) -> bool,
    partner: &mut Option<Access>,
) {
    let mut place = 0;
    while place < list.len() {
        let earlier = list[place];
        if earlier.thread() == access.thread() || ordered(&earlier) {
            list.swap_remove(place);
        } else {
            if !(earlier.is_atomic() && access.is_atomic()) {
                *partner = Some(earlier);
            }
            place += 1;
        }
    }
}
