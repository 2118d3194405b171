//! Values that events read and wrote.

use std::fmt;
use std::hash::BuildHasher;
use std::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::id::NONE;
use crate::{Error, Kind, Table};

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

impl ValueId {
    /// The id of a number that has the same id in every trace, as small ones have.
    #[inline]
    pub fn of_small(number: u64) -> Option<ValueId> {
        (number < POOL as u64).then_some(ValueId(number as u32))
    }
}

/// What an event read and wrote, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EventValues {
    /// The value observed by a read or update.
    pub read: Option<ValueId>,
    /// The value left by a write or update; of a failed attempt, the value it would have succeeded at.
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
    #[inline]
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
            Value::Number(number) => match ValueId::of_small(number) {
                Some(id) => Ok(id),
                None => self.intern_large(value),
            },
            Value::Text(_) => self.intern_large(value),
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

    /// Adds every value of `other`; answers with how its entries read here.
    fn absorb(&mut self, other: &Pool) -> Result<Renamed, Error> {
        let number = |&number: &u64| self.intern_large(Value::Number(number)).map(|id| id.0);
        let numbers = other.numbers.iter().map(number).collect::<Result<_, _>>()?;
        let text = |text| self.intern_large(Value::Text(text)).map(|id| id.0);
        Ok(Renamed { numbers, texts: other.texts.iter().map(text).collect::<Result<_, _>>()? })
    }
}

/// The entries of values that were pooled apart.
struct Renamed {
    numbers: Vec<u32>,
    texts: Vec<u32>,
}

impl Renamed {
    #[inline]
    fn entry(&self, entry: u32) -> u32 {
        match entry & TAG {
            LARGE => self.numbers[(entry & !TAG) as usize],
            TEXT => self.texts[(entry & !TAG) as usize],
            _ => entry,
        }
    }
}

/// The values of each event: a column of ids, where an update or failed attempt has the place of its pair.
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

    /// An entry for each event, if any has a value.
    pub(crate) fn column(&self) -> &Vec<u32> {
        &self.column
    }

    /// Drops every event's values.
    pub(crate) fn clear(&mut self) {
        *self = Values::default();
    }

    /// Drops every event's values and keeps the memory.
    pub(crate) fn forget(&mut self) {
        self.pool = Pool::default();
        self.column.clear();
        self.pairs.clear();
    }

    /// Appends the values of event number `event`, which may be a pair or not.
    #[inline]
    pub(crate) fn push(&mut self, event: usize, pair: bool, values: EventValues) {
        if self.column.is_empty() {
            if values == EventValues::NONE {
                return;
            }
            self.column.resize(event, NONE);
        }
        let entry = paired(pair, values, &mut self.pairs);
        self.column.push(entry);
    }

    /// Drops the values of event number `event`.
    pub(crate) fn remove(&mut self, event: usize) {
        if let Some(entry) = self.column.get_mut(event) {
            *entry = NONE;
        }
    }

    /// Appends events without values, up to event number `end`.
    pub(crate) fn skip(&mut self, end: usize) {
        if !self.column.is_empty() {
            self.column.resize(end, NONE);
        }
    }

    /// Appends `batch`, whose events have `kinds`, from event number `event` on. There will be `expected` events,
    /// as far as is known.
    pub(crate) fn extend(&mut self, event: usize, kinds: &[Kind], batch: &BatchValues, expected: usize) {
        if self.column.is_empty() {
            // Exactly, for in a large trace nothing may grow by doubling; without the memory, `resize` gives up.
            let _ = self.column.try_reserve_exact(expected);
            self.column.resize(event, NONE);
        }
        self.append_column(kinds, &batch.column, batch.pairs.is_empty(), |entry| entry);
        self.pairs.extend_from_slice(&batch.pairs);
    }

    /// Appends the values of a trace built apart, whose events have `kinds`, from event number `event` on.
    pub(crate) fn append(&mut self, event: usize, kinds: &[Kind], other: &Values) -> Result<(), Error> {
        if !other.any() {
            self.skip(event + kinds.len());
            return Ok(());
        }
        if self.column.is_empty() {
            self.column.resize(event, NONE);
        }
        let renamed = self.pool.absorb(&other.pool)?;
        let same = other.pairs.is_empty() && renamed.numbers.is_empty() && renamed.texts.is_empty();
        self.append_column(kinds, &other.column, same, |entry| renamed.entry(entry));
        self.pairs.extend(other.pairs.iter().map(|pair| pair.map(|entry| renamed.entry(entry))));
        Ok(())
    }

    /// Appends entries as they are if they are the `same` here; else pairs are moved behind ours, and others renamed.
    fn append_column(&mut self, kinds: &[Kind], column: &[u32], same: bool, rename: impl Fn(u32) -> u32) {
        if same {
            self.column.extend_from_slice(column);
            return;
        }
        let before = self.pairs.len() as u32;
        self.column.extend(kinds.iter().zip(column).map(|(&kind, &entry)| match kind {
            _ if entry == NONE => NONE,
            _ if kind.has_two_values() => entry + before,
            _ => rename(entry),
        }));
    }

    /// What the events in `range`, which have `kinds`, read and wrote.
    #[inline]
    pub(crate) fn all<'t>(
        &'t self,
        kinds: &'t [Kind],
        range: Range<usize>,
    ) -> impl Iterator<Item = [Option<Value<'t>>; 2]> + 't {
        let value = |entry: u32| (entry != NONE).then(|| self.pool.get(ValueId(entry)));
        let column = self.column.get(range).unwrap_or_default();
        kinds.iter().zip(column).map(move |(&kind, &entry)| match kind {
            _ if kind.has_two_values() && entry != NONE => self.pairs[entry as usize].map(value),
            _ if kind.reads() => [value(entry), None],
            _ => [None, value(entry)],
        })
    }

    pub(crate) fn get(&self, event: usize, pair: bool, reads: bool) -> EventValues {
        let value = |entry: u32| (entry != NONE).then_some(ValueId(entry));
        match self.column.get(event) {
            None | Some(&NONE) => EventValues::NONE,
            Some(&place) if pair => {
                let [read, written] = self.pairs[place as usize];
                EventValues { read: value(read), written: value(written) }
            }
            Some(&entry) if reads => EventValues { read: value(entry), written: None },
            Some(&entry) => EventValues { read: None, written: value(entry) },
        }
    }
}

