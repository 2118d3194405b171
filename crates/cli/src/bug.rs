//! The last line of defence: a panic becomes a short message and an exit code.

use std::any::Any;
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
            let _ = std::io::stderr().write_all(crate::plain::plain(message(info)).as_bytes());
        });
    }));
    let is_no_thread = |payload: &(dyn Any + Send)| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or(payload.downcast_ref::<&str>().copied()).is_some_and(no_thread)
    };
    let exit = |payload: Box<dyn Any + Send>| match is_no_thread(&*payload) {
        true => Exit::Stopped,
        false => Exit::Bug,
    };
    panic::catch_unwind(work).unwrap_or_else(exit)
}

/// Whether a panic says that the system makes no more threads: that is a limit, and no bug.
fn no_thread(what: &str) -> bool {
    what.starts_with("failed to spawn thread")
}

fn message(info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("unknown");
    if no_thread(what) {
        return "error: stopped without a result: the system has no memory left for another thread\n\
                hint: end other programs, raise the limit (ulimit -v), or give --jobs 1\n"
            .to_owned();
    }
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
        assert_eq!(guard(|| panic!("failed to spawn thread: {}", 11)), Exit::Stopped);
    }
}
