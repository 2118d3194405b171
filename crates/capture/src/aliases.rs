//! Memory that is mapped twice: addresses of the later mapping are those of the earlier one.

use crate::raw::{RawEvent, StandIn, Target};

/// Parts of memory that are other parts.
#[derive(Default, Debug)]
pub(crate) struct Aliases {
    /// Where one begins and ends, and what is added to its addresses.
    list: Vec<(u64, u64, u64)>,
}

impl Aliases {
    /// Takes note of an event that says so; whether it is one.
    pub(crate) fn take(&mut self, event: &RawEvent) -> bool {
        let Target::StandIn { at, what: StandIn::Mapped } = event.target else { return false };
        let (end, other) = (at.saturating_add(event.read), event.written);
        if at == other {
            self.list.retain(|&(start, ends, _)| ends <= at || end <= start);
        } else {
            self.list.push((at, end, other.wrapping_sub(at)));
        }
        true
    }

    /// The address that an address stands for.
    #[inline(always)]
    pub(crate) fn address(&self, at: u64) -> u64 {
        if self.list.is_empty() { at } else { self.found(at) }
    }

    #[cold]
    fn found(&self, at: u64) -> u64 {
        let found = self.list.iter().find(|(start, end, _)| (*start..*end).contains(&at));
        found.map_or(at, |&(_, _, distance)| at.wrapping_add(distance))
    }
}

#[cfg(test)]
mod tests {
    use reweave_wire::Op;

    use super::*;
    use crate::raw::NOTHING;

    #[test]
    fn the_earliest_mapping_has_the_addresses() {
        let mut aliases = Aliases::default();
        let mut take = |at, length, other| {
            let target = Target::StandIn { at, what: StandIn::Mapped };
            let event = RawEvent { op: Op::Update, target, read: length, written: other, ..NOTHING };
            assert!(aliases.take(&event));
            [0x1000, 0x2fff, 0x3000].map(|at| aliases.address(at))
        };
        assert_eq!(take(0x2000, 0x1000, 0x8000), [0x1000, 0x8fff, 0x3000]);
        assert_eq!(take(0x2000, 0x1000, 0x2000), [0x1000, 0x2fff, 0x3000]);
        assert!(!aliases.take(&NOTHING));
    }
}
