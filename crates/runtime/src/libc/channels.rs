//! Pipes, sockets and files that threads talk through: a variable stands for each, and what a thread sends to it or takes from it
//! is an update. So what is received is received in the same order in every schedule, and what a thread did before it sent
//! comes before what another does once it has received.
//!
//! A send is recorded before the call and a receive after it. Which sockets are connected is not known, so all of them are one
//! channel; so is a pipe with both its ends. Every other file is a variable by itself, with its contents and offsets. What is
//! written to the standard output and error that the program was started with is seen by nobody in it, and is no event.
//!
//! Calls that find that nothing is there change nothing: they are atomic reads. To close a descriptor is a send, because a
//! pipe's other end then finds its end.

use reweave_wire::outside::State;
use reweave_wire::{Life, Op};

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::outside::How;
use crate::libc::real;
use crate::record::numbers::About;
use crate::record::recording::{Inside, stands_for};
use crate::sched::forced::PART;
use crate::sched::policy::Step;
use crate::sys;

/// What all sockets together are called.
const SOCKETS: u64 = 1;
/// Channels that only their descriptor tells apart are from here on, pipes far above.
const BY_DESCRIPTOR: u64 = 1 << 4;
const PIPES: u64 = 1 << 32;

impl Inside {
    /// The channel that a descriptor belongs to; none where it is not one that threads talk through.
    fn channel(&mut self, file: usize) -> Option<u64> {
        const KIND: u32 = 0o170_000;
        const PIPE: u32 = 0o010_000;
        const SOCKET: u32 = 0o140_000;
        let file = u64::try_from(file as i32).ok()?;
        let (inode, mode) = sys::kind_of_file(file as i32)?;
        match mode & KIND {
            PIPE => Some(PIPES + self.pipe(inode)?),
            SOCKET => Some(SOCKETS),
            // Events, timers, sets of descriptors: all have the same inode.
            0 => Some(BY_DESCRIPTOR + file),
            _ => None,
        }
    }

    /// The number of a pipe, counted from the first one: inodes differ from run to run.
    fn pipe(&mut self, inode: u64) -> Option<u64> {
        if let Some(&mut number) = self.core().numbers.get(About::Pipe, inode) {
            return Some(number);
        }
        let count = self.core().numbers.entry(About::Pipes, 0_u64)?;
        *count += 1;
        let number = *count;
        *self.core().numbers.entry(About::Pipe, inode)? = number;
        Some(number)
    }

    /// Records a use of a descriptor, and of what it belongs to.
    pub(crate) fn uses_file(&mut self, how: How, file: usize, code: usize) {
        if has_life(file) {
            self.uses_thing(Life::Descriptor, file as u32 as usize, code);
        }
        self.at_once(code, |inside| inside.uses_contents(how, file, code));
    }

    /// Records a use of what a descriptor belongs to, and of the epoll sets that it is in.
    pub(crate) fn uses_contents(&mut self, how: How, file: usize, code: usize) {
        if self.is_plain_output(file) {
            return;
        }
        let Some(channel) = self.channel(file) else {
            if let Some(variable) = self.file_variable(file) {
                self.uses(how, variable, code);
                self.uses_mapped_file(file, code);
            }
            return;
        };
        let changes = how != How::Looks;
        let sent = self.core().numbers.entry(About::Sent, channel).map_or(u64::from(changes), |sent| {
            *sent += u64::from(changes);
            *sent
        });
        if changes {
            self.stand_in(Op::Update, channel as usize, stands_for::CHANNEL, code, (sent - 1, sent));
        } else {
            self.in_vain(channel as usize, stands_for::CHANNEL, code, sent);
        }
        self.uses_together(stands_for::CHANNEL, channel as usize);
        if changes && self.core().numbers.get(About::InSet, channel).is_some() {
            self.changes_state(State::Sets.variable(0), code);
        }
    }

    /// The descriptor is in an epoll set from now on.
    fn joins_set(&mut self, file: usize) {
        if let Some(channel) = self.channel(file) {
            let _ = self.core().numbers.entry(About::InSet, channel);
        }
    }

    /// Whether threads may talk through a descriptor, so that one waits for another to take what was sent.
    pub(crate) fn is_channel(&mut self, file: usize) -> bool {
        !self.is_plain_output(file) && self.channel(file).is_some()
    }

    /// Whether it is the standard output or error that the program was started with.
    fn is_plain_output(&mut self, file: usize) -> bool {
        matches!(file as i32, 1 | 2) && !self.was_closed(file)
    }

    /// The thread is about to send something.
    pub(crate) fn sends(&mut self, file: usize, code: usize) {
        self.uses_file(How::Changes, file, code);
    }

    /// The thread has received something, or found that there is nothing.
    pub(crate) fn receives(&mut self, file: usize, something: bool, code: usize) {
        self.uses_file(if something { How::Changes } else { How::Looks }, file, code);
    }

    /// Whether the program has given the descriptor back before.
    pub(crate) fn was_closed(&mut self, file: usize) -> bool {
        self.core().numbers.get(About::Closed, file).is_some()
    }

    /// The thread is about to give a descriptor back.
    fn closes(&mut self, file: usize, code: usize) {
        self.at_once(code, |inside| {
            inside.uses_contents(How::Changes, file, code);
            let _ = inside.core().numbers.entry(About::Closed, file);
            inside.changes_state(State::Descriptors.variable(0), code);
        });
    }

    /// The thread gets a descriptor, the lowest that is free.
    pub(crate) fn opens(&mut self, code: usize) {
        self.changes_state(State::Descriptors.variable(0), code);
    }
}

fn is_descriptor(result: usize) -> bool {
    (result as i32) >= 0
}

