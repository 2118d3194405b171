//! Uses that a later end of life may come before: of each thread the last one, under each set of locks.

use smallvec::SmallVec;

use crate::frontier::Access;
use crate::sections::Section;

/// A lock that an event holds, and the time of its acquire.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) lock: u32,
    pub(crate) shared: bool,
    pub(crate) acquired: u32,
}

/// An event that should come before some later one.
#[derive(Clone, Debug)]
pub(crate) struct Use {
    pub(crate) access: Access,
    /// Uses of one kind stand for each other.
    pub(crate) kind: u32,
    /// The call, if it is one.
    pub(crate) call: u32,
    pub(crate) locks: SmallVec<[Held; 2]>,
}

/// The locks of these sections.
#[inline]
pub(crate) fn locks(sections: &[Section]) -> SmallVec<[Held; 2]> {
    sections
        .iter()
        .map(|section| Held { lock: section.lock, shared: section.shared, acquired: section.acquired })
        .collect()
}

impl Use {
    /// The locks that both this and an event in these sections hold, unless both are shared: with the later event's side, and
    /// the time of the earlier one's acquire.
    pub(crate) fn in_common(&self, held: &[Section]) -> Vec<Held> {
        let mut common = Vec::new();
        for one in &self.locks {
            let meets = held.iter().filter(|two| two.lock == one.lock && !(two.shared && one.shared));
            common.extend(meets.map(|two| Held { shared: two.shared, ..*one }));
        }
        common
    }

    /// Whether a pair with `other`, an earlier use by the same thread, is never free where one with this is not: this holds no
    /// lock that `other` does not hold, too.
    fn stands_for(&self, other: &Use) -> bool {
        let covers = |mine: &Held| {
            other.locks.iter().any(|theirs| theirs.lock == mine.lock && (mine.shared || !theirs.shared))
        };
        self.kind == other.kind
            && self.access.thread() == other.access.thread()
            && self.locks.iter().all(covers)
    }
}

/// The kind of a release: it uses what its lock lies in, and not the lock, which its thread got before.
pub(crate) const RELEASE: u32 = 1;

/// Uses of one thing, in order of events.
#[derive(Default, Debug)]
pub(crate) struct Uses {
    pub(crate) list: Vec<Use>,
    /// Of a lock or condition variable, the uses in lives that have ended: what it lies in may end later.
    past: Vec<Use>,
}

impl Uses {
    /// A life ends; answers the uses in it.
    pub(crate) fn end(&mut self) -> Vec<Use> {
        let ended = std::mem::take(&mut self.list);
        self.past.extend_from_slice(&ended);
        ended.into_iter().filter(|used| used.kind != RELEASE).collect()
    }

    /// The uses in all lives.
    pub(crate) fn of_all_lives(&self) -> impl Iterator<Item = &Use> {
        self.past.iter().chain(&self.list)
    }

    /// Adds a use; it stands for earlier ones unless `all` are wanted.
    pub(crate) fn add(&mut self, used: Use, all: bool) {
        if let Some(last) = self.list.last_mut()
            && !all
            && used.stands_for(last)
            && self.list.len() == 1
        {
            self.list[0] = used;
            return;
        }
        if !all {
            self.list.retain(|earlier| !used.stands_for(earlier));
        }
        self.list.push(used);
    }
}
