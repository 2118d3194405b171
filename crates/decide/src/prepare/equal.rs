//! Writes that may stand in for the one that a read observed.

use reweave_trace::{EventId, EventValues, ValueId};

use super::Prepared;

impl Prepared<'_> {
    /// What may stand in for the write that `read` observed, in the value models: writes of an equal value. With `failing`, what
    /// lets a failed attempt run: writes of any value but the expected one.
    pub(crate) fn equal_writes(&self, read: EventId, failing: bool) -> EqualWrites {
        let (access, value) = (self.trace.op(read).access(), self.trace.values(read).read);
        let Some((access, _)) = access.zip(value) else {
            return EqualWrites { read, earlier: 0, later: usize::MAX, initial: false, failing };
        };
        let place = self.writers(access.variable).partition_point(|&write| write < read);
        let has_observed = self.links.observed(read).is_some();
        let initial = self.links.initial_value(access.variable);
        let initial = has_observed && self.stands_in(read, initial, failing);
        EqualWrites { read, earlier: place, later: place, initial, failing }
    }

    /// Whether a value is as good for `read` as the one that it observed.
    fn stands_in(&self, read: EventId, value: Option<ValueId>, failing: bool) -> bool {
        let EventValues { read, written: expected } = self.trace.values(read);
        value.is_some() && (value == read || failing && value != expected)
    }
}

/// Writes of a value that does for a read, but for the one that it observed; those close to the read in the trace come
/// first.
#[derive(Clone, Debug)]
pub(crate) struct EqualWrites {
    read: EventId,
    /// How many writes to the variable before the read are still to be looked at, and which one from it on is next.
    earlier: usize,
    later: usize,
    /// Whether the initial value is still to come.
    initial: bool,
    /// Whether other values do, too, at which a failed attempt fails.
    failing: bool,
}

impl EqualWrites {
    /// The next one, none standing for the initial value.
    pub(crate) fn next(&mut self, prepared: &Prepared<'_>) -> Option<Option<EventId>> {
        let (trace, read) = (prepared.trace, self.read);
        let writers = trace.op(read).access().map(|access| prepared.writers(access.variable));
        let writers = writers.unwrap_or_default();
        let observed = prepared.links.observed(read);
        loop {
            let before = self.earlier.checked_sub(1).and_then(|place| writers.get(place)).copied();
            let after = writers.get(self.later).copied();
            let write = match (before, after) {
                (Some(before), after) if after.is_none_or(|after| read.0 - before.0 <= after.0 - read.0) => {
                    self.earlier -= 1;
                    before
                }
                (_, Some(after)) => {
                    self.later += 1;
                    after
                }
                _ => return std::mem::take(&mut self.initial).then_some(None),
            };
            let is_other = write != read && Some(write) != observed;
            if is_other && prepared.stands_in(read, trace.values(write).written, self.failing) {
                return Some(Some(write));
            }
        }
    }
}
