//! The places in the code that share a site.
//!
//! What comes next is predicted by site. Two accesses of one line, such as the two of `table[*next]`, would each spoil what
//! is predicted for the other; so a place that is come by often has an id of its own, with the name of the site once more.
//! To a reader both are the same site.

use std::collections::HashMap;

use reweave_trace::SiteId;

/// How many events make up for the bytes of a name.
const OFTEN: u32 = 256;

/// The places that were told of.
#[derive(Default)]
pub(super) struct Places {
    /// That of the next event, where it was told.
    pub(super) next: Option<u64>,
    /// Per site, the first place: it keeps the site's id.
    first: Vec<Option<u64>>,
    others: HashMap<(u64, SiteId), Other>,
}

enum Other {
    /// So many events were there.
    Count(u32),
    /// It has an id of its own in the file.
    Id(u32),
}

/// What is known of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Found {
    /// It goes by the id of its site.
    Site,
    /// It has this one.
    Id(u32),
    /// It ought to have one.
    Often,
}

impl Places {
    /// Takes note of an event at a place.
    pub(super) fn find(&mut self, place: u64, site: SiteId) -> Found {
        if self.first.len() <= site.index() {
            self.first.resize(site.index() + 1, None);
        }
        if *self.first[site.index()].get_or_insert(place) == place {
            return Found::Site;
        }
        match self.others.entry((place, site)).or_insert(Other::Count(0)) {
            Other::Id(id) => Found::Id(*id),
            Other::Count(count) => {
                *count += 1;
                if *count < OFTEN { Found::Site } else { Found::Often }
            }
        }
    }

    /// Gives a place an id of its own.
    pub(super) fn set(&mut self, place: u64, site: SiteId, id: u32) {
        self.others.insert((place, site), Other::Id(id));
    }
}
