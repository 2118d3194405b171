//! What the next event will be, judged by the events of its block so far.
//!
//! A *place* is a site together with the site that its thread was at before; for each place a table keeps which sites
//! followed it, which operation ran there, and on which target, with the step from one target to the next. Tables are
//! direct-mapped: two places that share an entry cost bytes, never correctness. A place not seen before predicts a
//! site and a target that have not been used before, which is what traces with one site an event need.

use crate::{Op, SPACES, Space};

const PLACES: usize = 1 << 12;
pub(crate) const THREADS: usize = 1 << 8;
const FOLLOWERS: usize = 1 << 12;
pub(crate) const NONE: u32 = u32::MAX;

/// Stands for the space of operations without a target, so that they need no branch: no target is a text.
const NO_SPACE: u8 = Space::Text as u8;

/// What happened at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(32))]
pub(crate) struct Place {
    pub(crate) key: u32,
    pub(crate) next: [u32; 2],
    pub(crate) target: u32,
    /// What `target` will change by: a step that was seen twice in a row, so that one jump costs one miss.
    pub(crate) stride: u32,
    pub(crate) step: u32,
    /// The site, of which the key does not say everything.
    pub(crate) site: u32,
    pub(crate) op: Op,
    /// The space of `target`, or [`NO_SPACE`].
    pub(crate) space: u8,
    /// Whether the target is expected to be the thread's last one in its space, as for most of a loop's body.
    pub(crate) same: bool,
    pub(crate) mark: Mark,
}

/// The round that left a place as it is; 0 where it was changed by anything else. What is predicted does not depend on it, so all marks
/// count as equal.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Mark(pub(crate) u8);

impl PartialEq for Mark {
    fn eq(&self, _: &Mark) -> bool {
        true
    }
}

impl Eq for Mark {}

const NOWHERE: Place = Place {
    key: 0,
    next: [NONE; 2],
    target: 0,
    stride: 0,
    step: 0,
    site: 0,
    op: Op::Read,
    space: NO_SPACE,
    same: false,
    mark: Mark(0),
};

impl Place {
    /// The target that is expected if the operation is: `last` is the thread's last one in the space.
    #[inline]
    pub(crate) fn guess(&self, last: u32) -> u32 {
        if self.same { last } else { self.target.wrapping_add(self.stride) }
    }

    /// The operation found its target at `target`.
    #[inline]
    pub(crate) fn step_to(&mut self, target: u32) -> u32 {
        let step = target.wrapping_sub(self.target);
        if step == self.step {
            self.stride = step;
        }
        (self.step, self.target, self.mark) = (step, target, Mark(0));
        step
    }
}

/// Where a thread is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Thread {
    pub(crate) key: u32,
    pub(crate) site: u32,
    pub(crate) op: Op,
    /// Its last target in each space.
    pub(crate) targets: [u32; SPACES],
}

/// The state of a thread before its first event in the block.
pub(crate) const START: Thread = Thread { key: 0, site: 0, op: Op::Read, targets: [0; SPACES] };

impl Thread {
    /// Where it is: the key of its place, and its site, as different places may have equal keys.
    #[inline]
    pub(crate) fn place(&self) -> (u32, u32) {
        (self.key, self.site)
    }

    /// Is at `site`, whose place is `place` with the key `key`, and did what is done there.
    #[inline]
    pub(crate) fn pass(&mut self, key: u32, site: u32, place: &Place) {
        (self.key, self.site) = (key, site);
        self.aim(place.op, place.space, place.target);
    }

    /// Its last target in `space`.
    #[inline]
    pub(crate) fn last(&self, space: u8) -> u32 {
        self.targets[space as usize % SPACES]
    }

    #[inline]
    pub(crate) fn aim(&mut self, op: Op, space: u8, target: u32) {
        self.op = op;
        self.targets[space as usize % SPACES] = target;
    }
}

