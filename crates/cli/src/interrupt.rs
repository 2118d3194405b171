//! Ctrl-C while a file is being written, or while there are findings to show.
//!
//! Without this an interrupt would end the process on the spot: a temporary file would stay, and what was found so far
//! would be lost. It is only asked for where there is such a thing: at any other time an interrupt ends the process at
//! once, as it should.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether interrupts are deferred already: to do so twice would make the first one count as two.
static DEFERRED: AtomicBool = AtomicBool::new(false);

/// From now on the first interrupt only sets a flag, which the writer looks at. The second ends the process.
pub(crate) fn defer() -> io::Result<()> {
    if DEFERRED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&REQUESTED))?;
        flag::register(signal, Arc::clone(&REQUESTED))?;
    }
    Ok(())
}

/// Whether there was an interrupt.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