/// Whether it counts when a descriptor is closed. The three that every program has are often replaced by others.
fn has_life(file: usize) -> bool {
    (file as i32) > 2
}

/// Notes that a call gives descriptors.
fn opened(code: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.opens(code);
    }
}

impl Inside {
    /// Notes what a descriptor leads to that a call gave. Its number may have led elsewhere before:
    /// whoever uses it as it is now comes after this.
    pub(crate) fn leads(&mut self, file: usize, code: usize) {
        if is_descriptor(file) {
            self.at_once(code, |inside| inside.uses_contents(How::Changes, file, code | PART));
        }
    }
}

/// The same, and gives it.
pub(crate) fn leads(file: usize, code: usize) -> usize {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.leads(file, code);
    }
    file
}

/// Declares calls that give a descriptor.
macro_rules! opening {
    ($($name:ident ($($argument:ident),*);)*) => { $(
        pub(crate) extern "C" fn $name($($argument: usize,)* code: usize) -> usize {
            opened(code);
            leads(real::$name($($argument),*), code)
        }
    )* };
}

opening! {
    socket(domain, kind, protocol);
    dup(file);
    eventfd(value, flags);
    epoll_create(size);
    epoll_create1(flags);
}

/// Declares calls that open a file by its name.
macro_rules! naming {
    ($($name:ident ($($argument:ident),*) $flags:expr;)*) => { $(
        pub(crate) extern "C" fn $name($($argument: usize,)* code: usize) -> usize {
            opens_name($flags, code);
            leads(real::$name($($argument),*), code)
        }
    )* };
}

naming! {
    open(name, flags, mode) flags;
    open64(name, flags, mode) flags;
    openat(folder, name, flags, mode) flags;
    openat64(folder, name, flags, mode) flags;
    creat(name, mode) CREATE | TRUNCATE;
    creat64(name, mode) CREATE | TRUNCATE;
}

const CREATE: usize = 0o100;
const TRUNCATE: usize = 0o1_000;

fn opens_name(flags: usize, code: usize) {
    let Some(mut inside) = Inside::enter() else { return };
    inside.settle();
    inside.point(Step::Sync, code);
    inside.at_once(code, |inside| {
        inside.looks_at_state(State::WorkingDirectory.variable(0), code);
        if flags & (CREATE | TRUNCATE) == 0 {
            inside.looks_at_state(State::Names.variable(0), code);
        } else {
            inside.looks_at_state(State::Umask.variable(0), code);
            inside.changes_state(State::Names.variable(0), code);
        }
        inside.opens(code);
    });
}

/// Notes the two descriptors at `at` that a call gave.
fn opened_two(result: usize, at: usize, code: usize) -> usize {
    if result as i32 == 0
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.written(at, 8, code);
    }
    opened(code);
    if result as i32 == 0 {
        leads(load(at, 4) as usize, code);
        leads(load(at + 4, 4) as usize, code);
    }
    result
}

pub(crate) extern "C" fn pipe(at: usize, code: usize) -> usize {
    opened_two(real::pipe(at), at, code)
}

pub(crate) extern "C" fn pipe2(at: usize, flags: usize, code: usize) -> usize {
    opened_two(real::pipe2(at, flags), at, code)
}

pub(crate) extern "C" fn socketpair(
    domain: usize,
    kind: usize,
    protocol: usize,
    at: usize,
    code: usize,
) -> usize {
    opened_two(real::socketpair(domain, kind, protocol, at), at, code)
}

fn closing(file: usize, code: usize) {
    if is_descriptor(file)
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.closes(file as u32 as usize, code);
    }
}

pub(crate) extern "C" fn close(file: usize, code: usize) -> usize {
    if has_life(file)
        && sys::kind_of_file(file as i32).is_some()
        && let Some(mut inside) = Inside::enter()
    {
        inside.settle();
        inside.point_if_named(code);
        inside.ends_thing(Life::Descriptor, file as u32 as usize, code);
    }
    closing(file, code);
    real::close(file)
}

pub(crate) extern "C" fn dup2(file: usize, other: usize, code: usize) -> usize {
    closing(other, code);
    let result = real::dup2(file, other);
    opened(code);
    leads(result, code)
}

pub(crate) extern "C" fn dup3(file: usize, other: usize, flags: usize, code: usize) -> usize {
    closing(other, code);
    let result = real::dup3(file, other, flags);
    opened(code);
    leads(result, code)
}

/// A set of descriptors gets or loses one: whoever waits for the set learns of that.
pub(crate) extern "C" fn epoll_ctl(
    set: usize,
    operation: usize,
    file: usize,
    event: usize,
    code: usize,
) -> usize {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.joins_set(file);
        inside.changes_state(State::Sets.variable(0), code);
    }
    real::epoll_ctl(set, operation, file, event)
}

fn sending(file: usize, code: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.sends(file, code);
    }
}

extern "C" fn eventfd_write(file: usize, value: usize, code: usize) -> usize {
    sending(file, code);
    real::eventfd_write(file, value)
}

export! {
    socket(3) => socket;
    open(3) => open;
    __open(3) => open;
    __open64(3) => open64;
    open64(3) => open64;
    openat(4) => openat;
    openat64(4) => openat64;
    creat(2) => creat;
    creat64(2) => creat64;
    dup(1) => dup;
    dup2(2) => dup2;
    __dup2(2) => dup2;
    dup3(3) => dup3;
    eventfd(2) => eventfd;
    eventfd_write(2) => eventfd_write;
    epoll_create(1) => epoll_create;
    epoll_create1(1) => epoll_create1;
    epoll_ctl(4) => epoll_ctl;
    pipe(1) => pipe;
    __pipe(1) => pipe;
    pipe2(2) => pipe2;
    socketpair(4) => socketpair;
    close(1) => close;
    __close(1) => close;
}
