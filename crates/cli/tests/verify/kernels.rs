//! Kernels of the eight insufficient fixes of SWAN's evaluation: three with locks that are not the same object, five with the same
//! lock and a part outside; of single variables and of several.

use std::path::{Path, PathBuf};

use crate::common::{Pair, has_plugin};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify/programs").join(name)
}

/// The most runs of the patched program that an insufficient fix may take.
const MOST_RUNS: u64 = 4;

#[track_caller]
fn check(name: &str, hint: &str) {
    if !has_plugin() {
        return;
    }
    let source = source(name);
    let half = Pair::of_flags(&source, &["-DFIX=0"], &["-DFIX=1"]);
    let said = half.document(&[]);
    assert_eq!(said["verdict"], "insufficient", "{name}: {said:#}");
    assert!(said["runs"].as_u64().is_some_and(|runs| runs <= MOST_RUNS), "{name}: {said:#}");
    let hints = said["hints"].to_string();
    assert!(hints.contains(hint), "{name}: {hints} lacks {hint}");
    // What was shown can be seen again.
    let schedule = said["schedules"][0].as_str().expect("a schedule");
    let again = crate::common::ran(
        crate::common::reweave()
            .args(["replay", "--schedule", schedule, "--", "./new"])
            .current_dir(half.folder.path()),
    );
    assert!(
        again.out.contains("the program: ended with status 1") || again.code == Some(0),
        "{name}: {}",
        again.out
    );
    let whole = Pair::of_flags(&source, &["-DFIX=0"], &["-DFIX=2"]);
    let said = whole.document(&[]);
    assert_eq!(said["verdict"], "sufficient", "{name}: {said:#}");
}

macro_rules! kernels {
    ($($name:ident $hint:literal;)*) => { $(
        #[test]
        fn $name() {
            check(concat!(stringify!($name), ".c"), $hint);
        }
    )* };
}

kernels! {
    connection_pool "not the same lock";
    data_dictionary "not the same lock";
    font_cache "not the same lock";
    session_attributes "is not under";
    shutdown_flag "is not under";
    blob_position "given back between";
    lock_table "is not under";
    statement_cache "given back between";
}