/// A thread's arrival at a place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    slot: usize,
    key: u32,
    known: bool,
    /// The operation that is expected there.
    pub(crate) op: Op,
}

/// The targets that are expected of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Targets {
    pub(crate) guess: u32,
    pub(crate) last: u32,
    pub(crate) other: u32,
    /// What a target that is none of these is counted from, and in which direction.
    base: u32,
    backwards: bool,
}

impl Targets {
    /// How `target` is written.
    #[inline]
    pub(crate) fn code(&self, target: u32) -> u64 {
        if self.backwards {
            u64::from(self.base.wrapping_sub(target))
        } else {
            crate::varint::zigzag(i64::from(target) - i64::from(self.base))
        }
    }

    /// The target that is written as `code`; nothing where it is out of range.
    #[inline]
    pub(crate) fn target(&self, code: u64) -> Option<u32> {
        if self.backwards {
            Some(self.base.wrapping_sub(u32::try_from(code).ok()?))
        } else {
            u32::try_from(i64::from(self.base).checked_add(crate::varint::unzigzag(code))?).ok()
        }
    }
}

/// The tables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Predictor {
    pub(crate) places: [Place; PLACES],
    threads: [Thread; THREADS],
    /// The target that came after each target of a thread, at places not seen before.
    pub(crate) followers: [u32; FOLLOWERS],
    /// The first id of each space that no event has used.
    pub(crate) fresh: [u32; SPACES],
}

impl Predictor {
    pub(crate) fn new() -> Predictor {
        Predictor {
            places: [NOWHERE; PLACES],
            threads: [START; THREADS],
            followers: [0; FOLLOWERS],
            fresh: [0; SPACES],
        }
    }

    /// Forgets everything; the ids below `fresh` were used before this block.
    pub(crate) fn reset(&mut self, fresh: [u32; SPACES]) {
        self.places.fill(NOWHERE);
        self.threads.fill(START);
        self.followers.fill(0);
        self.fresh = fresh;
    }

    /// The state of `thread`, which runs next.
    #[inline]
    pub(crate) fn resume(&mut self, thread: u32) -> Thread {
        self.note(Space::Thread as u8, thread);
        self.threads[thread as usize % THREADS]
    }

    /// Keeps the state of `thread` until it runs again.
    #[inline]
    pub(crate) fn suspend(&mut self, thread: u32, state: Thread) {
        self.threads[thread as usize % THREADS] = state;
    }

    /// The sites that are expected next, the likeliest first.
    #[inline]
    pub(crate) fn sites(&self, thread: &Thread) -> [u32; 2] {
        let place = &self.places[slot(thread.key)];
        if place.key == thread.key && place.next[0] != NONE {
            place.next
        } else {
            [self.fresh(Space::Site), NONE]
        }
    }

    #[inline]
    pub(crate) fn fresh(&self, space: Space) -> u32 {
        self.fresh[space as usize]
    }

    /// Moves `thread` to `site`.
    #[inline]
    pub(crate) fn arrive(&mut self, thread: &mut Thread, site: u32) -> Arrival {
        let before = &mut self.places[slot(thread.key)];
        if before.key == thread.key && before.next[0] != site {
            (before.next, before.mark) = ([site, before.next[0]], Mark(0));
        }
        self.note(Space::Site as u8, site);
        let key = key(thread.site, site);
        (thread.key, thread.site) = (key, site);
        let slot = slot(key);
        let place = &self.places[slot];
        // A branch, so that at new places nobody waits for the table.
        if place.key == key {
            Arrival { slot, key, known: true, op: place.op }
        } else {
            Arrival { slot, key, known: false, op: thread.op }
        }
    }

