//! Every way in which threads start, wait and talk.

use crate::common::{GCC, Line, Recorded, compile, compilers, count};

/// Compiles and records a program under several seeds and policies; each run must do what it should.
#[track_caller]
fn check(name: &str, flags: &[&str], look: impl Fn(&[Line])) {
    for compiler in compilers() {
        let program = compile(compiler, name, flags);
        for (seed, policy) in [("1", "random"), ("2", "random"), ("3", "pct"), ("4", "plain")] {
            let recorded: Recorded = program.record::<&str>(&["--seed", seed, "--policy", policy], &[]);
            let Recorded { code, out, err, .. } = &recorded;
            assert_eq!(
                (*code, out.as_str()),
                (Some(0), "ok\n"),
                "{compiler:?} {name} {seed} {policy}: {err}"
            );
            // Only libraries write unseen: a value that the recorder got wrong would look the same.
            let libraries = ["standard.cpp", "cancel.c", "cancel_anywhere.c"].contains(&name);
            assert!(libraries || !err.contains("without a recorded write"), "{compiler:?} {name}: {err}");
            look(&recorded.events());
        }
    }
}

#[track_caller]
fn has(lines: &[Line], op: &str, target: &str) -> bool {
    let found = lines.iter().any(|line| line.op == op && line.target == target);
    assert!(found, "no {op}({target}) among {:?}", {
        let mut others: Vec<String> =
            lines.iter().map(|line| format!("{}({})", line.op, line.target)).collect();
        others.sort_unstable();
        others.dedup();
        others
    });
    found
}

/// A thread that cannot have the lock does not run for it: switches do not grow with the square of the threads.
#[test]
fn many_threads_on_one_lock_are_switched_no_more_often_than_they_take_it() {
    let program = compile(GCC, "contended.c", &["-O1"]);
    for how in ["mutex", "semaphore", "rwlock"] {
        let recorded = program.record(&["--seed", "3"], &[how]);
        assert_eq!((recorded.code, recorded.out.as_str()), (Some(0), "ok\n"), "{how}: {}", recorded.err);
        recorded.events();
    }
}

#[test]
fn accesses_of_every_size_and_copies() {
    check("accesses.c", &["-O1"], |lines| {
        assert!(has(lines, "w", "global one") && has(lines, "r", "global ratio"));
        for part in ["global buffer+", "global odd"] {
            assert!(lines.iter().any(|line| line.op == "w" && line.target.starts_with(part)), "{part}");
        }
    });
}

#[test]
fn accesses_of_optimised_code() {
    check("accesses.c", &["-O2"], |lines| assert!(has(lines, "w", "global one")));
}

#[test]
fn threads_and_children_may_run_where_they_might() {
    check("cores.c", &["-O1"], |lines| assert!(has(lines, "w", "global turn")));
}

#[test]
fn copies_of_every_small_size() {
    for flags in
        [&["-O0"][..], &["-O2"], &["-O2", "-D_FORTIFY_SOURCE=2"], &["-O2", "-Wp,-D_FORTIFY_SOURCE=2"]]
    {
        check("copies.c", flags, |lines| {
            for buffer in ["from", "to", "moved", "set"] {
                let name = format!("global {buffer}");
                assert!(lines.iter().any(|line| line.op == "w" && line.target.starts_with(&name)), "{name}");
            }
        });
    }
}

#[test]
fn structures_that_are_moved() {
    for flags in [&["-O0"][..], &["-O1"], &["-O2"], &["-O3"]] {
        check("structures.c", flags, |lines| {
            for name in ["global nodes", "global ranges", "global bigs", "global to"] {
                assert!(lines.iter().any(|line| line.op == "w" && line.target.starts_with(name)), "{name}");
            }
        });
    }
}

