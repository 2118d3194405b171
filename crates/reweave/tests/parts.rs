//! Explorations in parts: the same answer as in one process, for any number of them, in any order, and after a part was killed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use reweave::sync::atomic::AtomicU32;
use reweave::sync::atomic::Ordering::SeqCst;
use reweave::sync::{Arc, Mutex};
use reweave::{Builder, Engine, Exploration, Verdict, merge, thread};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("reweave-parts-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Three threads count under a lock.
fn counts() {
    let sum = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let sum = Arc::clone(&sum);
            thread::spawn(move || *sum.lock().unwrap() += 1)
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*sum.lock().unwrap(), 3);
}

/// Two threads lose an update, and the third may see it.
fn loses() {
    let cell = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let cell = Arc::clone(&cell);
            thread::spawn(move || {
                let old = cell.load(SeqCst);
                cell.store(old + 1, SeqCst);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(cell.load(SeqCst), 2, "an update is lost");
}

/// Two locks in two orders.
fn locks_up() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let other = Arc::clone(&locks);
    let thread = thread::spawn(move || {
        let _second = other.1.lock().unwrap();
        let _first = other.0.lock().unwrap();
    });
    let first = locks.0.lock().unwrap();
    drop(locks.1.lock().unwrap());
    drop(first);
    thread.join().unwrap();
}

type Body = fn();

fn verdict(exploration: &Exploration) -> (&'static str, BTreeSet<(String, String)>) {
    let name = match exploration.verdict {
        Verdict::Proved => "proved",
        Verdict::Failed { .. } => "failed",
        _ => "stopped",
    };
    let failures = exploration.failures.iter();
    (name, failures.map(|found| (found.kind.to_owned(), found.what.clone())).collect())
}

#[test]
fn parts_come_to_what_the_whole_does() {
    for (name, body) in [("counts", counts as Body), ("loses", loses), ("locks_up", locks_up)] {
        for engine in [Engine::Saturate, Engine::Trace] {
            let builder = || Builder::new().engine(engine).keep_going(true).audit(2);
            let whole = builder().explore(body);
            for number in [1, 3, 9] {
                let folder = folder(&format!("{name}-{engine:?}-{number}"));
                let items = builder().split(number, &folder, body).unwrap();
                assert!(items >= number || name == "locks_up", "{name} {items}");
                // The last part first.
                for item in (1..=items).rev() {
                    builder().item(&folder.join(format!("{item:06}.item")), body).unwrap();
                }
                let merged = merge(&folder).unwrap();
                assert_eq!(verdict(&merged), verdict(&whole), "{name} {engine:?} {number}: {merged}");
                if engine == Engine::Trace {
                    assert_eq!(merged.executions, whole.executions, "{name} {number}: {merged}");
                }
                if let Verdict::Failed { schedule } = &merged.verdict {
                    let again = Builder::new().replay(schedule, body);
                    assert!(matches!(again.verdict, Verdict::Failed { .. }), "{again}");
                }
                std::fs::remove_dir_all(folder).unwrap();
            }
        }
    }
}

#[test]
fn a_part_that_is_missing_is_named_and_one_of_another_test_is_refused() {
    let folder = folder("missing");
    let builder = || Builder::new().audit(0);
    let items = builder().split(4, &folder, counts).unwrap();
    for item in 2..=items {
        builder().item(&folder.join(format!("{item:06}.item")), counts).unwrap();
    }
    let merged = merge(&folder).unwrap();
    assert!(matches!(merged.verdict, Verdict::Stopped), "{merged}");
    assert!(merged.to_string().contains("1 of ") && merged.to_string().contains(": 000001"), "{merged}");
    let first = folder.join("000001.item");
    let other = Builder::new().audit(0).max_steps(77).item(&first, counts).unwrap_err();
    assert!(other.to_string().contains("it was made with other options"), "{other}");
    let text = std::fs::read_to_string(&first).unwrap();
    std::fs::write(&first, text.replace("prefix main", "prefix main.9 main")).unwrap();
    let other = builder().item(&first, counts).unwrap_err();
    assert!(other.to_string().contains("it is a part of another test"), "{other}");
    std::fs::write(&first, "something else").unwrap();
    let other = builder().item(&first, counts).unwrap_err();
    assert!(other.to_string().contains("a part begins with the line"), "{other}");
    std::fs::write(&first, text).unwrap();
    // A result that was cut off is not taken for one.
    std::fs::write(folder.join("000001.result"), "reweave result 1\nverdict proved\n").unwrap();
    assert!(merge(&folder).is_err());
    builder().item(&first, counts).unwrap();
    assert!(matches!(merge(&folder).unwrap().verdict, Verdict::Proved));
    let bounded = Builder::new().preemptions(2).split(4, &folder, counts).unwrap_err();
    assert!(bounded.to_string().contains("has no parts"), "{bounded}");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A part is of one text of a specification, whatever the names of its types; and of one audit.
#[test]
fn a_part_is_of_one_specification() {
    let folder = folder("specified");
    let text = "type flag sync internal\n  state up: bool\n  method raise() { up := true }\n  \
                method look() = r { r := up }\n  commute raise raise, look look iff true\n";
    let other = text.replace("raise raise, look look", "look look");
    let builder = |text: &str| Builder::new().audit(0).spec(text);
    assert!(builder(text).split(3, &folder, counts).unwrap() >= 3);
    let first = folder.join("000001.item");
    let refused = builder(&other).item(&first, counts).unwrap_err();
    assert!(refused.to_string().contains("it was made with other options"), "{refused}");
    let refused = builder(text).audit(1).item(&first, counts).unwrap_err();
    assert!(refused.to_string().contains("audit=0"), "{refused}");
    builder(text).item(&first, counts).unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}

/// A loop that counts on the heap counts in every part of an exploration.
#[test]
fn parts_know_the_loops_that_count() {
    let spins = || {
        let flag = Arc::new(AtomicU32::new(0));
        let other = Arc::clone(&flag);
        thread::spawn(move || other.store(1, SeqCst));
        let left = std::hint::black_box(Box::new(std::cell::Cell::new(6)));
        while flag.load(SeqCst) == 0 && left.get() > 0 {
            left.set(left.get() - 1);
        }
        assert!(left.get() > 0, "the patience is over");
    };
    let folder = folder("counts");
    let items = Builder::new().split(3, &folder, spins).unwrap();
    let text = std::fs::read_to_string(folder.join("000001.item")).unwrap();
    assert!(text.contains("prefix counts="), "{text}");
    for item in 1..=items {
        Builder::new().item(&folder.join(format!("{item:06}.item")), spins).unwrap();
    }
    let merged = merge(&folder).unwrap();
    assert!(merged.to_string().contains("the patience is over"), "{merged}");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_exploration_goes_on_where_it_was_ended() {
    let folder = folder("checkpoint");
    let builder = || Builder::new().audit(0);
    let whole = builder().checkpoint(5, &folder, counts).unwrap();
    assert!(matches!(whole.verdict, Verdict::Proved), "{whole}");
    let done =
        |number: usize| std::fs::metadata(folder.join(format!("{number:06}.result"))).unwrap().modified();
    let before = (done(1).unwrap(), done(2).unwrap());
    std::fs::remove_file(folder.join("000002.result")).unwrap();
    let again = builder().checkpoint(5, &folder, counts).unwrap();
    assert_eq!((verdict(&again), again.runs), (verdict(&whole), whole.runs));
    assert_eq!(done(1).unwrap(), before.0, "it was not done again");
    assert_ne!(done(2).unwrap(), before.1, "it was");
    std::fs::remove_dir_all(folder).unwrap();
}

/// What other processes run, below; by itself it is a test like any other.
#[test]
fn subject() {
    Builder::new().audit(0).check(if std::env::var_os("PARTS_LOSE").is_some() { loses } else { counts });
}

fn run(loses: bool, variables: &[(&str, &Path)]) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "subject", "--nocapture"]).envs(variables.iter().copied());
    command.envs(loses.then_some(("PARTS_LOSE", "1")));
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

fn has_parallel() -> bool {
    let version = Command::new("parallel").arg("--version").output();
    version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("GNU parallel"))
}

