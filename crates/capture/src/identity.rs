//! Values that are addresses, told apart by the object that is there.
//!
//! Two values are the same when they are equal as numbers and, where the number lies in an object, in the same one. Where
//! memory was used for one object after another, a value that is written while a later one is there carries how many were
//! there before, and a read of it carries the same.

use std::fmt::Write as _;

use hashbrown::HashMap;
use reweave_trace::Value;
use reweave_wire::Op;

use crate::memory::Memory;
use crate::raw::{RawEvent, Target};
use crate::word::Part;

/// The bytes of an address.
const ADDRESS: u8 = 8;

/// Which variables hold an address that was used before: by their object and place, how often.
#[derive(Default)]
pub(crate) struct Identities {
    held: HashMap<(u32, u64), u32>,
}

impl Identities {
    /// How many objects there were before the one that what an event writes points to.
    pub(crate) fn written(memory: &Memory, event: &RawEvent) -> u32 {
        match event.target {
            Target::Bytes { length: ADDRESS, .. } if memory.reuses && event.op.writes() => {
                memory.generation(event.written)
            }
            _ => 0,
        }
    }

    /// The same of what an event finds that nobody is known to have written.
    pub(crate) fn found(memory: &Memory, event: &RawEvent) -> u32 {
        match event.target {
            Target::Bytes { length: ADDRESS, .. } if memory.reuses => memory.generation(event.read),
            _ => 0,
        }
    }

    /// Whether what a failed attempt expected may be another value than one that is written alike: nobody knows which object
    /// the thread had in mind.
    pub(crate) fn is_ambiguous(memory: &Memory, event: &RawEvent) -> bool {
        event.op == Op::FailedAttempt && memory.reuses && memory.object_at(event.written) != 0
    }

    /// Whether an access reads a pointer to another object than was written to the variable, though the numbers are the same:
    /// somebody wrote it who was not recorded.
    pub(crate) fn is_strange(&self, memory: &Memory, event: &RawEvent, variable: Part) -> bool {
        let whole = matches!(event.target, Target::Bytes { length: ADDRESS, .. });
        memory.reuses
            && whole
            && event.op.carries_read()
            && Identities::found(memory, event) != self.held(memory, variable)
    }

    /// The same of an access on the first way through, which must be asked of every one.
    #[cold]
    pub(crate) fn survey(&mut self, memory: &Memory, event: &RawEvent) -> bool {
        let Target::Bytes { at, length: ADDRESS } = event.target else { return false };
        let whole = Part { at, length: ADDRESS, offset: 0 };
        let strange = self.is_strange(memory, event, whole);
        if event.op.writes() {
            self.hold(memory, whole, Identities::written(memory, event));
        } else if strange {
            self.hold(memory, whole, Identities::found(memory, event));
        }
        strange
    }

    /// The same of what a variable holds.
    pub(crate) fn held(&self, memory: &Memory, variable: Part) -> u32 {
        if self.held.is_empty() {
            return 0;
        }
        self.held.get(&(memory.object_at(variable.at), variable.at)).copied().unwrap_or(0)
    }

    /// A variable holds from now on what points to an object with so many before it.
    pub(crate) fn hold(&mut self, memory: &Memory, variable: Part, generation: u32) {
        if generation > 0 {
            self.held.insert((memory.object_at(variable.at), variable.at), generation);
        } else if !self.held.is_empty() {
            self.held.remove(&(memory.object_at(variable.at), variable.at));
        }
    }
}

/// A number, and which of the objects at its address it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Identified {
    pub(crate) number: u64,
    pub(crate) generation: u32,
}

impl From<u64> for Identified {
    fn from(number: u64) -> Identified {
        Identified { number, generation: 0 }
    }
}

impl Identified {
    /// As a value of a trace: a number, or one with how many objects have been at that address. `text` is room for it.
    pub(crate) fn value(self, text: &mut String) -> Value<'_> {
        if self.generation == 0 {
            return Value::Number(self.number);
        }
        text.clear();
        // Writing to a text does not fail.
        let _ = write!(text, "{}#{}", self.number, self.generation.saturating_add(1));
        Value::Text(text)
    }
}
