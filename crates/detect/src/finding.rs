//! What was found, and what was not settled.

use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;

use reweave_trace::{EventId, SiteId, Trace};
use reweave_witness::CheckedWitness;

use crate::groups::named_by;
use crate::{ModelCount, identity};

/// A kind of bug.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// Two conflicting accesses that can happen at the same time.
    Race,
    /// Threads that wait for each other's locks, or for one whose holder has ended.
    Deadlock,
    /// Accesses that are meant to be one step, with another thread's in between.
    Atomicity,
    /// Two events in the other order: a lost wake-up, a use before initialisation.
    Order,
    /// A use of an object after its end.
    UseAfterFree,
}

impl Kind {
    /// Every kind, in the order of reports.
    pub const ALL: [Kind; 5] = [Kind::Race, Kind::Deadlock, Kind::Atomicity, Kind::Order, Kind::UseAfterFree];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Deadlock => "deadlock",
            Kind::Atomicity => "atomicity",
            Kind::Order => "order",
            Kind::UseAfterFree => "uaf",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no kind of that name.
#[derive(Debug, thiserror::Error)]
#[error("there is no kind `{0}`: expected race, deadlock, atomicity, order or uaf")]
pub struct ParseKindError(String);

impl FromStr for Kind {
    type Err = ParseKindError;

    fn from_str(name: &str) -> Result<Kind, ParseKindError> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| ParseKindError(name.to_owned()))
    }
}

/// What exactly a bug of its kind looks like.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Pattern {
    /// Two accesses at once.
    Race,
    /// A cycle of threads and locks.
    Cycle,
    /// A lock whose holder has ended.
    DeadHolder,
    /// A cycle in which a thread sleeps until another notifies it.
    WaitCycle,
    /// Two local accesses of one variable with a remote one in between: `RWR` and the like.
    OneVariable(&'static str),
    /// Accesses of two variables that two threads interleave: `WxWxWyWy` and the like.
    TwoVariables(&'static str),
    /// A notification before the wait that it should wake has started.
    LostWakeUp,
    /// A read before the first write.
    UseBeforeInitialisation,
    /// Two calls, or a use and a call that ends a life, in the order that a specification rules out.
    CallOrder,
    /// A use after the free.
    UseAfterFree,
    /// A free after another.
    DoubleFree,
}

impl Pattern {
    /// A short name, stable over versions.
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Race => "race",
            Pattern::Cycle => "cycle",
            Pattern::DeadHolder => "dead-holder",
            Pattern::WaitCycle => "wait-cycle",
            Pattern::OneVariable(name) | Pattern::TwoVariables(name) => name,
            Pattern::LostWakeUp => "lost-wake-up",
            Pattern::UseBeforeInitialisation => "use-before-initialisation",
            Pattern::CallOrder => "call-order",
            Pattern::UseAfterFree => "use-after-free",
            Pattern::DoubleFree => "double-free",
        }
    }

    /// The pattern of that name.
    pub fn from_name(name: &str) -> Option<Pattern> {
        let fixed = [
            Pattern::Race,
            Pattern::Cycle,
            Pattern::DeadHolder,
            Pattern::WaitCycle,
            Pattern::LostWakeUp,
            Pattern::UseBeforeInitialisation,
            Pattern::UseAfterFree,
            Pattern::DoubleFree,
            Pattern::CallOrder,
        ];
        let one = ["RWR", "WRW", "WWR", "RWW", "WWW"].map(Pattern::OneVariable);
        let two = ["WxWxWyWy", "WxRxRyWy", "RxWxWyRy"].map(Pattern::TwoVariables);
        fixed.into_iter().chain(one).chain(two).find(|pattern| pattern.name() == name)
    }
}

/// A bug that another schedule of the same run shows.
///
/// **Invariant:** it is made from a [`CheckedWitness`], by this crate only.
#[derive(Clone, Debug)]
pub struct Finding {
    pub(crate) kind: Kind,
    pub(crate) pattern: Pattern,
    pub(crate) events: Vec<EventId>,
    pub(crate) sites: Vec<SiteId>,
    pub(crate) fingerprint: String,
    pub(crate) witness: CheckedWitness,
    pub(crate) instances: u64,
    pub(crate) torn: Vec<Torn>,
}

/// An atomicity violation that is told with another finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Torn {
    /// What exactly it looks like.
    pub pattern: Pattern,
    /// The sites of the two accesses that are meant to be one step.
    pub sites: [SiteId; 2],
}

impl Finding {
    /// The kind of bug.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What exactly it looks like.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// The events that make it up: for a race in observed order, for a deadlock in observed order, for the rest in
    /// the order of the bug.
    pub fn events(&self) -> &[EventId] {
        &self.events
    }

