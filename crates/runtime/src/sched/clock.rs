//! The program's clock: while threads take turns, time is what they do, not what the machine takes for it.
//!
//! A deadline that is measured on the real clock passes earlier or later from run to run, and with it who runs next. So time
//! passes by fixed amounts: for each access, each synchronisation, each switch to another thread, each look at the
//! clock. They are about what these take, and for an access less: where time passes faster here than it does, a thread that
//! waits until a time has to be waited for. When no thread can run, time jumps to the earliest deadline; the scheduler
//! still waits until that thread has really waited for as long as it asked ([`due`]). A call to the outside takes as long as
//! it does ([`Departure`]). All of the program's clocks but those of processor time tell this time, from a whole second
//! on; so what a program computes from them, and which of two deadlines comes first, is the same in every run.
//!
//! A program that spends its time in code without hooks would fall behind: time passes at least at a sixteenth of its real
//! speed, but for the first seconds. Where threads run freely, all of this is off, and the clock is the real one.

use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicU64};

use reweave_wire::Op;

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::real;
use crate::record::inputs::{self, ORIGINS as ORIGINS_KEPT, Source, kind};
use crate::record::recording::{Inside, stands_for};
use crate::sched::policy::Step;
use crate::sys::{self, MONOTONIC, Time};

/// How long things take, in nanoseconds.
pub(crate) mod cost {
    pub(crate) const ACCESS: u64 = 2;
    pub(crate) const SYNC: u64 = 200;
    pub(crate) const SWITCH: u64 = 4_000;
    pub(crate) const LOOK: u64 = 1_000;
}

const SECOND: u64 = 1_000_000_000;
/// How much slower than the real time this one may pass, and from when on.
const SLOWEST: u64 = 16;
const GRACE: u64 = 2 * SECOND;
/// What a call to the outside took counts in such pieces: a short one does not at all.
const PIECE: u64 = 1_000_000;

static ON: AtomicBool = AtomicBool::new(false);
/// Nanoseconds since the start. Only the thread with the baton changes it.
static PASSED: AtomicU64 = AtomicU64::new(0);
/// The start on the real even clock.
static START: AtomicU64 = AtomicU64::new(0);
/// What each clock told at the start, by its number.
static ORIGINS: [AtomicU64; CLOCKS] = [const { AtomicU64::new(0) }; CLOCKS];
/// The latest time that the program knows of, in nanoseconds since the start: from a look, or from a deadline that passed.
static SEEN: AtomicU64 = AtomicU64::new(0);
/// Whether what the clocks told at the start was kept for replays.
static KEPT: AtomicBool = AtomicBool::new(false);

const CLOCKS: usize = 12;
const WALL: usize = 0;
const SINCE_BOOT: usize = 7;
const ATOMIC: usize = 11;
/// What the even clocks tell at the start where the wall's is given.
const UPTIME: u64 = 1_000_000 * SECOND;
/// The clocks that have an origin.
const KNOWN: [usize; ORIGINS_KEPT] = [WALL, MONOTONIC, SINCE_BOOT, ATOMIC];

/// Begins to count, with the clock on the wall at this second, or where it is; in a replay, with all clocks where they were.
pub(crate) fn start(second: u64, recorded: Option<[u64; ORIGINS_KEPT]>) {
    for (place, clock) in KNOWN.into_iter().enumerate() {
        let known = recorded.and_then(|origins| origins.get(place).copied());
        let origin = match second {
            _ if let Some(origin) = known => origin,
            0 => sys::now(clock) / SECOND * SECOND,
            _ if clock == WALL || clock == ATOMIC => second.saturating_mul(SECOND),
            _ => UPTIME,
        };
        if let Some(room) = ORIGINS.get(clock) {
            room.store(origin, Relaxed);
        }
    }
    START.store(sys::now(MONOTONIC), Relaxed);
    ON.store(true, Relaxed);
}

/// A child of the program has the real clock.
pub(crate) fn stop() {
    ON.store(false, Relaxed);
}

