//! Loops that do nothing: a thread that comes back to where it was, and knows no more, waits.
//!
//! A thread is back where it was if its registers and its stack are as they were at an earlier step. If it changed nothing
//! in between, it would go round for ever, as long as what it saw stays the same; so it waits until one of these changes.
//! What a loop keeps on the heap is not compared; a proof says so.

use reweave_explore::{Early, Watch};

use super::host;

/// How many earlier steps are compared, and how much of a stack.
const KEPT: usize = 8;
const DEEPEST: usize = 16 << 10;

/// The looks of a thread since it last changed anything.
#[derive(Default)]
pub(crate) struct Spin {
    seen: Vec<Watch>,
    looks: usize,
    earlier: Vec<(Vec<u64>, usize)>,
    /// What the thread saw on the round that it just ended.
    ended: Vec<Watch>,
}

impl Spin {
    /// The thread saw something, and changed nothing.
    pub(crate) fn saw(&mut self, watch: Watch) {
        self.looks += 1;
        self.seen.push(watch);
    }

    /// The thread changed something.
    pub(crate) fn stop(&mut self) {
        self.looks = 0;
        self.seen.clear();
        self.earlier.clear();
    }

    /// Whether the thread was here, and has seen something since.
    fn round(&mut self, now: Vec<u64>) -> bool {
        if let Some((_, from)) = self.earlier.iter().find(|(earlier, _)| *earlier == now) {
            self.ended.clear();
            self.ended.extend_from_slice(&self.seen[*from..]);
            self.ended.sort_by_key(|watch| watch.object());
            self.ended.dedup();
            return !self.ended.is_empty();
        }
        if self.earlier.len() == KEPT {
            self.earlier.remove(0);
        }
        self.earlier.push((now, self.seen.len()));
        false
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

/// What the calling thread saw on the round that [`round`] said it has ended.
pub(crate) fn seen() -> Vec<Watch> {
    host::host(|host| host.local(|local| local.spin.ended.clone())).unwrap_or_default()
}

/// When a wait may end without having been woken, if the thread has ended a round, or has not.
pub(crate) fn early(round: bool) -> Early {
    if round { Early::Changed(seen()) } else { Early::Always }
}

/// Whether the calling thread was here before with the same registers and stack, and changed nothing since. `kind` tells steps
/// apart; with fewer than so many looks in a row it is not worth comparing.
///
/// It becomes a part of the loop, so it leaves nothing there that could differ from run to run, such as an address.
#[inline(always)]
pub(crate) fn round(kind: u64, suspicious: usize) -> bool {
    let mut registers = [0; 7];
    registers_now(&mut registers);
    look(kind, suspicious, registers)
}

#[inline(never)]
fn look(kind: u64, suspicious: usize, registers: [u64; 7]) -> bool {
    host::host(|host| {
        let (looks, base) = host.local(|local| (local.spin.looks, local.base));
        let top = registers[6] as usize;
        if looks < suspicious || top == 0 || base < top || base - top > DEEPEST {
            return false;
        }
        let mut now = Vec::with_capacity((base - top) / 8 + 7);
        now.push(kind);
        now.extend_from_slice(&registers);
        for word in (top..base & !7).step_by(8) {
            // SAFETY: the words between the top and the base of the caller's own stack. They are compared, whatever they are.
            now.push(unsafe { std::ptr::read_volatile(word as *const u64) });
        }
        host.local(|local| local.spin.round(now))
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
