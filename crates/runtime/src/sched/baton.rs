//! The baton: one thread runs at a time, and hands over only here.
//!
//! A thread without the baton sleeps on its own word. Threads in calls that may take any time ([`Inside::away`]) run
//! beside the others and must be given the baton before they go on; they are the only ones that act without it, and do
//! so through `HOLDER` and `RETURNED` alone: the baton is taken from `NOBODY` by compare-and-swap, and whoever leaves it
//! at `NOBODY` looks once more whether a thread came back in between. So exactly one of the two sides takes it.

use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicI32, AtomicU32};

use crate::libc::signals::{self, ASKED_TO_END};
use crate::record::end;
use crate::record::recording::{Core, Inside};
use crate::sched::clock::{self, cost};
use crate::sched::policy::{Choice, Step};
use crate::sched::strangers;
use crate::sched::thread::{Thread, state, thread};
use crate::sched::time::{is_due, until_deadline};
use crate::sched::watch::{self, Watch};
use crate::sys;

const NOBODY: u32 = u32::MAX;
static HOLDER: AtomicU32 = AtomicU32::new(0);
/// The thread that ended last, as the kernel numbers it, until somebody has made sure that it is gone.
static DYING: AtomicI32 = AtomicI32::new(0);
/// How often a thread without the baton became ready by itself.
static RETURNED: AtomicU32 = AtomicU32::new(0);

/// How often a thread that runs freely looks for the baton before it sleeps: for about as long as it takes to wake up. One
/// that sleeps is given the baton, and all wait until it has woken up.
const SPINS: u32 = 1000;
/// How long it may take a thread that has ended to be gone.
const FAREWELL: u64 = 1_000_000_000;

/// What threads wait for: kind and address in one number.
pub(crate) mod key {
    pub(crate) const LOCK: u64 = 1;
    pub(crate) const CONDITION: u64 = 2;
    pub(crate) const END: u64 = 3;
    pub(crate) const SEMAPHORE: u64 = 4;
    pub(crate) const BARRIER: u64 = 5;
    pub(crate) const ONCE: u64 = 6;
    pub(crate) const FUTEX: u64 = 7;
    pub(crate) const SLEEP: u64 = 8;
    pub(crate) const TOLD: u64 = 9;
    pub(crate) const PARK: u64 = 10;
    pub(crate) const OUTSIDE: u64 = 11;

    pub(crate) fn of(kind: u64, at: usize) -> u64 {
        (at as u64) << 4 | kind
    }
}

/// Why a thread that was blocked goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wake {
    /// What it waited for may be there.
    Woken,
    /// Its time is up.
    TimedOut,
    /// A signal was handled.
    Signal,
}

impl Inside {
    /// A step of the running thread, before which another thread may run.
    #[inline]
    pub(crate) fn point(&mut self, step: Step, code: usize) {
        clock::pass(if step == Step::Access { cost::ACCESS } else { cost::SYNC });
        let core = self.core();
        core.steps += 1;
        if core.steps >= core.looks || signals::ending() {
            self.look_at_clock();
        }
        if self.core().forced.is_some() && self.steered(code) {
            return;
        }
        if self.undisturbed() {
            return;
        }
        let me = self.me;
        let mut priority = me.priority.load(Relaxed);
        let Core { policy, log, .. } = self.core();
        let repeats = || me.spin.is_found(log.repeats());
        let choice = policy.step(step, &mut priority, || log.goes_in_circles(), repeats);
        if choice != Choice::Stay {
            me.priority.store(priority, Relaxed);
            self.consider(choice);
        }
    }

    #[cold]
    fn consider(&mut self, choice: Choice) {
        let me = self.me.index();
        if choice == Choice::Rest {
            self.rest();
        }
        let next = self.choose((choice != Choice::Choose).then_some(me));
        if let Some(next) = next.filter(|&next| next != me) {
            self.settle();
            self.give_to(next);
        }
    }