    /// What `op` is expected to be done to, in `space`.
    #[inline]
    pub(crate) fn targets(&self, thread: &Thread, arrival: Arrival, op: Op, space: Space) -> Targets {
        let place = &self.places[arrival.slot];
        let last = thread.targets[space as usize];
        let fresh = self.fresh(space);
        if arrival.known && place.space == space as u8 {
            let base = place.target;
            let (guess, last) = match (place.op == op, place.same) {
                (false, _) => (base, last),
                (true, false) => (base.wrapping_add(place.stride), last),
                (true, true) => (last, base.wrapping_add(place.stride)),
            };
            Targets { guess, last, other: fresh, base, backwards: false }
        } else {
            let other = self.followers[follower(space as u8, last)];
            Targets { guess: fresh, last, other, base: fresh, backwards: true }
        }
    }

    /// Takes note of what was done.
    #[inline]
    pub(crate) fn learn(&mut self, thread: &mut Thread, arrival: Arrival, op: Op, target: u32) {
        let space = op.space().map_or(NO_SPACE, |space| space as u8);
        let last = thread.last(space);
        let place = &mut self.places[arrival.slot];
        if arrival.known && place.op == op {
            // Only what was not foreseen changes what is foreseen.
            if target != place.guess(last) {
                place.same = target == last;
            }
            // At a place where nothing changes nothing is new, and this is where time is spent.
            if place.step_to(target) != 0 {
                self.note(space, target);
            }
        } else {
            let next = if arrival.known { place.next } else { [NONE; 2] };
            if !arrival.known {
                self.followers[follower(space, last)] = target;
            }
            let same = target == last;
            let (key, site) = (arrival.key, thread.site);
            let mark = Mark(0);
            *place = Place { key, next, target, stride: 0, step: 0, site, op, space, same, mark };
            self.note(space, target);
        }
        thread.aim(op, space, target);
    }

    /// Runs an event that is as expected: the same as [`Predictor::sites`], [`Predictor::arrive`],
    /// [`Predictor::targets`] and [`Predictor::learn`] with the first guess of each, in one go.
    #[inline]
    pub(crate) fn follow(&mut self, thread: &mut Thread) -> (Op, u32, u32) {
        let [site, _] = self.sites(thread);
        let key = key(thread.site, site);
        let place = &self.places[slot(key)];
        if place.key != key || self.places[slot(thread.key)].next[0] != site {
            return self.follow_slowly(thread, site);
        }
        self.note(Space::Site as u8, site);
        (thread.key, thread.site) = (key, site);
        let place = &mut self.places[slot(key)];
        let Place { op, space, .. } = *place;
        let target = place.guess(thread.last(space));
        if place.step_to(target) != 0 {
            self.note(space, target);
        }
        thread.aim(op, space, target);
        (op, target, site)
    }

    #[cold]
    fn follow_slowly(&mut self, thread: &mut Thread, site: u32) -> (Op, u32, u32) {
        let arrival = self.arrive(thread, site);
        let op = arrival.op;
        let target = op.space().map_or(0, |space| self.targets(thread, arrival, op, space).guess);
        self.learn(thread, arrival, op, target);
        (op, target, site)
    }

    #[inline]
    pub(crate) fn note(&mut self, space: u8, id: u32) {
        let fresh = &mut self.fresh[space as usize % SPACES];
        if *fresh == id {
            *fresh = fresh.wrapping_add(1);
        }
    }
}

/// The key of the place `site` reached from `before`; never that of [`NOWHERE`].
///
/// Where sites follow one after another, as in straight code, so do their entries: such places do not share entries before the
/// table is full, and are next to each other in memory. Other places are anywhere.
#[inline]
pub(crate) fn key(before: u32, site: u32) -> u32 {
    let in_order = site << 20 | (site >> 11 & 0xF_FFFE);
    let jump = site.wrapping_sub(before).wrapping_sub(1);
    in_order.wrapping_add(jump.wrapping_mul(0x9E37_79B9)) | 1
}

#[inline]
pub(crate) fn slot(key: u32) -> usize {
    (key >> 20) as usize % PLACES
}

#[inline]
pub(crate) fn follower(space: u8, target: u32) -> usize {
    target.wrapping_add(u32::from(space) << 9) as usize % FOLLOWERS
}