#[inline(always)]
pub(crate) fn is_on() -> bool {
    ON.load(Relaxed)
}

/// The clock whose origin counts for this one; none for those of processor time, and unknown ones.
fn origin(clock: usize) -> Option<usize> {
    match clock as u32 {
        0 | 5 | 8 => Some(WALL),
        1 | 4 | 6 => Some(MONOTONIC),
        7 | 9 => Some(SINCE_BOOT),
        11 => Some(ATOMIC),
        _ => None,
    }
}

/// What has passed, as the scheduler counts: nanoseconds of the even clock where time is real.
pub(crate) fn now() -> u64 {
    if is_on() { PASSED.load(Relaxed) } else { sys::now(MONOTONIC) }
}

/// A time of one of the program's clocks, in nanoseconds, as the scheduler counts.
pub(crate) fn at(clock: usize, time: u64) -> u64 {
    match origin(clock).and_then(|clock| ORIGINS.get(clock)).filter(|_| is_on()) {
        Some(origin) => time.saturating_sub(origin.load(Relaxed)),
        None => now().saturating_add(time.saturating_sub(sys::now(clock))),
    }
}

/// The real time, on the even clock, before which a wait until `deadline` that begins now must not end.
pub(crate) fn due(deadline: u64) -> u64 {
    match deadline {
        0 => 0,
        _ if is_on() => sys::now(MONOTONIC).saturating_add(deadline.saturating_sub(now())),
        _ => deadline,
    }
}

/// So many nanoseconds pass.
#[inline(always)]
pub(crate) fn pass(nanos: u64) {
    PASSED.store(PASSED.load(Relaxed).wrapping_add(nanos), Relaxed);
}

/// Time goes on to there, where it is not yet.
pub(crate) fn reach(time: u64) {
    if is_on() && PASSED.load(Relaxed) < time {
        PASSED.store(time, Relaxed);
    }
}

fn saw(time: u64) {
    SEEN.store(SEEN.load(Relaxed).max(time), Relaxed);
}

/// Time goes on to where it must be at the least.
pub(crate) fn keep_up() {
    if is_on() {
        let real = sys::now(MONOTONIC).saturating_sub(START.load(Relaxed));
        reach(real.saturating_sub(GRACE) / SLOWEST);
    }
}

/// A call to the outside begins.
pub(crate) struct Departure {
    passed: u64,
    real: u64,
    waits: u64,
}

impl Departure {
    /// None where the clock is the real one.
    pub(crate) fn now() -> Option<Departure> {
        is_on().then(|| Departure { passed: now(), real: 0, waits: 0 })
    }

    /// The thread has given the baton away, for which it may have had to wait.
    pub(crate) fn leaves(self) -> Departure {
        Departure { real: sys::now(MONOTONIC), waits: sys::waits(), ..self }
    }

    /// When the call is over, as the scheduler counts. It takes no time if the thread never had to wait in it: then it was
    /// only the machine that was slow. One that waited in vain took what it was given.
    pub(crate) fn arrival(&self, given: Option<u64>) -> u64 {
        let real =
            || if sys::waits() == self.waits { 0 } else { sys::now(MONOTONIC).saturating_sub(self.real) };
        self.passed.saturating_add(given.unwrap_or_else(|| real() / PIECE * PIECE))
    }
}

/// What the clock tells, in nanoseconds; none where it is the real one's business.
fn told(clock: usize) -> Option<u64> {
    let origin = ORIGINS.get(origin(clock)?).filter(|_| is_on())?.load(Relaxed);
    Some(origin.saturating_add(now()))
}

/// How exactly a kind of look tells the time, in nanoseconds.
fn grain(kind: u32) -> u64 {
    match kind {
        kind::TIME_OF_DAY => 1_000,
        kind::TIME => SECOND,
        _ => 1,
    }
}

impl Inside {
    /// Records a look at the clock, of which there is one.
    pub(crate) fn looks_at_time(&mut self, code: usize) {
        self.stand_in(Op::Look, 0, stands_for::CLOCK, code, (0, 0));
    }

