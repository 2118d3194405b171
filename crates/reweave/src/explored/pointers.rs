//! Names of addresses that are the same in every run: the thread that gave an address away first, and a number among those that it gave.

use std::collections::HashMap;

use reweave_explore::ThreadId;

/// The names of addresses. 0 is null.
#[derive(Default)]
pub(crate) struct Pointers {
    /// Names that were given, over all runs.
    names: HashMap<(ThreadId, u32), u64>,
    /// In this run: how many each thread gave, and both ways between addresses and names.
    given: HashMap<ThreadId, u32>,
    known: HashMap<usize, u64>,
    addresses: HashMap<u64, usize>,
}

impl Pointers {
    pub(crate) fn name(&mut self, thread: ThreadId, address: usize) -> u64 {
        if address == 0 {
            return 0;
        }
        if let Some(&known) = self.known.get(&address) {
            return known;
        }
        let count = self.given.entry(thread).or_default();
        *count += 1;
        let next = self.names.len() as u64 + 1;
        let name = *self.names.entry((thread, *count)).or_insert(next);
        self.known.insert(address, name);
        self.addresses.insert(name, address);
        name
    }

    pub(crate) fn address(&self, name: u64) -> usize {
        self.addresses.get(&name).copied().unwrap_or(0)
    }

    /// The run is over.
    pub(crate) fn forget(&mut self) {
        self.given.clear();
        self.known.clear();
        self.addresses.clear();
    }
}
