//! State outside of the program's memory: what calls of libc depend on, or change, besides their arguments and recorded memory.
//!
//! Each such state is a variable. A call that may change it, or takes something out of it, is an update; one that certainly
//! changes nothing is an atomic read. An update's value counts the changes, so that no two are alike and every call finds the
//! state that it found in the recorded run. Nothing of the program runs between the event and the call: the baton is not
//! handed on in between.
//!
//! Most functions need nothing but that. They are data ([`table`]): a name, and which states it looks at or changes. Their symbols
//! lead through one piece of code that saves all registers which arguments are passed in, records, and jumps to libc's function;
//! so it does not matter what arguments they have. Those that touch the program's memory say which ([`memory`]); where
//! that depends on what they did, they are called instead of jumped to ([`texts`]). Functions that block have code of their own.

#[macro_use]
mod entries;
pub(crate) mod attributes;
pub(crate) mod formats;
pub(crate) mod given;
pub(crate) mod memory;
pub(crate) mod queues;
pub(crate) mod table;
pub(crate) mod texts;
pub(crate) mod together;
mod variadic;
pub(crate) mod waits;

use core::ffi::CStr;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicUsize};

use reweave_wire::outside::State;
use reweave_wire::{Life, Op};

use crate::libc::listed;
use crate::libc::outside::memory::{Recorder, Use};
use crate::libc::real;
use crate::libc::streams;
use crate::map::hash;
use crate::record::config;
use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};
use crate::sched::baton::key;
use crate::sched::forced::PART;
use crate::sched::free;
use crate::sched::policy::Step;
use crate::sys;
use crate::text::Text;

/// How a call uses a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// It changes nothing.
    Looks,
    /// It may change it, or takes something out of it.
    Changes,
    /// It adds something that nobody in the program sees, unless the stream was opened by the program.
    Prints,
    /// It ends it.
    Ends,
}

/// One use of a state by a function: how, which, and the argument that tells which one of several, counted from 1.
/// What a use is: state, or memory.
const STATE: u32 = 1;

pub(crate) const fn use_of(how: How, state: State, argument: u32) -> u32 {
    STATE << 24 | (how as u32) << 16 | (state as u32) << 8 | argument
}

/// A function that the table has. The assembler lays these out.
#[repr(C)]
pub(crate) struct Function {
    /// Where libc's is, once that was asked.
    found: AtomicUsize,
    name: *const core::ffi::c_char,
    /// See [`use_of`]; 0 where there is none.
    uses: [u32; entries::MOST_USES],
    caller: Caller,
}

/// Whether a function was called and that was said.
#[repr(transparent)]
pub(crate) struct Caller(AtomicU32);

impl Caller {
    pub(crate) const fn new() -> Caller {
        Caller(AtomicU32::new(0))
    }
}

/// Added to the number of an argument that is the name of a file.
pub(crate) const NAMED: u32 = 10;

/// The arguments that were passed in registers.
pub(crate) type Arguments = [usize; 6];

impl Inside {
    /// A variable of a state of which there are several, told apart by a number that may differ from run to run.
    pub(crate) fn numbered(&mut self, state: State, of: u64) -> u64 {
        let key = hash(of.wrapping_add((state as u64) << 56));
        let known = self.core().numbers.get(About::StateNumber, key).map(|number| *number);
        let number = known.unwrap_or_else(|| {
            let number = self.core().numbers.entry(About::States, state as u64).map_or(1, |count| {
                *count += 1;
                *count
            });
            if let Some(room) = self.core().numbers.entry(About::StateNumber, key) {
                *room = number;
            }
            number
        });
        state.variable(number)
    }

    /// How often a state was changed, once it was `more` times.
    fn changed(&mut self, variable: u64, more: u64) -> u64 {
        self.core().numbers.entry(About::State, variable).map_or(more, |count| {
            *count += more;
            *count
        })
    }

