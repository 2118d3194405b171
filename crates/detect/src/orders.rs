//! Candidates for order violations.
//!
//! Two events that came in one order and might come in the other: a use and a free of an object, the start of a wait and
//! the notification that woke it, where the wait then sleeps for ever, and in traces with values the first write of a
//! variable and a read that then finds what nobody has written. Pairs that the must order keeps are left out; so are, unless every
//! candidate is wanted, variables whose initial value was read in the observed run (there it is as good as any other, as that of a
//! counter is), and pairs that one lock guards or that are both atomic: who guards both expects them in either order.

use hashbrown::{HashMap, HashSet};
use reweave_decide::{Must, Prepared};
use reweave_trace::{Embedded, EventId, Op, VarId};

use crate::groups::{Candidate, Groups};
use crate::locksets::{LocksetId, Locksets};
use crate::variables::Variables;
use crate::{Kind, Pattern};

/// Lost wake-ups and uses before initialisation.
pub(crate) fn candidates(
    prepared: &Prepared<'_>,
    must: &Must<'_>,
    variables: &Variables,
    groups: &mut Groups<'_>,
) {
    for link in prepared.links.waits() {
        if let Some(waker) = link.waker
            && prepared.ends_only_when_notified(link.wait)
            && !must.before(link.start, waker)
        {
            groups.add(Kind::Order, Pattern::LostWakeUp, Candidate::asleep(waker, link.wait));
        }
    }
    if !prepared.trace.capabilities().values {
        return;
    }
    uses_before_initialisation(prepared, must, variables, groups);
}

/// The first write of a variable.
#[derive(Clone, Copy)]
struct First {
    write: EventId,
    locks: LocksetId,
    atomic: bool,
}

fn uses_before_initialisation(
    prepared: &Prepared<'_>,
    must: &Must<'_>,
    variables: &Variables,
    groups: &mut Groups<'_>,
) {
    let mut first_write: HashMap<VarId, First> = HashMap::new();
    let mut good_from_start: HashSet<VarId> = HashSet::new();
    let mut locksets = Locksets::new(prepared.order.threads());
    for (id, event) in prepared.trace.events() {
        locksets.run(event.thread, event.op, prepared.links.is_outermost(id));
        let Some(access) = event.op.access().filter(|access| !access.lifetime) else { continue };
        if !variables.is_shared(access.variable) {
            continue;
        }
        let locks = locksets.current(event.thread);
        if access.reads && !first_write.contains_key(&access.variable) && !groups.all() {
            good_from_start.insert(access.variable);
        }
        if access.reads
            && !good_from_start.contains(&access.variable)
            && let Some(&first) = first_write.get(&access.variable)
            && prepared.trace.thread(first.write) != event.thread
            && (groups.all() || !(access.atomic && first.atomic) && locksets.compatible(first.locks, locks))
            && !must.before(first.write, id)
        {
            groups.add(Kind::Order, Pattern::UseBeforeInitialisation, Candidate::unwritten(id, first.write));
        }
        if access.writes {
            let first = First { write: id, locks, atomic: access.atomic };
            first_write.entry(access.variable).or_insert(first);
        }
    }
}

/// Uses of objects that may come after the free, and frees that may come after another.
pub(crate) fn uses_after_free(prepared: &Prepared<'_>, must: &Must<'_>, groups: &mut Groups<'_>) {
    let trace = prepared.trace;
    if trace.objects().is_empty() {
        return;
    }
    let embedded = Embedded::new(trace);
    let starts = starts(prepared);
    let mut uses: HashMap<VarId, Vec<EventId>> = HashMap::new();
    for (id, event) in trace.events() {
        if let Op::Free(object) = event.op {
            for &earlier in uses.get(&object).into_iter().flatten() {
                if trace.thread(earlier) != event.thread && !must.before(earlier, id) {
                    let double = matches!(trace.op(earlier), Op::Free(_));
                    let pattern = if double { Pattern::DoubleFree } else { Pattern::UseAfterFree };
                    add(groups, Kind::UseAfterFree, pattern, id, earlier);
                }
            }
        }
        let accessed = event.op.access().map(|access| access.variable);
        // A wait uses its condition variable where it starts, not where it returns.
        let locked = embedded.object(event.op).filter(|_| !matches!(event.op, Op::Wait(_)));
        let awaited = starts.get(&id).and_then(|&wait| embedded.object(wait));
        for object in accessed.into_iter().chain(locked).chain(awaited) {
            for object in trace.objects().around(object) {
                let uses = uses.entry(object).or_default();
                if uses.last() != Some(&id) {
                    uses.push(id);
                }
            }
        }
    }
}

/// The waits, by the events at which they start.
pub(crate) fn starts(prepared: &Prepared<'_>) -> HashMap<EventId, Op> {
    prepared.links.waits().iter().map(|link| (link.start, prepared.trace.op(link.wait))).collect()
}

/// The bug is that `late`, which came second, comes first.
fn add(groups: &mut Groups<'_>, kind: Kind, pattern: Pattern, late: EventId, early: EventId) {
    groups.add(kind, pattern, Candidate::pairs(vec![late, early], vec![(late, early)]));
}
