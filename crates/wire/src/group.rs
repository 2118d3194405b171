//! Packed events: groups whose fields are numbers of one width.
//!
//! The encoding for events that nothing predicts, or that are at new sites, one after another. Each field of a group is a
//! [`column`](crate::column). Where it is shorter, threads are runs, sites are counted from those that would follow each other, and
//! targets from the first one that is not used yet. Numbers among the values that are much wider than the rest, and values
//! that are no numbers, are listed as exceptions behind the others.

mod values;

use core::hint::select_unpredictable;

use crate::column::{ColumnReader, ENTRIES, Frame, RELATED};
use crate::encode::{Batch, Event};
use crate::lane::{Lane, Lanes};
use crate::value::ValueSink;
use crate::varint::{self, Input};
use crate::{Op, SPACES, Space};

use values::{Values, ValuesReader};

pub(crate) use values::VALUES_BYTES;

/// The number of events in each group of a block but the last.
pub(crate) const GROUP: usize = ENTRIES;

/// Stands for the space of operations without a target: as if it had one id, which is 0.
const NO_SPACE: usize = Space::Text as usize;

/// The first id of each space that no event has used, when a block begins that has so many names before it.
fn first_fresh(mut defined: [u32; SPACES]) -> [u32; SPACES] {
    defined[NO_SPACE] = 0;
    defined
}

/// How far the first unused id moves on if a target is `below` it by so much: to behind the target, if that is not used yet.
#[inline]
fn advance(below: u32) -> u32 {
    if below as i32 <= 0 { 1u32.wrapping_sub(below) } else { 0 }
}

#[inline]
fn space(op: Op) -> usize {
    op.space().map_or(NO_SPACE, |space| space as usize)
}

/// A group under way.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    events: usize,
    threads: [u32; GROUP],
    ops: [u32; GROUP],
    sites: [u32; GROUP],
    targets: [u32; GROUP],
    /// How far each target is below the first unused one.
    below: [u32; GROUP],
    /// The first id of each space that is not known to be used: where targets are written as they are, nothing is learned of it.
    fresh: [u32; SPACES],
    /// The same when the group began.
    fresh_before: [u32; SPACES],
    values: Values,
}

