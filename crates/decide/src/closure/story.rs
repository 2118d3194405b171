//! The shortest story of a cycle.

use std::collections::VecDeque;

use hashbrown::HashMap;
use reweave_trace::EventId;

use super::{Closure, Stop};
use crate::verdict::{Reason, Step, Why};

impl Closure<'_, '_> {
    /// `from` must come before `to`, which must come before it already: the shortest way round.
    pub(super) fn refute(&mut self, from: EventId, to: EventId, why: Why) -> Stop {
        if !self.meter.tells {
            return Stop::Refuted(Vec::new());
        }
        let mut steps = vec![Step { from, to, why }];
        match self.path(to, from) {
            Ok(path) => steps.extend(path),
            // There is a cycle, but no time to say which.
            Err(reason) => return Stop::Limit(reason),
        }
        Stop::Refuted(steps)
    }

    /// The fewest steps from one event to another, over the edges inserted and the must order between them.
    pub(super) fn path(&mut self, from: EventId, to: EventId) -> Result<Vec<Step>, Reason> {
        // The ends of inserted edges are the only places where a path turns.
        let mut stops: Vec<EventId> = self.edges.iter().flat_map(|step| [step.from, step.to]).collect();
        stops.extend([from, to]);
        stops.sort_unstable();
        stops.dedup();
        let mut came_from: HashMap<EventId, Step> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            if at == to {
                break;
            }
            self.meter.spend(self.edges.len() + stops.len())?;
            let inserted = self.edges.iter().filter(|step| step.from == at).copied();
            let implied = stops.iter().filter(|&&next| next != at && self.must.before(at, next));
            let implied = implied.map(|&next| Step { from: at, to: next, why: Why::ProgramOrder });
            for step in inserted.chain(implied) {
                if step.to != from && !came_from.contains_key(&step.to) {
                    came_from.insert(step.to, step);
                    queue.push_back(step.to);
                }
            }
        }
        let mut steps = Vec::new();
        let mut at = to;
        while at != from
            && let Some(&step) = came_from.get(&at)
        {
            steps.push(step);
            at = step.from;
        }
        steps.reverse();
        // What the must order says in one word is told in full.
        let told = |step: Step| match step.why {
            Why::ProgramOrder => self.must.path(step.from, step.to),
            _ => vec![step],
        };
        Ok(steps.into_iter().flat_map(told).collect())
    }
}
