//! The failures of a search, with a schedule for each that differs from the others by more than its
//! histories.

use std::collections::BTreeSet;

use crate::failure::Failure;
use crate::op::Move;

/// What a search has found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) all: BTreeSet<Failure>,
    /// The first of each kind in the same threads, with the way to it.
    pub(crate) ways: Vec<(Failure, Vec<Move>)>,
}

/// A failure with its smallest schedule that was found, which was run for real.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The failure.
    pub failure: Failure,
    /// The schedule.
    pub schedule: Vec<Move>,
    /// Whether the search for a smaller one came to its end.
    pub searched: bool,
}

impl Found {
    /// Whether no failure like this one is known.
    pub(crate) fn is_new(&self, failure: &Failure) -> bool {
        !self.ways.iter().any(|(known, _)| known.alike(failure))
    }

    /// Keeps the failures that some moves lead to.
    pub(crate) fn note(&mut self, met: Vec<Failure>, way: Vec<Move>) {
        for failure in met {
            if self.is_new(&failure) {
                self.ways.push((failure.clone(), way.clone()));
            }
            self.all.insert(failure);
        }
    }
}