    /// Whether anybody has called something that depends on a state.
    pub(crate) fn was_used(&mut self, variable: u64) -> bool {
        self.core().numbers.get(About::State, variable).is_some()
    }

    /// The thread calls something that may change a state, or has taken something out of it.
    pub(crate) fn changes_state(&mut self, variable: u64, code: usize) {
        let count = self.changed(variable, 1);
        self.stand_in(Op::Update, variable as usize, stands_for::OUTSIDE, code, (count - 1, count));
        self.uses_together(stands_for::OUTSIDE, variable as usize);
        self.wake(key::of(key::OUTSIDE, variable as usize), true);
    }

    /// The thread calls something that depends on a state and leaves it as it is.
    pub(crate) fn looks_at_state(&mut self, variable: u64, code: usize) {
        let count = self.changed(variable, 0);
        // The same for a call that was in vain, and would have changed something elsewhere.
        self.in_vain(variable as usize, stands_for::OUTSIDE, code, count);
        self.uses_together(stands_for::OUTSIDE, variable as usize);
    }

    /// Records one use.
    pub(crate) fn uses(&mut self, how: How, variable: u64, code: usize) {
        match how {
            How::Looks => self.looks_at_state(variable, code),
            How::Changes | How::Prints | How::Ends => self.changes_state(variable, code),
        }
    }

    /// The variable of an open file that is no channel.
    pub(crate) fn file_variable(&mut self, file: usize) -> Option<u64> {
        let [device, inode] = sys::identity_of(file as i32)?;
        Some(self.numbered(State::File, device.rotate_left(32) ^ inode))
    }

    /// Records a use of the file that a name leads to.
    fn uses_name(&mut self, how: How, name: usize, code: usize) {
        if let Some([device, inode]) = sys::identity(name) {
            let variable = self.numbered(State::File, device.rotate_left(32) ^ inode);
            self.uses(how, variable, code);
        }
    }

    /// Records a use of the state that an argument tells, whatever it is there.
    fn uses_named(&mut self, how: How, state: State, argument: usize, code: usize) {
        match state {
            State::Stream => self.uses_stream(how, argument, code),
            State::File => self.uses_file(how, argument, code),
            State::Directory => {
                let variable = self.numbered(state, argument as u64);
                self.lives(how, Life::Directory, variable, code);
                self.uses(how, variable, code);
            }
            _ => self.uses(how, state.variable(0), code),
        }
    }

    /// Records what a function of the table does.
    fn calls(&mut self, function: &'static Function, arguments: &Arguments, code: usize) {
        let uses_outside = |part: &u32| part >> 24 == STATE && part >> 8 & 0xFF == State::Outside as u32;
        if function.uses.iter().any(uses_outside) {
            self.is_unlisted(name(function), &function.caller);
        }
        self.uses_all(&function.uses, arguments, code);
    }

    /// Records the uses of state that a table says of a call.
    pub(crate) fn uses_all(&mut self, uses: &[u32], arguments: &Arguments, code: usize) {
        for &part in uses.iter().filter(|&part| part >> 24 == STATE) {
            let how = match part >> 16 & 0xFF {
                0 => How::Looks,
                1 => How::Changes,
                2 => How::Prints,
                _ => How::Ends,
            };
            let Some(state) = State::from_code((part >> 8) as u8) else { continue };
            let place = (part & 0xFF) as usize;
            match place.checked_sub(1) {
                // A stream that is always the same one.
                Some(place @ 10..) => {
                    self.uses_name(how, arguments.get(place - 10).copied().unwrap_or(0), code)
                }
                Some(place @ 6..) => self.uses_stream(how, streams::standard(place - 6), code),
                Some(place) => {
                    let argument = arguments.get(place).copied().unwrap_or(0);
                    self.uses_named(how, state, argument, code);
                }
                None => self.uses(how, state.variable(0), code),
            }
        }
    }

