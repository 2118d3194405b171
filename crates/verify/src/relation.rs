//! What a finding of the new build has to do with the bug, and with the change.

use std::collections::BTreeSet;

use reweave_capture::Step;
use reweave_detect::{Finding, Kind};
use reweave_trace::{EventId, Trace};

use crate::code::Code;
use crate::port::Builds;

/// What a finding is about, in the terms of its build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct About {
    /// The kind of bug.
    pub kind: Kind,
    /// What exactly it looks like.
    pub pattern: &'static str,
    /// The operation of each event; none where that is not one of the program's own.
    pub operations: Vec<Option<usize>>,
    /// The variables, objects or locks, without what differs between builds.
    pub targets: BTreeSet<String>,
}

/// How a finding of the new build is related to the bug.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Relation {
    /// It is the bug: of the same kind, with the same operations.
    Same,
    /// It has an operation or a variable of the bug.
    Near,
    /// It is in code that changed, and was not there before.
    Changed,
    /// It is none of that.
    Other,
}

impl About {
    /// What a finding of a trace is about.
    pub fn new(finding: &Finding, trace: &Trace, steps: &[Step], code: &Code) -> About {
        About::of(finding.kind(), finding.pattern().name(), finding.events(), trace, steps, code)
    }

    /// What events of a trace are about.
    pub fn of(
        kind: Kind,
        pattern: &'static str,
        events: &[EventId],
        trace: &Trace,
        steps: &[Step],
        code: &Code,
    ) -> About {
        let operation = |event: &EventId| {
            let place = steps.get(event.index())?.place;
            code.at(place.offset).filter(|_| place.module == Some(0))
        };
        let targets = events.iter().filter_map(|&event| trace.target_name(trace.op(event)));
        About {
            kind,
            pattern,
            operations: events.iter().map(operation).collect(),
            targets: targets.map(plain).collect(),
        }
    }

    /// The operations, each once, in order; none where one is not known.
    fn set(&self) -> Option<BTreeSet<usize>> {
        self.operations.iter().copied().collect()
    }

    /// The same, in the terms of the old build.
    fn before(&self, builds: Builds<'_>) -> Option<BTreeSet<usize>> {
        let old = |operation: &Option<usize>| builds.map.to_old.get((*operation)?).copied().flatten();
        self.operations.iter().map(old).collect()
    }

    /// Whether one of its functions changed; its operations are those of the new build.
    fn is_in_change(&self, builds: Builds<'_>) -> bool {
        self.operations
            .iter()
            .flatten()
            .filter_map(|&operation| builds.new.operations.get(operation))
            .any(|operation| builds.map.changed.contains(&operation.function))
    }

    /// Whether one of its functions changed; its operations are those of the old build.
    pub fn was_changed(&self, builds: Builds<'_>) -> bool {
        self.operations
            .iter()
            .flatten()
            .filter_map(|&operation| builds.old.operations.get(operation))
            .any(|operation| builds.map.changed.contains(builds.map.new_name(&operation.function)))
    }
}

/// How a finding of the new build is related to the bugs that the fix is for; `known` is all that was found in the old build.
pub fn relation(finding: &About, bugs: &[About], known: &[About], builds: Builds<'_>) -> Relation {
    let before = finding.before(builds);
    let is = |one: &About| one.kind == finding.kind && before.is_some() && one.set() == before;
    if bugs.iter().any(is) {
        return Relation::Same;
    }
    let shares = |bug: &About| {
        let counterparts: BTreeSet<usize> = bug
            .operations
            .iter()
            .flatten()
            .flat_map(|&operation| builds.map.counterparts(builds.old, builds.new, operation))
            .collect();
        finding.operations.iter().flatten().any(|operation| counterparts.contains(operation))
            || finding.targets.intersection(&bug.targets).next().is_some()
    };
    if bugs.iter().any(shares) {
        return Relation::Near;
    }
    if finding.is_in_change(builds) && !known.iter().any(is) { Relation::Changed } else { Relation::Other }
}

/// A variable's name without what differs between builds: lines, and which part of it.
fn plain(name: &str) -> String {
    let name = name.split(" at ").next().unwrap_or(name);
    let end = name.rfind('+').filter(|&at| name[at + 1..].bytes().all(|byte| byte.is_ascii_digit()));
    name[..end.unwrap_or(name.len())].to_owned()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_lose_lines_and_parts() {
        assert_eq!(plain("global stack+72"), "global stack");
        assert_eq!(plain("heap block of 4 bytes from open at a.c:12"), "heap block of 4 bytes from open");
        assert_eq!(plain("global a+b"), "global a+b");
    }
}