/// The entry of an event's values in a column: for a pair, the place of its pair, which goes to `pairs`.
#[inline]
fn paired(pair: bool, values: EventValues, pairs: &mut Vec<[u32; 2]>) -> u32 {
    let entry = |value: Option<ValueId>| value.map_or(NONE, |id| id.0);
    match values {
        EventValues::NONE => NONE,
        _ if pair => {
            pairs.push([entry(values.read), entry(values.written)]);
            (pairs.len() - 1) as u32
        }
        EventValues { read, written } => entry(read.or(written)),
    }
}

/// The values of a batch of events, in the form in which a trace keeps them.
#[derive(Clone, Default, Debug)]
pub struct BatchValues {
    column: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

impl BatchValues {
    /// How many events there are.
    pub fn len(&self) -> usize {
        self.column.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.column.is_empty()
    }

    /// Forgets all events.
    pub fn clear(&mut self) {
        self.column.clear();
        self.pairs.clear();
    }

    /// Adds the values of an event of `kind`; those that it cannot have are dropped.
    #[inline]
    pub fn push(&mut self, kind: Kind, values: EventValues) {
        let entry = paired(kind.has_two_values(), carried(kind, values), &mut self.pairs);
        self.column.push(entry);
    }

    /// Replaces the values of the event at `place`, if there is one.
    pub fn set(&mut self, place: usize, kind: Kind, values: EventValues) {
        if let Some(entry) = self.column.get_mut(place) {
            *entry = paired(kind.has_two_values(), carried(kind, values), &mut self.pairs);
        }
    }

    /// Adds events that have no pairs and at most one value, which their operations can have: as [`push`]
    /// would, but at once.
    ///
    /// [`push`]: BatchValues::push
    #[inline]
    pub fn extend(&mut self, values: impl Iterator<Item = Option<ValueId>>) {
        self.column.extend(values.map(|value| value.map_or(NONE, |id| id.0)));
    }
}

/// The values that an operation of `kind` can have.
#[inline]
pub(crate) fn carried(kind: Kind, values: EventValues) -> EventValues {
    EventValues {
        read: values.read.filter(|_| kind.reads()),
        written: values.written.filter(|_| kind.carries_written()),
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
