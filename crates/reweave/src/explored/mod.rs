//! Every interleaving of a closure that uses `reweave::sync` and `reweave::thread`.

mod asked;
pub mod cell;
mod data;
mod foreign;
pub(crate) mod host;
mod items;
mod json;
mod local;
mod names;
mod object;
mod panics;
mod places;
mod pointers;
mod progress;
mod report;
mod result;
mod scope;
mod search;
mod spin;
pub mod sync;
pub mod thread;

use std::fmt;
use std::time::Duration;

use reweave_explore as law;
pub use reweave_explore::Sampling;

pub use items::merge;
pub use object::Object;

/// `std::hint`, explored.
pub mod hint {
    pub use std::hint::{black_box, unreachable_unchecked};

    /// Waits a little in a loop; see [`thread::yield_now`](super::thread::yield_now).
    #[inline(always)]
    #[track_caller]
    pub fn spin_loop() {
        super::thread::yield_now();
    }
}

/// One of `0..among`; an exploration tries all. 0 outside of one.
#[track_caller]
pub fn choose(among: u32) -> u32 {
    host::step(law::Op::Choose { among }).value as u32
}

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// For what a thread has never observed.
    #[default]
    Saturate,
    /// Along one execution of each class; slower, and it counts them.
    Trace,
}

/// What an exploration came to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Verdict {
    /// No interleaving fails, under the assumptions that the text names.
    Proved,
    /// One fails. The schedule can be replayed.
    Failed {
        /// The schedule, as `REWEAVE_REPLAY` takes it.
        schedule: String,
    },
    /// There is no answer: a limit, or a program that is not a function of what its threads observe.
    Stopped,
}

/// A verdict with what was counted, and a text for people.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The verdict.
    pub verdict: Verdict,
    /// Runs of the closure.
    pub runs: u64,
    /// States that were visited.
    pub states: u64,
    /// Executions of the engine `Trace`.
    pub executions: u64,
    /// The failures; more than one only with [`Builder::keep_going`].
    pub failures: Vec<Found>,
    /// The specifications that the verdict relies on.
    pub relied_on: Vec<String>,
    engine: Engine,
    seconds: f64,
    text: String,
    /// What a proof relies on.
    assumes: Vec<String>,
    /// The pass that a limit ended, and how much of it was done.
    left_at: Option<(u64, f64)>,
    /// Whether the schedule to begin with was not possible.
    impossible: bool,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// `panic`, `deadlock`, `livelock`, `race`, `misuse` or `exit`.
    pub kind: &'static str,
    /// What it says, and where.
    pub what: String,
    /// A schedule that was run and fails so, as `REWEAVE_REPLAY` takes it.
    pub schedule: Option<String>,
    /// How often the schedule leaves a thread that could go on.
    pub preemptions: Option<u32>,
}

impl fmt::Display for Exploration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Options of an exploration.
#[derive(Clone, Debug)]
pub struct Builder {
    preemptions: Option<u32>,
    time: Option<Duration>,
    engine: Engine,
    spurious: bool,
    timeouts: bool,
    max_steps: usize,
    audit: u32,
    types: Vec<reweave_spec::Type>,
    /// Of the texts of their specifications.
    types_hash: u64,
    commuting: bool,
    symmetry: bool,
    keep_going: bool,
    sample: Option<(Sampling, u64)>,
    progress: bool,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// No bounds but on the steps of one run.
    #[must_use]
    pub fn new() -> Builder {
        Builder {
            preemptions: None,
            time: None,
            engine: Engine::Saturate,
            spurious: true,
            timeouts: true,
            max_steps: 5_000,
            audit: 32,
            types: Vec::new(),
            types_hash: 0,
            commuting: true,
            symmetry: true,
            keep_going: false,
            sample: None,
            progress: false,
        }
    }

    /// Whether to print a line on standard error each second that says how far the search is: no, unless said otherwise here or by
    /// `REWEAVE_PROGRESS=1`.
    #[must_use]
    pub fn progress(mut self, progress: bool) -> Builder {
        self.progress = progress;
        self
    }

    /// Whether to search on after a failure, and list all: no, unless said otherwise.
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Builder {
        self.keep_going = keep_going;
        self
    }

    /// Runs so many schedules by chance instead of searching: always the same ones. Proves nothing.
    #[must_use]
    pub fn sample(mut self, how: Sampling, schedules: u64) -> Builder {
        self.sample = Some((how, schedules));
        self
    }

