//! What happened to a variable, gathered into classes of what is alike.
//!
//! All instances of a class are alike as far as filters can tell, so that work is done per class: a variable with a
//! million accesses has few of them. The classes of a thread are kept with the one that had an instance last in front.
//! Who looks for what need not come before some event walks from there and ends at the first class that is all
//! before it: those behind it are as well, because the events of a thread come in order.
//!
//! Classes that no walk will reach any more are forgotten from time to time, so that there are never many more than
//! are open.
//!
//! Complexity: a new instance is O(1), amortised; a walk takes as long as there are classes with something to say.

use std::hash::Hash;

use hashbrown::HashMap;
use reweave_trace::ThreadId;

/// Fewer classes than this are not worth looking through.
const FEW: usize = 4;

/// One class: its key, and its instances so far as they are kept, the latest last.
#[derive(Debug)]
pub(crate) struct Class<K, I> {
    pub(crate) key: K,
    pub(crate) instances: Vec<I>,
    /// The class of the same thread that had an instance next, and the one that had one before.
    newer: Option<u32>,
    older: Option<u32>,
}

/// The classes of one variable.
#[derive(Debug)]
pub(crate) struct Classes<K, I> {
    places: HashMap<K, u32>,
    list: Vec<Class<K, I>>,
    /// Per thread that has some, its class with the latest instance.
    threads: Vec<(ThreadId, u32)>,
    thread_places: HashMap<ThreadId, u32>,
    /// How many classes there may be before it is worth looking for some to forget.
    enough: usize,
}

impl<K, I> Default for Classes<K, I> {
    fn default() -> Self {
        Classes {
            places: HashMap::new(),
            list: Vec::new(),
            threads: Vec::new(),
            thread_places: HashMap::new(),
            enough: FEW,
        }
    }
}

impl<K: Copy + Eq + Hash, I> Classes<K, I> {
    /// The place of the class with a key, which is made where there is none.
    pub(crate) fn place(&mut self, key: K) -> u32 {
        let next = self.list.len() as u32;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.list.push(Class { key, instances: Vec::new(), newer: None, older: None });
        }
        place
    }

    /// Adds the latest instance of a thread to a class of it, and leaves `limit` of them at least.
    pub(crate) fn push(&mut self, thread: ThreadId, place: u32, instance: I, limit: Option<usize>) {
        let class = &mut self.list[place as usize];
        if limit.is_some_and(|limit| class.instances.len() == 2 * limit) {
            class.instances.drain(..class.instances.len() / 2);
        }
        let is_new = class.instances.is_empty();
        class.instances.push(instance);
        let next = self.threads.len() as u32;
        let of_thread = *self.thread_places.entry(thread).or_insert(next) as usize;
        if of_thread == self.threads.len() {
            self.threads.push((thread, place));
            return;
        }
        let front = self.threads[of_thread].1;
        if front == place {
            return;
        }
        if !is_new {
            self.unlink(place);
        }
        self.list[place as usize].older = Some(front);
        self.list[front as usize].newer = Some(place);
        self.threads[of_thread].1 = place;
    }

    /// Takes a class that is not in front out of the row of its thread.
    fn unlink(&mut self, place: u32) {
        let class = &mut self.list[place as usize];
        let (newer, older) = (class.newer.take(), class.older.take());
        if let Some(newer) = newer {
            self.list[newer as usize].older = older;
        }
        if let Some(older) = older {
            self.list[older as usize].newer = newer;
        }
    }

    /// Whether it is worth looking for classes to forget.
    pub(crate) fn is_crowded(&self) -> bool {
        self.list.len() >= self.enough
    }

    /// Forgets each class whose latest instance has a smaller `position` in its thread than `passed` says, which has
    /// to ask each of so many `threads`. Places change.
    pub(crate) fn forget(
        &mut self,
        threads: usize,
        passed: impl Fn(ThreadId) -> u32,
        position: impl Fn(&I) -> u32,
    ) {
        let mut old: Vec<Option<Class<K, I>>> =
            std::mem::take(&mut self.list).into_iter().map(Some).collect();
        self.places.clear();
        self.thread_places.clear();
        for (thread, front) in std::mem::take(&mut self.threads) {
            let passed = passed(thread);
            let first = self.list.len() as u32;
            let mut next = Some(front);
            while let Some(mut class) = next.and_then(|place| old[place as usize].take()) {
                if class.instances.last().is_none_or(|latest| position(latest) < passed) {
                    break;
                }
                next = class.older;
                let place = self.list.len() as u32;
                self.places.insert(class.key, place);
                class.newer = (place > first).then(|| place - 1);
                class.older = next.map(|_| place + 1);
                self.list.push(class);
            }
            if let Some(last) = self.list[first as usize..].last_mut() {
                last.older = None;
                self.thread_places.insert(thread, self.threads.len() as u32);
                self.threads.push((thread, first));
            }
        }
        // To look costs a question for each two threads: that many more have to come before the next time.
        self.enough = FEW.max(self.list.len() + (self.threads.len() * threads).max(self.list.len()));
    }

    /// The keys of all classes.
    pub(crate) fn keys(&self) -> impl Iterator<Item = K> {
        self.list.iter().map(|class| class.key)
    }

    /// The threads that have classes.
    pub(crate) fn threads(&self) -> impl Iterator<Item = ThreadId> {
        self.threads.iter().map(|&(thread, _)| thread)
    }

    /// The classes of the `n`-th thread with their places, the one with the latest instance first.
    pub(crate) fn of(&self, n: usize) -> impl Iterator<Item = (u32, &Class<K, I>)> {
        let front = self.threads.get(n).map(|&(_, front)| front);
        std::iter::successors(front, |&place| self.list[place as usize].older)
            .map(|place| (place, &self.list[place as usize]))
    }
}