#[test]
fn atomics_of_every_width() {
    check("atomics.c", &["-O1"], |lines| {
        for variable in ["a", "b", "c", "d", "turn", "flag"] {
            let name = format!("global {variable}");
            assert!(
                lines.iter().any(|line| line.target == name && ["au", "aw"].contains(&&*line.op)),
                "{name}"
            );
        }
        assert_eq!(lines.iter().filter(|line| line.op == "au" && line.target == "global a").count(), 300);
        // Guarded by a flag that is spun on: plain accesses.
        assert!(has(lines, "w", "global guarded"));
    });
}

#[test]
fn atomics_of_128_bits() {
    check("wide.c", &["-O1"], |lines| {
        let updates = |name: &str| lines.iter().filter(|line| line.op == "au" && line.target == name).count();
        assert!(updates("global value") >= 200);
        assert_eq!(updates("global value"), updates("global value+8"));
    });
}

#[test]
fn mutexes_of_every_kind() {
    check("mutex.c", &["-O1"], |lines| {
        assert!(has(lines, "acq", "global normal") && has(lines, "tryacq", "global normal"));
        assert!(has(lines, "busy", "global normal"), "a lock that was waited for in vain");
        // Nesting is recorded as it happened.
        let nested = lines.iter().filter(|line| line.op == "acq" && line.target == "global nests").count();
        assert!(nested >= 2 && nested.is_multiple_of(2));
        assert_eq!(count(lines, "acq") + count(lines, "tryacq"), count(lines, "rel"));
    });
}

#[test]
fn reader_writer_locks_and_spin_locks() {
    check("rwlock.c", &["-O1"], |lines| {
        assert!(has(lines, "racq", "global lock") && has(lines, "rrel", "global lock"));
        assert!(has(lines, "acq", "global lock") && has(lines, "tryacq", "global lock"));
        assert!(has(lines, "acq", "global spin") && has(lines, "rel", "global spin"));
        assert_eq!(count(lines, "racq"), count(lines, "rrel"));
    });
}

#[test]
fn condition_variables() {
    check("condition.c", &["-O1"], |lines| {
        assert!(has(lines, "notify", "global full") && has(lines, "notifyall", "global go"));
        // Each wait stands between the release and the acquire of its lock; one with a deadline looks at the clock first, and again
        // where that has passed.
        for thread in ["main", "T1", "T2", "T3"] {
            let own: Vec<&Line> = lines.iter().filter(|line| line.thread == thread).collect();
            for (at, _) in own.iter().enumerate().filter(|(_, line)| line.op == "wait") {
                let start = own[..at].iter().rposition(|line| line.op != "look" && line.op != "br").unwrap();
                let end = at + 1 + usize::from(own[at + 1].op == "look");
                assert!(end == at + 1 || thread == "main");
                assert_eq!((&*own[start].op, &*own[end].op), ("rel", "acq"));
                assert_eq!(own[start].target, own[end].target);
                let timed = own[start + 1..at].iter().any(|line| line.op == "look" && line.target == "clock");
                assert_eq!(timed, thread == "main");
            }
        }
        assert!(lines.iter().filter(|line| line.thread == "main" && line.op == "wait").count() >= 3);
    });
}

#[test]
fn semaphores_barriers_once_and_futexes() {
    check("meet.c", &["-O1"], |lines| {
        let arrivals = lines.iter().filter(|line| line.op == "au" && line.target == "barrier global barrier");
        assert_eq!(arrivals.count(), 24);
        assert!(has(lines, "au", "semaphore global ready") && has(lines, "au", "initialisation global once"));
        assert!(has(lines, "au", "futex global word"));
    });
}

#[test]
fn threads_of_c11() {
    check("c11.c", &["-O1"], |lines| {
        assert!(has(lines, "tryacq", "global lock") && has(lines, "notifyall", "global changed"));
        assert_eq!((count(lines, "fork"), count(lines, "join")), (2, 2));
    });
}

