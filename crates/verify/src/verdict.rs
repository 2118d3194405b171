//! The verdict, from all that was seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::code::Operation;
use crate::diff::Diff;
use crate::port::Builds;
use crate::relation::{About, Relation};

/// What became of a fix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// A run of the new build shows the bug, or what is left of it.
    Insufficient,
    /// A run of the new build shows a bug that the old one did not have.
    NewBug,
    /// Nothing is left of it in all that was looked at.
    Sufficient,
    /// Something was not looked at.
    Undecided,
    /// The old build does not have the bug.
    NotShown,
}

impl Verdict {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Insufficient => "insufficient",
            Verdict::NewBug => "new-bug",
            Verdict::Sufficient => "sufficient",
            Verdict::Undecided => "undecided",
            Verdict::NotShown => "not-shown",
        }
    }
}

/// What became of a claim: that something can go wrong in the new build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// No schedule of what was recorded shows it.
    Excluded,
    /// It was made to happen, and nothing came of it.
    Harmless,
    /// It was made to happen, and it is a bug.
    Shown,
    /// Neither.
    Open,
}

impl State {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            State::Excluded => "excluded",
            State::Harmless => "harmless",
            State::Shown => "shown",
            State::Open => "open",
        }
    }
}

/// That something can go wrong in the new build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Claim {
    /// What it has to do with the bug.
    pub relation: Relation,
    /// What became of it.
    pub state: State,
}

/// The places that one run of the new build had.
pub type Ran = BTreeSet<u64>;

/// What follows from what was seen; `gaps` is what was not looked at.
pub fn decide(claims: &[Claim], gaps: &[String]) -> Verdict {
    let shown = |relations: &[Relation]| {
        claims.iter().any(|claim| claim.state == State::Shown && relations.contains(&claim.relation))
    };
    let is_open = |claim: &Claim| claim.state == State::Open && claim.relation != Relation::Other;
    if shown(&[Relation::Same, Relation::Near]) {
        Verdict::Insufficient
    } else if shown(&[Relation::Changed]) {
        Verdict::NewBug
    } else if !gaps.is_empty() || claims.iter().any(is_open) {
        Verdict::Undecided
    } else {
        Verdict::Sufficient
    }
}

/// What of the bugs and of the change no run of the new build had: for each, why nothing can be said.
pub fn gaps(bugs: &[About], runs: &[Ran], builds: Builds<'_>) -> Vec<String> {
    let mut gaps = Vec::new();
    for bug in bugs {
        gaps.extend(not_reached(bug, runs, builds));
    }
    if let Some(diff) = builds.diff {
        gaps.extend(patch_gaps(diff, runs, builds));
    }
    if builds.old.is_partial() {
        if builds.diff.is_none() {
            let why = "of the old program only a trace is known: --diff says what was changed";
            gaps.push(why.to_owned());
        }
    } else if builds.new.bodies.is_empty() || builds.old.bodies.is_empty() {
        let why = "the programs have no symbols or no debug information: it cannot be said whether changed code ran";
        gaps.push(why.to_owned());
    } else {
        gaps.extend(hunk_gaps(runs, builds));
    }
    gaps.dedup();
    gaps
}

/// What of a patch no run of the new build had: every line of it that does something that is recorded has to run.
fn patch_gaps(diff: &Diff, runs: &[Ran], builds: Builds<'_>) -> Vec<String> {
    if diff.is_empty() {
        return vec!["the patch changes nothing".to_owned()];
    }
    let mut lines: BTreeMap<(&str, u32), (bool, &Operation)> = BTreeMap::new();
    let seen = builds.new.operations.iter().filter(|one| one.is_seen);
    for one in seen.filter(|one| diff.is_added(&one.file, one.line)) {
        let ran = runs.iter().any(|ran| has_run(one, ran));
        lines.entry((&one.file, one.line)).or_insert((false, one)).0 |= ran;
    }
    if lines.is_empty() && !builds.old.operations.iter().any(|one| diff.is_removed(&one.file, one.line)) {
        let why = "no line of the patch does anything that is recorded: is it the patch between these two programs?";
        return vec![why.to_owned()];
    }
    let missing = lines.values().filter(|(ran, _)| !ran);
    missing.map(|(_, one)| format!("changed code did not run: {} ({})", one.site(), one.what)).collect()
}

