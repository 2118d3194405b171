//! What the analyses promise, against the oracle of all feasible reorderings.
//!
//! The model is `rf`: a reordering in which every read observes what it did, which is what the papers call correct.

use reweave_testkit::{Oracle, generate, show};
use reweave_trace::Model;

use crate::{PLAIN, naive, pairs, shapes};

const TRACES: u64 = 3000;

#[test]
fn promises_are_kept() {
    let mut real = [0; 5];
    for (name, shape) in shapes() {
        for seed in 0..TRACES {
            let trace = generate(&shape.clone().with_events((6, 14)), 2_000_000 + seed);
            let Ok(oracle) = Oracle::with_limit(&trace, Model::Rf, None, 200_000) else { continue };
            let races = oracle.races();
            let about = || format!("{name}, seed {seed}:\n{}", show(&trace));
            let found = PLAIN.map(|analysis| pairs(&trace, analysis, true));
            found.iter().zip(&mut real).for_each(|(found, real)| *real += found.len());
            let [hb, shb, wcp, _, syncp] = found;
            assert!(syncp.iter().all(|pair| races.contains(pair)), "syncp {syncp:?}, {}", about());
            // What a wait does that nothing explains, and when an update may run, is no part of the other papers.
            if naive::has_missed_wait(&trace) || trace.ids().any(|e| naive::is_update(&trace, e)) {
                continue;
            }
            assert!(shb.iter().all(|pair| races.contains(pair)), "shb {shb:?}, {}", about());
            let racy = |found: &[_]| {
                found.first().is_none_or(|&(_, later)| races.iter().any(|&(a, b)| a.max(b) == later))
            };
            assert!(racy(&hb), "hb {hb:?}, {}", about());
            // The paper's locks are well nested.
            let nested = naive::is_well_nested(&trace);
            assert!(!nested || racy(&wcp) || !oracle.deadlocks().is_empty(), "wcp {wcp:?}, {}", about());
        }
    }
    assert!(real.iter().all(|&count| count > 100), "{real:?}");
}
