//! The values of a packed group.

use super::GROUP;
use crate::Op;
use crate::bits::{self, PADDING};
use crate::lane::{Lane, Lanes};
use crate::value::{ABSENT, TEXT, Value, ValueSink};
use crate::varint::{Input, MAX_BYTES};

/// The most values of a group.
const VALUES: usize = 2 * GROUP;

/// The most bytes that the values of a group take.
pub(crate) const VALUES_BYTES: usize = 1 + 2 * MAX_BYTES + VALUES * (8 + 2 + 1 + MAX_BYTES) + PADDING;

/// Stands in place of the width where no event of the group has a value.
const NO_VALUES: u8 = u8::MAX;

const WIDTHS: usize = 65;

/// The values of a group under way.
#[derive(Clone, Debug)]
pub(super) struct Values {
    /// Numbers, and the ids of texts.
    numbers: [u64; VALUES],
    /// What each is: [`NUMBER`], [`ABSENT`] or [`TEXT`].
    sorts: [u8; VALUES],
    count: usize,
    /// How many are of each sort.
    sorted: [usize; 3],
}

const NUMBER: u8 = ABSENT - 1;

/// How values are packed.
struct Frame {
    base: u64,
    width: usize,
    exceptions: usize,
    /// About how many bytes that takes.
    bytes: usize,
}

impl Values {
    pub(super) fn new() -> Values {
        Values { numbers: [0; VALUES], sorts: [ABSENT; VALUES], count: 0, sorted: [0; 3] }
    }

    pub(super) fn clear(&mut self) {
        if self.any() {
            self.sorts.fill(ABSENT);
        }
        (self.count, self.sorted) = (0, [0; 3]);
    }

    /// Whether there is one that is not absent.
    #[inline]
    fn any(&self) -> bool {
        let [numbers, _, texts] = self.sorted;
        numbers + texts > 0
    }

    #[inline]
    pub(super) fn push(&mut self, value: &Value) {
        // Most traces have none: before there is one, they are only counted.
        if *value == Value::Absent && !self.any() {
            self.count += 1;
            self.sorted[usize::from(ABSENT - NUMBER)] += 1;
        } else {
            self.push_any(value);
        }
    }

    /// Adds `count` absent ones.
    pub(super) fn skip(&mut self, count: usize) {
        if self.any() {
            (0..count).for_each(|_| self.push_any(&Value::Absent));
        } else {
            self.count += count;
            self.sorted[usize::from(ABSENT - NUMBER)] += count;
        }
    }

    fn push_any(&mut self, value: &Value) {
        let (sort, number) = match *value {
            Value::Number(number) => (NUMBER, number),
            Value::Absent => (ABSENT, 0),
            Value::Text(id) => (TEXT, u64::from(id)),
        };
        let at = self.count % VALUES;
        (self.sorts[at], self.numbers[at]) = (sort, number);
        self.count = at + 1;
        self.sorted[usize::from(sort - NUMBER)] += 1;
    }

    /// Each value as its sort and number.
    fn iter(&self) -> impl Iterator<Item = (u8, u64)> {
        self.sorts.iter().copied().zip(self.numbers).take(self.count)
    }

