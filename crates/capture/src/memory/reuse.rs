//! Memory that one object has after another.
//!
//! An address that is handed out again is a number that means another object. So values are told apart by the object that they
//! point into, and the allocation that gets the memory comes after the free that returned it.

use super::{Memory, Object};

impl Memory {
    /// Notes whose memory an object has that is born.
    pub(super) fn inherits(&mut self, object: u32) {
        self.before.sort_unstable();
        self.before.dedup();
        let Some(&Object { owner, is_stack, .. }) = self.objects.get(object as usize) else { return };
        let mut generation = 0;
        for &before in &self.before {
            let Some(before) = self.objects.get_mut(before as usize) else { continue };
            generation = generation.max(before.generation + 1);
            before.passed_on |= !is_stack && before.freed_by.is_some_and(|by| by != owner);
        }
        self.reuses |= generation > 0;
        if let Some(object) = self.objects.get_mut(object as usize) {
            object.generation = generation;
        }
    }

    /// The objects whose memory the object got that was born last, and that another thread had freed.
    pub(crate) fn taken_over(&self, owner: u32) -> impl Iterator<Item = u32> + '_ {
        let by_another = move |object: &&u32| {
            let object = self.objects.get(**object as usize);
            object.is_some_and(|object| object.freed_by.is_some_and(|by| by != owner))
        };
        self.before.iter().filter(by_another).copied()
    }

    /// How many objects had the memory at `at` before the one that has it now.
    pub(crate) fn generation(&self, at: u64) -> u32 {
        match self.object_at(at) {
            0 => 0,
            object => self.objects.get(object as usize).map_or(0, |object| object.generation),
        }
    }

    /// A read of the word at `at` shows a write that was not recorded.
    pub(crate) fn is_strange(&mut self, at: u64, thread: u32) {
        self.news(at, thread, true);
    }
}