/// What of the changes that are seen in the builds themselves no run of the new build had.
fn hunk_gaps(runs: &[Ran], builds: Builds<'_>) -> Vec<String> {
    let mut gaps = Vec::new();
    let hunks = builds.map.hunks(builds.new);
    let gone = builds.map.to_new.iter().any(Option::is_none);
    if hunks.is_empty() && !gone {
        gaps.push("no changed code was found: the two builds do the same".to_owned());
    }
    for hunk in hunks {
        let of_function =
            || builds.new.inside(&hunk.function).filter(|one| hunk.operations.is_empty() && one.is_seen);
        let of_hunk = || hunk.operations.iter().filter_map(|&place| builds.new.operations.get(place));
        let operations = || of_hunk().chain(of_function());
        let has_run = |operation: &Operation| runs.iter().any(|ran| has_run(operation, ran));
        // Each line of what is new has to run; of a function that changed in what is not recorded, something.
        let missing = if hunk.operations.is_empty() {
            operations().next().filter(|_| !operations().any(has_run))
        } else {
            let line_ran = |line: u32| operations().any(|one| one.line == line && has_run(one));
            operations().find(|one| !line_ran(one.line))
        };
        match missing {
            Some(first) => {
                gaps.push(format!("changed code did not run: {} ({})", first.site(), first.what));
            }
            None if operations().next().is_none() => {
                gaps.push(format!("{} changed, and nothing in it is recorded", hunk.function));
            }
            None => {}
        }
    }
    gaps
}

/// Why it cannot be said that a run came to the bug.
fn not_reached(bug: &About, runs: &[Ran], builds: Builds<'_>) -> Option<String> {
    let mut wanted = Vec::new();
    for operation in bug.operations.iter().flatten() {
        let found = builds.map.counterparts(builds.old, builds.new, *operation);
        let before = builds.old.operations.get(*operation)?;
        if found.is_empty() && builds.map.is_removed(builds.old, builds.new, *operation) {
            // It cannot come any more; what is left of its function has to.
            let inside = builds.new.inside(builds.map.new_name(&before.function));
            let places = inside.filter_map(|one| builds.new.at(*one.offsets.first()?));
            wanted.push(places.collect());
            continue;
        }
        if found.is_empty() {
            return Some(format!("{} of the bug ({}) has no counterpart", before.site(), before.what));
        }
        wanted.push(found);
    }
    if wanted.is_empty() {
        return Some("where the bug's events are in the program is not known".to_owned());
    }
    let came = |ran: &Ran, operations: &[usize]| {
        operations.iter().filter_map(|&place| builds.new.operations.get(place)).any(|one| has_run(one, ran))
    };
    let whole = |ran: &Ran| wanted.iter().all(|operations| came(ran, operations));
    if runs.iter().any(whole) {
        return None;
    }
    let missing = wanted.iter().find(|operations| !runs.iter().any(|ran| came(ran, operations)));
    let first = missing.or(wanted.first()).and_then(|operations| operations.first());
    let name =
        first.and_then(|&place| builds.new.operations.get(place)).map(Operation::site).unwrap_or_default();
    Some(format!("the bug's path was not reached: no run came to {name} with the rest of it"))
}

fn has_run(operation: &Operation, ran: &Ran) -> bool {
    operation.offsets.iter().any(|offset| ran.contains(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(relation: Relation, state: State) -> Claim {
        Claim { relation, state }
    }

    #[test]
    fn whatever_is_not_known_is_undecided() {
        let excluded = claim(Relation::Same, State::Excluded);
        assert_eq!(decide(std::slice::from_ref(&excluded), &[]), Verdict::Sufficient);
        assert_eq!(decide(std::slice::from_ref(&excluded), &["a gap".to_owned()]), Verdict::Undecided);
        for relation in [Relation::Same, Relation::Near, Relation::Changed] {
            let claims = [excluded.clone(), claim(relation, State::Open)];
            assert_eq!(decide(&claims, &[]), Verdict::Undecided, "{relation:?}");
        }
        let beside = [excluded, claim(Relation::Other, State::Open), claim(Relation::Other, State::Shown)];
        assert_eq!(decide(&beside, &[]), Verdict::Sufficient);
    }

    #[test]
    fn what_was_shown_counts_whatever_else_is_open() {
        let open = claim(Relation::Same, State::Open);
        let gap = ["a gap".to_owned()];
        assert_eq!(decide(&[open.clone(), claim(Relation::Near, State::Shown)], &gap), Verdict::Insufficient);
        assert_eq!(decide(&[open, claim(Relation::Changed, State::Shown)], &gap), Verdict::NewBug);
    }
}