    /// The site of each event.
    pub fn sites(&self) -> &[SiteId] {
        &self.sites
    }

    /// What identifies the bug over runs, builds and edits elsewhere: its kind, pattern, sites and, where the recorder knew them,
    /// variables, in hexadecimal.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The schedule that shows it.
    pub fn witness(&self) -> &CheckedWitness {
        &self.witness
    }

    /// How many candidates with this fingerprint there were, decided or not.
    pub fn instances(&self) -> u64 {
        self.instances
    }

    /// The atomicity violations on what races or is used after its free, which are not findings of their own.
    pub fn torn(&self) -> &[Torn] {
        &self.torn
    }

    /// What it is about: the variable, object, condition variable, or the locks.
    pub fn target(&self, trace: &Trace) -> String {
        let mut names: Vec<&str> = Vec::new();
        for &event in &self.events {
            if let Some(name) = trace.target_name(trace.op(event)).filter(|name| !names.contains(name)) {
                names.push(name);
            }
        }
        names.join(", ")
    }
}

/// A candidate that was not settled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Undecided {
    /// The kind of bug.
    pub kind: Kind,
    /// What exactly it would look like.
    pub pattern: Pattern,
    /// The events.
    pub events: Vec<EventId>,
    /// Why.
    pub reason: UndecidedReason,
}

/// Why a candidate was not settled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum UndecidedReason {
    /// Its budget of time or work ran out.
    Budget,
    /// The stages that were allowed do not settle it.
    Inconclusive,
    /// Many candidates of the same sites had been tried before it.
    Tries,
    /// The whole run was stopped.
    Stopped,
}

impl UndecidedReason {
    /// The name in outputs.
    pub fn name(self) -> &'static str {
        match self {
            UndecidedReason::Budget => "budget",
            UndecidedReason::Inconclusive => "inconclusive",
            UndecidedReason::Tries => "tries",
            UndecidedReason::Stopped => "stopped",
        }
    }
}

/// How many candidates came to what.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// All that were decided or given up.
    pub candidates: u64,
    /// Those with a checked witness.
    pub feasible: u64,
    /// Those that no schedule shows.
    pub infeasible: u64,
    /// Those that were not settled.
    pub unknown: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, more: Counts) {
        self.candidates += more.candidates;
        self.feasible += more.feasible;
        self.infeasible += more.infeasible;
        self.unknown += more.unknown;
    }
}

/// What was left out before candidates were made, because nothing can be found there.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Dropped {
    /// Events that the search does not see.
    pub events: u64,
    /// Variables that one thread alone touches.
    pub thread_local: u64,
    /// Variables that several threads only read.
    pub read_only: u64,
    /// Variables whose conflicting accesses no schedule can reorder.
    pub ordered: u64,
    /// Variables that are left.
    pub kept: u64,
}

/// All that was found in a trace.
#[derive(Clone, Debug, Default)]
pub struct Prediction {
    /// The findings, by kind and then by their events.
    pub findings: Vec<Finding>,
    /// What was not settled, by kind and then by events.
    pub undecided: Vec<Undecided>,
    /// How many candidates there were.
    pub counts: Counts,
    /// What each model gave, from the strictest to the one that was asked for; those that were not come to are missing.
    pub models: Vec<ModelCount>,
    /// What was left out.
    pub dropped: Dropped,
    /// How many possible candidates were passed over without a look, because there were too many alike.
    pub unexamined: u64,
    /// How many atomicity violations, by pattern and sites, were not looked at because they are not likely to be bugs.
    pub refused: u64,
    /// Whether the run was stopped before its end.
    pub partial: bool,
}

/// A hash of the kind, the pattern and the identities of the events that is the same in every run and version.
pub(crate) fn fingerprint(trace: &Trace, kind: Kind, pattern: Pattern, events: &[EventId]) -> String {
    let mut sites: Vec<String> = named_by(kind, events).map(|event| identity::text(trace, event)).collect();
    // Which side of a race or cycle was observed first says nothing about the bug.
    if matches!(kind, Kind::Race | Kind::Deadlock) {
        sites.sort_unstable();
    }
    // FNV-1a over 128 bits, folded: stable, without a dependency, and collisions are not to be feared.
    let mut hash: u128 = 0x6c62272e07bb014262b821756295c58d;
    for text in [kind.name(), pattern.name()].into_iter().chain(sites.iter().map(String::as_str)) {
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u128::from(byte)).wrapping_mul(0x0000000001000000000000000000013b);
        }
    }
    // FNV mixes its last bytes poorly, and people tell fingerprints apart by their first digits.
    let mut mixed = (hash >> 64) as u64 ^ hash as u64;
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51afd7ed558ccd);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ceb9fe1a85ec53);
    format!("{:016x}", mixed ^ (mixed >> 33))
}
