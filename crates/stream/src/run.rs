//! One pass over a trace for any number of analyses.

use reweave_spec::Spec;
use reweave_trace::{Error, EventId, LockId, Names, Rows, SiteId, Trace};

use crate::analysis::Analysis;
use crate::detector::Detector;
use crate::edc::Edc;
use crate::front::{Facts, Front, Views};
use crate::frontier::Access;
use crate::hb::Hb;
use crate::shb::Shb;
use crate::step::Step;
use crate::syncp::SyncP;
use crate::wcp::Wcp;
use crate::wdc::Wdc;

/// Two conflicting events that an analysis leaves unordered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Race {
    /// The earlier event.
    pub earlier: EventId,
    /// Its site.
    pub earlier_site: SiteId,
    /// The later event: the racy one.
    pub later: EventId,
    /// Its site.
    pub later_site: SiteId,
    /// Whether the earlier event must not come after the later one, such as a use after the end of an object's life.
    pub order: bool,
    /// A lock that both events hold: then their critical sections have to change places.
    pub lock: Option<LockId>,
}

impl Race {
    pub(crate) fn new(earlier: &Access, later: &Access) -> Race {
        Race {
            earlier: EventId(earlier.event),
            earlier_site: SiteId(earlier.site),
            later: EventId(later.event),
            later_site: SiteId(later.site),
            order: false,
            lock: None,
        }
    }
}

/// Takes races as they are found.
pub(crate) type Sink<'s> = dyn FnMut(Race) + 's;

/// What an analysis does with the events.
pub(crate) trait Analyse {
    fn steps(&mut self, steps: &[Step], facts: &Facts, sink: &mut Sink<'_>);

    /// The events are at their end.
    fn finish(&mut self, _sink: &mut Sink<'_>) {}
}

/// Analyses under way. Events are given in blocks of any size.
pub struct Stream {
    front: Front,
    analyses: Vec<(Analysis, Box<dyn Analyse>)>,
    steps: Vec<Step>,
}

/// So few that the steps stay in the nearest cache while one analysis after another reads them.
const CHUNK: usize = 512;

impl Stream {
    /// Starts `analyses`. Each tells one earlier partner of a racy event, or every one if `all`.
    pub fn new(analyses: &[Analysis], all: bool) -> Stream {
        Stream::with_specifications(analyses, all, Spec::default())
    }

    /// The same, with calls that follow these specifications besides those that are built in.
    pub fn with_specifications(analyses: &[Analysis], all: bool, spec: Spec) -> Stream {
        let start = |&analysis: &Analysis| -> (Analysis, Box<dyn Analyse>) {
            let state: Box<dyn Analyse> = match analysis {
                Analysis::Hb => Box::new(Detector::<Hb>::new(all)),
                Analysis::Shb => Box::new(Detector::<Shb>::new(all)),
                Analysis::Wcp => Box::new(Detector::<Wcp>::new(all)),
                Analysis::Wdc => Box::new(Detector::<Wdc>::new(all)),
                Analysis::SyncP => Box::new(SyncP::new(all)),
                Analysis::Edc => Box::new(Edc::new(all)),
            };
            (analysis, state)
        };
        let views = Views {
            commuting: analyses.contains(&Analysis::Edc),
            ordered: analyses.iter().any(|&analysis| analysis != Analysis::Edc),
        };
        Stream {
            front: Front::new(views, spec),
            analyses: analyses.iter().map(start).collect(),
            steps: Vec::new(),
        }
    }

    /// Takes the next events, whose names are in `names`, and gives each race that ends in one of them to `sink`: the
    /// races of an event, and those of an analysis, come in order.
    ///
    /// Refuses events that cannot have been observed after those before; then the analyses are of no more use.
    pub fn block(
        &mut self,
        names: &Names,
        rows: &Rows<'_>,
        sink: &mut dyn FnMut(Analysis, Race),
    ) -> Result<(), Error> {
        let mut start = 0;
        while start < rows.kinds.len() {
            let end = (start + CHUNK).min(rows.kinds.len());
            let chunk = Rows {
                kinds: &rows.kinds[start..end],
                threads: rows.threads.part(start..end),
                targets: &rows.targets[start..end],
                sites: &rows.sites[start..end],
            };
            self.steps.clear();
            self.front.steps(names, &chunk, &mut self.steps)?;
            for (analysis, state) in &mut self.analyses {
                state.steps(&self.steps, &self.front.facts, &mut |race| sink(*analysis, race));
            }
            start = end;
        }
        Ok(())
    }

    /// Ends the events, and gives `sink` what was still to be seen: pairs whose critical sections have not ended.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Analysis, Race)) {
        for (analysis, state) in &mut self.analyses {
            state.finish(&mut |race| sink(*analysis, race));
        }
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.front.events()
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.analyses.iter().map(|(analysis, _)| analysis.name());
        f.debug_struct("Stream")
            .field("events", &self.events())
            .field("analyses", &Vec::from_iter(names))
            .finish()
    }
}

/// The races of a whole trace under one analysis, in order of their later events; pairs with a lock in common come when their sections
/// end.
pub fn races(trace: &Trace, analysis: Analysis, all: bool) -> Result<Vec<Race>, Error> {
    let mut races = Vec::new();
    let spec = Spec::parse(trace.specifications()).unwrap_or_default();
    let mut stream = Stream::with_specifications(&[analysis], all, spec);
    stream.block(trace.names(), &trace.rows(), &mut |_, race| races.push(race))?;
    stream.finish(&mut |_, race| races.push(race));
    Ok(races)
}
