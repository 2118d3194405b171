//! What to look for, and how hard.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use reweave_decide::{Limits, Stages};

use crate::{Finding, Kind};

/// Options of a prediction.
#[derive(Clone)]
pub struct Options<'a> {
    /// The kinds of bugs to look for.
    pub kinds: Vec<Kind>,
    /// The atomicity patterns to look for, by name; empty is all.
    pub patterns: Vec<String>,
    /// How many events of its thread may lie between two accesses that are meant to be atomic.
    pub atomic_distance: u32,
    /// Which atomicity violations to look for.
    pub atomicity: Atomicity,
    /// Whether to decide every candidate, not one per set of sites.
    pub all: bool,
    /// How many candidates of the same sites are tried before giving up on them; no limit with `all`.
    pub tries: u32,
    /// The stages to use.
    pub stages: Stages,
    /// The limits of one candidate.
    pub limits: Limits,
    /// Called before each candidate: a flag that is set when its time is over. Others own the clock.
    pub timer: Option<&'a (dyn Fn() -> Arc<AtomicBool> + Sync)>,
    /// Set to stop the whole run; what was found so far is kept.
    pub stop: Arc<AtomicBool>,
    /// How many threads decide candidates.
    pub jobs: usize,
    /// Only findings whose fingerprint is in this part.
    pub shard: Option<Shard>,
    /// Told how many groups of candidates are done, and of how many.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
    /// Told of each finding as soon as it is there, from whichever thread made it; in the end an atomicity violation may be
    /// part of another finding.
    pub found: Option<&'a (dyn Fn(&Finding) + Sync)>,
}

/// Which atomicity violations to look for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomicity {
    /// Those that are likely to be bugs; with [`Options::all`], all.
    Likely,
    /// All that are possible.
    All,
}

/// A part of the work.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// Which part, from 0.
    pub index: u32,
    /// How many parts.
    pub count: u32,
}

impl Shard {
    /// Whether a fingerprint is in this part: a part is the same in every model.
    pub(crate) fn has(self, fingerprint: &str) -> bool {
        let number = u64::from_str_radix(fingerprint, 16).unwrap_or(0);
        number % u64::from(self.count.max(1)) == u64::from(self.index)
    }
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            kinds: Kind::ALL.to_vec(),
            patterns: Vec::new(),
            atomic_distance: 100,
            atomicity: Atomicity::All,
            all: false,
            tries: 64,
            stages: Stages::All,
            limits: Limits::none(),
            timer: None,
            stop: Arc::new(AtomicBool::new(false)),
            jobs: 1,
            shard: None,
            progress: None,
            found: None,
        }
    }
}
