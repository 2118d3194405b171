//! Locks and condition variables that lie in objects.

use crate::id::{NONE, some};
use crate::{Op, Space, Trace, VarId};

/// The innermost object that each lock and condition variable lies in, by its name: `p.m` lies in the object `p`.
#[derive(Clone, Default, Debug)]
pub struct Embedded {
    locks: Vec<u32>,
    conditions: Vec<u32>,
}

impl Embedded {
    /// Those of `trace`; a trace without objects has none, and pays nothing for them.
    pub fn new(trace: &Trace) -> Embedded {
        if trace.objects().is_empty() {
            return Embedded::default();
        }
        let variables = trace.names().space(Space::Variable);
        let of = |space: Space| {
            let names = trace.names().space(space).iter();
            names.map(|name| trace.objects().with_field(variables, name).map_or(NONE, |id| id.0)).collect()
        };
        Embedded { locks: of(Space::Lock), conditions: of(Space::Condition) }
    }

    /// The innermost object that has the lock or condition variable of an operation in it.
    pub fn object(&self, op: Op) -> Option<VarId> {
        let objects = match op.kind().space()? {
            Space::Lock => &self.locks,
            Space::Condition => &self.conditions,
            _ => return None,
        };
        some(*objects.get(op.target() as usize)?, VarId)
    }

    /// Every object that has a lock or condition variable in it, as often as it has.
    pub fn objects(&self) -> impl Iterator<Item = VarId> {
        self.locks.iter().chain(&self.conditions).filter_map(|&object| some(object, VarId))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Builder, ConditionId, Event, EventValues, Kind, LockId};

    use super::*;

    #[test]
    fn a_lock_lies_in_the_innermost_object_that_its_name_extends() {
        let mut builder = Builder::new();
        let thread = builder.thread("T1").unwrap();
        let site = builder.site("1").unwrap();
        let events = [
            (Kind::Alloc, "p"),
            (Kind::Alloc, "p.n"),
            (Kind::Notify, "p.n.c"),
            (Kind::TryAcquire, "p.m #2"),
            (Kind::Release, "p.m #2"),
            (Kind::TryAcquire, "p"),
            (Kind::TryAcquire, "q.m"),
            (Kind::Free, "p"),
        ];
        for (kind, name) in events {
            let target = builder.target(kind, name).unwrap();
            builder.push(Event { thread, op: Op::new(kind, target), site }, EventValues::NONE).unwrap();
        }
        let trace = builder.finish().unwrap();
        let embedded = Embedded::new(&trace);
        let name = |op| embedded.object(op).map(|object| trace.variable_name(object));
        assert_eq!(name(Op::Wait(ConditionId(0))), Some("p.n"));
        let locks = [0, 1, 2].map(|lock| name(Op::Acquire(LockId(lock))));
        assert_eq!(
            locks,
            [Some("p"), None, None],
            "a lock that has the object's own name does not lie in it"
        );
        assert_eq!(name(Op::Free(VarId(0))), None);
        assert_eq!(embedded.objects().count(), 2);
    }
}
