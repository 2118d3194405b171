//! A bug of ours, on file: all that it takes to see it again.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use reweave_report::json::Bug;

use crate::console::Console;
use crate::exit::Exit;

/// How many reports a folder may have before the next goes elsewhere.
const MOST: u32 = 1000;

/// Where a report may go: the current folder or, where that cannot be, among the temporary files.
pub(super) fn folders() -> Vec<PathBuf> {
    vec![PathBuf::from("."), std::env::temp_dir()]
}

/// Tells the user, and leaves a report in the first of the folders that takes it.
pub(super) fn file(bug: &Bug, folders: &[PathBuf], console: &Console) -> Exit {
    console.error(format_args!(
        "this is a bug of ours, in {}, not in your trace: a schedule was found that is no witness: {}",
        bug.head.tool, bug.rejection
    ));
    let written = folders.iter().map(|folder| write(bug, folder)).find(|written| written.is_ok());
    match written {
        Some(Ok(path)) => {
            let (trace, path) = (&bug.head.trace.path, path.display());
            console.hint(format_args!(
                "please report it with {path} and, if you can, the trace; `reweave check {trace} {path}` shows it again"
            ));
        }
        _ => console.warn("a report of it could not be written: please report this message with the trace"),
    }
    Exit::Bug
}

/// Writes the report under a name that is not taken, in full or not at all.
fn write(bug: &Bug, folder: &Path) -> anyhow::Result<PathBuf> {
    let mut text = serde_json::to_vec_pretty(bug)?;
    text.push(b'\n');
    let mut file = tempfile::Builder::new().prefix(".reweave-").tempfile_in(folder)?;
    file.write_all(&text)?;
    for number in 1..=MOST {
        let path = folder.join(format!("reweave-bug-{number}.json"));
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => file = taken.file,
            Err(failed) => return Err(failed.error).with_context(|| path.display().to_string()),
        }
    }
    anyhow::bail!("{} is full of reports", folder.display())
}

#[cfg(test)]
mod tests {
    use reweave_decide::Unsound;
    use reweave_report::json::Head;
    use reweave_trace::{Builder, Event, EventId, EventValues, Model, Op, ProgramOrder};
    use reweave_witness::{Checker, Claim, Witness};

    use super::*;
    use crate::args::{Color, Global};
    use crate::witness_file;

    #[test]
    fn a_report_is_a_witness_file_that_shows_the_bug_again() {
        let mut builder = Builder::new();
        let (thread, lock) = (builder.thread("T1").expect("a name"), builder.lock("l").expect("a name"));
        let site = builder.site("1").expect("a name");
        for op in [Op::Acquire(lock), Op::Release(lock)] {
            builder.push(Event { thread, op, site }, EventValues::NONE).expect("an event");
        }
        let trace = builder.finish().expect("a trace");
        let claim = Claim::CoEnabled(vec![EventId(0)]);
        let witness = Witness { prefix: 0, tail: vec![EventId(1)] };
        let (links, order) = (reweave_spec::links(&trace), ProgramOrder::new(&trace));
        let checker = Checker::new(&trace, &links, &order);
        let rejection = checker.check(Model::Rf, witness.clone(), claim.clone()).expect_err("it is none");
        let unsound = Unsound { claim, model: Model::Rf, witness, rejection: rejection.clone() };
        let bug = Bug::new(Head::new(&trace, "t.std", Model::Rf), &unsound);

        let folder = tempfile::tempdir().expect("a folder");
        let first = write(&bug, folder.path()).expect("a report");
        let second = write(&bug, folder.path()).expect("another");
        assert!(first.ends_with("reweave-bug-1.json") && second.ends_with("reweave-bug-2.json"));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
        let question = witness_file::read(&first).expect("a witness file");
        let witness = question.schedule.expand(&trace);
        assert_eq!((&witness, &question.claim), (&unsound.witness, &unsound.claim));
        assert_eq!(checker.check(question.model, witness, question.claim), Err(rejection));

        let missing = folder.path().join("missing");
        assert!(write(&bug, &missing).is_err());
        let console = Console::new(&Global { quiet: true, jobs: None, color: Color::Never });
        let exit = file(&bug, &[missing, folder.path().to_owned()], &console);
        assert_eq!((exit, exit.code()), (Exit::Bug, 70));
        assert!(folder.path().join("reweave-bug-3.json").exists());
    }
}
