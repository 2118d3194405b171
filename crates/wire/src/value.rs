//! Values, written as what they differ from the expected one.
//!
//! A read is expected to observe the last value of its variable in the block, a write to add to it what the last
//! write at its site added. The stream is a list of exceptions: how many values came as expected since the one
//! before, then the value. A block whose values are all absent has an empty stream.

use crate::lane::{Lane, Lanes};
use crate::varint::{Input, zigzag};
use crate::{Damaged, Op};

const ENTRIES: usize = 1 << 12;

pub(crate) const ABSENT: u8 = crate::varint::ESCAPE;
pub(crate) const TEXT: u8 = ABSENT + 1;

/// The value that an event read or wrote.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Value {
    /// Not known.
    #[default]
    Absent,
    /// A number.
    Number(u64),
    /// Anything else, by its id in [`crate::Space::Text`].
    Text(u32),
}

impl Value {
    fn number(self) -> u64 {
        match self {
            Value::Number(number) => number,
            Value::Absent | Value::Text(_) => 0,
        }
    }
}

/// Takes the values of events, one event after another.
pub trait ValueSink {
    /// Takes what an event read and wrote; absent where its operation has no such value.
    fn event(&mut self, op: Op, read: Value, written: Value);

    /// Takes the values of events with the operations `ops` at once: all of them numbers, as many as the operations
    /// have values. Answers whether it did; else they come one by one.
    fn numbers(&mut self, _ops: &[Op], _numbers: &[u64]) -> bool {
        false
    }
}

impl<F: FnMut(Op, Value, Value)> ValueSink for F {
    fn event(&mut self, op: Op, read: Value, written: Value) {
        self(op, read, written);
    }
}

/// The last value of each variable, and the last step at each site.
#[derive(Clone, Debug)]
struct Memory {
    variables: [(u32, Value); ENTRIES],
    steps: [u64; ENTRIES],
}

impl Memory {
    fn clear(&mut self) {
        self.variables.fill((0, Value::Absent));
        self.steps.fill(0);
    }

    fn last(&self, variable: u32) -> Value {
        match self.variables[variable as usize % ENTRIES] {
            (owner, value) if owner == variable => value,
            _ => Value::Absent,
        }
    }

    fn expected(&self, last: Value, site: u32, writes: bool) -> Value {
        match last {
            Value::Number(number) if writes => {
                Value::Number(number.wrapping_add(self.steps[site as usize % ENTRIES]))
            }
            _ => last,
        }
    }

    fn learn(&mut self, variable: u32, last: Value, site: u32, writes: bool, value: Value) {
        if let (true, Value::Number(before), Value::Number(number)) = (writes, last, value) {
            self.steps[site as usize % ENTRIES] = number.wrapping_sub(before);
        }
        self.variables[variable as usize % ENTRIES] = (variable, value);
    }
}

/// Writes values.
#[derive(Clone, Debug)]
pub(crate) struct ValueEncoder {
    memory: Memory,
    expected: u64,
    /// Whether there was a value: before, none is remembered, and none is expected.
    any: bool,
}

impl ValueEncoder {
    pub(crate) fn new() -> ValueEncoder {
        let memory = Memory { variables: [(0, Value::Absent); ENTRIES], steps: [0; ENTRIES] };
        ValueEncoder { memory, expected: 0, any: false }
    }

    pub(crate) fn clear(&mut self) {
        if self.any {
            self.memory.clear();
        }
        (self.expected, self.any) = (0, false);
    }

    #[inline]
    pub(crate) fn put<B>(
        &mut self,
        lanes: &mut Lanes<B>,
        variable: u32,
        site: u32,
        writes: bool,
        value: Value,
    ) where
        B: AsRef<[u8]> + AsMut<[u8]>,
    {
        if self.any || value != Value::Absent {
            self.put_any(lanes, variable, site, writes, value);
        } else {
            self.expected += 1;
        }
    }

    fn put_any<B>(&mut self, lanes: &mut Lanes<B>, variable: u32, site: u32, writes: bool, value: Value)
    where
        B: AsRef<[u8]> + AsMut<[u8]>,
    {
        self.any = true;
        let last = self.memory.last(variable);
        if self.memory.expected(last, site, writes) == value {
            self.expected += 1;
        } else {
            lanes.number(Lane::Values, self.expected);
            self.expected = 0;
            match value {
                Value::Absent => lanes.byte(Lane::Values, ABSENT),
                Value::Text(id) => {
                    lanes.byte(Lane::Values, TEXT);
                    lanes.number(Lane::Values, u64::from(id));
                }
                Value::Number(number) => {
                    lanes.number(Lane::Values, zigzag(number.wrapping_sub(last.number()) as i64));
                }
            }
        }
        self.memory.learn(variable, last, site, writes, value);
    }
}

/// Reads values.
#[derive(Clone, Debug)]
pub(crate) struct ValueDecoder {
    memory: Memory,
}

impl ValueDecoder {
    pub(crate) fn new() -> ValueDecoder {
        ValueDecoder { memory: ValueEncoder::new().memory }
    }

    /// Gives `sink` the values of each event of a block in order.
    pub(crate) fn decode(
        &mut self,
        stream: &[u8],
        events: impl Iterator<Item = (Op, u32, u32)>,
        sink: &mut impl ValueSink,
    ) -> Result<(), Damaged> {
        self.memory.clear();
        let mut input = Input::new(stream);
        let mut expected = next_exception(&mut input)?;
        for (op, variable, site) in events {
            let mut values = [Value::Absent; 2];
            for (writes, value) in [false, true].into_iter().zip(&mut values) {
                if !(if writes { op.carries_written() } else { op.carries_read() }) {
                    continue;
                }
                let last = self.memory.last(variable);
                *value = match expected.checked_sub(1) {
                    Some(rest) => {
                        expected = rest;
                        self.memory.expected(last, site, writes)
                    }
                    None => {
                        let value = exception(&mut input, last).ok_or(Damaged("a value is cut short"))?;
                        expected = next_exception(&mut input)?;
                        value
                    }
                };
                self.memory.learn(variable, last, site, writes, *value);
            }
            let [read, written] = values;
            sink.event(op, read, written);
        }
        if input.is_empty() { Ok(()) } else { Err(Damaged("there are more values than events")) }
    }
}

fn next_exception(input: &mut Input<'_>) -> Result<u64, Damaged> {
    if input.is_empty() {
        return Ok(u64::MAX);
    }
    input.number().ok_or(Damaged("a count of values is cut short"))
}

fn exception(input: &mut Input<'_>, last: Value) -> Option<Value> {
    match input.escape() {
        Some(ABSENT) => Some(Value::Absent),
        Some(TEXT) => input.small().map(Value::Text),
        Some(_) => None,
        None => input.step().map(|step| Value::Number(last.number().wrapping_add(step as u64))),
    }
}
