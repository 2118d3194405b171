//! Panics of explored threads, and the end of a run.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

use reweave_explore::Outcome;

use super::host::{HOST, Host, host};

/// How many steps a thread may ask for that is to end. One that unwinds asks for few.
const LEFT: u32 = 1 << 20;

/// Whether the calling context unwinds. std counts for the kernel thread, which is that of all contexts.
pub(crate) fn panicking() -> bool {
    let any = std::thread::panicking();
    host(|host| {
        host.local(|local| {
            if !any {
                local.panics = 0;
            }
            local.panics > 0
        })
    })
    .unwrap_or(any)
}

impl Host {
    /// Ends a thread that is to end and does not: it caught its panic, and goes on.
    pub(super) fn ends_soon(&self) {
        self.left.set(self.left.get() + 1);
        if self.left.get() > LEFT {
            panic::resume_unwind(Box::new("the run is over"));
        }
    }

    /// Drops what is left of a run. A thread may have borrowed from one that was there before it,
    /// so the last come first.
    pub(super) fn abandon(&self) {
        self.abandoned.set(true);
        let mut left = std::mem::take(&mut *self.contexts.borrow_mut());
        left.sort_by_key(|(thread, _)| std::cmp::Reverse(*thread));
        for (thread, mut context) in left {
            self.current.set(thread);
            self.left.set(0);
            let before = HOST.replace(std::ptr::from_ref(self));
            // What unwinds cannot be unwound from inside of that: it goes on, and no step waits.
            if std::thread::panicking() && self.local(|local| local.panics > 0) {
                let _ = panic::catch_unwind(AssertUnwindSafe(|| context.resume(Outcome::default())));
            }
            if !context.done() {
                context.force_unwind();
            }
            HOST.set(before);
            self.stacks.borrow_mut().push(context.into_stack());
        }
        self.starts.borrow_mut().clear();
        self.locals.borrow_mut().clear();
        self.same.borrow_mut().clear();
        self.pointers.borrow_mut().forget();
        self.abandoned.set(false);
    }
}

/// Runs a thread's own code; a panic ends it there, unless the run is being dropped.
pub(crate) fn caught<R>(run: impl FnOnce() -> R) -> std::thread::Result<R> {
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    match result {
        Err(payload) if host(Host::abandoned).unwrap_or(false) => panic::resume_unwind(payload),
        Err(payload) => {
            host(|host| host.local(|local| local.panics = 0));
            Err(payload)
        }
        done => done,
    }
}

/// Has panics of explored threads kept instead of printed: most runs are not the one to show.
pub(super) fn listen() {
    static LISTENING: Once = Once::new();
    LISTENING.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let kept = host(|host| {
                host.local(|local| local.panics += 1);
                let place = info.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
                let text = info.payload_as_str().unwrap_or("a panic");
                *host.last_message.borrow_mut() = format!("{text}{}", place.unwrap_or_default());
            });
            if kept.is_none() {
                usual(info);
            }
        }));
    });
}
