//! Critical sections with conflicting accesses: from the release of the first to the second access.
//!
//! For each lock and cell that was accessed under it, the releases of sections which accessed it, newest last, as far as
//! later accesses can need them; for each thread its open sections with what was accessed in them. After Algorithm 1 of
//! the weak-doesn't-commute analyses and SmartTrack (Roemer, Genç and Bond, PLDI 2020): a release is dropped once one
//! of a later section is ordered after it that stands for it in every way, so that there is mostly one; and what is
//! known already is not joined again. A section's release is stored once for all that was accessed in it.
//!
//! Two sections meet when they exclude each other, that is, unless both are shared. At most two releases a thread for
//! each lock and cell.

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::clock::{Clock, Shared};
use crate::step::{Cell, Touch, at};

/// What was accessed under which lock.
#[derive(Default, Debug)]
pub(crate) struct Sections {
    threads: Vec<Held>,
    releases: HashMap<(u32, Cell), SmallVec<[Release; 2]>>,
}

/// The open sections of a thread.
#[derive(Default, Debug)]
struct Held {
    sections: Vec<Section>,
    /// What was accessed since the first of them was opened, and whether it was written.
    accessed: Vec<(Cell, bool)>,
    /// How much that was after the last look for what can be forgotten.
    kept: usize,
}

/// An open section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section {
    pub(crate) lock: u32,
    pub(crate) shared: bool,
    /// Where in its thread's accesses it starts.
    start: usize,
    /// The time of its acquire.
    pub(crate) acquired: u32,
    /// Whether something is ordered after its acquire as such.
    pub(crate) observed: bool,
}

#[derive(Debug)]
struct Release {
    stamp: Shared,
    shared: bool,
    writes: bool,
}

impl Sections {
    /// `thread` opens a section.
    pub(crate) fn open(&mut self, thread: u32, lock: u32, shared: bool, now: u32) {
        let held = at(&mut self.threads, thread);
        let start = held.accessed.len();
        held.sections.push(Section { lock, shared, start, acquired: now, observed: false });
    }

    /// The open sections of `thread`.
    #[inline]
    pub(crate) fn held(&self, thread: u32) -> &[Section] {
        self.threads.get(thread as usize).map_or(&[], |held| &held.sections)
    }

    /// Marks a section of `thread`: something is ordered after its acquire.
    pub(crate) fn observe(&mut self, thread: u32, lock: u32, shared: bool) {
        let mut sections = at(&mut self.threads, thread).sections.iter_mut();
        if let Some(section) = sections.find(|section| section.lock == lock && section.shared == shared) {
            section.observed = true;
        }
    }

    /// Joins into `clock` the releases that an access by `thread` follows, and notes the access.
    #[inline]
    pub(crate) fn access(
        &mut self,
        thread: u32,
        cell: Cell,
        others: &[Cell],
        touch: Touch,
        clock: &mut Clock,
    ) {
        let held = at(&mut self.threads, thread);
        if held.sections.is_empty() {
            return;
        }
        for section in &held.sections {
            for &cell in std::iter::once(&cell).chain(others) {
                let Some(releases) = self.releases.get(&(section.lock, cell)) else { continue };
                // The newest mostly knows the others.
                for release in releases.iter().rev() {
                    if (release.writes || touch.writes) && !(release.shared && section.shared) {
                        release.stamp.join_into(thread, clock);
                    }
                }
            }
        }
        held.note(cell, touch.writes);
    }

    /// `thread` closes a section at time `now`, when it knows of the times that `known` gives in the order of the
    /// analysis; `clock` is what the release passes on. Answers with the section and the stamp of its release.
    pub(crate) fn close(
        &mut self,
        thread: u32,
        lock: u32,
        shared: bool,
        now: u32,
        clock: &[u32],
        known: impl Fn(u32) -> u32,
    ) -> Option<(Section, Option<Shared>)> {
        let held = at(&mut self.threads, thread);
        let place = held.sections.iter().rposition(|s| s.lock == lock && s.shared == shared)?;
        let section = held.sections.remove(place);
        let mut stamp = None;
        for &(cell, writes) in &held.accessed[section.start.min(held.accessed.len())..] {
            let stamp = stamp.get_or_insert_with(|| Shared::new(thread, now, clock));
            let release = Release { stamp: stamp.clone(), shared, writes };
            add(self.releases.entry((lock, cell)).or_default(), release, &known);
        }
        if held.sections.is_empty() {
            held.accessed.clear();
            held.kept = 0;
        }
        Some((section, stamp))
    }
}

/// Adds a release and drops those that it stands for: each that is ordered before it, and met by nothing that does not
/// meet it.
fn add(releases: &mut SmallVec<[Release; 2]>, release: Release, known: impl Fn(u32) -> u32) {
    let thread = release.stamp.thread;
    if let Some(last) = releases.last()
        && last.stamp.thread == thread
        && last.stamp.time == release.stamp.time
        && last.writes >= release.writes
        && last.shared <= release.shared
    {
        return;
    }
    releases.retain(|old| {
        let ordered = old.stamp.thread == thread || known(old.stamp.thread) >= old.stamp.time;
        !(ordered && release.writes >= old.writes && release.shared <= old.shared)
    });
    releases.push(release);
}

impl Held {
    #[inline]
    fn note(&mut self, cell: Cell, writes: bool) {
        self.accessed.push((cell, writes));
        if self.accessed.len() > 8 + 2 * self.kept {
            self.forget();
        }
    }

    /// Forgets all but the last read and the last write of each cell: a section is open from its start on, so what was
    /// accessed in it was so at the last time.
    #[cold]
    fn forget(&mut self) {
        let mut seen = HashMap::new();
        for (place, &access) in self.accessed.iter().enumerate() {
            seen.insert(access, place);
        }
        let mut kept = 0;
        let mut starts = self.sections.iter_mut().peekable();
        let accessed = std::mem::take(&mut self.accessed);
        for (place, access) in accessed.into_iter().enumerate() {
            while let Some(section) = starts.next_if(|section| section.start <= place) {
                section.start = kept;
            }
            if seen.get(&access) == Some(&place) {
                self.accessed.push(access);
                kept += 1;
            }
        }
        for section in starts {
            section.start = kept;
        }
        self.kept = kept;
    }
}
