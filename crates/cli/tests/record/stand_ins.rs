//! What stands for initialisations, barriers and owners of mutexes: it orders, and is in no finding itself.

use crate::common::{Compiler, Line, compile, compilers, nothing_is_found, reweave};

/// gcc with the hooks of ThreadSanitizer, and clang 22 with the plugin.
fn fronts() -> Vec<Compiler> {
    compilers().into_iter().filter(|compiler| compiler.c != "clang").collect()
}

/// Records a correct program under several seeds: nothing is found, and nothing at all on what stands for something.
fn check(name: &str, expected: &str, seeds: u32, look: impl Fn(&[Line])) {
    for compiler in fronts() {
        let program = compile(compiler, name, &["-O1"]);
        for seed in 0..seeds {
            let recorded = program.record::<&str>(&["--seed", &seed.to_string()], &[]);
            let what = format!("{compiler:?} {name} seed {seed}");
            assert_eq!(recorded.code, Some(0), "{what}: {}", recorded.err);
            assert_eq!(recorded.out.trim(), expected, "{what}");
            look(&recorded.events());
            nothing_is_found(&recorded, &what);
            let ran = reweave().args(["predict", "--quiet"]).arg(&recorded.trace).output().unwrap();
            let said = String::from_utf8_lossy(&ran.stdout);
            for found in said.lines().filter(|line| line.starts_with("WARNING: ")) {
                let stand_ins = [" initialisation global", " initialisation stack", " barrier ", " owner of"];
                assert!(stand_ins.iter().all(|name| !found.contains(name)), "{what}: {said}");
            }
        }
    }
}

/// How many events do `op` on something whose name begins with `target`.
fn on(lines: &[Line], op: &str, target: &str) -> usize {
    lines.iter().filter(|line| line.op == op && line.target.starts_with(target)).count()
}

#[test]
fn whoever_finds_an_initialisation_done_comes_after_it() {
    check("once.c", "once", 6, |lines| {
        assert_eq!(
            on(lines, "au", "initialisation global flag"),
            3,
            "it begins and ends, and one finds it done"
        );
        assert_eq!(on(lines, "au", "initialisation stack of main"), 6, "another one, twice");
        let local = lines.iter().filter(|line| line.target.starts_with("initialisation stack of main"));
        let mut values: Vec<_> = local.map(|line| line.value.clone()).collect();
        values.sort();
        values.dedup();
        assert_eq!(values.len(), 6, "no state comes twice");
    });
}

#[test]
fn static_variables_are_initialised_by_one_thread() {
    check("guard.cpp", "guarded", 6, |_| ());
}

#[test]
fn nobody_leaves_a_barrier_before_all_have_come() {
    check("barrier.c", "met", 6, |lines| {
        assert_eq!(on(lines, "au", "barrier global barrier"), 8);
        assert_eq!(on(lines, "au", "opening of barrier global barrier"), 8);
    });
}

#[test]
fn a_mutex_whose_owner_has_ended_is_the_same_mutex() {
    check("robust.c", "robust", 10, |lines| {
        assert!(lines.iter().all(|line| !line.target.contains("global m #")), "it has one name");
        assert_eq!(on(lines, "acq", "global m"), on(lines, "rel", "global m"));
        let owner = lines.iter().filter(|line| line.target.starts_with("owner of global m"));
        let changes = owner.filter_map(|line| line.value.as_ref()?.split_once('>')).filter(|(a, b)| a != b);
        assert_eq!(changes.count(), 2, "an owner ends, and another mends it");
    });
}

#[test]
fn attempts_in_vain_are_what_they_are() {
    check("attempts.c", "0", 3, |lines| {
        let values = |op: &str, target: &str| -> Vec<String> {
            let of_it = lines.iter().filter(|line| line.op == op && line.target == target);
            of_it.map(|line| line.value.clone().unwrap_or_default()).collect()
        };
        assert_eq!(values("af", "global word"), ["1!0"], "what it found and what it expected");
        assert_eq!(values("af", "semaphore global empty"), ["0!0", "0!0"], "any other number would do");
        let busy = ["global lock", "global shared", "global exclusive"].map(|lock| on(lines, "busy", lock));
        assert_eq!(busy, [2, 1, 1]);
        // Its own look; those of the two waits and of the sleep, each at the place of its call.
        let looks: Vec<&Line> =
            lines.iter().filter(|line| line.op == "look" && line.thread == "T1").collect();
        assert_eq!(looks.len(), 4);
        let mut sites: Vec<&str> = looks.iter().map(|line| &*line.site).collect();
        sites.dedup();
        assert!(sites.len() == 4 && looks.iter().all(|line| line.site.contains("attempts.c:")), "{looks:?}");
        // The kernel's write comes right before the read that shows it.
        let unseen = lines.iter().position(|line| line.op == "unseen").expect("one");
        let after = lines[unseen + 1..].iter().find(|line| line.thread == lines[unseen].thread);
        assert!(
            after.is_some_and(|line| line.op == "ar" && line.target == lines[unseen].target),
            "{:?}",
            lines[unseen]
        );
        assert_eq!((on(lines, "unseen", "global machine"), on(lines, "unseen", "")), (1, 1));
        let ends = lines.iter().filter(|line| line.target.starts_with("end of thread"));
        let ends: Vec<(&str, &str)> = ends.map(|line| (&*line.thread, &*line.op)).collect();
        assert_eq!(ends, [("main", "af"), ("T1", "au")]);
    });
}

#[test]
fn nothing_is_found_where_a_failed_attempt_or_the_clock_decides() {
    check("conditional.c", "1", 6, |lines| assert!(on(lines, "look", "clock") >= 4));
}
