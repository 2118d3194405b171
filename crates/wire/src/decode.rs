//! The decoder: a block in, columns out.

use crate::chunk::Codec;
use crate::control;
use crate::cycle::{Round, Rows};
use crate::group::{GROUP, GroupReader};
use crate::lane::{LANES, Lane};
use crate::name::NameReader;
use crate::predict::{Predictor, THREADS, Thread};
use crate::streams::Streams;
use crate::value::{Value, ValueDecoder, ValueSink};
use crate::varint::Input;
use crate::{Chunk, Damaged, MAX_EVENTS, MAX_NAMES, Op, SPACES, Space};

/// The payload of a block, split into its streams.
#[derive(Clone, Copy, Debug)]
pub struct Block<'b> {
    events: usize,
    names: usize,
    codec: Codec,
    base: [u32; SPACES],
    lanes: [&'b [u8]; LANES],
}

impl<'b> Block<'b> {
    /// Splits `payload`, which the caller has checked against the checksum in `head`.
    pub fn new(head: &Chunk, payload: &'b [u8]) -> Result<Block<'b>, Damaged> {
        let (events, names) = (head.events as usize, head.names as usize);
        if events > MAX_EVENTS || names > MAX_NAMES {
            return Err(Damaged("a block has more events or names than a block may have"));
        }
        let codec = Codec::from_code(head.codec).ok_or(Damaged("a block has an unknown codec"))?;
        let short = Damaged("a block is shorter than its streams");
        let mut input = Input::new(payload);
        let mut base = [0; SPACES];
        for id in &mut base {
            *id = input.small().ok_or(short)?;
        }
        let mut lengths = [0; LANES];
        for length in &mut lengths {
            *length = input.length().ok_or(short)?;
        }
        let mut lanes: [&[u8]; LANES] = [&[]; LANES];
        for (lane, length) in lanes.iter_mut().zip(lengths) {
            *lane = input.take(length).ok_or(short)?;
        }
        if !input.is_empty() {
            return Err(Damaged("a block is longer than its streams"));
        }
        Ok(Block { events, names, codec, base, lanes })
    }

    /// How many events it has.
    pub fn events(&self) -> usize {
        self.events
    }

    /// How many bytes each of its streams has, in their order.
    pub fn stream_bytes(&self) -> [usize; LANES] {
        self.lanes.map(<[u8]>::len)
    }

    /// How many names each space had before it.
    pub fn base(&self) -> &[u32; SPACES] {
        &self.base
    }

    /// The names that it defines.
    pub fn names(&self) -> NameReader<'b> {
        NameReader::new(self.lanes[Lane::Names as usize], self.names)
    }

    /// Whether some event may have a value.
    pub fn has_values(&self) -> bool {
        !self.lanes[Lane::Values as usize].is_empty()
    }

    fn input(&self, lane: Lane) -> Input<'b> {
        Input::new(self.lanes[lane as usize])
    }
}

/// Where the events of a block go: an entry an event in each slice.
#[derive(Debug)]
pub struct Columns<'c> {
    /// The operations.
    pub ops: &'c mut [Op],
    /// The threads.
    pub threads: &'c mut [u32],
    /// The targets; anything where the operation has none.
    pub targets: &'c mut [u32],
    /// The sites.
    pub sites: &'c mut [u32],
}

/// Decodes blocks, one after another and in any order.
#[derive(Clone, Debug)]
pub struct Decoder {
    predictor: Predictor,
    values: ValueDecoder,
    groups: GroupReader,
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder { predictor: Predictor::new(), values: ValueDecoder::new(), groups: GroupReader::new() }
    }
}

impl Decoder {
    /// Fills the first entries of `columns` with the events of `block`.
    ///
    /// Ids are not checked against the names: a file may have any.
    pub fn events(&mut self, block: &Block<'_>, columns: &mut Columns<'_>) -> Result<(), Damaged> {
        let room = Damaged("the columns are shorter than the block");
        let count = block.events;
        let ops = columns.ops.get_mut(..count).ok_or(room)?;
        let threads = columns.threads.get_mut(..count).ok_or(room)?;
        let targets = columns.targets.get_mut(..count).ok_or(room)?;
        let sites = columns.sites.get_mut(..count).ok_or(room)?;
        if block.codec == Codec::Packed {
            return packed(&mut self.groups, block, &mut Columns { ops, threads, targets, sites })
                .ok_or(Damaged("a group of events makes no sense"));
        }
        self.predictor.reset(block.base);

        let mut streams = Streams::new(|lane| block.lanes[lane as usize]);
        let mut hits = streams.hits()?;
        let (mut start, mut rounds) = (0, [Round::default(); THREADS]);
        let mut rows = Rows { ops, targets, sites };
        while start < count {
            let (thread, length) = streams.run().ok_or(Damaged("a run of a thread is cut short"))?;
            let end = start.checked_add(length).filter(|&end| end <= count);
            let end = end.ok_or(Damaged("the runs of threads are longer than the block"))?;
            threads[start..end].fill(thread);
            let mut state = self.predictor.resume(thread);
            let place = thread as usize % THREADS;
            // The last thread has no mark of its own, and does without.
            let (round, mark) = (&mut rounds[place], (place as u8).wrapping_add(1));
            while start < end {
                if self.predictor.is_at_end(&state) {
                    let part = &mut rows.part(start..end);
                    start += self.predictor.go_straight(&mut state, &mut streams, part, &mut hits);
                    round.leave();
                }
                let predicted = hits.min(end - start);
                if predicted > 0 {
                    self.predictor.follow_all(&mut state, &mut rows, start..start + predicted, round, mark);
                    hits -= predicted;
                    start += predicted;
                }
                if start < end {
                    let event = self.other(&mut state, &mut streams);
                    let (op, target, site) = event.ok_or(Damaged("an event makes no sense"))?;
                    round.pass(rows.sites, site);
                    (rows.ops[start], rows.targets[start], rows.sites[start]) = (op, target, site);
                    start += 1;
                    hits = streams.hits()?;
                }
            }
            self.predictor.suspend(thread, state);
        }
        if hits == 0 && streams.are_read(count) {
            Ok(())
        } else {
            Err(Damaged("a block has more bytes than events"))
        }
    }

