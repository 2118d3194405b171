//! Races on one variable, as one report: the worst in full, a line for each other pair of sites.

use std::collections::BTreeMap;

use reweave_detect::Kind;

use super::{count, seen};
use crate::event::clean;
use crate::json::predict::Finding;

/// Up to so many races on one variable are each shown in full.
const FULL: usize = 2;

/// So many other pairs of sites have a line.
const LINES: usize = 20;

/// Findings that are one report, by their places in a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The one that is shown in full.
    pub first: usize,
    /// The others.
    pub more: Vec<usize>,
}

/// The reports of some findings: each group is where the first of its findings is.
pub fn groups<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<Group> {
    let findings: Vec<&Finding> = findings.into_iter().collect();
    let mut by_variable: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, finding) in findings.iter().enumerate().filter(|(_, finding)| finding.kind == Kind::Race) {
        by_variable.entry(&finding.target).or_default().push(place);
    }
    by_variable.retain(|_, places| places.len() > FULL);
    let group = |(place, finding): (usize, &&Finding)| {
        let places = by_variable.get(finding.target.as_str()).filter(|_| finding.kind == Kind::Race);
        match places.map(Vec::as_slice) {
            None => Some(Group { first: place, more: Vec::new() }),
            Some(places) if places.first() == Some(&place) => {
                let worst = places.iter().copied().min_by_key(|&place| findings[place].severity().rank());
                let first = worst.unwrap_or(place);
                let more = places.iter().copied().filter(|&other| other != first).collect();
                Some(Group { first, more })
            }
            Some(_) => None,
        }
    };
    findings.iter().enumerate().filter_map(group).collect()
}

/// The lines of the others in a group.
pub fn more(first: &Finding, others: &[&Finding]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let pairs = count(others.len() as u64, "more pair", "more pairs");
    let mut text = format!("  {pairs} of accesses race on {}:\n", clean(&first.target));
    for other in others.iter().take(LINES) {
        let sites: Vec<String> = other.sites.iter().map(|site| clean(site).into_owned()).collect();
        let (severity, known) = (other.severity(), first.severity());
        let reason = if severity == known { String::new() } else { format!("; {}", clean(&severity.reason)) };
        text += &format!(
            "    {}: fingerprint {}, {}{reason}\n",
            sites.join(" and "),
            other.fingerprint,
            seen(other)
        );
    }
    if others.len() > LINES {
        text += &format!("    and {} more, in the JSON and on the page\n", others.len() - LINES);
    }
    text + "  `reweave explain FINGERPRINT TRACE` says why one of them can happen\n"
}
