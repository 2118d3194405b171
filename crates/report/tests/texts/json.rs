//! Documents, there and back.

use reweave_decide::{Reason, Refutation, Verdict};
use reweave_report::json::{Head, Query};
use reweave_trace::{Model, Trace};
use reweave_witness::Claim;

use crate::common::{decide, golden, id, ids, litmus};
use crate::refutations::{contradictions, demands, steps};

fn document(trace: &Trace, claim: &Claim, verdict: &Verdict) -> Query {
    Query::new(trace, Head::new(trace, "t.std", Model::Rf), claim, verdict, 0.25)
}

fn every_verdict() -> Vec<Query> {
    let trace = litmus("race-needs-reversal");
    let race = Claim::CoEnabled(ids(&[0, 7]));
    let pairs = Claim::Before { pairs: vec![(id(3), id(4))], adjacent: vec![0] };
    let mut all = vec![document(&trace, &race, &decide(&trace, Model::Rf, &race))];
    let refutations = [Refutation::Cycle(steps()), Refutation::Clash(demands())];
    let statics = contradictions().into_iter().map(Refutation::Static);
    for refutation in refutations.into_iter().chain(statics) {
        all.push(document(&trace, &pairs, &Verdict::Infeasible(refutation)));
    }
    for reason in [Reason::Work, Reason::Stopped, Reason::Inconclusive] {
        all.push(document(&trace, &pairs, &Verdict::Unknown(reason)));
    }
    all
}

#[test]
fn documents_survive_the_way_through_text() {
    for document in every_verdict() {
        let text = serde_json::to_string(&document).expect("a document");
        assert_eq!(serde_json::from_str::<Query>(&text).expect("the same"), document, "{text}");
        assert!(!text.contains("other\"}"), "a variant has no name: {text}");
    }
}

#[test]
fn documents_look_as_described() {
    let lines: Vec<String> =
        every_verdict().iter().map(|one| serde_json::to_string(one).expect("a document") + "\n").collect();
    golden("documents", &lines.concat());
}
