//! What the thread with the baton works on, and the token that says it has it.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicUsize, compiler_fence};

use reweave_wire::ring::{AWAITED, BYTES_IN_TURN, PART_OF_CALL, Slot, kind};
use reweave_wire::{Op, Space};

use crate::abi::front;
use crate::libc::mappings::Mappings;
use crate::libc::outside::together::Together;
use crate::libc::quarantine::Quarantine;
use crate::libc::signals;
use crate::map::{Array, Map};
use crate::record::inputs::Feed;
use crate::record::log::{self, Log};
use crate::record::numbers::Numbers;
use crate::sched::forced::{Forced, IN_TURN, PART};
use crate::sched::free;
use crate::sched::policy::Policy;
use crate::sched::thread::{self, MAX_THREADS, Pending, Thread};
use crate::sched::time::CLOCK_STEPS;

/// The state of the recording. Only the thread with the baton, inside our own code, has it in its hands.
pub(crate) struct Core {
    pub(crate) log: Log,
    pub(crate) policy: Policy,
    /// The threads that have not ended, in order of their start.
    pub(crate) live: Array<u32>,
    pub(crate) live_count: usize,
    /// Room for a choice among threads.
    pub(crate) ready: Array<u32>,
    /// How many threads were woken for what they wait for, and have not run since.
    pub(crate) roused: usize,
    /// How many threads there ever were.
    pub(crate) threads: usize,
    pub(crate) locks: Map<Lock>,
    /// By the address of a lock and, above it, the thread: how often that one holds it shared.
    pub(crate) sharers: Map<u32>,
    /// Per condition variable, how often there was another one at its address.
    pub(crate) conditions: Map<Named>,
    /// Numbers that stand for things that are neither memory nor locks.
    pub(crate) numbers: Numbers,
    /// How often a thread was chosen.
    pub(crate) choices: u64,
    /// Steps of all threads: slots that hooks appended by themselves, and everything else.
    pub(crate) steps: u64,
    /// At how many of them the clock is looked at.
    pub(crate) looks: u64,
    /// Where the slots begin that are not counted as steps yet.
    pub(crate) mark: u64,
    /// When the recording ends the program, in nanoseconds of the even clock; 0 never.
    pub(crate) timeout: u64,
    /// The last block was written then.
    pub(crate) flushed: u64,
    /// The schedule that is forced, if one is.
    pub(crate) forced: Option<Forced>,
    /// Inputs that are kept, or given again.
    pub(crate) feed: Option<Feed>,
    /// Blocks that the program freed and libc does not have yet.
    pub(crate) quarantine: Quarantine,
    /// Shared mappings of files.
    pub(crate) mappings: Mappings,
    /// What the call at hand depends on.
    pub(crate) together: Together,
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
    /// Whether it is a mutex that is released when its owner ends.
    pub(crate) robust: bool,
}

/// A thing that may be made anew at the same address.
#[derive(Clone, Copy, Default)]
pub(crate) struct Named {
    /// Whether it was recorded.
    pub(crate) used: bool,
    pub(crate) generation: u32,
}

