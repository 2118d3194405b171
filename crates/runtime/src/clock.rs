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

use crate::access::load;
use crate::export::export;
use crate::inputs::{self, kind};
use crate::real;
use crate::recording::Inside;
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
/// Whether a replay has set that clock to what it was in the recorded run.
static SET: [AtomicBool; CLOCKS] = [const { AtomicBool::new(false) }; CLOCKS];

const CLOCKS: usize = 12;
const WALL: usize = 0;
const SINCE_BOOT: usize = 7;
const ATOMIC: usize = 11;
/// What the even clocks tell at the start where the wall's is given.
const UPTIME: u64 = 1_000_000 * SECOND;

/// Begins to count, with the clock on the wall at this second, or where it is.
pub(crate) fn start(second: u64) {
    for clock in [WALL, MONOTONIC, SINCE_BOOT, ATOMIC] {
        let origin = match second {
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

/// A replay told the time of the recorded run: the clock goes on from there.
fn set(clock: usize, time: u64) {
    let Some(clock) = origin(clock) else { return };
    let (Some(origin), Some(set)) = (ORIGINS.get(clock), SET.get(clock)) else { return };
    if set.swap(true, Relaxed) {
        reach(time.saturating_sub(origin.load(Relaxed)));
    } else {
        origin.store(time.saturating_sub(now()), Relaxed);
    }
}

/// Tells the time of a clock to `write`, which leaves so many bytes at `at`; none where it is the real one's business.
fn tell(kind: u32, clock: usize, (at, room): (usize, usize), write: fn(usize, u64)) -> Option<usize> {
    told(clock)?;
    let Some(mut inside) = Inside::enter() else {
        write(at, told(clock)?);
        return Some(0);
    };
    inside.settle();
    if let Some(result) = inside.given(kind, at, room) {
        let fraction = if room == 16 { load(at + 8, 8) } else { 0 };
        let scale = if kind == kind::TIME_OF_DAY { 1_000 } else { 1 };
        set(clock, load(at, 8).saturating_mul(SECOND).saturating_add(fraction.saturating_mul(scale)));
        return Some(result);
    }
    pass(cost::LOOK);
    keep_up();
    write(at, told(clock)?);
    inside.keep(kind, 0, at, room);
    Some(0)
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

pub(crate) extern "C" fn clock_gettime(clock: usize, at: usize) -> usize {
    let real = || inputs::input(kind::CLOCK, at, 16, filled, || real::clock_gettime(clock, at));
    if at == 0 { real() } else { tell(kind::CLOCK, clock, (at, 16), write_time).unwrap_or_else(real) }
}

pub(crate) extern "C" fn gettimeofday(at: usize, zone: usize) -> usize {
    let real = || inputs::input(kind::TIME_OF_DAY, at, 16, filled, || real::gettimeofday(at, zone));
    let Some(told) = (at != 0).then(|| tell(kind::TIME_OF_DAY, WALL, (at, 16), write_micros)).flatten()
    else {
        return real();
    };
    if zone != 0 {
        let mut unused = Time::default();
        real::gettimeofday(&raw mut unused as usize, zone);
    }
    told
}

pub(crate) extern "C" fn time(at: usize) -> usize {
    let mut seconds = 0u64;
    let inner = &raw mut seconds as usize;
    if tell(kind::TIME, WALL, (inner, 8), write_seconds).is_none() {
        inputs::input(kind::TIME, inner, 8, |_| 8, || real::time(inner));
    }
    // SAFETY: a null, or where the program wants it.
    if let Some(at) = unsafe { (at as *mut u64).as_mut() } {
        *at = seconds;
    }
    seconds as usize
}

extern "C" fn timespec_get(at: usize, base: usize) -> usize {
    const UTC: usize = 1;
    if base as u32 as usize != UTC {
        return real::timespec_get(at, base);
    }
    if clock_gettime(WALL, at) as i32 == 0 { base } else { 0 }
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
        start(1_000);
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
        // A replay tells what it was then: that is where the clock goes on, and only forward.
        set(WALL, 5 * SECOND);
        assert_eq!((told(WALL), now()), (Some(5 * SECOND), passed + 60));
        set(WALL, 5 * SECOND + 30);
        assert_eq!((told(WALL), now()), (Some(5 * SECOND + 30), passed + 90));
        set(WALL, 4 * SECOND);
        assert_eq!(now(), passed + 90);
        stop();
        assert!(told(WALL).is_none());
    }
}
