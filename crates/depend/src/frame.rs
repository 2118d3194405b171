//! An activation of a function.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use crate::flow::Sources;
use crate::set::Set;

/// An activation of a function, and what its values were computed from.
pub(crate) struct Frame {
    /// The function; none where it is not known.
    pub(crate) shape: Option<usize>,
    /// The instruction of its last event; none before the first.
    pub(crate) at: Option<u32>,
    /// By load, the reads of its latest value and of all its values.
    loads: HashMap<u32, Load>,
    /// The reads of its arguments.
    arguments: Vec<Set>,
    /// Those of arguments that are not there.
    otherwise: Set,
    /// By call, the reads of what it returned.
    results: HashMap<u32, Set>,
    /// Those of what was returned, nobody knows where.
    lost: Set,
    /// The calls of the caller that may have entered it.
    pub(crate) called_from: Vec<u32>,
}

#[derive(Default)]
struct Load {
    latest: Set,
    ever: Set,
}

impl Frame {
    /// One of which nothing is known, before an event.
    pub(crate) fn unknown(now: u32) -> Frame {
        Frame {
            shape: None,
            at: None,
            loads: HashMap::new(),
            arguments: Vec::new(),
            otherwise: Set::all_before(now),
            results: HashMap::new(),
            lost: Set::EMPTY,
            called_from: Vec::new(),
        }
    }

    /// One of a known function, with what its arguments were computed from, by the calls that may have entered it.
    pub(crate) fn known(shape: usize, now: u32, arguments: Vec<Set>, called_from: Vec<u32>) -> Frame {
        Frame { shape: Some(shape), arguments, called_from, ..Frame::unknown(now) }
    }

    /// What a value was computed from; `open` has the reads that no event has needed yet.
    pub(crate) fn value(&self, sources: &Sources, now: u32, open: &BTreeSet<u32>) -> Set {
        if open.is_empty() {
            return Set::EMPTY;
        }
        if sources.all || self.shape.is_none() {
            return Set::all_before(now);
        }
        let mut set = Set::EMPTY;
        for load in sources.latest.iter().filter_map(|load| self.loads.get(load)) {
            set.add(&load.latest);
        }
        for load in sources.ever.iter().filter_map(|load| self.loads.get(load)) {
            set.add(&load.ever);
        }
        for &argument in &sources.arguments {
            set.add(self.arguments.get(argument as usize).unwrap_or(&self.otherwise));
        }
        for result in sources.calls.iter().filter_map(|call| self.results.get(call)) {
            set.add(result);
        }
        if !sources.calls.is_empty() {
            set.add(&self.lost);
        }
        set.prune(open);
        set
    }

    /// A load has given something; `again` where that comes in place of what it gave before.
    pub(crate) fn loaded(&mut self, number: u32, what: &Set, again: bool, open: &BTreeSet<u32>) {
        if what.is_empty() && !self.loads.contains_key(&number) {
            return;
        }
        let load = self.loads.entry(number).or_default();
        if again {
            load.latest = what.clone();
        } else {
            load.latest.add(what);
        }
        load.ever.prune(open);
        load.ever.add(what);
        if load.ever.is_empty() && load.latest.is_empty() {
            self.loads.remove(&number);
        }
    }

    /// A function that this one called has returned something.
    pub(crate) fn returned(&mut self, calls: &[u32], what: &Set) {
        if what.is_empty() {
            return;
        }
        if calls.is_empty() {
            self.lost.add(what);
        }
        for &call in calls {
            self.results.entry(call).or_default().add(what);
        }
    }
}
