//! Loops that do nothing: a thread that comes back to where it was, and knows no more, waits.
//!
//! A thread is back where it was if its registers and its stack are as they were at an earlier step. If it changed nothing
//! in between, it would go round for ever, as long as what it saw stays the same; so it waits until one of these changes.
//! What a loop keeps elsewhere is not compared. Therefore a loop is *followed*: the thread goes
//! round with the answers that it got on the round that it ended, and has to ask the same each time
//! and come back to the same registers and stack. A loop that does not counts its rounds where
//! no step shows: it is named, and the search begins again without taking it for one that waits.

use std::cell::Cell;
use std::panic::Location;

use reweave_explore::{Early, Op, Outcome, Rounds, ThreadId, Watch};

use super::host::{self, Host};
use super::places;

/// How many earlier steps are compared, and how much of a stack.
const KEPT: usize = 8;
const DEEPEST: usize = 16 << 10;

/// What a proof relies on, if it came across it.
#[derive(Default)]
pub(crate) struct Relies {
    /// Data changes only through `&mut`.
    pub(crate) data: Cell<bool>,
    /// Loops that wait go round as they did when they were followed.
    pub(crate) loops: Cell<bool>,
    /// Loops around waits that end without cause keep nothing on the heap.
    pub(crate) waits: Cell<bool>,
}

/// The looks of a thread since it last changed anything.
#[derive(Default)]
pub(crate) struct Spin {
    seen: Vec<Watch>,
    looks: usize,
    /// The steps since the first of `earlier`.
    steps: Vec<(Op, Outcome)>,
    earlier: Vec<Turn>,
    /// What the thread saw on the round that it just ended.
    ended: Vec<Watch>,
    round: Option<Round>,
    following: Option<Following>,
    /// Whether the thread did something else than on the round that it is followed on.
    counts: bool,
}

/// Where a thread was, and how much it had seen and done until then.
struct Turn {
    now: Vec<u64>,
    seen: usize,
    steps: usize,
}

/// A round that a thread has ended.
struct Round {
    now: Vec<u64>,
    steps: Vec<(Op, Outcome)>,
    place: &'static Location<'static>,
}

/// A thread that goes round again: how many rounds are left, and the next step of this one.
struct Following {
    left: u32,
    all: u32,
    at: usize,
}

impl Spin {
    /// The thread saw something, and changed nothing.
    pub(crate) fn saw(&mut self, watch: Watch) {
        if self.following.is_none() {
            self.looks += 1;
            self.seen.push(watch);
        }
    }

    /// The thread changed something.
    pub(crate) fn stop(&mut self) {
        self.counts |= self.following.take().is_some();
        self.looks = 0;
        self.seen.clear();
        self.steps.clear();
        self.earlier.clear();
    }

    /// Whether steps are to be kept.
    pub(crate) fn keeps(&self) -> bool {
        !self.earlier.is_empty() && self.following.is_none()
    }

    /// Keeps a step.
    pub(crate) fn took(&mut self, op: Op, outcome: Outcome) {
        if self.keeps() {
            self.steps.push((op, outcome));
        }
    }

    /// What a step gives to a thread that is followed.
    pub(crate) fn answer(&mut self, op: &Op) -> Option<Outcome> {
        let (following, round) = (self.following.as_mut()?, self.round.as_ref()?);
        match round.steps.get(following.at) {
            Some((known, outcome)) if alike(known, op) => {
                following.at += 1;
                Some(*outcome)
            }
            _ => {
                self.following = None;
                self.counts = true;
                None
            }
        }
    }

    /// Whether the thread was here, and has seen something since.
    fn round(&mut self, now: Vec<u64>, place: &'static Location<'static>) -> bool {
        if let Some(turn) = self.earlier.iter().find(|turn| turn.now == now) {
            self.ended.clear();
            self.ended.extend_from_slice(&self.seen[turn.seen..]);
            self.ended.sort_by_key(|watch| watch.object());
            self.ended.dedup();
            self.round = Some(Round { now, steps: self.steps[turn.steps..].to_vec(), place });
            return !self.ended.is_empty();
        }
        if self.earlier.len() == KEPT {
            self.earlier.remove(0);
        }
        self.earlier.push(Turn { now, seen: self.seen.len(), steps: self.steps.len() });
        false
    }

    /// The same where the thread is followed: whether it has been for long enough.
    fn followed(&mut self, now: Vec<u64>) -> bool {
        let (Some(following), Some(round)) = (&mut self.following, &mut self.round) else { return false };
        if following.at < round.steps.len() {
            return false;
        }
        // What is left on the stack of having waited differs from a round on which the thread did
        // not.
        if following.left == following.all {
            round.now = now;
        } else if round.now != now {
            self.following = None;
            self.counts = true;
            return false;
        }
        following.at = 0;
        following.left -= 1;
        if following.left == 0 {
            self.following = None;
            return true;
        }
        false
    }

    /// Has the thread, which waits, go round again.
    fn follow(&mut self, rounds: u32, same: bool) -> Rounds {
        let Some(round) = &self.round else { return Rounds::Same };
        // What a cell or a lock has is looked at in memory, where it is as it was only if nobody
        // changed it.
        let in_memory = |op: &Op| matches!(op, Op::Read { plain: true, .. } | Op::Wait { .. });
        if !same && round.steps.iter().any(|(op, _)| in_memory(op)) {
            return Rounds::Later;
        }
        // A thread that yields waits instead.
        let at = usize::from(matches!(round.steps.first(), Some((Op::Yield, _))));
        self.counts = false;
        self.following = Some(Following { left: rounds, all: rounds, at });
        Rounds::Other
    }
}

