//! What the thread with the baton works on, and the token that says it has it.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicUsize, compiler_fence};

use reweave_wire::{Op, Space, Value};

use crate::map::{Array, Map};
use crate::output::{Happening, Output};
use crate::policy::Policy;
use crate::signals;
use crate::text::Text;
use crate::thread::{self, MAX_THREADS, Thread};

/// The state of the recording. Only the thread with the baton, inside our own code, has it in its hands.
pub(crate) struct Core {
    pub(crate) out: Output,
    pub(crate) policy: Policy,
    /// The threads that have not ended, in order of their start.
    pub(crate) live: Array<u32>,
    pub(crate) live_count: usize,
    /// Room for a choice among threads.
    pub(crate) ready: Array<u32>,
    /// How many threads there ever were.
    pub(crate) threads: usize,
    pub(crate) locks: Map<Lock>,
    /// Per condition variable, its number in the trace plus one.
    pub(crate) conditions: Map<Named>,
    /// Numbers that stand for things that are neither memory nor locks.
    pub(crate) counters: Map<u64>,
    /// The write whose value is not known yet: the program stores it after it told us.
    pub(crate) pending: Option<Pending>,
    pub(crate) steps: u64,
    /// When the recording ends the program, in nanoseconds of the even clock; 0 never.
    pub(crate) timeout: u64,
    /// The last block was written then.
    pub(crate) flushed: u64,
}

/// A lock.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lock {
    pub(crate) named: Named,
    /// The thread that holds it exclusively, plus one.
    pub(crate) holder: u32,
    pub(crate) depth: u32,
    /// How many times it is held shared.
    pub(crate) shared: u32,
}

/// A thing that may be made anew at the same address.
#[derive(Clone, Copy, Default)]
pub(crate) struct Named {
    /// Its number in the trace, plus one.
    pub(crate) name: u32,
    pub(crate) generation: u32,
}

/// A write that the program is about to do.
#[derive(Clone, Copy)]
pub(crate) struct Pending {
    pub(crate) at: usize,
    pub(crate) length: usize,
    pub(crate) code: usize,
    /// What was there before: its first bytes.
    pub(crate) before: u64,
}

/// What a number that names a variable stands for, in its lowest five bits; from 1 to 8 that many bytes of memory.
pub(crate) mod stands_for {
    pub(crate) const SEMAPHORE: u64 = 16;
    pub(crate) const BARRIER: u64 = 17;
    pub(crate) const ONCE: u64 = 18;
    pub(crate) const FUTEX: u64 = 19;
}

static CORE: AtomicUsize = AtomicUsize::new(0);

/// Publishes the state of the recording.
pub(crate) fn start(core: &'static mut Core) {
    CORE.store(core::ptr::from_mut(core) as usize, SeqCst);
}

/// The calling thread has the baton, and is in our own code until this is dropped.
pub(crate) struct Inside {
    pub(crate) me: &'static Thread,
}

impl Inside {
    /// Enters our own code, where the calling thread is recorded.
    #[inline(always)]
    pub(crate) fn enter() -> Option<Inside> {
        let me = thread::current()?;
        if me.closed.load(Relaxed) != 0 {
            return None;
        }
        me.closed.store(1, Relaxed);
        // A signal comes to the same thread: only the compiler must not move what it sees.
        compiler_fence(SeqCst);
        Some(Inside { me })
    }

    /// The state of the recording.
    #[inline(always)]
    pub(crate) fn core(&mut self) -> &mut Core {
        let core = CORE.load(Relaxed) as *mut Core;
        // SAFETY: a thread is recorded only after `start`, whose argument lives forever. One thread has the baton,
        // `enter` gives it one `Inside`, and the state is borrowed from that one.
        unsafe { &mut *core }
    }

    /// Records an event.
    #[inline(always)]
    pub(crate) fn event(&mut self, op: Op, target: u32, code: usize, read: Value, written: Value) {
        let thread = self.me.name.load(Relaxed);
        let out = &mut self.core().out;
        let site = out.site(code);
        out.put(&Happening { thread, op, target, site, read, written });
    }

    /// Records an event without values.
    pub(crate) fn plain(&mut self, op: Op, target: u32, code: usize) {
        self.event(op, target, code, Value::Absent, Value::Absent);
    }

    /// Records an operation on a variable that stands for something.
    pub(crate) fn stand_in(&mut self, op: Op, at: usize, what: u64, code: usize, values: (u64, u64)) {
        let target = self.core().out.variable((at as u64) << 5 | what);
        self.event(op, target, code, Value::Number(values.0), Value::Number(values.1));
    }

    /// The number in the trace of the thing at `at`.
    pub(crate) fn name(&mut self, space: Space, at: usize, named: &mut Named) -> u32 {
        if named.name == 0 {
            let mut text = Text::<48>::new();
            if named.generation > 0 {
                text.number(u64::from(named.generation)).push(b"#");
            }
            text.number(at as u64);
            named.name = self.core().out.name(space, text.bytes()) + 1;
        }
        named.name - 1
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(SeqCst);
        self.me.closed.store(0, Relaxed);
        if self.me.signals.load(Relaxed) != 0 {
            signals::deliver(self.me);
        }
    }
}

impl Core {
    /// The state before the first event.
    pub(crate) fn new(out: Output, policy: Policy, timeout: u64) -> Core {
        Core {
            out,
            policy,
            live: Array::zeroed(MAX_THREADS),
            live_count: 0,
            ready: Array::zeroed(MAX_THREADS),
            threads: 0,
            locks: Map::new(),
            conditions: Map::new(),
            counters: Map::new(),
            pending: None,
            steps: 0,
            timeout,
            flushed: 0,
        }
    }
}