    /// Records that the thread goes on because a deadline has passed: from now on the program knows that it is so late. A replay
    /// takes the time from the recorded run, for what was computed from deadlines before may be later than it was.
    pub(crate) fn deadline_passed(&mut self, code: usize) {
        let mut time = now();
        let at = &raw mut time as usize;
        let told = self.given(kind::PASSED, Source::Thread, at, size_of::<u64>()).is_some();
        if !told || !self.goes_forward(time, 1) {
            saw(now());
            self.keep(kind::PASSED, Source::Thread, 0, &raw const time as usize, size_of::<u64>());
        }
        self.looks_at_time(code);
    }

    /// Whether a time of the recorded run, so exact, may be told now. Where another thread knows of a later one already, no
    /// run of the program could have told it, so the schedule was not followed.
    fn goes_forward(&mut self, time: u64, grain: u64) -> bool {
        if time.saturating_add(grain) <= SEEN.load(Relaxed) {
            self.clock_goes_back();
            return false;
        }
        saw(time);
        reach(time);
        true
    }

    /// Gives the thread the time of one of the clocks that it was told in the recorded run, as long as that does not go back.
    fn told_again(&mut self, kind: u32, clock: usize, (at, room): (usize, usize)) -> bool {
        if self.given(kind, Source::Thread, at, room).is_none() {
            return false;
        }
        let fraction = if room == 16 { load(at + 8, 8) } else { 0 };
        let fraction = fraction.saturating_mul(if kind == kind::TIME_OF_DAY { 1_000 } else { 1 });
        let time = load(at, 8).saturating_mul(SECOND).saturating_add(fraction);
        let origin = origin(clock).and_then(|clock| ORIGINS.get(clock));
        let since = time.saturating_sub(origin.map_or(0, |origin| origin.load(Relaxed)));
        self.goes_forward(since, grain(kind))
    }
}

/// Tells the time of a clock to `write`, which leaves so many bytes at `at`; none where it is the real one's business.
fn tell(
    kind: u32,
    clock: usize,
    (at, room): (usize, usize),
    code: usize,
    write: fn(usize, u64),
) -> Option<usize> {
    told(clock)?;
    let Some(mut inside) = Inside::enter() else {
        write(at, told(clock)?);
        return Some(0);
    };
    inside.settle();
    inside.point(Step::Sync, code);
    keep_origins(&mut inside);
    if !inside.told_again(kind, clock, (at, room)) {
        pass(cost::LOOK);
        keep_up();
        saw(now());
        write(at, told(clock)?);
        inside.keep(kind, Source::Thread, 0, at, room);
    }
    inside.looks_at_time(code);
    Some(0)
}

/// Asks for a real time, which is kept, or given again.
fn real_time(
    kind: u32,
    (at, room): (usize, usize),
    code: usize,
    bytes: fn(usize) -> usize,
    ask: impl FnOnce() -> usize,
) -> usize {
    let result = inputs::input(kind, Source::Thread, at, room, bytes, ask);
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.looks_at_time(code);
    }
    result
}

/// Keeps what the clocks told at the start, once: a replay begins there, and compares times of different clocks.
fn keep_origins(inside: &mut Inside) {
    if !KEPT.swap(true, Relaxed) {
        let origins = KNOWN.map(|clock| ORIGINS.get(clock).map_or(0, |origin| origin.load(Relaxed)));
        inside.keep(kind::ORIGINS, Source::Thread, 0, &raw const origins as usize, size_of_val(&origins));
    }
}

fn write_time(at: usize, nanos: u64) {
    // SAFETY: the program passes where it wants the time.
    unsafe { (at as *mut Time).write_unaligned(Time::from_nanos(nanos)) };
}

fn write_micros(at: usize, nanos: u64) {
    let time = Time::from_nanos(nanos);
    // SAFETY: as above; a time in microseconds is two words, too.
    unsafe { (at as *mut Time).write_unaligned(Time { nanoseconds: time.nanoseconds / 1_000, ..time }) };
}

