//! Many events or names at once.

use super::{Encoder, Event, Full};
use crate::{MAX_NAMES, Op, Space, Value};

/// Events as columns of one length, with ids that the encoder gave out.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'c> {
    /// The threads.
    pub threads: &'c [u32],
    /// The operations.
    pub ops: &'c [Op],
    /// The targets; ignored where an operation has none.
    pub targets: &'c [u32],
    /// The sites.
    pub sites: &'c [u32],
    /// What each event observed and left; empty where no event has a value.
    pub values: &'c [[Value; 2]],
}

impl<'c> Batch<'c> {
    /// What is left after the first `count` events.
    pub fn after(&self, count: usize) -> Batch<'c> {
        Batch {
            threads: self.threads.get(count..).unwrap_or_default(),
            ops: self.ops.get(count..).unwrap_or_default(),
            targets: self.targets.get(count..).unwrap_or_default(),
            sites: self.sites.get(count..).unwrap_or_default(),
            values: self.values.get(count..).unwrap_or_default(),
        }
    }

    /// The events one by one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Event> {
        let rows = self.threads.iter().zip(self.ops).zip(self.targets).zip(self.sites).enumerate();
        rows.map(|(i, (((&thread, &op), &target), &site))| {
            let [read, written] = self.values.get(i).copied().unwrap_or_default();
            Event { thread, op, target, site, read, written }
        })
    }
}

impl<B: AsRef<[u8]> + AsMut<[u8]>> Encoder<B> {
    /// Gives the next ids of `space` to names that are numbers, as long as that takes no look at the room there is; answers with how
    /// many they are. [`Encoder::define_number`] tells of the next one whether there is room.
    pub fn define_numbers(&mut self, space: Space, numbers: &[u64]) -> usize {
        let defined = &mut self.defined[space as usize];
        let most = (MAX_NAMES - self.names).min((u32::MAX - *defined) as usize);
        let encoder = &mut self.name_encoder;
        let next = numbers.iter().take(most).take_while(|&&number| encoder.put_next(space, number));
        let count = next.count();
        *defined += count as u32;
        self.names += count;
        count
    }

    /// Adds the first events of `batch`, as if one by one; answers with how many they are, at least one if there is one.
    pub fn batch(&mut self, batch: &Batch<'_>) -> Result<usize, Full> {
        if self.room == 0 {
            self.make_room()?;
        }
        let count = self.room.min(batch.ops.len());
        self.room -= count;
        self.events += count;
        if self.plan.packs() {
            self.group.extend(batch, count);
            return Ok(count);
        }
        for event in batch.iter().take(count) {
            if self.plan.groups() {
                self.group.push(&event);
            }
            self.predict(&event);
        }
        Ok(count)
    }
}
