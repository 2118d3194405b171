//! The critical sections of each lock, with the closures of their acquires and releases.

use std::rc::Rc;

use super::closed::{Closed, Point};
use crate::step::{Step, at};

/// A section: its lock, and its place among the sections of that lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Section {
    lock: u32,
    place: u32,
}

#[derive(Default, Debug)]
pub(super) struct Locks {
    locks: Vec<Lock>,
}

#[derive(Default, Debug)]
struct Lock {
    /// In order of their acquires.
    sections: Vec<About>,
    /// Per thread, the places of its sections.
    threads: Vec<Vec<u32>>,
}

#[derive(Debug)]
struct About {
    thread: u32,
    shared: bool,
    /// How many events its thread had with the acquire.
    acquired: u32,
    acquire: Rc<Closed>,
    release: Option<(u32, Rc<Closed>)>,
}

impl Locks {
    /// Opens the section of an acquire that is its thread's event number `count`.
    pub(super) fn acquire(&mut self, step: &Step, count: u32, shared: bool) -> Section {
        let lock = at(&mut self.locks, step.target);
        let place = lock.sections.len() as u32;
        let thread = step.thread;
        lock.sections.push(About { thread, shared, acquired: count, acquire: Rc::default(), release: None });
        at(&mut lock.threads, thread).push(place);
        Section { lock: step.target, place }
    }

    /// Sets the closure of a section's acquire.
    pub(super) fn acquired(&mut self, section: Section, closed: Rc<Closed>) {
        self.about_mut(section).acquire = closed;
    }

    pub(super) fn release(&mut self, section: Section, count: u32, closed: Rc<Closed>) {
        self.about_mut(section).release = Some((count, closed));
    }

    /// The open section of `thread` on one side of `lock`.
    pub(super) fn holding(&self, thread: u32, lock: u32, shared: bool) -> Option<Section> {
        let about = self.locks.get(lock as usize)?;
        // The one that is still open is among the last: a thread has at most one open section on each side.
        let open = |place: &u32| {
            let section = &about.sections[*place as usize];
            section.shared == shared && section.release.is_none()
        };
        let found = about.threads.get(thread as usize)?.iter().copied().rev().find(open)?;
        Some(Section { lock, place: found })
    }

    /// The acquire of the open section of `thread` on one side of `lock`.
    pub(super) fn acquire_point(&self, thread: u32, lock: u32, shared: bool) -> Option<Point> {
        let about = self.about(self.holding(thread, lock, shared)?);
        Some(Point { thread, count: about.acquired, closed: Rc::clone(&about.acquire) })
    }

    /// Whether the release of a section is in the set with these counts.
    #[inline]
    pub(super) fn is_released(&self, section: Section, count: impl Fn(u32) -> u32) -> bool {
        let about = self.about(section);
        about.release.as_ref().is_some_and(|(released, _)| count(about.thread) >= *released)
    }

    /// The release of a section.
    pub(super) fn end(&self, section: Section) -> Option<Point> {
        let about = self.about(section);
        let (count, closed) = about.release.as_ref()?;
        Some(Point { thread: about.thread, count: *count, closed: Rc::clone(closed) })
    }

    /// Whether the set with these counts has a later acquire that the section excludes.
    #[inline]
    pub(super) fn must_end(&self, section: Section, count: impl Fn(u32) -> u32) -> bool {
        let lock = &self.locks[section.lock as usize];
        // The last section of all has none after it.
        if section.place as usize + 1 == lock.sections.len() {
            return false;
        }
        let about = &lock.sections[section.place as usize];
        for (thread, places) in lock.threads.iter().enumerate() {
            let after = places.last().is_some_and(|&last| last > section.place);
            if !after || thread as u32 == about.thread {
                continue;
            }
            let counted = count(thread as u32);
            let in_set = places.partition_point(|&place| lock.sections[place as usize].acquired <= counted);
            let later = places[..in_set].iter().rev().take_while(|&&place| place > section.place);
            if about.shared {
                if later.into_iter().any(|&place| !lock.sections[place as usize].shared) {
                    return true;
                }
            } else if later.into_iter().next().is_some() {
                return true;
            }
        }
        false
    }

    fn about(&self, section: Section) -> &About {
        &self.locks[section.lock as usize].sections[section.place as usize]
    }

    fn about_mut(&mut self, section: Section) -> &mut About {
        &mut self.locks[section.lock as usize].sections[section.place as usize]
    }
}
