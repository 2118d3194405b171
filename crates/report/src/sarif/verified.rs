//! A verification as SARIF: what the fix leaves or brings, where it is in the new program.

use std::collections::BTreeMap;

use reweave_detect::Kind;
use serde_json::Value;
use serde_sarif::sarif::{ResultLevel, Sarif};

use super::{FINGERPRINT, Result, clipped, message, rule, site, whole};
use crate::event::clean;
use crate::json::{Verified, VerifiedBug, VerifiedClaim};

/// The document of a verification: a result for each bug that a run of the new program showed, and
/// one where nothing can be said. A fix that is sufficient, as far as was seen, has none.
pub fn verified(verified: &Verified) -> Sarif {
    let is_shown = |state: &str| state == "shown";
    let bugs = verified.bug.iter().chain(&verified.other_bugs).filter(|bug| is_shown(&bug.state));
    let claims = verified.claims.iter().filter(|one| is_shown(&one.state) && one.relation != "other");
    let mut results: Vec<Result> = bugs.map(|one| bug(verified, one)).chain(claims.map(claim)).collect();
    if verified.verdict == "undecided" {
        results.push(undecided(verified));
    }
    let properties = BTreeMap::from([
        ("verdict".to_owned(), Value::from(verified.verdict.as_str())),
        ("runs".to_owned(), Value::from(verified.runs)),
        ("complete".to_owned(), Value::from(verified.verdict != "undecided")),
    ]);
    whole(properties, true, "reweave/verify/", rule::undecided(), results)
}

fn result(rule: &str, fingerprint: &str, text: &str, sites: &[String], what: &str) -> Result {
    let place = Kind::ALL.iter().position(|one| one.name() == rule);
    let level = if place.is_some() { ResultLevel::Error } else { ResultLevel::Warning };
    let mut sites = sites.iter().map(|one| site::location(one, what.to_owned()));
    let first = sites.next().unwrap_or_else(|| site::location("", what.to_owned()));
    let mut result = Result::builder()
        .rule_id(rule)
        .rule_index(place.unwrap_or(Kind::ALL.len()) as i64)
        .level(level)
        .message(message(clipped(&clean(text))))
        .locations(vec![first])
        .partial_fingerprints(BTreeMap::from([(FINGERPRINT.to_owned(), fingerprint.to_owned())]))
        .build();
    result.related_locations = Some(sites.collect::<Vec<_>>()).filter(|list| !list.is_empty());
    result
}

/// A bug that is still there. Where its events are in the new program says a claim that is the
/// same, where there is one.
fn bug(verified: &Verified, bug: &VerifiedBug) -> Result {
    let same = verified.claims.iter().find(|claim| claim.relation == "same" && claim.kind == bug.kind);
    let text = format!("The fix is not enough: {} can still happen: {}.", bug.title, bug.by);
    match same {
        Some(claim) => result(&bug.kind, &bug.fingerprint, &text, &claim.sites_after, "an event of the bug"),
        None => result(&bug.kind, &bug.fingerprint, &text, &bug.sites, "an event of the bug, before the fix"),
    }
}

fn claim(claim: &VerifiedClaim) -> Result {
    let how = match claim.relation.as_str() {
        "changed" => "The fix brings a new bug",
        _ => "The fix is not enough",
    };
    let text = format!("{how}: {}; it {}.", claim.title, claim.by);
    result(&claim.kind, &claim.fingerprint, &text, &claim.sites_after, "an event of the bug")
}

fn undecided(verified: &Verified) -> Result {
    let text = format!("Whether the fix is enough is not known: {}.", verified.gaps.join("; "));
    let sites = verified.bug.as_ref().map(|bug| bug.sites.as_slice()).unwrap_or_default();
    let fingerprint = verified.bug.as_ref().map_or("none", |bug| bug.fingerprint.as_str());
    result(rule::UNDECIDED, fingerprint, &text, sites, "the bug before the fix")
}