/// Whether both are one step, but for when a wait may end.
fn alike(known: &Op, op: &Op) -> bool {
    match (known, op) {
        (
            Op::Wait { condition, lock, data, timed, .. },
            Op::Wait { condition: now, lock: held, data: given, timed: up, .. },
        ) => (condition, lock, data, timed) == (now, held, given, up),
        (Op::Park { timed, .. }, Op::Park { timed: up, .. }) => timed == up,
        (Op::Receive { channel, timed, .. }, Op::Receive { channel: now, timed: up, .. }) => {
            (channel, timed) == (now, up)
        }
        (
            Op::Exchange { cell, expected, new, .. },
            Op::Exchange { cell: now, expected: wanted, new: other, .. },
        ) => (cell, expected, new) == (now, wanted, other),
        _ => known == op,
    }
}

impl Host {
    /// Whether the loop at a place is known to count its rounds.
    pub(crate) fn is_counting(&self, place: &'static Location<'static>) -> bool {
        !self.counting.is_empty() && self.counting.contains(&places::name(place))
    }

    /// Has a thread that waits go round again; what came of it.
    pub(crate) fn go_round(&self, thread: ThreadId, rounds: u32, same: bool) -> Rounds {
        let begun = self.local_of(thread, |local| local.spin.follow(rounds, same));
        if begun != Rounds::Other {
            return begun;
        }
        let next = self.go_on(thread, Outcome::default());
        let again = self.local_of(thread, |local| {
            let spin = &mut local.spin;
            let ends = spin.following.take().is_none() && !spin.counts;
            if ends && next.made.is_empty() && matches!(next.op, Op::Await { .. }) {
                return None;
            }
            spin.round.as_ref().map(|round| round.place)
        });
        let Some(place) = again else { return Rounds::Same };
        *self.counts.borrow_mut() = Some(places::name(place));
        Rounds::Other
    }
}

/// The thread changed something.
pub(crate) fn stop() {
    host::host(|host| host.local(|local| local.spin.stop()));
}

/// The thread saw something, and changed nothing.
pub(crate) fn saw(watch: Watch) {
    host::host(|host| host.local(|local| local.spin.saw(watch)));
}

/// The thread has waited: it begins anew, unless it is only followed.
pub(crate) fn waited() {
    host::host(|host| {
        host.local(|local| {
            if local.spin.following.is_none() {
                local.spin.stop();
            }
        });
    });
}

/// What the calling thread saw on the round that [`round`] said it has ended.
pub(crate) fn seen() -> Vec<Watch> {
    host::host(|host| host.local(|local| local.spin.ended.clone())).unwrap_or_default()
}

/// When a wait may end without having been woken, if the thread has ended a round, or has not.
pub(crate) fn early(round: bool) -> Early {
    if round {
        host::host(|host| host.relies.waits.set(true));
        Early::Changed(seen())
    } else {
        Early::Always
    }
}

/// Whether the calling thread was here before with the same registers and stack, and changed nothing since. `kind` tells steps
/// apart; with fewer than so many looks in a row it is not worth comparing.
///
/// It becomes a part of the loop, so it leaves nothing there that could differ from run to run, such as an address.
#[inline(always)]
#[track_caller]
pub(crate) fn round(kind: u64, suspicious: usize) -> bool {
    let mut registers = [0; 7];
    registers_now(&mut registers);
    look(kind, suspicious, registers, Location::caller())
}

#[inline(never)]
fn look(kind: u64, suspicious: usize, registers: [u64; 7], place: &'static Location<'static>) -> bool {
    host::host(|host| {
        let (looks, base, following) =
            host.local(|local| (local.spin.looks, local.base, local.spin.following.is_some()));
        let top = registers[6] as usize;
        if !following && looks < suspicious || top == 0 || base < top || base - top > DEEPEST {
            return false;
        }
        if host.is_counting(place) {
            return false;
        }
        let mut now = Vec::with_capacity((base - top) / 8 + 8);
        now.push(kind);
        now.extend_from_slice(&registers);
        for word in (top..base & !7).step_by(8) {
            // SAFETY: the words between the top and the base of the caller's own stack. They are compared, whatever they are.
            now.push(unsafe { std::ptr::read_volatile(word as *const u64) });
        }
        host.local(|local| if following { local.spin.followed(now) } else { local.spin.round(now, place) })
    })
    .unwrap_or(false)
}

/// The registers that a function keeps for its caller, and the stack pointer of the caller.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
extern "C" fn registers_now(into: &mut [u64; 7]) {
    std::arch::naked_asm!(
        "mov [rdi], rbx",
        "mov [rdi + 8], rbp",
        "mov [rdi + 16], r12",
        "mov [rdi + 24], r13",
        "mov [rdi + 32], r14",
        "mov [rdi + 40], r15",
        "lea rax, [rsp + 8]",
        "mov [rdi + 48], rax",
        "ret",
    )
}

/// Elsewhere loops are counted, and a proof may fail for it.
#[cfg(not(target_arch = "x86_64"))]
fn registers_now(_: &mut [u64; 7]) {}
