//! The whole chain against the real thing: random programs are recorded, random schedules that a model accepts are forced
//! on them, and every step has to come. In those of Rust nothing may be found.
//!
//! `REWEAVE_CAMPAIGN` is the number of programs, `REWEAVE_CAMPAIGN_FROM` the first seed; `scripts/campaign` sets them.

mod build;
mod flows;
mod force;
mod perturb;
mod record;
mod small;
mod walk;

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use build::{Binary, Front};
use reweave_detect::{Kind, Options, predict};
use reweave_replay::Outcome;
use reweave_testkit::Rng;
use reweave_testkit::program::Bug;
use reweave_trace::{Capabilities, Model};

/// How many programs make a binary.
const BATCH: usize = 50;
/// Schedules for each program and model.
const WALKS: usize = 2;

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[derive(Default)]
struct Tally {
    programs: AtomicU64,
    schedules: AtomicU64,
    steps: AtomicU64,
    compared: AtomicU64,
    /// Findings, of violations of atomicity, that were replayed, and those that were not.
    findings: AtomicU64,
    findings_left: AtomicU64,
}

/// How many findings of a program are replayed; all in a campaign.
fn most_findings() -> usize {
    if std::env::var_os("REWEAVE_CAMPAIGN").is_some() { usize::MAX } else { 3 }
}

fn models(capabilities: Capabilities) -> Vec<Model> {
    let all = [Model::Rf, Model::Value, Model::Branch, Model::BranchValue, Model::Dep, Model::DepValue];
    all.into_iter().filter(|model| capabilities.include(model.needs())).collect()
}

/// One program: nothing is found in it, and each schedule can be forced on it, where the binary's are.
fn check(binary: &Binary, case: usize, tally: &Tally) -> Vec<String> {
    let seed = binary.programs[case].seed;
    let name = |what: &str| format!("seed {seed}, {:?}, {}: {what}", binary.front, binary.path.display());
    let run = record::record(binary, case, seed);
    if run.status != Some(0) {
        return vec![name(&format!("recorded: {:?} {}", run.status, run.notes))];
    }
    let (mut wrong, mut rng) = (Vec::new(), Rng::new(seed));
    let walker = walk::Walker::new(&run.trace);
    for model in models(run.trace.capabilities()) {
        let kinds = vec![Kind::Race, Kind::Deadlock, Kind::UseAfterFree, Kind::Order];
        let options = Options { kinds, jobs: 1, ..Options::default() };
        let found = predict(&run.trace, model, &options).expect("it is searched");
        for finding in found.findings {
            wrong.push(name(&format!("{model}: found {} of {}", finding.kind(), finding.target(&run.trace))));
        }
        if !binary.forced {
            continue;
        }
        if model == Model::auto(run.trace.capabilities()) {
            let confirmed = force::confirm(binary, case, &run, &walker, model, most_findings());
            tally.findings.fetch_add(confirmed.replayed as u64, Relaxed);
            tally.findings_left.fetch_add(confirmed.left as u64, Relaxed);
            wrong.extend(confirmed.wrong.iter().map(|what| name(&format!("{model}: {what}"))));
        }
        for _ in 0..WALKS {
            let Some(walk) = walker.walk(model, &mut rng) else { continue };
            tally.schedules.fetch_add(1, Relaxed);
            tally.steps.fetch_add(walk.events.len() as u64, Relaxed);
            match force::force(binary, case, &run, &walker, &walk) {
                Ok(compared) => _ = tally.compared.fetch_add(compared as u64, Relaxed),
                Err(what) => wrong.push(name(&format!("{model}: {what}"))),
            }
        }
    }
    tally.programs.fetch_add(1, Relaxed);
    wrong
}

/// Records until a run in which the bug does not happen by itself, and looks for it there; whether it was found. What is found
/// is replayed.
fn bug_is_found(binary: &Binary, case: usize, (bug, kind): (Bug, Kind), seed: u64) -> bool {
    let run = record::record(binary, case, seed);
    if run.notes.contains("deadlock") {
        return false;
    }
    let options = Options { kinds: vec![kind], jobs: 1, ..Options::default() };
    let found = predict(&run.trace, Model::Rf, &options).expect("it is searched").findings;
    let is_it = |target: String| ["bug_", "m_", "k_", "heap block"].iter().any(|name| target.contains(name));
    let walker = walk::Walker::new(&run.trace);
    let mut is_found = false;
    for finding in found.iter().filter(|finding| is_it(finding.target(&run.trace))) {
        let outcome = force::replay(binary, case, &run, &walker, finding.witness());
        let target = finding.target(&run.trace);
        assert_eq!(outcome, Ok(Outcome::Confirmed), "case {case}, seed {seed}, {bug:?} of {target}");
        is_found = true;
    }
    is_found
}

/// A bug that was put into a program is found, whatever else the program does, and can be made to happen.
#[test]
fn bugs_are_found_and_confirmed() {
    let seeds: Vec<u64> = (0..number("REWEAVE_CAMPAIGN", 10).min(50)).collect();
    for bug in
        [(Bug::Race, Kind::Race), (Bug::Deadlock, Kind::Deadlock), (Bug::UseAfterFree, Kind::UseAfterFree)]
    {
        let binary = Binary::c(&seeds, Some(bug.0), Front::Tsan);
        for case in 0..binary.programs.len() {
            let found = (1..8).any(|seed| bug_is_found(&binary, case, bug, seed));
            assert!(found, "case {case}, {bug:?}: not found");
        }
    }
}

/// Checks all programs of a binary; what is wrong.
fn check_all(binary: &Binary, tally: &Tally) -> Vec<String> {
    let next = AtomicU64::new(0);
    let work = || {
        let mut wrong = Vec::new();
        loop {
            let case = next.fetch_add(1, Relaxed) as usize;
            if case >= binary.programs.len() {
                return wrong;
            }
            wrong.extend(check(binary, case, tally));
        }
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().flat_map(|thread| thread.join().expect("a worker")).collect()
    });
    wrong.iter().for_each(|what| eprintln!("{what}\n"));
    wrong
}

/// Checks so many programs, compiled in batches.
fn check_programs(count: u64, compile: impl Fn(&[u64]) -> Vec<Binary>) {
    let from = number("REWEAVE_CAMPAIGN_FROM", 0);
    let seeds: Vec<u64> = (from..from + count).collect();
    let (tally, mut wrong) = (Tally::default(), 0);
    for seeds in seeds.chunks(BATCH) {
        wrong += compile(seeds).iter().map(|binary| check_all(binary, &tally).len()).sum::<usize>();
        eprintln!("up to seed {:?}: {tally:?}, {wrong} wrong", seeds.last());
    }
    assert!(wrong == 0, "{wrong} of {tally:?}");
}

#[test]
fn what_a_model_accepts_can_be_forced_on_random_programs_of_c() {
    check_programs(number("REWEAVE_CAMPAIGN", 40), |seeds| {
        Front::all().into_iter().map(|front| Binary::c(seeds, None, front)).collect()
    });
}

#[test]
fn nothing_is_found_in_random_programs_of_rust() {
    if build::has_rust() {
        check_programs(number("REWEAVE_CAMPAIGN", 20), |seeds| vec![Binary::rust(seeds)]);
    }
}

impl std::fmt::Debug for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let get = |number: &AtomicU64| number.load(Relaxed);
        write!(
            f,
            "{} programs, {} schedules, {} steps, {} values compared",
            get(&self.programs),
            get(&self.schedules),
            get(&self.steps),
            get(&self.compared)
        )
    }
}