    /// An event that is as its control byte says.
    #[inline]
    fn other(&mut self, thread: &mut Thread, streams: &mut Streams<'_>) -> Option<(Op, u32, u32)> {
        let control = streams.control()?;
        let [first, second] = self.predictor.sites(thread);
        let site = match control.site {
            control::site::FIRST => first,
            control::site::SECOND => second,
            control::site::FRESH => self.predictor.fresh(Space::Site),
            _ => u32::try_from(i64::from(thread.site).checked_add(streams.sites.step()?)?).ok()?,
        };
        let arrival = self.predictor.arrive(thread, site);
        let op = match control.op {
            control::op::GUESSED => arrival.op,
            control::op::PARTNER => arrival.op.partner()?,
            _ => Op::from_code(streams.ops.byte()?)?,
        };
        let mut target = 0;
        if let Some(space) = op.space() {
            let targets = self.predictor.targets(thread, arrival, op, space);
            target = match control.target {
                control::target::GUESSED => targets.guess,
                control::target::LAST => targets.last,
                control::target::OTHER => targets.other,
                _ => targets.target(streams.targets.number()?)?,
            };
        }
        self.predictor.learn(thread, arrival, op, target);
        Some((op, target, site))
    }

    /// Gives `sink` the values of each event of `block` in order, whose events are in `columns`.
    pub fn values(
        &mut self,
        block: &Block<'_>,
        columns: &Columns<'_>,
        sink: &mut impl ValueSink,
    ) -> Result<(), Damaged> {
        if block.codec == Codec::Packed {
            return packed_values(&mut self.groups, block, columns, sink);
        }
        let rows = columns.ops.iter().zip(columns.targets.iter()).zip(columns.sites.iter());
        let events = rows.take(block.events).map(|((&op, &target), &site)| (op, target, site));
        self.values.decode(block.lanes[Lane::Values as usize], events, sink)
    }
}

/// Fills `columns`, which are as long as the block, with its packed events.
fn packed(reader: &mut GroupReader, block: &Block<'_>, columns: &mut Columns<'_>) -> Option<()> {
    let [mut threads, mut ops, mut sites, mut targets] =
        [Lane::Threads, Lane::Ops, Lane::Sites, Lane::Targets].map(|lane| block.input(lane));
    reader.begin(block.base);
    let groups = columns.ops.chunks_mut(GROUP).zip(columns.threads.chunks_mut(GROUP));
    let groups = groups.zip(columns.sites.chunks_mut(GROUP)).zip(columns.targets.chunks_mut(GROUP));
    for (((group_ops, group_threads), group_sites), group_targets) in groups {
        reader.threads(&mut threads, group_threads)?;
        reader.ops(&mut ops, group_ops)?;
        reader.sites(&mut sites, group_sites)?;
        reader.targets(&mut targets, group_ops, group_targets)?;
    }
    let others = [Lane::Control, Lane::Hits].map(|lane| block.input(lane));
    [threads, ops, sites, targets].iter().chain(&others).all(Input::is_empty).then_some(())
}

fn packed_values(
    reader: &mut GroupReader,
    block: &Block<'_>,
    columns: &Columns<'_>,
    sink: &mut impl ValueSink,
) -> Result<(), Damaged> {
    let mut input = block.input(Lane::Values);
    let ops = columns.ops.get(..block.events).ok_or(Damaged("the columns are shorter than the block"))?;
    if !block.has_values() {
        ops.iter().for_each(|&op| sink.event(op, Value::Absent, Value::Absent));
        return Ok(());
    }
    for ops in ops.chunks(GROUP) {
        reader.values(&mut input, ops, sink).ok_or(Damaged("a group of values makes no sense"))?;
    }
    if input.is_empty() { Ok(()) } else { Err(Damaged("there are more values than events")) }
}