impl Group {
    pub(crate) fn new() -> Group {
        let column = [0; GROUP];
        Group {
            events: 0,
            threads: column,
            ops: column,
            sites: column,
            targets: column,
            below: column,
            fresh: [0; SPACES],
            fresh_before: [0; SPACES],
            values: Values::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.events
    }

    /// Begins anew with a block that has so many names before it.
    pub(crate) fn begin(&mut self, defined: [u32; SPACES]) {
        self.fresh = first_fresh(defined);
        self.clear();
    }

    /// Begins the next group of the block.
    pub(crate) fn clear(&mut self) {
        self.fresh_before = self.fresh;
        self.events = 0;
        self.values.clear();
    }

    /// Adds an event; the group must not be full.
    #[inline]
    pub(crate) fn push(&mut self, event: &Event) {
        let (at, space) = (self.events % GROUP, space(event.op));
        let target = if space == NO_SPACE { 0 } else { event.target };
        let fresh = &mut self.fresh[space];
        let below = fresh.wrapping_sub(target);
        *fresh = fresh.wrapping_add(advance(below));
        (self.threads[at], self.ops[at], self.sites[at]) = (event.thread, event.op as u32, event.site);
        (self.targets[at], self.below[at]) = (target, below);
        self.events = at + 1;
        if event.op.carries_read() {
            self.values.push(&event.read);
        }
        if event.op.carries_written() {
            self.values.push(&event.written);
        }
    }

    /// Adds the first `count` events of `batch`, for which there must be room: the same as [`Group::push`] for each.
    pub(crate) fn extend(&mut self, batch: &Batch<'_>, count: usize) {
        let range = self.events..GROUP.min(self.events + count);
        let columns = self.threads[range.clone()].iter_mut().zip(&mut self.ops[range.clone()]);
        let columns = columns.zip(&mut self.sites[range.clone()]);
        let given = batch.threads.iter().zip(batch.ops).zip(batch.sites);
        for (((to_thread, to_op), to_site), ((&thread, &op), &site)) in columns.zip(given) {
            (*to_thread, *to_op, *to_site) = (thread, op as u32, site);
        }
        let columns = self.targets[range.clone()].iter_mut().zip(&mut self.below[range.clone()]);
        for ((to, below), (&op, &target)) in columns.zip(batch.ops.iter().zip(batch.targets)) {
            let space = space(op);
            *to = if space == NO_SPACE { 0 } else { target };
            let fresh = &mut self.fresh[space];
            *below = fresh.wrapping_sub(*to);
            *fresh = fresh.wrapping_add(advance(*below));
        }
        self.events = range.end;
        if batch.values.is_empty() {
            self.values.skip(batch.ops.iter().take(count).map(|op| op.values()).sum());
            return;
        }
        for (op, [read, written]) in batch.ops.iter().zip(batch.values).take(count) {
            if op.carries_read() {
                self.values.push(read);
            }
            if op.carries_written() {
                self.values.push(written);
            }
        }
    }

    /// About how many bytes the group takes.
    pub(crate) fn bytes(&self) -> usize {
        let threads = &self.threads[..self.events];
        let columns = Frame::of(threads).bytes.min(runs_bytes(threads))
            + Frame::of(&self.ops[..self.events]).bytes
            + self.site_frame().0.bytes
            + self.target_frame().0.bytes;
        columns + self.values.bytes()
    }

    /// How sites are written, and whether as what they differ from sites that follow each other, which are second.
    fn site_frame(&self) -> (Frame, Option<[u32; GROUP]>) {
        let sites = &self.sites[..self.events];
        let mut steps = [0; GROUP];
        for ((step, &site), place) in steps.iter_mut().zip(sites).zip(0..) {
            *step = site.wrapping_sub(place);
        }
        let line = Frame::of(&steps[..self.events]);
        if line.is_short() {
            return (line, Some(steps));
        }
        let plain = Frame::of(sites);
        if line.bytes < plain.bytes { (line, Some(steps)) } else { (plain, None) }
    }

    /// How targets are written, and whether as how far they are below the first unused one.
    fn target_frame(&self) -> (Frame, bool) {
        let below = Frame::of_small(&self.below[..self.events]);
        if below.is_short() {
            return (below, true);
        }
        let plain = Frame::of(&self.targets[..self.events]);
        if below.bytes < plain.bytes { (below, true) } else { (plain, false) }
    }

    /// Writes the group and begins the next; answers with whether it had a value.
    pub(crate) fn write<B>(&mut self, lanes: &mut Lanes<B>) -> bool
    where
        B: AsRef<[u8]> + AsMut<[u8]>,
    {
        let count = self.events;
        let (threads, ops) = (&self.threads[..count], &self.ops[..count]);
        let frame = Frame::of(threads);
        if runs_bytes(threads) < frame.bytes {
            write_runs(threads, lanes);
        } else {
            frame.write(threads, 0, lanes, Lane::Threads);
        }
        Frame::of(ops).write(ops, 0, lanes, Lane::Ops);
        match self.site_frame() {
            (frame, Some(steps)) => frame.write(&steps[..count], RELATED, lanes, Lane::Sites),
            (frame, None) => frame.write(&self.sites[..count], 0, lanes, Lane::Sites),
        }
        match self.target_frame() {
            (frame, true) => frame.write(&self.below[..count], RELATED, lanes, Lane::Targets),
            (frame, false) => {
                frame.write(&self.targets[..count], 0, lanes, Lane::Targets);
                self.fresh = self.fresh_before;
            }
        }
        let valued = self.values.write(lanes);
        self.clear();
        valued
    }
}

/// At most how many bytes runs of `threads` take.
fn runs_bytes(threads: &[u32]) -> usize {
    let changes = threads.iter().zip(threads.iter().skip(1)).map(|(a, b)| u32::from(a != b)).sum::<u32>();
    let most = threads.iter().fold(0, |most, &thread| most.max(thread));
    let (_, id) = varint::encode(u64::from(most));
    1 + (changes as usize + 1) * (1 + id)
}

fn write_runs<B: AsRef<[u8]> + AsMut<[u8]>>(threads: &[u32], lanes: &mut Lanes<B>) {
    lanes.byte(Lane::Threads, RELATED);
    for run in threads.chunk_by(|a, b| a == b) {
        lanes.number(Lane::Threads, run.first().map_or(0, |&thread| u64::from(thread)));
        lanes.byte(Lane::Threads, (run.len() - 1) as u8);
    }
}

/// Reads groups. It keeps what it needs room for, as clearing that for each group would take longer than reading.
#[derive(Clone, Debug)]
pub(crate) struct GroupReader {
    columns: ColumnReader,
    codes: [u32; GROUP],
    spaces: [u8; GROUP],
    /// The first id of each space that is not known to be used.
    fresh: [u32; SPACES],
    values: ValuesReader,
}

impl GroupReader {
    pub(crate) fn new() -> GroupReader {
        GroupReader {
            columns: ColumnReader::new(),
            codes: [0; GROUP],
            spaces: [0; GROUP],
            fresh: [0; SPACES],
            values: ValuesReader::new(),
        }
    }

