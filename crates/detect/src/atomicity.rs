//! Candidates for atomicity violations.
//!
//! The eight unserialisable patterns of `docs/semantics.md`. *One variable* ([`one`]): two consecutive accesses of a
//! thread to a variable, i and k, with an access j of another thread that may come in between. *Two variables*
//! ([`two`]): accesses i to x and l to y of one thread, with accesses j to x and k to y of another, where i comes
//! before j and k before l.
//!
//! The local accesses are meant to be one step ([`local`]): they lie in one region where the trace has regions, else in
//! one critical section or within a distance of events of their thread. A trace does not tell function activations
//! apart.
//!
//! What the must order forbids is left out, and what a lock excludes that is held all the time between the local
//! accesses. The local sites name the bug: whatever comes between them, it is their step that is torn. Unless all are wanted, only
//! those are candidates that are likely to be bugs ([`likely`]).

mod every;
mod likely;
mod local;
mod one;
mod two;
mod uses;

use hashbrown::HashMap;
use reweave_decide::{Must, Prepared};
use reweave_trace::{Core, EventId, ThreadId, Trace, VarId};

use crate::groups::Groups;
use crate::horizon::Horizon;
use crate::locksets::{LocksetId, Locksets};
use crate::variables::Variables;
use crate::{Atomicity, Options};
use every::Every;
use likely::Likely;
use local::Steps;
use one::OneVariable;
use two::{Company, Latest, Two};

/// The patterns over one variable.
pub(crate) const ONE_VARIABLE: [&str; 5] = ["RWR", "WRW", "WWR", "RWW", "WWW"];
/// The patterns over two variables.
pub(crate) const TWO_VARIABLES: [&str; 3] = ["WxWxWyWy", "WxRxRyWy", "RxWxWyRy"];

/// An access to a shared variable.
#[derive(Clone, Copy, Debug)]
struct Touch {
    event: EventId,
    thread: ThreadId,
    /// Whether it reads, and whether it writes.
    kinds: [bool; 2],
    locks: LocksetId,
}

/// Whether an access that reads and writes so is of the kind that a letter of a pattern asks for.
fn is(kinds: [bool; 2], letter: u8) -> bool {
    if letter == b'R' { kinds[0] } else { kinds[1] }
}

/// What is searched, and for what.
struct Search<'a> {
    prepared: &'a Prepared<'a>,
    must: &'a Must<'a>,
    variables: &'a Variables,
    one: Vec<&'static str>,
    two: Vec<&'static str>,
    /// None where all that is possible is wanted.
    likely: Option<Likely<'a>>,
}

pub(crate) fn candidates(
    prepared: &Prepared<'_>,
    (whole, core): (&Trace, &Core),
    must: &Must<'_>,
    variables: &Variables,
    options: &Options<'_>,
    groups: &mut Groups<'_>,
) {
    let wanted = |name: &&&str| options.patterns.is_empty() || options.patterns.iter().any(|p| p == **name);
    let one: Vec<&'static str> = ONE_VARIABLE.iter().filter(wanted).copied().collect();
    let two: Vec<&'static str> = TWO_VARIABLES.iter().filter(wanted).copied().collect();
    let likely =
        (options.atomicity == Atomicity::Likely && !options.all).then(|| Likely::new(whole, core, prepared));
    let search = Search { prepared, must, variables, one, two, likely };
    let threads = prepared.order.threads();
    let steps = || Steps::new(core, threads, options.atomic_distance);
    let (mut latest, mut company) = (Latest::new(threads), Company::default());
    if !search.two.is_empty() && !groups.all() {
        search.walk(steps(), groups, |(steps, _), touch, variable, _, _| {
            company.access(&latest, steps, touch, variable);
            latest.push(touch, variable);
        });
    }
    let mut of: HashMap<VarId, OneVariable> = HashMap::new();
    let (mut latest, mut pairs, mut every) = (Latest::new(threads), Two::new(company), Every::default());
    search.walk(steps(), groups, |(steps, horizon), touch, variable, locksets, groups| {
        if !search.one.is_empty() {
            of.entry(variable).or_default().access(&search, (steps, horizon), touch, locksets, groups);
        }
        if !search.two.is_empty() && groups.all() {
            every.access(steps, touch, variable);
        } else if !search.two.is_empty() {
            pairs.access(&search, (steps, horizon), &latest, (touch, variable), locksets, groups);
            latest.push(touch, variable);
        }
    });
    every.finish(&search, groups);
    clear_up(of, pairs);
}

/// How many variables and pairs of them are cleared up at once.
const FEW: usize = 1 << 12;

/// Drops what the search needed. Where it is much, that takes seconds, and somebody else does it: the candidates are waiting,
/// or whoever stopped the run.
fn clear_up(of: HashMap<VarId, OneVariable>, pairs: Two) {
    if of.len() + pairs.len() > FEW {
        // Without a thread it is done here.
        let _ = std::thread::Builder::new().spawn(move || drop((of, pairs)));
    }
}

impl Search<'_> {
    /// Runs the trace as observed, and calls `visit` with each access to a shared variable.
    fn walk(
        &self,
        mut steps: Steps<'_>,
        groups: &mut Groups<'_>,
        mut visit: impl FnMut((&Steps<'_>, &Horizon<'_>), Touch, VarId, &Locksets, &mut Groups<'_>),
    ) {
        let mut locksets = Locksets::new(self.prepared.order.threads());
        let mut horizon = Horizon::new(self.prepared, self.must);
        for (event, one) in self.prepared.trace.events() {
            let outermost = self.prepared.links.is_outermost(event);
            locksets.run(one.thread, one.op, outermost);
            steps.run(event, one.thread, one.op, outermost, &mut locksets);
            horizon.run(one.thread, event);
            let Some(access) = one.op.access() else { continue };
            if groups.stopped() {
                return;
            }
            let (kinds, locks) = ([access.reads, access.writes], locksets.current(one.thread));
            let touch = Touch { event, thread: one.thread, kinds, locks };
            self.variables.each_touched(access.variable, access.lifetime, |variable| {
                if self.variables.is_shared(variable) {
                    visit((&steps, &horizon), touch, variable, &locksets, groups);
                }
            });
        }
    }
}
