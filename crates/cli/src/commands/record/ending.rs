//! What a trace says of the run as a whole: how it failed, if it did, and what was assumed.

use std::collections::BTreeSet;

use reweave_trace::Ending;

use super::run::Ended;
use crate::args::RecordArgs;
use crate::exit::Exit;

/// How a run of the user's failed by itself, if it did.
pub(super) fn ending(args: &RecordArgs, number: u32, ended: &Ended) -> Option<Ending> {
    Some(Ending {
        program: args.program.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        seed: args.schedule.is_none().then(|| args.seed.wrapping_add(u64::from(number - 1))),
        policy: (args.policy.name() != "random").then(|| args.policy.name().to_owned()),
        ..failure(ended)?
    })
}

/// The status of a run that failed, and who waited: one that was stopped at a limit or by the user did not fail.
pub(super) fn failure(ended: &Ended) -> Option<Ending> {
    let noted = |word: &str| ended.notes.iter().any(|note| note == word);
    if matches!(ended.exit, Exit::Yes | Exit::Bug) || noted("timeout") || noted("interrupted") {
        return None;
    }
    let wait = |note: &String| {
        let (thread, what) = note.strip_prefix("waits ")?.split_once(' ')?;
        Some((thread.to_owned(), what.to_owned()))
    };
    let waits = ended.notes.iter().filter_map(wait).collect();
    Some(Ending { status: ended.exit.code(), waits, ..Ending::default() })
}

/// The functions that were called and of which it is not known what they depend on.
pub(super) fn unlisted(notes: &[String]) -> Vec<String> {
    let names = notes.iter().filter_map(|note| note.strip_prefix("unlisted ").map(str::to_owned));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}
