//! What is known of a thread.

use std::collections::BTreeSet;
use std::rc::Rc;

use hashbrown::HashMap;

use crate::frame::Frame;
use crate::set::Set;

/// A thread, as far as its events were followed.
#[derive(Default)]
pub(crate) struct Thread {
    pub(crate) frames: Vec<Frame>,
    /// By address, what each byte that is not in the trace was computed from.
    pub(crate) shadow: HashMap<u64, Rc<Set>>,
    pub(crate) open: BTreeSet<u32>,
    /// What decided since the last event, and could not be known to be needed by a branch only.
    pub(crate) pending: Set,
    pub(crate) firm: Set,
    pub(crate) why: Option<String>,
    /// The last event that a branch or something like it is.
    pub(crate) last_branch: u32,
    /// Code that is not recorded may have stored what was read before this event.
    pub(crate) foreign: u32,
}

impl Thread {
    /// The members of a set that were open; they are settled from now on.
    pub(crate) fn settle(&mut self, set: &Set) -> Vec<u32> {
        if self.open.is_empty() || set.is_empty() {
            return Vec::new();
        }
        let members = set.among(&self.open);
        members.iter().for_each(|read| _ = self.open.remove(read));
        if self.open.is_empty() && !self.shadow.is_empty() {
            // Every set is empty now.
            self.shadow.clear();
        }
        members
    }
}
