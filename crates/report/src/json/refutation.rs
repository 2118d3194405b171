//! Why no schedule shows what was asked for.

use reweave_decide::{Impossible, Refutation as Core, Why};
use reweave_trace::{EventId, Trace};
use serde::{Deserialize, Serialize};

/// One entry of a refutation: steps make a cycle, demands clash, a contradiction stands alone.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(untagged)]
pub enum Refutation {
    /// One event must come before another.
    Step(Step),
    /// Something that every schedule would have to meet.
    Demand(Demand),
    /// The question contradicts itself.
    Contradiction(Contradiction),
}

/// One event must come before another.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The earlier.
    pub from: u32,
    /// The later.
    pub to: u32,
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
}

/// Why one event must come before another; the names are those of [`Why`].
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(tag = "reason", rename_all = "snake_case")]
#[expect(missing_docs, reason = "they mirror what is documented there")]
pub enum Reason {
    ProgramOrder,
    Fork,
    Join,
    Woken,
    Starts,
    Observes,
    Whichever,
    OnlyOneLeft,
    NoneLeft { read: u32 },
    Depends,
    NotBefore { read: u32, write: Option<u32> },
    Mutex { lock: String },
    NotNotified { wait: u32 },
    Unseen,
    Looked,
    Called,
    Adjacent,
    Asked,
    Other,
}

/// One demand; the names are those of [`reweave_decide::Demand`].
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(tag = "demand", rename_all = "snake_case")]
#[expect(missing_docs, reason = "they mirror what is documented there")]
pub enum Demand {
    Asked { event: u32 },
    AskedNext { event: u32 },
    AskedBefore { first: u32, second: u32 },
    AskedAdjacent { first: u32, second: u32, other: u32 },
    Fork { event: u32, fork: u32 },
    Join { join: u32, last: u32 },
    Needs { event: u32, read: u32 },
    Observes { read: u32, write: Option<u32> },
    NotBetween { read: u32, write: Option<u32>, other: u32 },
    Untainted { read: u32, write: u32, by: u32 },
    Mutex { lock: String, first: u32, second: u32 },
    Busy { attempt: u32 },
    Woken { wait: u32, waker: u32 },
    NotNotified { wait: u32, notification: u32 },
    DeadHolder { acquire: u32 },
    AtRest { event: u32 },
    Unseen { write: u32, earlier: u32 },
    Looked { look: u32, later: u32 },
    Called { call: u32, earlier: u32 },
    Other,
}

/// A contradiction; the names are those of [`Impossible`].
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(tag = "contradiction", rename_all = "snake_case")]
#[expect(missing_docs, reason = "they mirror what is documented there")]
pub enum Contradiction {
    SameThread { first: u32, second: u32 },
    NotAnAcquire { event: u32 },
    NoCycle,
    NotASleep { event: u32 },
    NotARead { event: u32 },
    Backwards { first: u32, second: u32 },
    Other,
}

impl Refutation {
    /// The entries of a refutation, in its order.
    pub fn list(trace: &Trace, refutation: &Core) -> Vec<Refutation> {
        match refutation {
            Core::Static(impossible) => vec![Refutation::Contradiction((*impossible).into())],
            Core::Cycle(steps) => steps.iter().map(|one| Refutation::Step(step(trace, one))).collect(),
            Core::Clash(demands) => {
                demands.iter().map(|&one| Refutation::Demand(demand(trace, one))).collect()
            }
        }
    }
}

fn step(trace: &Trace, step: &reweave_decide::Step) -> Step {
    let reason = match step.why {
        Why::ProgramOrder => Reason::ProgramOrder,
        Why::Fork => Reason::Fork,
        Why::Join => Reason::Join,
        Why::Woken => Reason::Woken,
        Why::Starts => Reason::Starts,
        Why::Observes => Reason::Observes,
        Why::Whichever => Reason::Whichever,
        Why::OnlyOneLeft => Reason::OnlyOneLeft,
        Why::NoneLeft { read } => Reason::NoneLeft { read: read.0 },
        Why::Depends => Reason::Depends,
        Why::NotBefore { read, write } => Reason::NotBefore { read: read.0, write: write.map(id) },
        Why::Mutex(lock) => Reason::Mutex { lock: trace.lock_name(lock).to_owned() },
        Why::NotNotified { wait } => Reason::NotNotified { wait: wait.0 },
        Why::Unseen => Reason::Unseen,
        Why::Looked => Reason::Looked,
        Why::Called => Reason::Called,
        Why::Adjacent => Reason::Adjacent,
        Why::Asked => Reason::Asked,
        _ => Reason::Other,
    };
    Step { from: step.from.0, to: step.to.0, reason }
}

fn demand(trace: &Trace, demand: reweave_decide::Demand) -> Demand {
    use reweave_decide::Demand as Core;
    match demand {
        Core::Asked(a) => Demand::Asked { event: a.0 },
        Core::AskedNext(a) => Demand::AskedNext { event: a.0 },
        Core::AskedBefore(a, b) => Demand::AskedBefore { first: a.0, second: b.0 },
        Core::AskedAdjacent(a, b, other) => Demand::AskedAdjacent { first: a.0, second: b.0, other: other.0 },
        Core::Fork { event, fork } => Demand::Fork { event: event.0, fork: fork.0 },
        Core::Join { join, last } => Demand::Join { join: join.0, last: last.0 },
        Core::Needs { event, read } => Demand::Needs { event: event.0, read: read.0 },
        Core::Observes { read, write } => Demand::Observes { read: read.0, write: write.map(id) },
        Core::NotBetween { read, write, other } => {
            Demand::NotBetween { read: read.0, write: write.map(id), other: other.0 }
        }
        Core::Untainted { read, write, by } => Demand::Untainted { read: read.0, write: write.0, by: by.0 },
        Core::Mutex { lock, first, second } => {
            Demand::Mutex { lock: trace.lock_name(lock).to_owned(), first: first.0, second: second.0 }
        }
        Core::Busy { attempt } => Demand::Busy { attempt: attempt.0 },
        Core::Woken { wait, waker } => Demand::Woken { wait: wait.0, waker: waker.0 },
        Core::NotNotified { wait, notification } => {
            Demand::NotNotified { wait: wait.0, notification: notification.0 }
        }
        Core::DeadHolder { acquire } => Demand::DeadHolder { acquire: acquire.0 },
        Core::AtRest(event) => Demand::AtRest { event: event.0 },
        Core::Unseen { write, earlier } => Demand::Unseen { write: write.0, earlier: earlier.0 },
        Core::Looked { look, later } => Demand::Looked { look: look.0, later: later.0 },
        Core::Called { call, earlier } => Demand::Called { call: call.0, earlier: earlier.0 },
        _ => Demand::Other,
    }
}

impl From<Impossible> for Contradiction {
    fn from(impossible: Impossible) -> Contradiction {
        match impossible {
            Impossible::SameThread(a, b) => Contradiction::SameThread { first: a.0, second: b.0 },
            Impossible::NotAnAcquire(a) => Contradiction::NotAnAcquire { event: a.0 },
            Impossible::NoCycle => Contradiction::NoCycle,
            Impossible::NotASleep(a) => Contradiction::NotASleep { event: a.0 },
            Impossible::NotARead(a) => Contradiction::NotARead { event: a.0 },
            Impossible::Backwards(a, b) => Contradiction::Backwards { first: a.0, second: b.0 },
            _ => Contradiction::Other,
        }
    }
}

fn id(event: EventId) -> u32 {
    event.0
}