    /// Begins a block that has so many names before it.
    pub(crate) fn begin(&mut self, defined: [u32; SPACES]) {
        self.fresh = first_fresh(defined);
    }

    /// Reads the threads of a group.
    pub(crate) fn threads(&mut self, input: &mut Input<'_>, out: &mut [u32]) -> Option<()> {
        if input.first() != Some(RELATED) {
            return self.columns.read(input, out).filter(|related| !related).map(drop);
        }
        input.skip(1)?;
        let mut rest = out;
        while !rest.is_empty() {
            let thread = input.small()?;
            let (run, others) = rest.split_at_mut_checked(usize::from(input.byte()?) + 1)?;
            run.fill(thread);
            rest = others;
        }
        Some(())
    }

    /// Reads the operations of a group.
    pub(crate) fn ops(&mut self, input: &mut Input<'_>, out: &mut [Op]) -> Option<()> {
        let codes = self.codes.get_mut(..out.len())?;
        let related = self.columns.read(input, codes)?;
        let mut known = !related;
        for (op, &code) in out.iter_mut().zip(&*codes) {
            known &= (code as usize) < Op::ALL.len();
            *op = Op::from_code(code as u8).unwrap_or(Op::Skip);
        }
        known.then_some(())
    }

    /// Reads the sites of a group.
    pub(crate) fn sites(&mut self, input: &mut Input<'_>, out: &mut [u32]) -> Option<()> {
        if self.columns.read(input, out)? {
            out.iter_mut().zip(0..).for_each(|(site, place)| *site = site.wrapping_add(place));
        }
        Some(())
    }

    /// Reads the targets of a group, whose operations are `ops`.
    pub(crate) fn targets(&mut self, input: &mut Input<'_>, ops: &[Op], out: &mut [u32]) -> Option<()> {
        if !self.columns.read(input, out)? {
            return Some(());
        }
        let (mut there, spaces) = (0u8, self.spaces.get_mut(..ops.len())?);
        for (space_of, &op) in spaces.iter_mut().zip(ops) {
            *space_of = space(op) as u8;
            there |= 1 << *space_of;
        }
        for (space, fresh) in (0..).zip(&mut self.fresh).filter(|(space, _)| there >> space & 1 != 0) {
            *fresh = count(out, spaces, space, *fresh);
        }
        Some(())
    }

    /// Gives `sink` the values of a group in order, whose operations are `ops`.
    pub(crate) fn values(
        &mut self,
        input: &mut Input<'_>,
        ops: &[Op],
        sink: &mut impl ValueSink,
    ) -> Option<()> {
        self.values.read(input, ops, sink)
    }
}

/// Turns what targets in `space` are below the first unused one into targets; answers with the first that is unused then.
fn count(targets: &mut [u32], spaces: &[u8], space: u8, mut fresh: u32) -> u32 {
    // A pass for each space, of which there are one or two: the first unused id then waits for nothing but itself.
    for (target, &its) in targets.iter_mut().zip(spaces) {
        let (here, below) = (its == space, *target);
        *target = select_unpredictable(here, fresh.wrapping_sub(below), below);
        fresh = fresh.wrapping_add(select_unpredictable(here, advance(below), 0));
    }
    fresh
}

#[cfg(test)]
mod tests;