    /// The numbers among them.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.iter().filter(|(sort, _)| *sort == NUMBER).map(|(_, number)| number)
    }

    /// The shortest way to pack them; nothing where all are absent.
    fn frame(&self) -> Option<Frame> {
        let [numbers, absent, texts] = self.sorted;
        if absent == self.count {
            return None;
        }
        let base = if numbers == 0 { 0 } else { self.numbers().fold(u64::MAX, u64::min) };
        let mut widths = [0usize; WIDTHS];
        self.numbers().for_each(|number| widths[bits::width(number - base)] += 1);
        let mut best = Frame { base, width: 64, exceptions: 0, bytes: usize::MAX };
        let (mut exceptions, mut listed) = (absent + texts, absent * 2 + texts * 4);
        for width in (0..WIDTHS).rev() {
            let bytes = 4 + bits::bytes(self.count, width) + listed;
            if bytes <= best.bytes && bits::readable(width) == width {
                best = Frame { base, width, exceptions, bytes };
            }
            exceptions += widths[width];
            listed += widths[width] * (2 + width.div_ceil(8));
        }
        Some(best)
    }

    /// About how many bytes they take.
    pub(super) fn bytes(&self) -> usize {
        self.frame().map_or(1, |frame| frame.bytes)
    }

    /// Writes them; answers with whether there is one.
    pub(super) fn write<B: AsRef<[u8]> + AsMut<[u8]>>(&self, lanes: &mut Lanes<B>) -> bool {
        let frame = self.frame();
        match &frame {
            None => lanes.byte(Lane::Values, NO_VALUES),
            Some(frame) => self.write_in(frame, lanes),
        }
        frame.is_some()
    }

    fn write_in<B: AsRef<[u8]> + AsMut<[u8]>>(&self, frame: &Frame, lanes: &mut Lanes<B>) {
        let lane = Lane::Values;
        lanes.byte(lane, frame.width as u8);
        lanes.number(lane, frame.base);
        lanes.number(lane, frame.exceptions as u64);
        if frame.exceptions == 0 {
            let numbers = self.numbers.get(..self.count).unwrap_or_default();
            return lanes.packed(lane, numbers, |number| number - frame.base, frame.width);
        }
        let mut entries = [0; VALUES];
        for (entry, (sort, number)) in entries.iter_mut().zip(self.iter()) {
            *entry = frame.packed(sort, number).unwrap_or(0);
        }
        lanes.packed(lane, entries.get(..self.count).unwrap_or_default(), |entry| entry, frame.width);
        let mut before = 0;
        for (i, (sort, number)) in self.iter().enumerate() {
            if frame.packed(sort, number).is_some() {
                continue;
            }
            lanes.number(lane, (i - before) as u64);
            before = i + 1;
            match sort {
                NUMBER => lanes.number(lane, number.wrapping_sub(frame.base)),
                _ => lanes.byte(lane, sort),
            }
            if sort == TEXT {
                lanes.number(lane, number);
            }
        }
    }
}

impl Frame {
    /// What is packed for a value that is no exception.
    #[inline]
    fn packed(&self, sort: u8, number: u64) -> Option<u64> {
        let number = number.wrapping_sub(self.base);
        (sort == NUMBER && bits::width(number) <= self.width).then_some(number)
    }
}

/// Room for reading values.
#[derive(Clone, Debug)]
pub(super) struct ValuesReader {
    scratch: [u8; VALUES * 8 + PADDING],
    numbers: [u64; VALUES],
}

impl ValuesReader {
    pub(super) fn new() -> ValuesReader {
        ValuesReader { scratch: [0; VALUES * 8 + PADDING], numbers: [0; VALUES] }
    }

    /// Gives `sink` the values of a group in order, whose operations are `ops`.
    pub(super) fn read(
        &mut self,
        input: &mut Input<'_>,
        ops: &[Op],
        sink: &mut impl ValueSink,
    ) -> Option<()> {
        let width = input.byte()?;
        if width == NO_VALUES {
            ops.iter().for_each(|&op| sink.event(op, Value::Absent, Value::Absent));
            return Some(());
        }
        let count = ops.iter().fold(0, |count, op| count + op.values());
        let (width, base, exceptions) = (usize::from(width), input.number()?, input.length()?);
        let numbers = self.numbers.get_mut(..count)?;
        let packed = input.padded(bits::bytes(count, width), &mut self.scratch)?;
        bits::unpack_long(packed, width, base, numbers)?;
        if exceptions == 0 && sink.numbers(ops, numbers) {
            return Some(());
        }
        with_exceptions(input, base, exceptions, numbers, ops, sink)
    }
}

#[inline(never)]
fn with_exceptions(
    input: &mut Input<'_>,
    base: u64,
    exceptions: usize,
    numbers: &[u64],
    ops: &[Op],
    sink: &mut impl ValueSink,
) -> Option<()> {
    let mut values = [Value::Absent; VALUES];
    values.iter_mut().zip(numbers).for_each(|(value, &number)| *value = Value::Number(number));
    let values = values.get_mut(..numbers.len())?;
    let mut at = 0usize;
    for _ in 0..exceptions {
        at = input.length()?.checked_add(at)?;
        *values.get_mut(at)? = exception(input, base)?;
        at += 1;
    }
    let mut values = values.iter().copied();
    let mut next = |there: bool| if there { values.next().unwrap_or_default() } else { Value::Absent };
    for &op in ops {
        let (read, written) = (next(op.carries_read()), next(op.carries_written()));
        sink.event(op, read, written);
    }
    Some(())
}

fn exception(input: &mut Input<'_>, base: u64) -> Option<Value> {
    match input.escape() {
        Some(ABSENT) => Some(Value::Absent),
        Some(TEXT) => input.small().map(Value::Text),
        Some(_) => None,
        None => input.number().map(|number| Value::Number(base.wrapping_add(number))),
    }
}
