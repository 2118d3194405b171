//! Events of variables that stand for memory which was given away.

use reweave_trace::Kind;

use super::Rewriter;
use crate::Error;
use crate::given::Region;
use crate::outside::maps;
use crate::raw::RawEvent;

impl Rewriter<'_> {
    /// Whether an event of state outside of memory says nothing.
    pub(super) fn is_left_out(&mut self, event: &RawEvent, at: u64) -> bool {
        !self.outside.contains(&at) || maps(event) && self.namer.is_library(event.code)
    }

    /// Memory is given away.
    pub(super) fn gives(&mut self, event: &RawEvent, at: u64) -> Result<(), Error> {
        match self.given.find(&self.memory, at) {
            Some(region) => self.uses_given(event, region, true),
            None => Ok(()),
        }
    }

    /// Writes what stands on either side of an access, where its memory was given away.
    pub(super) fn around(&mut self, event: &RawEvent, given: Option<Region>) -> Result<(), Error> {
        given.map_or(Ok(()), |region| self.uses_given(event, region, event.op.writes()))
    }

    /// Writes an event of the variable that stands for memory which was given away.
    pub(super) fn uses_given(
        &mut self,
        event: &RawEvent,
        region: Region,
        changes: bool,
    ) -> Result<(), Error> {
        let target = self.namer.given(&self.memory, region)?;
        let (before, after) = self.given.count(region, changes);
        let kind = if changes { Kind::Update } else { Kind::FailedAttempt };
        self.put(event, kind, target, (Some(before.into()), Some(after.into())))?;
        self.branch(event)
    }
}
