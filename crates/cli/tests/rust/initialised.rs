//! One-time initialisation in safe Rust: whoever finds it done comes after it, also where memory is used again.

use crate::project::{Project, findings, is_there};

const PROGRAM: &str = r#"//! Cells that are initialised once, in memory that is used again.
use std::sync::{LazyLock, Once, OnceLock};

#[test]
fn once_lock_in_a_loop() {
    for _ in 0..2 {
        let cell: OnceLock<u64> = OnceLock::new();
        std::thread::scope(|s| {
            s.spawn(|| loop { if let Some(m) = cell.get() { assert_eq!(*m, 7); break; } });
            s.spawn(|| cell.set(7));
        });
    }
}

#[test]
fn once_in_a_loop() {
    for _ in 0..2 {
        let (once, cell) = (Once::new(), std::sync::Mutex::new(0));
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| { once.call_once(|| *cell.lock().unwrap() += 1); assert_eq!(*cell.lock().unwrap(), 1); });
            }
        });
    }
}

#[test]
fn get_or_init_by_two() {
    for round in 0..2 {
        let cell: OnceLock<Vec<u64>> = OnceLock::new();
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| assert_eq!(cell.get_or_init(|| vec![round])[0], round));
            }
        });
    }
}

#[test]
fn lazy_by_two() {
    static LAZY: LazyLock<String> = LazyLock::new(|| "one".to_owned());
    let a = std::thread::spawn(|| assert_eq!(LAZY.len(), 3));
    assert_eq!(LAZY.as_str(), "one");
    a.join().unwrap();
}
"#;

#[test]
fn what_is_initialised_again_is_new() {
    if !is_there() {
        return;
    }
    let project = Project::new("", &[("src/lib.rs", "//! Nothing.\n"), ("tests/cells.rs", PROGRAM)]);
    for seed in ["0", "1", "2", "3", "4", "5"] {
        let said = project.cargo_ok(&["test", "--offline", "--seed", seed, "--timeout", "60s"]);
        assert!(said.contains("4 passed; 0 failed"), "{said}");
        for test in ["once_lock_in_a_loop", "once_in_a_loop", "get_or_init_by_two", "lazy_by_two"] {
            let found = findings(&project.trace("cells", test), "race,deadlock,uaf,order");
            assert!(found.is_empty(), "{test}, seed {seed}: {found:?}");
        }
    }
}
