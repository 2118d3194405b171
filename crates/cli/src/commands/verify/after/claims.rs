//! Claims about the new program, and what they come to.

use std::path::PathBuf;

use reweave_replay::Schedule;
use reweave_verify::{Claim, Relation, State, Verdict, verdict};

use super::{After, Outcomes, Shown};
use crate::commands::verify::fails::Failed;
use crate::commands::verify::look::{Found, Rank};

/// A finding of the new program that has to do with the bug or the change.
pub(super) struct Known {
    pub(super) found: Found,
    pub(super) rank: Rank,
    pub(super) relation: Relation,
    pub(super) state: State,
    /// Why it is in that state.
    pub(super) by: String,
    /// How often it was tried.
    pub(super) tries: u32,
    /// Another schedule to try, and its trace.
    pub(super) next: Option<(Schedule, PathBuf)>,
    pub(super) shown: Option<Shown>,
}

impl Known {
    pub(super) fn new(found: Found, rank: Rank, relation: Relation) -> Known {
        let by = "was not run".to_owned();
        Known { found, rank, relation, state: State::Open, by, tries: 0, next: None, shown: None }
    }

    /// Whether the verdict depends on it.
    pub(super) fn counts(&self) -> bool {
        self.relation != Relation::Other
    }
}

/// What became of a bug of the old program.
#[derive(Clone)]
pub(crate) struct BugClaim {
    pub(crate) state: State,
    pub(crate) by: String,
    /// How many steps of its schedule came in the new program, and of how many.
    pub(crate) steered: Option<(usize, usize)>,
    /// The recording of the run under its schedule.
    pub(crate) trace: Option<PathBuf>,
    /// A lock that all its events hold in the new program.
    pub(crate) lock: Option<String>,
    pub(crate) hints: Vec<String>,
    pub(crate) shown: Option<Shown>,
}

impl Default for BugClaim {
    fn default() -> BugClaim {
        let (by, hints) = (String::new(), Vec::new());
        BugClaim { state: State::Open, by, steered: None, trace: None, lock: None, hints, shown: None }
    }
}

/// A claim as it is reported.
pub(crate) struct Settled {
    pub(crate) title: String,
    pub(crate) kind: &'static str,
    pub(crate) pattern: &'static str,
    pub(crate) fingerprint: String,
    pub(crate) relation: Relation,
    pub(crate) state: State,
    pub(crate) by: String,
    pub(crate) events: Vec<u32>,
    pub(crate) sites: Vec<String>,
    /// The sites in the old program, as far as there are any.
    pub(crate) sites_before: Vec<String>,
}

impl After<'_, '_> {
    /// The claims, for a verdict; the bug itself is settled by what was found.
    pub(super) fn claims(&self) -> Vec<Claim> {
        let bugs = self.bug_claims.iter().filter(|claim| claim.state != State::Open);
        let bugs = bugs.map(|claim| Claim { relation: Relation::Same, state: claim.state });
        let known = self.known.iter().map(|known| Claim { relation: known.relation, state: known.state });
        bugs.chain(known).collect()
    }

    /// A run of the new program failed, and no claim says why. A crash is a bug, and a new one unless the old program had it, too;
    /// what a status means is not known.
    pub(super) fn failed_run(&mut self, run: u32, failed: &Failed) {
        if self.shows() {
            return;
        }
        let how = &failed.how;
        let as_before = self.before.bugs.iter().any(|bug| bug.failed.as_ref() == Some(how))
            || self.before.failed.contains(how);
        self.gaps.insert(match (failed.is_hard, as_before) {
            (true, _) => format!("run {run} {how}, and nothing that was found says why"),
            (false, true) => {
                format!("run {run} {how}, as the old program did, though the bug did not come in it")
            }
            (false, false) => format!("run {run} {how}, which --expect-status does not allow"),
        });
    }

    /// The verdict, with all that it rests on.
    pub(super) fn finish(mut self) -> Outcomes {
        self.gaps.extend(verdict::gaps(&self.bugs, &self.rans, self.builds));
        let open = self.known.iter().filter(|known| known.state == State::Open && known.counts());
        let open: Vec<String> = open.map(|known| format!("{} {}", known.found.title, known.by)).collect();
        let mut gaps: Vec<String> = std::mem::take(&mut self.gaps).into_iter().collect();
        let verdict = verdict::decide(&self.claims(), &gaps);
        if verdict == Verdict::Sufficient {
            self.exclude();
        }
        let bugs = self.bug_claims.iter().filter(|claim| claim.state == State::Shown);
        let found = self.known.iter().filter(|known| known.state == State::Shown && known.counts());
        let shown = bugs.clone().filter_map(|claim| claim.shown.clone());
        let shown = shown.chain(found.clone().filter_map(|known| known.shown.clone())).next();
        let mut hints: Vec<String> = bugs.flat_map(|claim| claim.hints.clone()).collect();
        if hints.is_empty() {
            hints = found.flat_map(|known| known.found.hints.clone()).collect();
        }
        gaps.extend(open);
        let claims = self.known.iter().map(|known| self.settled(known)).collect();
        let is_by_bug = self.bug_claims.iter().any(|claim| claim.state == State::Shown);
        let mut found = self.known.into_iter().filter(|known| known.state == State::Shown && known.counts());
        let picture = found.next().filter(|_| !is_by_bug).map(|known| known.found);
        Outcomes {
            verdict,
            bugs: self.bug_claims,
            claims,
            gaps: if verdict == Verdict::Undecided { gaps } else { Vec::new() },
            notes: self.notes,
            hints,
            candidates: self.candidates,
            excluded: self.excluded,
            traces: self.traces,
            runs: self.new.runs,
            shown,
            picture,
        }
    }

    /// Notes of each bug that did not come why it cannot.
    fn exclude(&mut self) {
        for claim in self.bug_claims.iter_mut().filter(|claim| claim.state == State::Open) {
            claim.state = State::Excluded;
            claim.by = match &claim.lock {
                Some(lock) => format!("its events are all under {lock}"),
                None => "no schedule of what was recorded shows it".to_owned(),
            };
        }
    }

    fn settled(&self, known: &Known) -> Settled {
        let found = &known.found;
        let before = found.about.operations.iter().flatten().filter_map(|&operation| {
            let old = self.builds.map.to_old.get(operation).copied().flatten()?;
            self.builds.old.operations.get(old).map(reweave_verify::Operation::site)
        });
        Settled {
            title: found.title.clone(),
            kind: found.about.kind.name(),
            pattern: found.about.pattern,
            fingerprint: found.fingerprint.clone(),
            relation: known.relation,
            state: known.state,
            by: known.by.clone(),
            events: found.events.clone(),
            sites: found.sites.clone(),
            sites_before: before.collect(),
        }
    }
}
