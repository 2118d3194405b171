//! Memory that was given to functions of which it is not recorded what they do there.
//!
//! Such a call is an update of a variable that stands for that memory. Every other access to it is
//! between two events of that variable: a write between two updates, a read between two looks that
//! find the count that they found in the recording. So no call and no access can come to stand
//! elsewhere among each other, whatever the function reads and writes. That takes nothing from what
//! threads do but some of their freedom, and holds in every model.
//!
//! What is given is a *region*: as many bytes as the recorder said, or the whole block or variable.
//! Where the variables of a stack end is not known: there it is a page.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::memory::Memory;
use crate::modules::Modules;
use crate::page_table::PAGE_BYTES;

/// A region, by its object and where it begins.
pub(crate) type Region = (u32, u64);

/// The threads that use a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Users {
    One(u32),
    Several,
}

impl Users {
    fn add(&mut self, thread: u32) {
        *self = match *self {
            Users::One(first) if first == thread => Users::One(first),
            _ => Users::Several,
        };
    }
}

/// The regions of a recording.
#[derive(Default)]
pub(crate) struct Given {
    /// Where each ends, and who gave it. None overlap.
    regions: BTreeMap<Region, (u64, Users)>,
    /// How often each was changed so far, the second time that the recording is gone through.
    counts: HashMap<Region, u64>,
}

impl Given {
    /// A thread gave `length` bytes at `at` away; 0 stands for all that belongs together there.
    pub(crate) fn note(&mut self, memory: &Memory, modules: &Modules, at: u64, length: u64, thread: u32) {
        let object = memory.object_at(at);
        let (start, end) =
            if length == 0 { extent(memory, modules, object, at) } else { (at, at.saturating_add(length)) };
        // Whole words, for what is known of memory is known of those.
        self.add(object, start / 8 * 8, end.saturating_add(7) / 8 * 8, thread);
    }

    fn add(&mut self, object: u32, mut start: u64, mut end: u64, thread: u32) {
        let mut users = Users::One(thread);
        let before = self.regions.range(..(object, start)).next_back();
        let first = before.filter(|&(&(of, _), &(ends, _))| of == object && ends > start);
        let from = first.map_or(start, |(&(_, from), _)| from);
        while let Some((&key, &(ends, others))) = self.regions.range((object, from)..(object, end)).next() {
            (start, end) = (start.min(key.1), end.max(ends));
            match others {
                Users::One(other) => users.add(other),
                Users::Several => users = Users::Several,
            }
            self.regions.remove(&key);
        }
        self.regions.insert((object, start), (end, users));
    }

    /// The recording was gone through once: leaves the regions that more than one thread had to do
    /// with.
    pub(crate) fn settle(&mut self, memory: &Memory) {
        self.regions.retain(|&(object, start), (end, users)| {
            memory.touched_by(object, start..*end, |thread| users.add(thread));
            *users == Users::Several
        });
    }

    /// The region that has the word at `at`, in an object that is there now.
    #[inline]
    pub(crate) fn find(&self, memory: &Memory, at: u64) -> Option<Region> {
        if self.regions.is_empty() { None } else { self.find_in(memory.object_at(at), at) }
    }

    /// Whether a word of an object was given away: then it is known who changed it, where no
    /// recorded write did.
    pub(crate) fn has(&self, object: u32, at: u64) -> bool {
        self.find_in(object, at).is_some()
    }

    fn find_in(&self, object: u32, at: u64) -> Option<Region> {
        let (&region, &(end, _)) = self.regions.range(..=(object, at)).next_back()?;
        (region.0 == object && at < end).then_some(region)
    }

    /// The regions of an object.
    pub(crate) fn of_object(&self, object: u32) -> Vec<Region> {
        let all = self.regions.range((object, 0)..=(object, u64::MAX));
        all.map(|(&region, _)| region).collect()
    }

    /// Where they are.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = std::ops::Range<u64>> {
        self.regions.iter().map(|(&(_, start), &(end, _))| start..end)
    }

    /// How often a region was changed before, and with an event that may change it.
    pub(crate) fn count(&mut self, region: Region, changes: bool) -> (u64, u64) {
        let count = self.counts.entry(region).or_insert(0);
        let before = *count;
        *count += u64::from(changes);
        (before, *count)
    }
}