    /// Adds types for [`Object`]s, in the language of `reweave spec`.
    ///
    /// # Panics
    ///
    /// If the text is no specification, or if one of its claims does not hold.
    #[must_use]
    pub fn spec(mut self, text: &str) -> Builder {
        match reweave_spec::read_checked(text) {
            Ok(spec) => {
                self.types.extend(spec.types);
                self.types_hash = items::hash(self.types_hash, text);
            }
            Err(error) => panic!("{error}"),
        }
        self
    }

    /// Whether calls on [`Object`]s that commute are run in one order: yes, unless said otherwise.
    #[must_use]
    pub fn commuting(mut self, commuting: bool) -> Builder {
        self.commuting = commuting;
        self
    }

    /// Whether threads of [`spawn_same`](crate::spawn_same) are taken for each other: yes, unless said otherwise.
    #[must_use]
    pub fn symmetry(mut self, symmetry: bool) -> Builder {
        self.symmetry = symmetry;
        self
    }

    /// Only schedules that leave a thread which could go on at most so many times. Proves nothing.
    #[must_use]
    pub fn preemptions(mut self, bound: u32) -> Builder {
        self.preemptions = Some(bound);
        self
    }

    /// Stops after that time.
    #[must_use]
    pub fn time(mut self, time: Duration) -> Builder {
        self.time = Some(time);
        self
    }

    /// How to search.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Builder {
        self.engine = engine;
        self
    }

    /// Whether waits may end without cause, and weak exchanges fail: yes, unless said otherwise.
    #[must_use]
    pub fn spurious(mut self, spurious: bool) -> Builder {
        self.spurious = spurious;
        self
    }

    /// Whether the time of timed waits may be up at any moment: yes, unless said otherwise.
    #[must_use]
    pub fn timeouts(mut self, timeouts: bool) -> Builder {
        self.timeouts = timeouts;
        self
    }

    /// The longest run. One that is longer may never end, and proves nothing.
    #[must_use]
    pub fn max_steps(mut self, steps: usize) -> Builder {
        self.max_steps = steps;
        self
    }

    /// How many schedules are drawn at random for the audit, which follows a search without failure to see that nothing is hidden from
    /// it; 0 is no audit at all.
    #[must_use]
    pub fn audit(mut self, runs: u32) -> Builder {
        self.audit = runs;
        self
    }

    /// Explores; panics if an interleaving fails, or if there is no answer though no bound was asked for.
    ///
    /// With `REWEAVE_REPLAY=FILE` in the environment it runs the one schedule in that file instead. `REWEAVE_SPLIT=FOLDER` writes parts
    /// of the exploration there (`REWEAVE_ITEMS` of them), `REWEAVE_ITEM=FILE` explores one, `REWEAVE_MERGE=FOLDER` adds up; with
    /// `REWEAVE_CHECKPOINT=FOLDER` it goes on where it was ended.
    ///
    /// # Panics
    ///
    /// See above: that is how a test fails.
    pub fn check<F: Fn() + 'static>(self, body: F) {
        let bounded = self.preemptions.is_some() || self.time.is_some() || self.sample.is_some();
        let Some(exploration) = self.answer_to_environment(body) else { return };
        match &exploration.verdict {
            Verdict::Proved => println!("{exploration}"),
            Verdict::Stopped if bounded => println!("{exploration}"),
            _ => panic!("{exploration}"),
        }
    }
}

/// Runs a closure in every interleaving of its threads; panics if one fails.
///
/// ```
/// use reweave::sync::{Arc, Mutex};
/// use reweave::thread;
///
/// reweave::explore(|| {
///     let sum = Arc::new(Mutex::new(0));
///     let other = Arc::clone(&sum);
///     let thread = thread::spawn(move || *other.lock().unwrap() += 1);
///     *sum.lock().unwrap() += 1;
///     thread.join().unwrap();
///     assert_eq!(*sum.lock().unwrap(), 2);
/// });
/// ```
///
/// # Panics
///
/// If an interleaving fails, or if there is no answer.
pub fn explore<F: Fn() + 'static>(body: F) {
    Builder::new().check(body);
}

/// The same by the name that it has in loom.
///
/// # Panics
///
/// As [`explore`].
pub fn model<F: Fn() + 'static>(body: F) {
    explore(body);
}
