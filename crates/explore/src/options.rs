//! What an exploration may do.

/// Limits. A search that meets one proves nothing.
pub struct Limits<'a> {
    /// States of the search, over all passes.
    pub max_states: u64,
    /// Complete executions of the trace engine.
    pub max_executions: u64,
    /// Runs of the program.
    pub max_runs: u64,
    /// Steps of one run.
    pub max_steps: usize,
    /// Preemptions of a schedule.
    pub preemptions: Option<u32>,
    /// Whether to stop now.
    pub stop: &'a dyn Fn() -> bool,
    /// Is called now and then with how far a search is.
    pub progress: &'a dyn Fn(&Progress),
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Runs of the program.
    pub runs: u64,
    /// States that were visited, over all passes.
    pub states: u64,
    /// Complete executions of the trace engine.
    pub executions: u64,
    /// Histories that are known.
    pub histories: usize,
    /// Passes that were begun.
    pub passes: u64,
    /// How much of the pass is done, from 0 to 1. Where a state has n moves, each counts for one n-th of it: exact where subtrees are
    /// alike, a guess elsewhere. Subtrees that lead to known states are shorter, so a pass usually ends earlier than it seems.
    pub share: f64,
}

/// How many steps lie between two reports of progress.
pub(crate) const REPORT: u64 = 1 << 10;

/// How much of a search is done: for each state on the path, how many of its moves, with the one that is being tried, and of how many.
pub(crate) fn share(path: impl Iterator<Item = (usize, usize)>) -> f64 {
    let (mut done, mut weight) = (0.0, 1.0);
    for (tried, moves) in path.filter(|(_, moves)| *moves > 0) {
        weight /= moves as f64;
        done += weight * tried.saturating_sub(1) as f64;
    }
    done
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits {
            max_states: u64::MAX,
            max_executions: u64::MAX,
            max_runs: u64::MAX,
            max_steps: 100_000,
            preemptions: None,
            stop: &|| false,
            progress: &|_| (),
        }
    }
}

/// A mistake made on purpose: tests show that the oracle sees each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Mutation {
    /// Futures do not reach over spawns.
    OpenFutures,
    /// An exit depends on nothing.
    ExitTouchesNothing,
    /// Threads are taken for each other though a step names one of them.
    NamesTellNothing,
    /// One pass, though futures grew in it.
    OnePass,
    /// A wait does not touch its condition variable: whom a notification may wake is taken for settled.
    WaitsTouchNoCondition,
    /// Two threads that want a lock do not depend on each other; only what is done with it counts.
    LocksOnlyRead,
}