#[test]
fn blocks_of_the_heap() {
    check("heap.c", &["-O1"], |lines| {
        let names: Vec<&str> =
            lines.iter().filter(|line| line.op == "alloc").map(|line| &*line.target).collect();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(names.len(), unique.len(), "each allocation is a new object");
        assert!(
            names.iter().any(|name| name.starts_with("heap block of 24 bytes from work at ")),
            "{names:?}"
        );
        assert!(count(lines, "free") > 0);
    });
}

#[test]
fn memory_that_is_protected_and_mapped_elsewhere() {
    check("memory.c", &["-O1"], |lines| {
        let faults = lines.iter().filter(|line| line.op == "w" && line.target == "global faults");
        assert_eq!(faults.count(), 75);
    });
}

#[test]
fn two_hundred_threads_and_every_way_to_end_and_to_wait() {
    check("threads.c", &["-O1"], |lines| {
        assert_eq!((count(lines, "fork"), count(lines, "join")), (208, 205));
        assert_eq!(count(lines, "begin"), 209);
        assert!(
            lines.iter().all(|line| !line.target.starts_with("stack of T")),
            "no thread touched another's stack"
        );
    });
}

#[test]
fn threads_that_are_asked_to_end() {
    check("cancel.c", &["-O1"], |lines| assert_eq!((count(lines, "end"), count(lines, "join")), (4, 4)));
}

#[test]
fn threads_that_may_be_cancelled_anywhere() {
    check("cancel_anywhere.c", &["-O1"], |lines| {
        assert_eq!((count(lines, "end"), count(lines, "join")), (8, 8));
        assert_eq!(lines.iter().filter(|line| line.op == "w" && line.target == "global cleaned").count(), 8);
    });
}

#[test]
fn signals() {
    check("signals.c", &["-O1"], |lines| assert!(has(lines, "au", "semaphore global posted")));
}

#[test]
fn signals_after_every_instruction_of_a_hook() {
    check("everywhere.c", &["-O1"], |lines| {
        let mut writes = std::collections::BTreeMap::new();
        for line in lines.iter().filter(|line| line.op == "w" && !line.target.ends_with("seen")) {
            *writes.entry(line.target.as_str()).or_insert(0) += 1;
        }
        let handled = writes.remove("global handled").unwrap_or(0);
        assert!(handled > 50 && writes.len() == 9, "{writes:?}");
        assert!(writes.values().all(|count| *count == handled + 1), "each once: {writes:?}");
    });
}

#[test]
fn children_and_programs_that_they_become() {
    check("fork.c", &["-O1"], |lines| assert_eq!(count(lines, "fork"), 2, "only the parent is recorded"));
}

#[test]
fn things_that_another_process_uses_too() {
    check("shared.c", &["-O1"], |lines| {
        let own = lines.iter().filter(|line| line.op == "w" && line.target == "global own");
        assert_eq!(own.count(), 201);
        assert!(count(lines, "notifyall") == 20 && count(lines, "wait") >= 2);
        let taken = lines.iter().filter(|line| line.op == "au" && line.value.as_deref() == Some("1>0"));
        assert_eq!(taken.count(), 20, "tokens that the other process posted");
        let passed = lines.iter().filter(|line| line.op == "au" && line.target.starts_with("barrier "));
        assert_eq!(passed.count(), 8, "four arrivals, four departures");
    });
}

#[test]
fn calls_that_take_any_time() {
    check("pipe.c", &["-O1"], |lines| assert!(has(lines, "au", "global value")));
}

#[test]
fn the_standard_library_of_cpp() {
    check("standard.cpp", &["-O1", "-std=c++17"], |lines| {
        assert!(has(lines, "acq", "global lock") && has(lines, "racq", "global rw"));
        assert!(has(lines, "notifyall", "global changed") && has(lines, "wait", "global changed"));
        assert!(lines.iter().any(|line| line.target.starts_with("initialisation ")), "call_once");
        assert!(
            lines.iter().any(|line| line.target.contains("guard variable for single()")),
            "a static variable"
        );
        assert_eq!(count(lines, "fork"), 6);
    });
}
