//! The values of a block, in the form in which a trace keeps them.
//!
//! Small numbers are known by themselves, so that whoever decodes a block needs no more for them. Other values have to
//! be looked up by whoever puts the blocks together.

use reweave_trace::{BatchValues, Builder, EventValues, Kind, Value, ValueId};
use reweave_wire::{Op, ValueSink};

use super::codes;
use super::names::Ids;

/// Values as they are decoded.
#[derive(Default)]
pub(super) struct DecodedValues {
    batch: BatchValues,
    /// The events whose values are still to be looked up, by their places in the block.
    others: Vec<(usize, [reweave_wire::Value; 2])>,
}

impl DecodedValues {
    pub(super) fn clear(&mut self) {
        self.batch.clear();
        self.others.clear();
    }

    /// The values, once they are looked up; nothing where there are none.
    pub(super) fn batch(&self) -> Option<&BatchValues> {
        Some(&self.batch).filter(|batch| !batch.is_empty())
    }

    /// Looks up the values that `builder` has to know; nothing where a text has no name. `kinds` are those of the
    /// events.
    pub(super) fn intern(&mut self, kinds: &[Kind], builder: &mut Builder, ids: &Ids) -> Option<()> {
        let mut value = |value| match value {
            reweave_wire::Value::Absent => Some(None),
            reweave_wire::Value::Number(number) => builder.value(Value::Number(number)).ok().map(Some),
            reweave_wire::Value::Text(id) => ids.text(id).map(Some),
        };
        for &(place, [read, written]) in &self.others {
            let values = EventValues { read: value(read)?, written: value(written)? };
            self.batch.set(place, *kinds.get(place)?, values);
        }
        Some(())
    }
}

impl ValueSink for DecodedValues {
    #[inline]
    fn event(&mut self, op: Op, read: reweave_wire::Value, written: reweave_wire::Value) {
        let small = |value| match value {
            reweave_wire::Value::Absent => Some(None),
            reweave_wire::Value::Number(number) => ValueId::of_small(number).map(Some),
            reweave_wire::Value::Text(_) => None,
        };
        let values = match (small(read), small(written)) {
            (Some(read), Some(written)) => EventValues { read, written },
            _ => {
                self.others.push((self.batch.len(), [read, written]));
                EventValues::NONE
            }
        };
        self.batch.push(codes::kind(op), values);
    }

    fn numbers(&mut self, ops: &[Op], numbers: &[u64]) -> bool {
        let all = numbers.iter().fold(0, |all, number| all | number);
        if ValueId::of_small(all).is_none() || ops.iter().any(|op| op.carries_read() & op.carries_written()) {
            return false;
        }
        // Without branches: which operation comes next is hard to foresee.
        let mut at = 0;
        self.batch.extend(ops.iter().map(|op| {
            let there = op.carries_read() | op.carries_written();
            let number = numbers.get(at).copied().unwrap_or_default();
            at += usize::from(there);
            ValueId::of_small(number).filter(|_| there)
        }));
        true
    }
}
