//! Accesses of one variable, gathered by thread, site, operation and locks held.
//!
//! All accesses of a class are alike as far as filters can tell, so that work is done per pair of classes: a variable
//! with a million accesses has few of them. Pairs of classes that cannot conflict, or whose locks exclude each other,
//! are never looked at; pairs that have given enough candidates are struck off.

use hashbrown::HashMap;
use reweave_trace::{EventId, SiteId, ThreadId};

use crate::locksets::{LocksetId, Locksets};

/// What accesses have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ClassKey {
    pub(crate) thread: ThreadId,
    pub(crate) site: SiteId,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
    pub(crate) atomic: bool,
    pub(crate) locks: LocksetId,
}

/// The accesses of one class so far, and the classes that they may meet.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) key: ClassKey,
    pub(crate) events: Vec<EventId>,
    /// Other classes with candidates still to come.
    pub(crate) partners: Vec<u32>,
}

/// The classes of one variable.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    places: HashMap<ClassKey, u32>,
    pub(crate) list: Vec<Class>,
}

impl Classes {
    /// The class of an access; a new one meets those that `may_meet` says.
    pub(crate) fn class(
        &mut self,
        key: ClassKey,
        locksets: &mut Locksets,
        may_meet: impl Fn(&ClassKey, &ClassKey, &mut Locksets) -> bool,
    ) -> u32 {
        if let Some(&place) = self.places.get(&key) {
            return place;
        }
        let place = self.list.len() as u32;
        let mut partners = Vec::new();
        for (other, class) in (0..).zip(&mut self.list) {
            if may_meet(&key, &class.key, locksets) {
                class.partners.push(place);
                partners.push(other);
            }
        }
        self.places.insert(key, place);
        self.list.push(Class { key, events: Vec::new(), partners });
        place
    }
}
