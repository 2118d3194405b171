//! Borders between recorded code and libraries without hooks.
//!
//! The recorder tells of each step across: a call of a library's function, the entry and the exit of a recorded function that
//! the library calls. Each becomes an update of the variable that stands for the library. What comes afterwards may have been
//! ordered inside the library, so there is one more update, before the thread's next event. Where that
//! event happens inside a library itself (a lock, a block of the heap), it has one on either side.

use hashbrown::HashMap;

use crate::modules::Modules;

/// The variable that stands for inline assembly.
pub(crate) const ASSEMBLY: &str = "library inline assembly";

/// Where the threads of a recording are, and how often libraries were entered or left.
#[derive(Default)]
pub(crate) struct Borders {
    /// Per thread, an address in the library that it may have come back from.
    behind: Vec<Option<u64>>,
    /// Per place of code, whether it is in a library without hooks.
    foreign: HashMap<u64, bool>,
    /// Per address that stands for a library, how many updates there were.
    counts: HashMap<String, u64>,
}

impl Borders {
    fn behind(&mut self, thread: u32) -> &mut Option<u64> {
        let thread = thread as usize;
        if self.behind.len() <= thread {
            self.behind.resize(thread + 1, None);
        }
        &mut self.behind[thread]
    }

    /// A thread steps across the border of the library at `at`.
    pub(crate) fn cross(&mut self, thread: u32, at: u64) {
        *self.behind(thread) = Some(at);
    }

    /// The library whose update comes before an event of a thread at `code`. The update after one that happened inside comes
    /// before the thread's next event.
    pub(crate) fn before(&mut self, thread: u32, code: u64, modules: &Modules) -> Option<u64> {
        let foreign = code != 0 && *self.foreign.entry(code).or_insert_with(|| modules.is_foreign(code));
        let behind = self.behind(thread);
        let update = behind.or(foreign.then_some(code));
        *behind = foreign.then_some(code);
        update
    }

    /// The values of the next update of a variable.
    pub(crate) fn count(&mut self, variable: &str) -> (u64, u64) {
        let count = self.counts.entry_ref(variable).or_insert(0);
        *count += 1;
        (*count - 1, *count)
    }

    /// The libraries whose borders were crossed, and how often, by name.
    pub(crate) fn crossed(&self) -> Vec<(String, u64)> {
        let mut all: Vec<(String, u64)> =
            self.counts.iter().map(|(name, &count)| (name.clone(), count)).collect();
        all.sort();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_an_update_before_the_first_event_after_a_crossing_and_no_other() {
        let (mut borders, modules) = (Borders::default(), Modules::new(""));
        assert_eq!(borders.before(3, 0x10, &modules), None);
        borders.cross(3, 0x70);
        assert_eq!(borders.before(1, 0x10, &modules), None);
        assert_eq!(borders.before(3, 0x10, &modules), Some(0x70));
        assert_eq!(borders.before(3, 0x10, &modules), None);
        assert_eq!((borders.count("a"), borders.count("b"), borders.count("a")), ((0, 1), (0, 1), (1, 2)));
        assert_eq!(borders.crossed(), [("a".to_owned(), 2), ("b".to_owned(), 1)]);
    }
}
