//! Candidates for data races.
//!
//! Every pair of conflicting accesses that the must order leaves free and whose locks do not exclude each other is a
//! candidate. One pass in observed order: each access meets the classes of its variable ([`crate::classes`]), and
//! within a class the accesses that need not come before it, which are the latest ones.
//!
//! Misses nothing: what is filtered out is infeasible by the must order, or because two threads cannot both stand
//! inside critical sections that exclude each other. Where only one finding per pair of sites is wanted, a pair of
//! sites with very many candidates keeps some of them, spread over the trace, and the number of all.

use hashbrown::HashMap;
use reweave_decide::{Must, Prepared};
use reweave_trace::{Access, EventId, VarId};

use crate::classes::{ClassKey, Classes};
use crate::groups::{Candidate, Groups};
use crate::locksets::Locksets;
use crate::variables::{Use, Variables};
use crate::{Kind, Pattern};

/// How many accesses of a class are kept at least: where an earlier one is free, all of these are, and so many candidates
/// of one access are enough.
const RECENT: usize = 64;

pub(crate) fn candidates(
    prepared: &Prepared<'_>,
    must: &Must<'_>,
    variables: &Variables,
    groups: &mut Groups<'_>,
) {
    let trace = prepared.trace;
    let mut locksets = Locksets::new(prepared.order.threads());
    let mut classes: HashMap<VarId, Classes> = HashMap::new();
    for (id, event) in trace.events() {
        locksets.run(event.thread, event.op, prepared.links.is_outermost(id));
        let Some(access) = event.op.access() else { continue };
        if groups.stopped() {
            return;
        }
        let key = ClassKey {
            thread: event.thread,
            site: event.site,
            reads: access.reads,
            writes: access.writes,
            atomic: access.atomic,
            locks: locksets.current(event.thread),
        };
        let mut touched = Vec::new();
        variables.each_touched(access.variable, access.lifetime, |variable| touched.push(variable));
        for variable in touched {
            if variables.use_of(variable) == Use::Contended {
                let classes = classes.entry(variable).or_default();
                let race = Meeting { prepared, must, id, access, variable };
                race.meet(classes, key, &mut locksets, groups);
            }
        }
    }
}

struct Meeting<'a> {
    prepared: &'a Prepared<'a>,
    must: &'a Must<'a>,
    id: EventId,
    access: Access,
    /// The variable that is looked at: the one that the access names, or a field of the object that it names.
    variable: VarId,
}

impl Meeting<'_> {
    fn meet(&self, classes: &mut Classes, key: ClassKey, locksets: &mut Locksets, groups: &mut Groups<'_>) {
        let place = classes.class(key, locksets, |a, b, locksets| {
            a.thread != b.thread
                && (a.writes || b.writes)
                && !(a.atomic && b.atomic)
                && locksets.compatible(a.locks, b.locks)
        });
        let partners = std::mem::take(&mut classes.list[place as usize].partners);
        let mut kept = Vec::with_capacity(partners.len());
        for partner in partners {
            let other = &classes.list[partner as usize];
            let needed = self.must.needed(self.id, other.key.thread);
            let free = other.events.partition_point(|&event| self.prepared.position(event) < needed);
            let mut saturated = false;
            // The nearest first: it is the likeliest.
            for &event in other.events[free..].iter().rev() {
                if self.counted_elsewhere(event) {
                    continue;
                }
                let group = groups.add(Kind::Race, Pattern::Race, Candidate::coenabled(event, self.id));
                saturated = groups.is_saturated(group);
                if saturated {
                    break;
                }
            }
            if !saturated {
                kept.push(partner);
            }
        }
        let class = &mut classes.list[place as usize];
        class.partners = kept;
        class.events.push(self.id);
        if !groups.all() && class.events.len() == 2 * RECENT {
            class.events.drain(..RECENT);
        }
    }

    /// Whether the pair meets in another variable too, and is counted there: two lifetimes meet in every field of
    /// the inner object, and count for that object alone.
    fn counted_elsewhere(&self, other: EventId) -> bool {
        let Some(theirs) = self.prepared.trace.op(other).access() else { return false };
        let both = theirs.lifetime && self.access.lifetime;
        both && self.variable != theirs.variable && self.variable != self.access.variable
    }
}