/// What belongs together with the byte at `at`.
fn extent(memory: &Memory, modules: &Modules, object: u32, at: u64) -> (u64, u64) {
    match memory.objects.get(object as usize).filter(|_| object != 0) {
        Some(found) if found.is_stack => {
            (at, at.saturating_add(PAGE_BYTES).min(found.at.saturating_add(found.length)))
        }
        Some(found) => (found.at, found.at.saturating_add(found.length)),
        None => variable(modules, at).unwrap_or_else(|| memory.pages_around(at)),
    }
}

/// Where the variable at `at` begins and ends, where a module names one.
fn variable(modules: &Modules, at: u64) -> Option<(u64, u64)> {
    let module = modules.module(at)?;
    let address = at.wrapping_sub(module.bias);
    let after = module.variables.partition_point(|&(start, ..)| start <= address);
    let &(start, size, _) = module.variables.get(after.checked_sub(1)?)?;
    let from = start.wrapping_add(module.bias);
    (address - start < size).then(|| (from, from.saturating_add(size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(given: &Given) -> Vec<(u32, u64, u64)> {
        given.regions.iter().map(|(&(object, start), &(end, _))| (object, start, end)).collect()
    }

    #[test]
    fn regions_that_overlap_are_one() {
        let mut given = Given::default();
        given.add(1, 0x10, 0x20, 1);
        given.add(1, 0x30, 0x40, 1);
        given.add(2, 0x18, 0x38, 2);
        given.add(1, 0x20, 0x30, 1);
        assert_eq!(regions(&given), [(1, 0x10, 0x20), (1, 0x20, 0x30), (1, 0x30, 0x40), (2, 0x18, 0x38)]);
        given.add(1, 0x18, 0x38, 2);
        assert_eq!(regions(&given), [(1, 0x10, 0x40), (2, 0x18, 0x38)]);
        assert_eq!(given.regions[&(1, 0x10)].1, Users::Several);
        assert_eq!(given.regions[&(2, 0x18)].1, Users::One(2));
        assert_eq!((given.find_in(1, 0x3f), given.find_in(1, 0x40)), (Some((1, 0x10)), None));
        assert_eq!((given.find_in(2, 0x10), given.of_object(2)), (None, vec![(2, 0x18)]));
    }

    #[test]
    fn a_region_that_one_thread_alone_has_to_do_with_is_left_out() {
        use crate::word::Part;

        let mut memory = Memory::new();
        for (at, thread) in [(0x1000, 1), (0x2000, 1), (0x2008, 2)] {
            memory.touch(Part { at, length: 8, offset: 0 }, thread, None, Some(1));
        }
        let (mut given, modules) = (Given::default(), Modules::new(""));
        for (at, thread) in [(0x1000, 1), (0x2004, 1), (0x3000, 1), (0x4000, 2), (0x4000, 1)] {
            given.note(&memory, &modules, at, 5, thread);
        }
        given.settle(&memory);
        assert_eq!(regions(&given), [(0, 0x2000, 0x2010), (0, 0x4000, 0x4008)]);
        assert_eq!(given.find(&memory, 0x4004), Some((0, 0x4000)));
        assert_eq!(given.count((0, 0x4000), true), (0, 1));
        assert_eq!(given.count((0, 0x4000), false), (1, 1));
    }

    #[test]
    fn where_nothing_is_known_it_is_the_pages_that_were_touched() {
        use crate::word::Part;

        let mut memory = Memory::new();
        for at in [0x1000, 0x2ff8, 0x5000] {
            memory.touch(Part { at, length: 8, offset: 0 }, 1, None, Some(1));
        }
        assert_eq!(extent(&memory, &Modules::new(""), 0, 0x2004), (0x1000, 0x3000));
        let object = memory.born(0x8000, 40, 1, 0, false);
        assert_eq!(extent(&memory, &Modules::new(""), object, 0x8010), (0x8000, 0x8028));
        let stack = memory.born(0x10000, 0x8000, 1, 0, true);
        assert_eq!(extent(&memory, &Modules::new(""), stack, 0x10010), (0x10010, 0x11010));
    }
}
