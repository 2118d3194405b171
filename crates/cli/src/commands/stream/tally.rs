//! What an analysis found, as far as it is reported.

use std::collections::{HashMap, HashSet};

use reweave_stream::{Analysis, Race};
use reweave_trace::{EventId, SiteId};

/// Counts, the pairs of sites and, where they are asked for, the pairs of events.
pub(super) struct Tally {
    pub(super) analysis: Analysis,
    events: u64,
    last: Option<EventId>,
    sites: HashSet<SiteId>,
    places: HashMap<(SiteId, SiteId), usize>,
    of_sites: Vec<SitePair>,
    keep: bool,
    pairs: Vec<[u32; 2]>,
}

/// Two sites whose events race.
pub(super) struct SitePair {
    pub(super) sites: (SiteId, SiteId),
    pub(super) count: u64,
    pub(super) first: (EventId, EventId),
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
        }
    }

    /// Counts a race; those of one event come together.
    pub(super) fn add(&mut self, race: Race) {
        if self.last.replace(race.later) != Some(race.later) {
            self.events += 1;
            self.sites.insert(race.later_site);
        }
        let sites = (race.earlier_site, race.later_site);
        let place = *self.places.entry(sites).or_insert_with(|| {
            self.of_sites.push(SitePair { sites, count: 0, first: (race.earlier, race.later) });
            self.of_sites.len() - 1
        });
        self.of_sites[place].count += 1;
        if self.keep {
            self.pairs.push([race.earlier.0, race.later.0]);
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

    /// In order of the racy events; empty unless they were asked for.
    pub(super) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }
}
