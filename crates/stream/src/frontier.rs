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
    pub(crate) thread: u32,
    pub(crate) time: u32,
    pub(crate) event: u32,
    pub(crate) site: u32,
    pub(crate) atomic: bool,
}

#[derive(Default, Debug)]
struct Entry {
    writes: SmallVec<[Access; 1]>,
    reads: SmallVec<[Access; 1]>,
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
        if touch.writes {
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
    earlier.thread != access.thread && !(earlier.atomic && access.atomic) && !ordered(earlier)
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
        if earlier.thread == access.thread || ordered(&earlier) {
            list.swap_remove(place);
        } else {
            if !(earlier.atomic && access.atomic) {
                *partner = Some(earlier);
            }
            place += 1;
        }
    }
}

/// The access of a step.
#[inline]
pub(crate) fn access_of(step: &Step, time: u32, touch: Touch) -> Access {
    Access { thread: step.thread, time, event: step.event, site: step.site, atomic: touch.atomic }
}
