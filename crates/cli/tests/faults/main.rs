//! A campaign of faults: signals at random moments, a full disk, no memory, killed recorders and programs, hostile files. Nothing
//! may stay of it: no process, no file, no wrong trace. `scripts/faults` runs it with a thousand trials.

mod processes;
mod trial;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use trial::{Campaign, Kind, Trial};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn faults_leave_no_process_no_file_and_no_wrong_trace() {
    let (trials, seed) = (number("REWEAVE_FAULT_TRIALS", 42), number("REWEAVE_FAULT_SEED", 1));
    let campaign = Campaign::prepare();
    let (next, failures) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let counts = Mutex::new(BTreeMap::<Kind, u64>::new());
    let started = Instant::now();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= trials {
                        break;
                    }
                    let trial = Trial::new(&campaign, seed, number);
                    let kind = trial.kind;
                    match trial.run() {
                        Ok(()) => *counts.lock().unwrap().entry(kind).or_default() += 1,
                        Err(failure) => {
                            failures.lock().unwrap().push(format!("trial {number}, {kind:?}: {failure}"))
                        }
                    }
                }
            });
        }
    });
    let seconds = started.elapsed().as_secs_f64();
    println!("{trials} trials in {seconds:.0} s: {:?}", counts.lock().unwrap());
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures (seed {seed}):\n{}", failures.len(), failures.join("\n"));
    campaign.clear_rings();
    let left = campaign.processes();
    assert!(left.is_empty(), "processes are left: {left:?}");
    assert_eq!(rings(&campaign), Vec::<String>::new(), "rings are left");
    let files: Vec<_> =
        fs::read_dir(campaign.traces()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(files.is_empty(), "files are left: {files:?}");
}

/// The rings of our recorders that are left. A recorder of somebody else may have the number that one of ours had; it holds a
/// lock on its ring, or will soon: a ring is left where it stays and nobody holds it.
fn rings(campaign: &Campaign) -> Vec<String> {
    let mut left = unlocked_rings(campaign);
    let started = Instant::now();
    while !left.is_empty() && started.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(50));
        let now = unlocked_rings(campaign);
        left.retain(|name| now.contains(name));
    }
    left
}

/// How long a recorder may take between making its ring and locking it.
const PATIENCE: Duration = Duration::from_secs(10);

fn unlocked_rings(campaign: &Campaign) -> Vec<String> {
    let names = fs::read_dir(Path::new("/dev/shm")).into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_ours =
        |name: &str| campaign.recorders().iter().any(|id| name.starts_with(&format!("reweave-{id}-")));
    let is_locked = |name: &str| {
        let ring = Path::new("/dev/shm").join(name).join("ring");
        fs::File::open(ring).is_ok_and(|ring| ring.try_lock().is_err())
    };
    names.filter(|name| is_ours(name) && !is_locked(name)).collect()
}
