//! The bugs of the old program, run in the new one under their schedules.

use reweave_detect::Kind;
use reweave_replay::Outcome;
use reweave_verify::port::port;
use reweave_verify::{About, State};

use super::{After, Shown};

impl After<'_, '_> {
    /// Runs the new program under the old one's schedule.
    pub(super) fn steer(&mut self, number: usize) -> anyhow::Result<()> {
        self.steered = number + 1;
        let bug = &self.before.bugs[number];
        let ported = match port(&bug.found.schedule, self.builds, self.new.module.clone()) {
            Ok(ported) => ported,
            Err(why) => {
                let said = format!("the schedule of {} cannot be taken over: {why}", bug.found.title);
                // Where all of the bug is still there, it may come, and was not tried.
                match self.is_changed(&bug.found.about) {
                    true => self.notes.push(said),
                    false => _ = self.gaps.insert(said),
                }
                return Ok(());
            }
        };
        let taken = self.new.force(&ported.schedule, bug.order, None)?;
        let report = &taken.ended.report;
        let steps = report.steps + ported.dropped;
        let came = report.steps.saturating_sub(report.given_up.len());
        let confirmed = report.outcome == Outcome::Confirmed;
        let failed = taken.failed.clone();
        let claim = &mut self.bug_claims[number];
        claim.steered = Some((came, steps));
        claim.trace = Some(taken.trace.clone());
        let by_order = confirmed && (bug.found.is_error || bug.failed.is_none());
        // That threads wait says nothing here, unless it is for ever: no witness says that nobody
        // wakes them.
        let by_order = by_order && bug.found.about.kind != Kind::Deadlock;
        if by_order || failed.as_ref().is_some_and(|failed| failed.is_hard || confirmed) {
            claim.state = State::Shown;
            claim.by = match &failed {
                Some(failed) => failed.how.clone(),
                None => "it happened, as before the fix".to_owned(),
            };
            claim.shown =
                Some(Shown { schedule: ported.schedule, run: self.new.runs, ended: taken.ended.ending() });
        } else if confirmed && bug.found.about.kind != Kind::Deadlock {
            claim.state = State::Harmless;
            claim.by = format!("its events came in the same order in run {}, and did no harm", self.new.runs);
        }
        self.take(taken);
        Ok(())
    }

    /// Whether an operation of a bug is not there any more, or is done in another way, such as
    /// atomically. Then the bug as it was cannot come; what is there in its place is looked at as
    /// any other code near it.
    fn is_changed(&self, about: &About) -> bool {
        let is_there = |operation: usize| self.builds.map.to_new.get(operation).is_some_and(Option::is_some);
        about.operations.iter().flatten().any(|&operation| !is_there(operation))
    }
}
