//! What an analysis found, as far as it is reported.

use std::collections::{HashMap, HashSet};

use reweave_stream::{Analysis, Race};
use reweave_trace::{EventId, LockId, SiteId};

/// Counts, the pairs of sites and, where they are asked for, the pairs of events.
pub(super) struct Tally {
    pub(super) analysis: Analysis,
    events: u64,
    last: Option<EventId>,
    sites: HashSet<SiteId>,
    places: HashMap<(SiteId, SiteId, bool), usize>,
    of_sites: Vec<SitePair>,
    keep: bool,
    pairs: Vec<[u32; 2]>,
    locked: Vec<[u32; 2]>,
    of_locked: u64,
}

/// Two sites whose events race.
pub(super) struct SitePair {
    pub(super) sites: (SiteId, SiteId),
    pub(super) count: u64,
    pub(super) first: (EventId, EventId),
    /// A lock that both events hold.
    pub(super) lock: Option<LockId>,
}

/// Counts a race of `analysis`.
pub(super) fn add(tallies: &mut [Tally], analysis: Analysis, race: Race) {
    if let Some(tally) = tallies.iter_mut().find(|tally| tally.analysis == analysis) {
        tally.add(race);
    }
}

impl Tally {
    /// Nothing yet; pairs of events are remembered if `keep`.
    pub(super) fn new(analysis: Analysis, keep: bool) -> Tally {
        Tally {
            analysis,
            events: 0,
            last: None,
            sites: HashSet::new(),
            places: HashMap::new(),
            of_sites: Vec::new(),
            keep,
            pairs: Vec::new(),
            locked: Vec::new(),
            of_locked: 0,
        }
    }

    /// Counts a race; those of one event come together.
    pub(super) fn add(&mut self, race: Race) {
        if race.lock.is_some() {
            self.of_locked += 1;
        } else if self.last.replace(race.later) != Some(race.later) {
            self.events += 1;
            self.sites.insert(race.later_site);
        }
        let sites = (race.earlier_site, race.later_site);
        let place = *self.places.entry((sites.0, sites.1, race.lock.is_some())).or_insert_with(|| {
            self.of_sites.push(SitePair {
                sites,
                count: 0,
                first: (race.earlier, race.later),
                lock: race.lock,
            });
            self.of_sites.len() - 1
        });
        self.of_sites[place].count += 1;
        if self.keep {
            let pairs = if race.lock.is_some() { &mut self.locked } else { &mut self.pairs };
            pairs.push([race.earlier.0, race.later.0]);
        }
    }

    pub(super) fn racy_events(&self) -> u64 {
        self.events
    }

    pub(super) fn racy_sites(&self) -> u64 {
        self.sites.len() as u64
    }

    /// In order of their first race.
    pub(super) fn pairs_of_sites(&self) -> &[SitePair] {
        &self.of_sites
    }

    /// How many pairs hold a lock in common.
    pub(super) fn locked_pairs(&self) -> u64 {
        self.of_locked
    }

    /// Those, in order of the ends of their sections; empty unless they were asked for.
    pub(super) fn locked(&self) -> &[[u32; 2]] {
        &self.locked
    }

    /// In order of the racy events; empty unless they were asked for.
    pub(super) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }
}
