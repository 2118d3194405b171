//! Values that events read and wrote.

use std::fmt;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::id::NONE;
use crate::{Error, Table};

/// A value as its recorder wrote it: a number in canonical decimal, or any other text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value<'t> {
    /// A number.
    Number(u64),
    /// Anything else.
    Text(&'t str),
}

impl<'t> Value<'t> {
    /// Reads a value: what looks exactly like a number is one.
    pub fn parse(text: &'t str) -> Value<'t> {
        let canonical = text == "0" || !text.starts_with(['0', '+']);
        match text.parse() {
            Ok(number) if canonical => Value::Number(number),
            _ => Value::Text(text),
        }
    }
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(number) => number.fmt(f),
            Value::Text(text) => f.write_str(text),
        }
    }
}

/// An interned value: equal exactly when the values are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ValueId(pub(crate) u32);

/// What an event read and wrote, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EventValues {
    /// The value observed by a read or update.
    pub read: Option<ValueId>,
    /// The value left by a write or update.
    pub written: Option<ValueId>,
}

impl EventValues {
    /// No value is known.
    pub const NONE: EventValues = EventValues { read: None, written: None };
}

/// Small numbers are their own id; the two upper bits tell a larger number or a text, by its place in its pool.
const TAG: u32 = 0b11 << 30;
const LARGE: u32 = 0b01 << 30;
const TEXT: u32 = 0b10 << 30;
const POOL: usize = 1 << 30;

/// The values that are not their own id.
#[derive(Clone, Default, Debug)]
pub(crate) struct Pool {
    numbers: Vec<u64>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
    texts: Table,
}

impl Pool {
    pub(crate) fn get(&self, id: ValueId) -> Value<'_> {
        let place = id.0 & !TAG;
        match id.0 & TAG {
            LARGE => Value::Number(self.numbers[place as usize]),
            TEXT => Value::Text(self.texts.get(place)),
            _ => Value::Number(u64::from(place)),
        }
    }

    #[inline]
    pub(crate) fn intern(&mut self, value: Value<'_>) -> Result<ValueId, Error> {
        match value {
            Value::Number(number) if number < POOL as u64 => Ok(ValueId(number as u32)),
            _ => self.intern_large(value),
        }
    }

    fn intern_large(&mut self, value: Value<'_>) -> Result<ValueId, Error> {
        let number = match value {
            Value::Number(number) => number,
            Value::Text(text) => {
                let id = self.texts.intern(text)?;
                return if (id as usize) < POOL { Ok(ValueId(TEXT | id)) } else { Err(Self::full()) };
            }
        };
        let Pool { numbers, ids, hasher, .. } = self;
        let hash = hasher.hash_one(number);
        if let Some(&id) = ids.find(hash, |&id| numbers[id as usize] == number) {
            return Ok(ValueId(LARGE | id));
        }
        if numbers.len() == POOL {
            return Err(Self::full());
        }
        let id = numbers.len() as u32;
        numbers.push(number);
        ids.insert_unique(hash, id, |&id| hasher.hash_one(numbers[id as usize]));
        Ok(ValueId(LARGE | id))
    }

    fn full() -> Error {
        Error::TooMany { what: "distinct values" }
    }
}

/// The values of each event: a column of ids, where an update has the place of its pair.
#[derive(Clone, Default, Debug)]
pub(crate) struct Values {
    pub(crate) pool: Pool,
    /// Empty while no event has a value; else as long as the trace.
    column: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

impl Values {
    /// Whether some event has a value.
    pub(crate) fn any(&self) -> bool {
        !self.column.is_empty()
    }

    /// No event's values, but the same ids for values.
    pub(crate) fn empty_like(&self) -> Values {
        Values { pool: self.pool.clone(), column: Vec::new(), pairs: Vec::new() }
    }

    /// Drops every event's values.
    pub(crate) fn clear(&mut self) {
        *self = Values::default();
    }

    /// Appends the values of event number `event`, an update or not.
    #[inline]
    pub(crate) fn push(&mut self, event: usize, update: bool, values: EventValues) {
        let entry = |value: Option<ValueId>| value.map_or(NONE, |id| id.0);
        if self.column.is_empty() {
            if values == EventValues::NONE {
                return;
            }
            self.column.resize(event, NONE);
        }
        self.column.push(match values {
            EventValues::NONE => NONE,
            _ if update => {
                self.pairs.push([entry(values.read), entry(values.written)]);
                (self.pairs.len() - 1) as u32
            }
            EventValues { read, written } => entry(read.or(written)),
        });
    }

    /// Appends events without values, up to event number `end`.
    pub(crate) fn skip(&mut self, end: usize) {
        if !self.column.is_empty() {
            self.column.resize(end, NONE);
        }
    }

    pub(crate) fn get(&self, event: usize, update: bool, reads: bool) -> EventValues {
        let value = |entry: u32| (entry != NONE).then_some(ValueId(entry));
        match self.column.get(event) {
            None | Some(&NONE) => EventValues::NONE,
            Some(&pair) if update => {
                let [read, written] = self.pairs[pair as usize];
                EventValues { read: value(read), written: value(written) }
            }
            Some(&entry) if reads => EventValues { read: value(entry), written: None },
            Some(&entry) => EventValues { read: None, written: value(entry) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_equal_exactly_when_their_texts_are() {
        let texts = ["0", "00", "-1", "+1", "1", "1073741823", "1073741824", "18446744073709551615", "x", ""];
        let mut pool = Pool::default();
        let ids: Vec<ValueId> = texts.iter().map(|t| pool.intern(Value::parse(t)).unwrap()).collect();
        for (i, text) in texts.iter().enumerate() {
            assert_eq!(pool.get(ids[i]).to_string(), *text);
            for (j, other) in texts.iter().enumerate() {
                assert_eq!(ids[i] == ids[j], text == other);
            }
            assert_eq!(pool.intern(Value::parse(text)).unwrap(), ids[i]);
        }
    }

    #[test]
    fn an_event_gives_back_what_it_was_given() {
        let (one, two) = (Some(ValueId(1)), Some(ValueId(2)));
        let given = [
            (false, true, EventValues::NONE),
            (false, true, EventValues { read: one, written: None }),
            (false, false, EventValues { read: None, written: two }),
            (true, true, EventValues { read: one, written: two }),
            (true, true, EventValues { read: None, written: two }),
            (true, true, EventValues::NONE),
        ];
        let mut values = Values::default();
        for (event, &(update, _, value)) in given.iter().enumerate() {
            values.push(event, update, value);
        }
        for (event, &(update, reads, value)) in given.iter().enumerate() {
            assert_eq!(values.get(event, update, reads), value);
        }
    }
}