fn write_seconds(at: usize, nanos: u64) {
    // SAFETY: `time` passes the address of a number.
    unsafe { (at as *mut u64).write(nanos / SECOND) };
}

fn filled(result: usize) -> usize {
    if result as i32 == 0 { 16 } else { 0 }
}

pub(crate) extern "C" fn clock_gettime(clock: usize, at: usize, code: usize) -> usize {
    let ask = || real::clock_gettime(clock, at);
    if at == 0 {
        return ask();
    }
    tell(kind::CLOCK, clock, (at, 16), code, write_time)
        .unwrap_or_else(|| real_time(kind::CLOCK, (at, 16), code, filled, ask))
}

pub(crate) extern "C" fn gettimeofday(at: usize, zone: usize, code: usize) -> usize {
    if at == 0 {
        return real::gettimeofday(at, zone);
    }
    let Some(told) = tell(kind::TIME_OF_DAY, WALL, (at, 16), code, write_micros) else {
        return real_time(kind::TIME_OF_DAY, (at, 16), code, filled, || real::gettimeofday(at, zone));
    };
    if zone != 0 {
        let mut unused = Time::default();
        real::gettimeofday(&raw mut unused as usize, zone);
    }
    told
}

pub(crate) extern "C" fn time(at: usize, code: usize) -> usize {
    let mut seconds = 0u64;
    let inner = &raw mut seconds as usize;
    if tell(kind::TIME, WALL, (inner, 8), code, write_seconds).is_none() {
        real_time(kind::TIME, (inner, 8), code, |_| 8, || real::time(inner));
    }
    // SAFETY: a null, or where the program wants it.
    if let Some(at) = unsafe { (at as *mut u64).as_mut() } {
        *at = seconds;
    }
    seconds as usize
}

extern "C" fn timespec_get(at: usize, base: usize, code: usize) -> usize {
    const UTC: usize = 1;
    if base as u32 as usize != UTC {
        return real::timespec_get(at, base);
    }
    if clock_gettime(WALL, at, code) as i32 == 0 { base } else { 0 }
}

export! {
    clock_gettime(2) => clock_gettime;
    gettimeofday(2) => gettimeofday;
    time(1) => time;
    timespec_get(2) => timespec_get;
}

#[cfg(test)]
mod tests {
    use super::*;

    // One test: there is one clock.
    #[test]
    fn all_clocks_count_from_the_start_and_never_go_back() {
        start(1_000, None);
        let passed = now();
        for (clock, begins) in [(WALL, 1_000 * SECOND), (5, 1_000 * SECOND), (MONOTONIC, UPTIME), (4, UPTIME)]
        {
            assert_eq!(at(clock, begins + 7), 7);
            assert_eq!(at(clock, begins - 7), 0, "a time that has passed");
            assert_eq!(told(clock), Some(begins + passed));
        }
        assert_eq!((told(2), told(3)), (None, None), "processor time is real");
        pass(50);
        reach(passed + 40);
        assert_eq!(now(), passed + 50);
        reach(passed + 60);
        assert_eq!(told(WALL), Some(1_000 * SECOND + passed + 60));
        // A call that waited in vain took what it was given; one that never waited took nothing.
        let departure = Departure::now().map(Departure::leaves);
        let arrival = |given| departure.as_ref().map(|departure| departure.arrival(given));
        assert_eq!((arrival(Some(5)), arrival(None)), (Some(passed + 65), Some(passed + 60)));
        // A wait of a second does not end before one has really passed.
        let before = sys::now(MONOTONIC);
        assert!(due(now() + SECOND) >= before + SECOND);
        // What is known is known for good.
        saw(passed + 90);
        saw(passed + 80);
        assert_eq!(SEEN.load(Relaxed), passed + 90);
        // A replay begins with the clocks where they were.
        start(0, Some([3 * SECOND, 5 * SECOND, 7 * SECOND, 9 * SECOND]));
        assert_eq!((told(WALL), told(MONOTONIC)), (Some(3 * SECOND + now()), Some(5 * SECOND + now())));
        stop();
        assert!(told(WALL).is_none());
    }
}
