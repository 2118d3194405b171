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
}