    /// Chooses a thread that can run, `but` one.
    pub(crate) fn choose(&mut self, but: Option<usize>) -> Option<usize> {
        if self.core().forced.is_some()
            && let Some(wanted) = self.steer()
        {
            return wanted;
        }
        let count = self.candidates(but);
        if count == 0 {
            return None;
        }
        let me = self.me.index();
        let core = self.core();
        let ready = core.ready.as_ref();
        let index = |place: usize| ready.get(place).map_or(0, |&index| index as usize);
        let chosen = core.policy.choose(count, |place| thread(index(place)).priority.load(Relaxed));
        core.policy.switched();
        core.choices += 1;
        if index(chosen) != me {
            core.policy.turned();
        }
        clock::pass(cost::SWITCH);
        Some(index(chosen))
    }

    /// Waits for a key, or until a time as [`clock::now`] counts; 0 is never. Whoever calls this looks again afterwards.
    pub(crate) fn block(&mut self, key: u64, deadline: u64) -> Wake {
        let me = self.me;
        self.settle();
        if self.ends_instead(key) {
            return Wake::Woken;
        }
        me.spin.is_over();
        me.key.store(key, Relaxed);
        me.deadline.store(deadline, Relaxed);
        me.due.store(clock::due(deadline), Relaxed);
        me.timed_out.store(false, Relaxed);
        me.state.store(state::BLOCKED, SeqCst);
        match self.choose(None) {
            Some(next) => self.give_to(next),
            None => self.idle(),
        }
        self.has_run();
        me.deadline.store(0, Relaxed);
        me.due.store(0, Relaxed);
        if me.signals.load(Relaxed) & !ASKED_TO_END != 0 {
            signals::deliver_inside(me);
            return Wake::Signal;
        }
        self.ends_instead(key);
        if me.timed_out.load(Relaxed) { Wake::TimedOut } else { Wake::Woken }
    }

    /// No thread can run: waits for one that comes back from a call, or for the next deadline.
    fn idle(&mut self) {
        self.refuse_deadlock();
        self.flush_stale();
        if !self.let_go() {
            self.park();
        }
    }

    /// Ends the program where no thread will ever run again.
    fn refuse_deadlock(&mut self) {
        let core = self.core();
        let stuck = core.live.as_ref().iter().take(core.live_count).all(|&index| {
            let thread = thread(index as usize);
            thread.state.load(SeqCst) == state::BLOCKED && thread.deadline.load(Relaxed) == 0
        });
        if stuck && !strangers::may_act(core, DYING.load(SeqCst)) {
            end::deadlock(self);
        }
    }

    /// Runs beside the others from now on, without the baton.
    pub(crate) fn run_beside(&mut self) {
        self.me.leaving.store(true, SeqCst);
        self.me.state.store(state::AWAY, SeqCst);
        self.let_go();
    }

    /// Waits for the baton: a while without sleeping, because most who have it soon let it go.
    pub(crate) fn come_back(&mut self) {
        for _ in 0..SPINS {
            if take(self.me) {
                self.me.state.store(state::READY, SeqCst);
                return;
            }
            core::hint::spin_loop();
        }
        self.me.state.store(state::READY, SeqCst);
        RETURNED.fetch_add(1, SeqCst);
        if !take(self.me) {
            self.park();
        }
    }

    /// Gives the baton to a thread that can run, or leaves it to whoever comes; whether this thread has it again.
    pub(crate) fn let_go(&mut self) -> bool {
        loop {
            let returned = RETURNED.load(SeqCst);
            // Time counts only where nobody else can run: how fast the machine is must not decide who does.
            let next = self.choose(None).or_else(|| {
                self.expire();
                self.choose(None)
            });
            match next {
                Some(next) if next == self.me.index() => return true,
                Some(next) => {
                    hand_to(next);
                    return false;
                }
                None => {}
            }
            HOLDER.store(NOBODY, SeqCst);
            // One that came back before that store found a holder and sleeps, but is counted.
            if RETURNED.load(SeqCst) == returned || !take(self.me) {
                return false;
            }
        }
    }

    /// Gives the baton to another thread, and sleeps until this one has it again.
    pub(crate) fn give_to(&mut self, next: usize) {
        thread(next).seat.offer();
        hand_to(next);
        self.park();
    }

