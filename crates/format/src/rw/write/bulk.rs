//! Events of a trace, written a few hundred at a time: columns in, columns out.
//!
//! All names of a part are defined before its first event. In each space that is still the order of their first use.

use std::io::{self, Write};
use std::ops::Range;

use reweave_trace::{Kind, Name, Names, Rows, SiteId, Space, Table, Trace};
use reweave_wire::{Batch, Full, Op, Value};

use super::{FileIds, Writer};
use crate::Error;
use crate::rw::codes;

const VARIABLE: reweave_wire::Space = reweave_wire::Space::Variable;

/// How many events are written at a time.
const PART: usize = 1 << 8;

/// The columns of a part, with the ids of the file.
#[derive(Default)]
pub(super) struct Part {
    threads: Vec<u32>,
    ops: Vec<Op>,
    targets: Vec<u32>,
    sites: Vec<u32>,
    values: Vec<[Value; 2]>,
    /// Names that are numbers and about to be defined.
    numbers: Vec<u64>,
}

impl<W: Write> Writer<W> {
    /// Writes the events in `range` of `trace`, none of which changes its context.
    pub(super) fn all(&mut self, trace: &Trace, range: Range<usize>) -> Result<(), Error> {
        let mut part = std::mem::take(&mut self.part);
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + PART);
            self.fill(trace, start..end, &mut part)?;
            self.write(&part)?;
            start = end;
        }
        self.part = part;
        Ok(())
    }

    /// Puts the events in `range` in `part`.
    fn fill(&mut self, trace: &Trace, range: Range<usize>, part: &mut Part) -> Result<(), Error> {
        let Rows { kinds, threads, targets, sites } = trace.rows();
        let (kinds, targets, sites) = (&kinds[range.clone()], &targets[range.clone()], &sites[range.clone()]);
        part.threads.clear();
        part.threads.extend(threads.part(range.clone()).iter().map(|thread| thread.0));
        part.ops.clear();
        part.ops.extend(kinds.iter().map(|&kind| codes::op(kind)));
        if self.has_news(part, targets, sites) {
            self.define_targets(trace.names(), kinds, &part.threads, targets)?;
            let aimed = part.ops.iter().zip(targets);
            let variables = aimed.filter(|(op, _)| op.space() == Some(VARIABLE)).map(|(_, &target)| target);
            self.define_all(VARIABLE, variables, trace.names().space(Space::Variable), &mut part.numbers)?;
            let all = sites.iter().map(|site| site.0);
            self.define_all(reweave_wire::Space::Site, all, &trace.names().sites, &mut part.numbers)?;
        }
        part.sites.clear();
        part.sites.extend(sites.iter().map(|site| site.0));
        part.targets.clear();
        part.targets.extend_from_slice(targets);
        self.rename(part);
        part.values.clear();
        if trace.has_values() {
            for [read, written] in trace.values_in(range) {
                part.values.push([self.value(read)?, self.value(written)?]);
            }
        }
        Ok(())
    }

    /// Whether some thread, target or site may have no id yet: looked for in all at once, which mostly finds none.
    fn has_news(&self, part: &Part, targets: &[u32], sites: &[SiteId]) -> bool {
        let same = |space: reweave_wire::Space| self.ids[space as usize].same;
        let mut known = [u64::MAX; 1 << u8::BITS];
        for &op in Op::ALL {
            known[usize::from(op as u8)] = op.space().map_or(u64::MAX, |space| u64::from(same(space)));
        }
        let [threads, all_sites] = [reweave_wire::Space::Thread, reweave_wire::Space::Site].map(same);
        let aimed = part.ops.iter().zip(targets);
        aimed.fold(false, |news, (&op, &target)| news | (u64::from(target) >= known[usize::from(op as u8)]))
            | part.threads.iter().fold(false, |news, &thread| news | (thread >= threads))
            | sites.iter().fold(false, |news, site| news | (site.0 >= all_sites))
    }

    /// Gives ids to those of `ids` that have none yet.
    fn define_all(
        &mut self,
        space: reweave_wire::Space,
        ids: impl Iterator<Item = u32> + Clone,
        names: &Table,
        numbers: &mut Vec<u64>,
    ) -> Result<(), Error> {
        let at = space as usize;
        numbers.clear();
        if self.encoder.defined()[at] == self.ids[at].same && !self.ids[at].differ() {
            // Most often they are numbers, and one after another.
            let mut next = self.ids[at].same;
            for id in ids.clone() {
                if id < next {
                    continue;
                }
                match names.kept(id) {
                    Name::Number(number) if id == next => numbers.push(number),
                    _ => break,
                }
                next += 1;
            }
        }
        let mut left = &numbers[..];
        while !left.is_empty() {
            let count = self.encoder.define_numbers(space, left);
            self.ids[at].same += count as u32;
            left = &left[count..];
            if !left.is_empty() {
                self.id(space, self.ids[at].same, names)?;
                left = &left[1..];
            }
        }
        for id in ids {
            if id >= self.ids[at].same {
                self.id(space, id, names)?;
            }
        }
        Ok(())
    }

    /// Gives ids to the threads, and to the targets but variables, of events that have none yet.
    fn define_targets(
        &mut self,
        names: &Names,
        kinds: &[Kind],
        threads: &[u32],
        targets: &[u32],
    ) -> Result<(), Error> {
        for ((&kind, &thread), &target) in kinds.iter().zip(threads).zip(targets) {
            if thread >= self.ids[reweave_wire::Space::Thread as usize].same {
                self.id(reweave_wire::Space::Thread, thread, names.space(Space::Thread))?;
            }
            if let Some(space) = codes::op(kind).space().filter(|&space| space != VARIABLE)
                && target >= self.ids[space as usize].same
                && let Some(table) = codes::named(space).flatten()
            {
                self.id(space, target, names.space(table))?;
            }
        }
        Ok(())
    }

    /// Turns ids of the trace into ids of the file, where they differ.
    fn rename(&self, part: &mut Part) {
        let known = |ids: &FileIds, id: &mut u32| *id = ids.get(*id).unwrap_or(*id);
        let of = |space: reweave_wire::Space| Some(&self.ids[space as usize]).filter(|ids| ids.differ());
        if let Some(ids) = of(reweave_wire::Space::Thread) {
            part.threads.iter_mut().for_each(|id| known(ids, id));
        }
        if let Some(ids) = of(reweave_wire::Space::Site) {
            part.sites.iter_mut().for_each(|id| known(ids, id));
        }
        if self.ids.iter().any(FileIds::differ) {
            for (op, id) in part.ops.iter().zip(&mut part.targets) {
                if let Some(ids) = op.space().and_then(of) {
                    known(ids, id);
                }
            }
        }
    }

    fn write(&mut self, part: &Part) -> Result<(), Error> {
        let Part { threads, ops, targets, sites, values, .. } = part;
        let mut batch = Batch { threads, ops, targets, sites, values };
        let mut closed = false;
        while !batch.ops.is_empty() {
            match self.encoder.batch(&batch) {
                Ok(count) => (batch, closed) = (batch.after(count), false),
                Err(Full) if !closed => {
                    self.close()?;
                    closed = true;
                }
                Err(Full) => return Err(Error::io(io::ErrorKind::OutOfMemory.into())),
            }
        }
        Ok(())
    }
}
