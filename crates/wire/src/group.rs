//! Packed events: groups whose fields are numbers of one width.
//!
//! The encoding for events that nothing predicts. Each column of a group is its least number and the differences from
//! it, in as many bits as the largest takes. Numbers among the values that are much wider than the rest, and values
//! that are no numbers, are listed as exceptions behind the others.

use crate::Op;
use crate::bits::{self, PADDING};
use crate::encode::Event;
use crate::lane::{Lane, Lanes};
use crate::value::{ABSENT, TEXT, Value, ValueSink};
use crate::varint::{Input, MAX_BYTES};

/// The number of events in each group of a block but the last.
pub(crate) const GROUP: usize = 1 << 8;

/// The most values of a group.
const VALUES: usize = 2 * GROUP;

/// Stands in place of the width where no event of the group has a value.
const NO_VALUES: u8 = u8::MAX;

const WIDTHS: usize = 65;

/// The columns of events in the order of their streams.
const COLUMNS: [Lane; 4] = [Lane::Threads, Lane::Ops, Lane::Sites, Lane::Targets];

/// The most bytes that a group takes in each stream of events, and in that of values.
pub(crate) const COLUMN_BYTES: usize = 1 + MAX_BYTES + GROUP * 4 + PADDING;
pub(crate) const VALUES_BYTES: usize = 1 + 2 * MAX_BYTES + VALUES * (8 + 2 + 1 + MAX_BYTES) + PADDING;

/// A group under way.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    events: usize,
    columns: [[u32; GROUP]; COLUMNS.len()],
    values: Values,
}

impl Group {
    pub(crate) fn new() -> Group {
        let values = Values { numbers: [0; VALUES], sorts: [ABSENT; VALUES], count: 0, sorted: [0; 3] };
        Group { events: 0, columns: [[0; GROUP]; COLUMNS.len()], values }
    }

    pub(crate) fn len(&self) -> usize {
        self.events
    }

    pub(crate) fn clear(&mut self) {
        self.events = 0;
        (self.values.count, self.values.sorted) = (0, [0; 3]);
    }

    /// Adds an event; the group must not be full.
    #[inline]
    pub(crate) fn push(&mut self, event: &Event) {
        let at = self.events % GROUP;
        let target = if event.op.space().is_some() { event.target } else { 0 };
        let [threads, ops, sites, targets] = &mut self.columns;
        (threads[at], ops[at], sites[at], targets[at]) = (event.thread, event.op as u32, event.site, target);
        self.events = at + 1;
        if event.op.carries_read() {
            self.values.push(&event.read);
        }
        if event.op.carries_written() {
            self.values.push(&event.written);
        }
    }

    fn column(&self, column: usize) -> &[u32] {
        self.columns[column].get(..self.events).unwrap_or_default()
    }

    /// About how many bytes the group takes.
    pub(crate) fn bytes(&self) -> usize {
        let columns = (0..COLUMNS.len()).map(|column| {
            let (_, width) = frame(self.column(column));
            3 + bits::bytes(self.events, width)
        });
        columns.sum::<usize>() + self.values.frame().map_or(1, |frame| frame.bytes)
    }

    /// Writes the group and begins the next; answers with whether it had a value.
    pub(crate) fn write<B>(&mut self, lanes: &mut Lanes<B>) -> bool
    where
        B: AsRef<[u8]> + AsMut<[u8]>,
    {
        for (column, lane) in COLUMNS.into_iter().enumerate() {
            let column = self.column(column);
            let (base, width) = frame(column);
            lanes.byte(lane, width as u8);
            lanes.number(lane, u64::from(base));
            lanes.packed(lane, column.iter().map(|&number| u64::from(number - base)), column.len(), width);
        }
        let frame = self.values.frame();
        match &frame {
            None => lanes.byte(Lane::Values, NO_VALUES),
            Some(frame) => self.values.write(frame, lanes),
        }
        self.clear();
        frame.is_some()
    }
}

/// The least of `numbers`, and the width of the differences from it.
fn frame(numbers: &[u32]) -> (u32, usize) {
    let least = numbers.iter().fold(u32::MAX, |least, &number| least.min(number));
    let most = numbers.iter().fold(0, |most, &number| most.max(number));
    (least.min(most), bits::width(u64::from(most.saturating_sub(least))))
}

/// The values of a group under way.
#[derive(Clone, Debug)]
struct Values {
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
    #[inline]
    fn push(&mut self, value: &Value) {
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

    fn write<B: AsRef<[u8]> + AsMut<[u8]>>(&self, frame: &Frame, lanes: &mut Lanes<B>) {
        let lane = Lane::Values;
        lanes.byte(lane, frame.width as u8);
        lanes.number(lane, frame.base);
        lanes.number(lane, frame.exceptions as u64);
        if frame.exceptions == 0 {
            let numbers = self.numbers.iter().take(self.count).map(|&number| number - frame.base);
            return lanes.packed(lane, numbers, self.count, frame.width);
        }
        let numbers = self.iter().map(|(sort, number)| frame.packed(sort, number).unwrap_or(0));
        lanes.packed(lane, numbers, self.count, frame.width);
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

/// Reads groups. It keeps what it needs room for, as clearing that for each group would take longer than reading.
#[derive(Clone, Debug)]
pub(crate) struct GroupReader {
    scratch: [u8; VALUES * 8 + PADDING],
    codes: [u32; GROUP],
    numbers: [u64; VALUES],
}

impl GroupReader {
    pub(crate) fn new() -> GroupReader {
        GroupReader { scratch: [0; VALUES * 8 + PADDING], codes: [0; GROUP], numbers: [0; VALUES] }
    }

    /// Reads a column of a group.
    pub(crate) fn column(&mut self, input: &mut Input<'_>, out: &mut [u32]) -> Option<()> {
        column(&mut self.scratch, input, out)
    }

    /// Reads the operations of a group.
    pub(crate) fn ops(&mut self, input: &mut Input<'_>, out: &mut [Op]) -> Option<()> {
        let codes = self.codes.get_mut(..out.len())?;
        column(&mut self.scratch, input, codes)?;
        let mut known = true;
        for (op, &code) in out.iter_mut().zip(&*codes) {
            known &= (code as usize) < Op::ALL.len();
            *op = Op::from_code(code as u8).unwrap_or(Op::Skip);
        }
        known.then_some(())
    }

    /// Gives `sink` the values of a group in order, whose operations are `ops`.
    pub(crate) fn values(
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
        let count = ops
            .iter()
            .fold(0, |count, op| count + usize::from(op.carries_read()) + usize::from(op.carries_written()));
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

fn column(scratch: &mut [u8], input: &mut Input<'_>, out: &mut [u32]) -> Option<()> {
    let (width, base) = (usize::from(input.byte()?), input.small()?);
    let packed = input.padded(bits::bytes(out.len(), width), scratch)?;
    bits::unpack(packed, width, base, out)
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
