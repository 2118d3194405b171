//! The shortest story of a cycle.

use std::collections::VecDeque;

use hashbrown::HashMap;
use reweave_trace::EventId;

use super::{Closure, Stop};
use crate::verdict::{Step, Why};

impl Closure<'_> {
    /// `from` must come before `to`, which must come before it already: the shortest way round.
    pub(super) fn refute(&self, from: EventId, to: EventId, why: Why) -> Stop {
        let mut steps = vec![Step { from, to, why }];
        steps.extend(self.path(to, from));
        Stop::Refuted(steps)
    }

    /// The fewest steps from one event to another, over the edges inserted and the must order between them.
    fn path(&self, from: EventId, to: EventId) -> Vec<Step> {
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
        steps.into_iter().flat_map(told).collect()
    }
}