#[test]
fn gnu_parallel_runs_the_parts() {
    if !has_parallel() {
        eprintln!("notice: GNU parallel is not installed (apt-get install parallel): skipped");
        return;
    }
    for fails in [false, true] {
        let folder = folder(&format!("parallel-{fails}"));
        let (split, text) = run(fails, &[("REWEAVE_SPLIT", &folder), ("REWEAVE_ITEMS", Path::new("6"))]);
        assert!(split, "{text}");
        let mut items: Vec<PathBuf> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|end| end == "item"))
            .collect();
        items.sort();
        assert!(items.len() >= 6, "{text}");
        let mut parallel = Command::new("parallel");
        parallel.args(["--will-cite", "-j", "2", "REWEAVE_ITEM={}"]);
        parallel.arg(std::env::current_exe().unwrap()).args(["--exact", "subject", ":::"]).args(&items);
        parallel.envs(fails.then_some(("PARTS_LOSE", "1")));
        let output = parallel.output().unwrap();
        assert_eq!(output.status.success(), !fails, "{}", String::from_utf8_lossy(&output.stdout));
        // One was killed before its end.
        std::fs::remove_file(items[0].with_extension("result")).unwrap();
        let (merged, text) = run(fails, &[("REWEAVE_MERGE", &folder)]);
        assert!(!merged, "{text}");
        let (again, _) = run(fails, &[("REWEAVE_ITEM", &items[0])]);
        let (merged, text) = run(fails, &[("REWEAVE_MERGE", &folder)]);
        assert_eq!(merged, !fails, "{again} {text}");
        let wanted = if fails { "an update is lost" } else { "proved, no failure in any interleaving" };
        assert!(text.contains(wanted), "{text}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