    /// Sleeps until this thread has the baton. One with a deadline wakes in time for it.
    pub(crate) fn park(&mut self) {
        let me = self.me;
        me.seat.leave();
        let mut watch = Watch::default();
        while me.word.swap(0, SeqCst) == 0 {
            sys::futex_wait(&me.word, 0, watch::nap(me, until_deadline(me)));
            if me.word.load(SeqCst) != 0 {
                continue;
            }
            watch.look();
            if me.signals.load(Relaxed) != 0 {
                me.state.store(state::READY, SeqCst);
                RETURNED.fetch_add(1, SeqCst);
                if take(me) {
                    break;
                }
            }
            if is_due(me) && take(me) && self.let_go() {
                break;
            }
            if strangers::were_there() && take(me) {
                self.rouse();
                if self.let_go() {
                    break;
                }
            }
        }
        me.seat.take();
        me.state.store(state::READY, SeqCst);
        see_off();
    }

    /// Lets the others run during a call that may take any time; [`Away::back`] follows.
    pub(crate) fn away(mut self) -> Away {
        self.settle();
        let me = self.me;
        self.flush_stale();
        self.run_beside();
        me.leaving.store(false, SeqCst);
        // Our own code is left, but what the call does is not recorded.
        core::mem::forget(self);
        if me.signals.load(SeqCst) & !ASKED_TO_END != 0 {
            // A signal that came before would not interrupt the call.
            let back = Away { me }.back();
            signals::deliver_inside(me);
            return back.away();
        }
        Away { me }
    }

    /// The thread ends: the baton goes on without it.
    pub(crate) fn retire(mut self) {
        let me = self.me;
        me.state.store(state::GONE, SeqCst);
        let core = self.core();
        let (live, count) = (core.live.as_mut(), core.live_count);
        if let Some(place) = live.iter().take(count).position(|&index| index as usize == me.index()) {
            live.copy_within(place + 1..count, place);
            core.live_count -= 1;
        }
        if self.core().live_count > 0 {
            // The first thread stays, as the kernel sees it, as long as the process does.
            if me.index() != 0 {
                DYING.store(sys::thread(), SeqCst);
            }
            self.refuse_deadlock();
            self.let_go();
        }
        core::mem::forget(self);
    }
}

/// The calling thread is in a call without the baton.
pub(crate) struct Away {
    me: &'static Thread,
}

impl Away {
    /// Waits for the baton.
    pub(crate) fn back(self) -> Inside {
        let mut inside = Inside { me: self.me };
        self.me.state.store(state::READY, SeqCst);
        RETURNED.fetch_add(1, SeqCst);
        if !take(self.me) {
            inside.park();
        }
        see_off();
        inside.core().policy.woken();
        if inside.core().forced.is_some() {
            inside.comes_back();
        }
        inside.unpack();
        inside
    }

    /// As [`Away::back`], for a thread that is known to be away.
    pub(crate) fn of(me: &'static Thread) -> Away {
        Away { me }
    }
}

/// Takes the baton, if nobody has it.
fn take(me: &Thread) -> bool {
    HOLDER.compare_exchange(NOBODY, me.index() as u32, SeqCst, SeqCst).is_ok()
}

/// The thread that has the baton.
pub(crate) fn holder() -> Option<usize> {
    Some(HOLDER.load(SeqCst)).filter(|&holder| holder != NOBODY).map(|holder| holder as usize)
}

/// A number that changes when a thread comes back from a call.
pub(crate) fn returned() -> u32 {
    RETURNED.load(SeqCst)
}

/// Whether nobody had the baton; this thread has it now.
pub(crate) fn is_idle(me: &Thread) -> bool {
    take(me)
}

/// Waits until the thread that ended last is gone. What it still does, inside libc, changes which memory comes next,
/// and the same seed must give the same run.
fn see_off() {
    let dying = DYING.swap(0, SeqCst);
    if dying != 0 {
        let start = sys::now(sys::MONOTONIC);
        while sys::exists(dying) && sys::now(sys::MONOTONIC) - start < FAREWELL {
            sys::yield_now();
        }
    }
}

/// Gives the baton to a thread.
fn hand_to(index: usize) {
    let next = thread(index);
    HOLDER.store(index as u32, SeqCst);
    next.word.store(1, SeqCst);
    sys::futex_wake(&next.word);
}

/// A thread that was just made sleeps until it is its turn.
pub(crate) fn first_turn(me: &'static Thread) -> Inside {
    let mut inside = Inside { me };
    inside.park();
    inside
}