/// What a number that names a variable stands for, in its lowest five bits; from 1 to 8 that many bytes of memory.
pub(crate) mod stands_for {
    /// Memory that is another part of memory; the values are its length, and where the other is.
    pub(crate) const MAPPED: u64 = 9;
    /// Memory that a function gets of which it is not recorded what it does there; the value is its
    /// length, or 0 for whole blocks.
    pub(crate) const GIVEN: u64 = 10;
    pub(crate) const SEMAPHORE: u64 = 16;
    pub(crate) const BARRIER: u64 = 17;
    pub(crate) const ONCE: u64 = 18;
    pub(crate) const FUTEX: u64 = 19;
    pub(crate) const CHANNEL: u64 = 20;
    /// A channel or a scope of Rust, and the right of a thread of Rust to go on.
    pub(crate) const PARK: u64 = 24;
    pub(crate) const CLOCK: u64 = 28;
    /// Memory that inline assembly updates; the value is how many bytes.
    pub(crate) const ASSEMBLED: u64 = 29;
    /// A library without hooks, by any address in it; 0 for inline assembly.
    pub(crate) const LIBRARY: u64 = 31;
    /// That a barrier opened for those who had arrived.
    pub(crate) const OPENING: u64 = 26;
    /// What became of the owner of a robust mutex.
    pub(crate) const OWNER: u64 = 27;
    /// State outside of memory.
    pub(crate) const OUTSIDE: u64 = 30;
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
            return Inside::reenter(me);
        }
        let mut inside = Inside { me };
        inside.close();
        Some(inside)
    }

    /// What the thread does from now on is our own doing.
    #[inline(always)]
    pub(crate) fn close(&mut self) {
        self.me.closed.store(1, Relaxed);
        self.me.announced.forget();
        self.me.between.store(false, Relaxed);
        log::shut();
        // A signal comes to the same thread: only the compiler must not move what it sees.
        compiler_fence(SeqCst);
        if free::is_on() {
            self.gather();
        } else {
            self.account();
        }
    }

    /// What the thread does from now on is the program's.
    #[inline(always)]
    pub(crate) fn open(&mut self) {
        if free::is_on() {
            return self.set_free();
        }
        let (me, budget) = (self.me.index() as u32, self.budget());
        let announced = self.announced();
        let core = self.core();
        core.log.by(me);
        front::forget_branch();
        if let Some(write) = announced {
            core.log.put(me, write);
        }
        core.mark = core.log.cursor();
        let cursor = core.mark;
        self.me.announced.is_before(cursor);
        // A write that is still to be looked at is not for the short way, nor are calls that are still to be told.
        let waits = self.me.pending.get().is_some() || self.me.calls.are_untold();
        let core = self.core();
        core.log.open(if waits { 0 } else { budget });
        let head = core.log.head();
        compiler_fence(SeqCst);
        self.me.closed.store(0, Relaxed);
        log::set_head(head);
    }

    /// The write that the thread is about to do as a hook would have announced it, if one could: the next hook need not ask
    /// on its account.
    #[inline(always)]
    pub(crate) fn announced(&mut self) -> Option<Slot> {
        let Pending { at, length, code } = self.me.pending.get()?;
        if !matches!(length, 1 | 2 | 4 | 8) || self.core().forced.is_some() {
            return None;
        }
        self.me.pending.set(None);
        let detail = if code & PART != 0 { PART_OF_CALL } else { 0 };
        Some(Slot::new(kind::WRITE + length as u8, detail | AWAITED, code as u64, at as u64, 0))
    }

    /// The state of the recording.
    #[inline(always)]
    pub(crate) fn core(&mut self) -> &mut Core {
        let core = CORE.load(Relaxed) as *mut Core;
        // SAFETY: a thread is recorded only after `start`, whose argument lives forever. One thread has the baton,
        // `enter` gives it one `Inside`, and the state is borrowed from that one.
        unsafe { &mut *core }
    }

    /// Adds a slot.
    #[inline(always)]
    pub(crate) fn slot(&mut self, slot: Slot) {
        let thread = self.me.index() as u32;
        self.core().log.put(thread, slot);
    }

    #[cold]
    fn forced_event(&mut self, op: Op, code: usize) {
        let index = self.me.index();
        if let Some(forced) = &mut self.core().forced {
            forced.event(index, op, code);
        }
    }

    /// Records an operation that is no access.
    pub(crate) fn operation(&mut self, op: Op, target: usize, value: u64, code: usize) {
        if let Some(forced) = &mut self.core().forced {
            if matches!(op.space(), Some(Space::Call | Space::Lock | Space::Condition)) {
                forced.touches(target, 1);
            }
            self.forced_event(op, code);
        }
        self.slot(Slot::operation(op, code as u64, target as u64, value));
    }

    /// Records an operation on memory, or on a variable that stands for something.
    #[inline]
    fn value(&mut self, op: Op, (detail, size): (u8, u8), at: usize, code: usize, values: (u64, u64)) {
        let (class, value) = match op {
            Op::Read => (kind::READ, values.0),
            Op::Write => (kind::WRITTEN, values.1),
            Op::AtomicRead => (kind::ATOMIC_READ, values.0),
            Op::AtomicWrite => (kind::ATOMIC_WRITE, values.1),
            Op::FailedAttempt => (kind::FAILED, values.0),
            Op::Look => (kind::LOOK, 0),
            _ => (kind::UPDATE, values.0),
        };
        if let Some(forced) = &mut self.core().forced {
            if detail == 0 {
                forced.touches(at, usize::from(size));
            }
            self.forced_event(op, code & !IN_TURN);
        }
        let detail = if code & PART != 0 { detail | PART_OF_CALL } else { detail };
        let detail = if code & IN_TURN != 0 { detail | BYTES_IN_TURN } else { detail };
        self.slot(Slot::new(class + size, detail, code as u64, at as u64, value));
        if matches!(class, kind::UPDATE | kind::FAILED) {
            self.slot(Slot::new(kind::MORE, 0, 0, 0, values.1));
        }
    }

    /// Records an access of up to eight bytes.
    #[inline(always)]
    pub(crate) fn access(&mut self, op: Op, at: usize, length: usize, code: usize, values: (u64, u64)) {
        self.value(op, (0, length as u8), at, code, values);
    }

    /// Records an operation on a variable that stands for something.
    pub(crate) fn stand_in(&mut self, op: Op, at: usize, what: u64, code: usize, values: (u64, u64)) {
        self.value(op, (what as u8, 8), at, code, values);
    }

    /// Records an attempt that failed because such a variable is as it is. What it would have taken to succeed is no single
    /// value, so it is said to have expected what it found: nobody may conclude from another value that it fails, too.
    pub(crate) fn in_vain(&mut self, at: usize, what: u64, code: usize, value: u64) {
        self.stand_in(Op::FailedAttempt, at, what, code, (value, value));
    }

    /// Records that the thread goes on because such a variable is as it is. That is an update: whoever waits cannot come before
    /// what it waited for, and an update, other than a read, never observes anything but what it observed.
    pub(crate) fn goes_on(&mut self, at: usize, what: u64, code: usize, value: u64) {
        self.stand_in(Op::Update, at, what, code, (value, value));
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        self.open();
        if self.me.signals.load(Relaxed) != 0 {
            signals::deliver(self.me);
        }
    }
}

impl Core {
    /// The state before the first event.
    pub(crate) fn new(log: Log, policy: Policy, timeout: u64, kept: Option<u64>) -> Core {
        Core {
            mark: log.cursor(),
            log,
            policy,
            live: Array::zeroed(MAX_THREADS),
            live_count: 0,
            roused: 0,
            choices: 0,
            ready: Array::zeroed(MAX_THREADS),
            threads: 0,
            locks: Map::new(),
            sharers: Map::new(),
            conditions: Map::new(),
            numbers: Numbers::new(),
            steps: 0,
            looks: CLOCK_STEPS,
            timeout,
            flushed: 0,
            forced: None,
            feed: None,
            quarantine: Quarantine::new(kept),
            mappings: Mappings::new(),
            together: Together::default(),
        }
    }
}