#[cfg(test)]
mod tests {
    use reweave_testkit::Rng;

    use super::*;

    #[test]
    fn the_classes_of_a_thread_come_with_the_latest_first() {
        let mut rng = Rng::new(1);
        for _ in 0..100 {
            let mut classes: Classes<(u32, u32), u32> = Classes::default();
            let mut plain: Vec<(u32, u32, u32)> = Vec::new();
            for instance in 0..200 {
                let (thread, kind) = (rng.below(3) as u32, rng.below(8) as u32);
                let place = classes.place((thread, kind));
                classes.push(ThreadId(thread), place, instance, None);
                plain.push((thread, kind, instance));
                for (n, thread) in classes.threads().enumerate() {
                    let latest = |kind: u32| {
                        let of_kind = plain.iter().filter(|row| (row.0, row.1) == (thread.0, kind));
                        of_kind.map(|row| row.2).next_back()
                    };
                    let mut expected: Vec<u32> = (0..8).filter_map(latest).collect();
                    expected.sort_unstable_by(|a, b| b.cmp(a));
                    let found: Vec<u32> =
                        classes.of(n).filter_map(|(_, class)| class.instances.last().copied()).collect();
                    assert_eq!(found, expected);
                }
            }
        }
    }

    #[test]
    fn what_is_forgotten_is_what_no_walk_reaches() {
        let mut rng = Rng::new(2);
        for _ in 0..100 {
            let mut classes: Classes<(u32, u32), u32> = Classes::default();
            for instance in 0..100 {
                let (thread, kind) = (rng.below(3) as u32, rng.below(8) as u32);
                let place = classes.place((thread, kind));
                classes.push(ThreadId(thread), place, instance, None);
                if instance % 16 != 15 {
                    continue;
                }
                let passed = [0, 1, 2].map(|_| rng.below(instance as usize) as u32);
                let row = |classes: &Classes<(u32, u32), u32>, n: usize| -> Vec<u32> {
                    classes.of(n).filter_map(|(_, class)| class.instances.last().copied()).collect()
                };
                let threads: Vec<ThreadId> = classes.threads().collect();
                let mut expected: Vec<(ThreadId, Vec<u32>)> = Vec::new();
                for (n, &thread) in threads.iter().enumerate() {
                    let reached = row(&classes, n).into_iter().filter(|&at| at >= passed[thread.index()]);
                    expected.push((thread, reached.collect()));
                }
                expected.retain(|(_, row)| !row.is_empty());
                classes.forget(3, |thread| passed[thread.index()], |&at| at);
                let found: Vec<_> = classes.threads().collect::<Vec<_>>().into_iter().enumerate().collect();
                let found: Vec<_> = found.into_iter().map(|(n, thread)| (thread, row(&classes, n))).collect();
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn a_limit_keeps_the_latest_instances() {
        let mut classes: Classes<u32, u32> = Classes::default();
        let place = classes.place(0);
        for instance in 0..100 {
            classes.push(ThreadId(0), place, instance, Some(4));
        }
        let Some((_, class)) = classes.of(0).next() else { panic!("there is one") };
        assert!(class.instances.len() >= 4 && class.instances.len() <= 8);
        assert!(class.instances.is_sorted() && class.instances.last() == Some(&99));
    }
}