    /// Records a call of a function that is on no list.
    pub(crate) fn calls_unlisted(mut self, name: &CStr, caller: &Caller, arguments: &Arguments, code: usize) {
        self.settle();
        self.point(Step::Sync, code);
        if let Some(state) = listed::state(name.to_bytes()) {
            self.looks_at_state(state.variable(0), code);
        } else {
            self.is_unlisted(name, caller);
            self.changes_state(State::Outside.variable(0), code);
        }
        self.gives_arguments(arguments, code);
    }

    /// Says once that the program calls a function that is on no list.
    pub(crate) fn is_unlisted(&mut self, name: &CStr, caller: &Caller) {
        if caller.0.swap(1, Relaxed) == 0 {
            let mut line = Text::<128>::new();
            line.push(b"unlisted ").push(name.to_bytes()).push(b"\n");
            config::note(line.bytes());
        }
    }
}

/// The calling thread is about to send a signal; it may end a child.
pub(crate) fn sends_signal(code: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.point(Step::Sync, code);
        inside.at_once(code, |inside| {
            inside.changes_state(State::Signals.variable(0), code);
            inside.changes_state(State::Children.variable(0), code);
        });
    }
}

/// The calling thread asks, or says, what is done on signals.
pub(crate) fn uses_dispositions(how: How, code: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.uses(how, State::Signals.variable(0), code);
    }
}

/// The calling thread acts on a signal, or on a request to end. Where threads run freely it may have a lock of libc's in its
/// hands, and must not wait for the baton.
pub(crate) fn receives_signal() {
    if !free::is_on()
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.changes_state(State::Signals.variable(0), 0);
    }
}

fn name(function: &'static Function) -> &'static CStr {
    // SAFETY: the table has a text that ends in a zero for each.
    unsafe { CStr::from_ptr(function.name) }
}

impl Function {
    /// Whether it uses state, or memory.
    fn uses(&self, class: u32) -> bool {
        self.uses.iter().any(|part| part >> 24 == class)
    }

    /// What it does to memory.
    fn parts(&self, arguments: &Arguments) -> impl Iterator<Item = Use> {
        self.uses.into_iter().filter_map(|part| Use::of(part, arguments))
    }
}

/// The program calls a function of the table: records that, and tells where libc's is.
#[cfg_attr(test, expect(dead_code, reason = "only the code that stands before libc calls it"))]
extern "C" fn called(function: &'static Function, arguments: &Arguments, code: usize) -> usize {
    let state = function.uses(STATE);
    let memory = function.uses(memory::MEMORY) && memory::is_programs(code);
    if (state || memory)
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.point(if state { Step::Sync } else { Step::Access }, code);
        inside.at_once(code, |inside| inside.calls(function, arguments, code));
        if memory {
            let mut recorder = Recorder::new(if state { code | PART } else { code });
            function.parts(arguments).for_each(|part| recorder.before(&mut inside, part, arguments));
        }
    }
    match function.found.load(Relaxed) {
        0 => {
            let found = real::find(name(function), None);
            function.found.store(found, Relaxed);
            found
        }
        found => found,
    }
}

/// A function of the table that was called has returned: records what it did to memory.
#[cfg_attr(test, expect(dead_code, reason = "only the code that stands before libc calls it"))]
extern "C" fn returned(function: &'static Function, arguments: &Arguments, result: usize, code: usize) {
    if memory::is_programs(code)
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        let mut recorder = Recorder::new(code | PART);
        function.parts(arguments).for_each(|part| recorder.after(&mut inside, part, arguments, result));
    }
}

/// Makes a call that a table says the uses of, and records them: a system call that the program makes by its number.
pub(crate) fn through(
    uses: &[u32],
    arguments: &Arguments,
    code: usize,
    call: impl FnOnce() -> usize,
) -> usize {
    let parts = || uses.iter().filter_map(|&part| Use::of(part, arguments));
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.point(Step::Sync, code);
        inside.at_once(code, |inside| inside.uses_all(uses, arguments, code));
        let mut recorder = Recorder::new(code | PART);
        parts().for_each(|part| recorder.before(&mut inside, part, arguments));
    }
    let result = call();
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        let mut recorder = Recorder::new(code | PART);
        parts().for_each(|part| recorder.after(&mut inside, part, arguments, result));
    }
    result
}

