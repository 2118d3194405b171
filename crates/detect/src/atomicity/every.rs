//! Every candidate over two variables: each local pair with each two remote accesses.

use reweave_trace::{ThreadId, VarId};

use super::local::Steps;
use super::{Search, Touch};
use crate::groups::Groups;

/// The accesses to shared variables of each thread, and the pairs of them that may be one step.
#[derive(Default)]
pub(super) struct Every {
    threads: Vec<(ThreadId, Vec<(Touch, VarId)>)>,
    pairs: Vec<[(Touch, VarId); 2]>,
}

impl Every {
    /// Runs the next access to a shared variable.
    pub(super) fn access(&mut self, steps: &Steps<'_>, touch: Touch, variable: VarId) {
        let place = match self.threads.iter().position(|(thread, _)| *thread == touch.thread) {
            Some(place) => place,
            None => {
                self.threads.push((touch.thread, Vec::new()));
                self.threads.len() - 1
            }
        };
        for &(earlier, other) in &self.threads[place].1 {
            let one_step =
                steps.is_meant(touch.thread, earlier.event) || steps.is_near(earlier.event, touch.event);
            if other != variable && earlier.event != touch.event && one_step {
                self.pairs.push([(earlier, other), (touch, variable)]);
            }
        }
        self.threads[place].1.push((touch, variable));
    }

    /// Adds all candidates.
    pub(super) fn finish(&self, search: &Search<'_>, groups: &mut Groups<'_>) {
        for &[(i, x), (l, y)] in &self.pairs {
            if groups.stopped() {
                return;
            }
            for (_, remote) in self.threads.iter().filter(|(thread, _)| *thread != i.thread) {
                for (j, _) in remote.iter().filter(|(_, variable)| *variable == x) {
                    for (k, _) in remote.iter().filter(|(k, variable)| *variable == y && k.event != j.event) {
                        let kinds = [i.kinds, j.kinds, k.kinds, l.kinds];
                        search.add_fitting([i.event, j.event, k.event, l.event], kinds, groups);
                    }
                }
            }
        }
    }
}
