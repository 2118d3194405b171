//! What a replay tells `reweave replay`: lines in the note beside the recording, with addresses that are looked up there.

use core::sync::atomic::Ordering::Relaxed;

use crate::record::config;
use crate::sched::baton::key;
use crate::sched::forced::{Forced, Why};
use crate::sched::thread::{self, state, thread};
use crate::sys;
use crate::text::Text;

/// The most callers that are told of one stack.
const FRAMES: usize = 48;

type Line = Text<2048>;

fn line(start: &[u8]) -> Line {
    let mut line = Line::new();
    line.push(start);
    line
}

fn number(line: &mut Line, number: usize) -> &mut Line {
    line.push(b" ").number(number as u64)
}

/// Where a thread is, and who called that.
fn frames(line: &mut Line, index: usize, code: usize) {
    number(line, code);
    thread(index).calls.callers(FRAMES, |caller| _ = number(line, caller));
    line.push(b"\n");
}

/// A thread stands before one of the finding's events, or did it.
pub(crate) fn stack(how: &[u8], claim: usize, index: usize, code: usize) {
    let mut said = line(how);
    number(&mut said, claim);
    number(&mut said, index);
    frames(&mut said, index, code);
    config::note(said.bytes());
}

/// A step of the plan did not come.
pub(crate) fn given_up(item: usize, why: Why, index: usize, code: usize) {
    let why: &[u8] = match why {
        Why::NotCreated => b"not-created",
        Why::Ended => b"ended",
        Why::Blocked => b"blocked",
        Why::Spinning => b"spinning",
        Why::Passed => b"passed",
        Why::Late => b"late",
        Why::Early => b"early",
        Why::NotBlocked => b"not-blocked",
        Why::Woken => b"woken",
        Why::Elsewhere => b"elsewhere",
        Why::ClockBack => b"clock",
    };
    let mut said = line(b"given-up");
    number(&mut said, item).push(b" ").push(why);
    number(&mut said, index);
    number(&mut said, code).push(b"\n");
    config::note(said.bytes());
}

/// What every thread is doing, and which locks are held.
pub(crate) fn look(forced: &Forced) {
    threads(forced);
    for hold in forced.holds.as_ref().iter().take(forced.hold_count) {
        let mut said = line(b"holds");
        let index = hold.thread as usize - 1;
        number(&mut said, index);
        number(&mut said, planned(forced, index));
        number(&mut said, hold.at);
        number(&mut said, hold.code).push(b"\n");
        config::note(said.bytes());
    }
}

/// The number of a thread in the plan, plus one.
fn planned(forced: &Forced, index: usize) -> usize {
    forced.planned.as_ref().get(index).map_or(0, |&planned| planned as usize)
}

fn threads(forced: &Forced) {
    for index in 0..forced.threads {
        let this = thread(index);
        let doing: &[u8] = match this.state.load(Relaxed) {
            state::READY => b"ready",
            state::AWAY => b"away",
            state::BLOCKED => match this.key.load(Relaxed) & 15 {
                key::LOCK => b"lock",
                key::CONDITION => b"condition",
                key::END => b"end",
                key::SEMAPHORE => b"semaphore",
                key::BARRIER => b"barrier",
                key::ONCE => b"once",
                key::FUTEX => b"futex",
                _ => b"sleep",
            },
            _ => continue,
        };
        let mut said = line(b"thread");
        number(&mut said, index);
        number(&mut said, planned(forced, index)).push(b" ").push(doing);
        number(&mut said, (this.key.load(Relaxed) >> 4) as usize);
        let last = forced.last.as_ref().get(index).copied().unwrap_or(0);
        frames(&mut said, index, last);
        config::note(said.bytes());
        if forced.plan.stops {
            task(index);
        }
    }
}

/// Which thread a debugger has to show for one of ours.
fn task(index: usize) {
    let is_calling = thread::current().is_some_and(|me| me.index() == index);
    let known = thread(index).seat.thread();
    let mut said = line(b"task");
    number(&mut said, index);
    number(&mut said, if is_calling { sys::thread() } else { known }.unsigned_abs() as usize).push(b"\n");
    config::note(said.bytes());
}

/// All threads are where they should be. A debugger can stop here.
pub(crate) fn reached(stops: bool) {
    config::note(b"reached\n");
    if stops {
        reweave_reached();
    }
}

/// Where `reweave replay --gdb` stops the program.
#[cfg_attr(reweave_linked, unsafe(no_mangle))]
#[inline(never)]
extern "C" fn reweave_reached() {
    // SAFETY: does nothing; it keeps the function from being removed or merged with another.
    unsafe { core::arch::asm!("nop", options(nomem, nostack, preserves_flags)) };
}

/// What came of it.
pub(crate) fn outcome(forced: &mut Forced) {
    if forced.asleep && forced.reached || core::mem::replace(&mut forced.told, true) {
        return;
    }
    if forced.reached && forced.holds_true() {
        config::note(b"confirmed\n");
    } else if forced.reached {
        let at = forced.at;
        given_up(at, Why::Elsewhere, 0, 0);
    }
}

/// The program ends, or is ended, before the plan does.
pub(crate) fn end(forced: &mut Forced, fault: bool) {
    // The last step may have been the program's last.
    forced.wanted();
    if forced.asleep && forced.reached && !forced.told {
        forced.told = true;
        return match forced.is_still_asleep() && !forced.spoilt {
            true => config::note(b"confirmed\n"),
            false => given_up(forced.at.saturating_sub(2), Why::Woken, 0, 0),
        };
    }
    // Both threads stood there, and one of them did not survive what it did next.
    let halfway = forced.active && forced.reached;
    if !forced.spoilt && (halfway || fault && forced.active && forced.is_at_last_claim()) {
        config::note(b"confirmed\n");
        forced.told = true;
    }
    if !forced.told {
        let mut said = line(b"stopped-at");
        number(&mut said, forced.at).push(b"\n");
        config::note(said.bytes());
        look(forced);
    }
    forced.told = true;
}
