//! Atomicity violations folded into the races and uses after free that they are about.
//!
//! Where accesses race, the race is the bug, and that a step is torn there is what goes wrong because of it.

use hashbrown::HashMap;
use reweave_trace::{Trace, VarId};

use crate::{Finding, Kind, Torn};

/// Takes out of the findings the atomicity violations on variables that another finding says race or are used after their free,
/// and adds them to that one.
pub(crate) fn torn(trace: &Trace, findings: &mut Vec<Finding>) {
    let (mut atomicity, mut kept): (Vec<Finding>, Vec<Finding>) =
        std::mem::take(findings).into_iter().partition(|finding| finding.kind == Kind::Atomicity);
    kept.sort_by(|a, b| (a.kind, &a.events).cmp(&(b.kind, &b.events)));
    let mut unsafe_in: HashMap<VarId, usize> = HashMap::new();
    for (place, finding) in kept.iter().enumerate() {
        if matches!(finding.kind, Kind::Race | Kind::UseAfterFree) {
            for variable in variables(trace, finding) {
                unsafe_in.entry(variable).or_insert(place);
            }
        }
    }
    atomicity.sort_by(|a, b| (&a.events, a.pattern).cmp(&(&b.events, b.pattern)));
    for finding in atomicity {
        let named = variables(trace, &finding);
        let around = named.iter().flat_map(|&variable| trace.objects().around(variable));
        let mut touched = named.iter().copied().chain(around);
        match touched.find_map(|variable| unsafe_in.get(&variable)) {
            Some(&place) => {
                let ends = finding.sites.first().zip(finding.sites.last());
                let torn =
                    ends.map(|(&first, &last)| Torn { pattern: finding.pattern, sites: [first, last] });
                kept[place].torn.extend(torn);
            }
            None => findings.push(finding),
        }
    }
    findings.extend(kept);
}

/// The variables that the events of a finding access.
fn variables(trace: &Trace, finding: &Finding) -> Vec<VarId> {
    let all = finding.events.iter().filter_map(|&event| trace.op(event).access());
    let mut all: Vec<VarId> = all.map(|access| access.variable).collect();
    all.sort_unstable();
    all.dedup();
    all
}
