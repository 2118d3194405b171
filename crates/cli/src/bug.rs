//! The last line of defence: a panic becomes a short message and an exit code.

use std::io::Write;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use crate::exit::Exit;

/// Runs `work`. Should it panic, on whatever thread, the user is told once, without a backtrace.
///
/// The panic unwinds, so that unfinished files are removed on the way.
pub(crate) fn guard(work: impl FnOnce() -> Exit + panic::UnwindSafe) -> Exit {
    static TOLD: Once = Once::new();
    panic::set_hook(Box::new(|info| {
        TOLD.call_once(|| {
            // There is nobody left to tell when this fails.
            let _ = std::io::stderr().write_all(message(info).as_bytes());
        });
    }));
    panic::catch_unwind(work).unwrap_or(Exit::Bug)
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("unknown");
    let place = info.location().map(|at| format!(" ({}:{})", at.file(), at.line())).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "error: this is a bug in reweave {version}, not in your trace: {what}{place}\n\
         hint: please report it, with this message, the command and, if you can, the trace\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug_of_ours() {
        assert_eq!(guard(|| Exit::No), Exit::No);
        assert_eq!(guard(|| panic!("told as one line")), Exit::Bug);
        let on_a_thread =
            || std::thread::scope(|scope| scope.spawn(|| panic!("elsewhere")).join().map(|()| Exit::Yes));
        assert_eq!(guard(move || on_a_thread().unwrap_or(Exit::Bug)), Exit::Bug);
        assert_eq!(Exit::Bug.code(), 70);
    }
}