// Everything that an argument may be passed in is as it was when libc's function begins.
#[cfg(not(test))]
core::arch::global_asm!(
    ".text", ".balign 16", "reweave_outside:",
    "push r11", "push r10", "push rax", "push r9", "push r8", "push rcx", "push rdx", "push rsi", "push rdi",
    "mov rsi, rsp",
    "sub rsp, 128",
    "movups [rsp], xmm0", "movups [rsp + 16], xmm1", "movups [rsp + 32], xmm2", "movups [rsp + 48], xmm3",
    "movups [rsp + 64], xmm4", "movups [rsp + 80], xmm5", "movups [rsp + 96], xmm6", "movups [rsp + 112], xmm7",
    "mov rdi, r11",
    "mov rdx, [rsp + 200]",
    "call {called}",
    "mov [rsp + 192], rax",
    "movups xmm0, [rsp]", "movups xmm1, [rsp + 16]", "movups xmm2, [rsp + 32]", "movups xmm3, [rsp + 48]",
    "movups xmm4, [rsp + 64]", "movups xmm5, [rsp + 80]", "movups xmm6, [rsp + 96]", "movups xmm7, [rsp + 112]",
    "add rsp, 128",
    "pop rdi", "pop rsi", "pop rdx", "pop rcx", "pop r8", "pop r9", "pop rax", "pop r10", "pop r11",
    "jmp r11",
    called = sym called,
);

// The same for a function whose result is needed: it is called. No argument may be on the stack, and no register that a
// result is in changes afterwards (one on the stack of floats neither: nothing of ours uses that).
#[cfg(not(test))]
core::arch::global_asm!(
    ".text", ".balign 16", "reweave_through:",
    ".cfi_startproc",
    "push rbp", ".cfi_def_cfa_offset 16", ".cfi_offset rbp, -16",
    "mov rbp, rsp", ".cfi_def_cfa_register rbp",
    "sub rsp, 192",
    "mov [rbp - 8], r11",
    "mov [rbp - 64], rdi", "mov [rbp - 56], rsi", "mov [rbp - 48], rdx",
    "mov [rbp - 40], rcx", "mov [rbp - 32], r8", "mov [rbp - 24], r9",
    "movaps [rbp - 192], xmm0", "movaps [rbp - 176], xmm1", "movaps [rbp - 160], xmm2", "movaps [rbp - 144], xmm3",
    "mov rdi, r11", "lea rsi, [rbp - 64]", "mov rdx, [rbp + 8]",
    "call {called}",
    "mov rdi, [rbp - 64]", "mov rsi, [rbp - 56]", "mov rdx, [rbp - 48]",
    "mov rcx, [rbp - 40]", "mov r8, [rbp - 32]", "mov r9, [rbp - 24]",
    "movaps xmm0, [rbp - 192]", "movaps xmm1, [rbp - 176]", "movaps xmm2, [rbp - 160]", "movaps xmm3, [rbp - 144]",
    "call rax",
    "movaps [rbp - 192], xmm0", "movaps [rbp - 176], xmm1", "mov [rbp - 160], rax", "mov [rbp - 152], rdx",
    "mov rdi, [rbp - 8]", "lea rsi, [rbp - 64]", "mov rdx, rax", "mov rcx, [rbp + 8]",
    "call {returned}",
    "movaps xmm0, [rbp - 192]", "movaps xmm1, [rbp - 176]", "mov rax, [rbp - 160]", "mov rdx, [rbp - 152]",
    "leave", ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    called = sym called,
    returned = sym returned,
);
