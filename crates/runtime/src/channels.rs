//! Pipes, sockets and other files that threads talk through: a send is an update of a variable that stands for the channel,
//! a receive reads it. So what a thread did before it wrote comes before what another does after it has read.
//!
//! A send is recorded before the call and a receive after it: others run meanwhile. All sockets are one channel, because
//! which of them are connected is not known; so is a pipe with both its ends. Ordinary files and terminals are none, nor are
//! standard output and error: threads that write there do not wait for each other.
//!
//! A descriptor's number is used again only after it was closed: a close writes a variable that stands for the number, and
//! whoever gets the number reads it.

use reweave_wire::Op;

use crate::export::export;
use crate::real;
use crate::recording::{Inside, stands_for};
use crate::sys;

/// What all sockets together are called.
const SOCKETS: u64 = 1;
/// Channels that only their descriptor tells apart are from here on, pipes far above.
const BY_DESCRIPTOR: u64 = 1 << 4;
const PIPES: u64 = 1 << 32;
/// Under which key the number of pipes is counted: no pipe has the inode 0.
const COUNT: u64 = stands_for::CHANNEL;

impl Inside {
    /// The channel that a descriptor belongs to; none where it is not one that threads talk through.
    fn channel(&mut self, file: usize) -> Option<u64> {
        const KIND: u32 = 0o170_000;
        const PIPE: u32 = 0o010_000;
        const SOCKET: u32 = 0o140_000;
        let file = u64::try_from(file as i32).ok().filter(|file| !matches!(file, 1 | 2))?;
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
        let key = (PIPES + inode) << 5 | stands_for::DESCRIPTOR;
        if let Some(&mut number) = self.core().counters.get(key) {
            return Some(number);
        }
        let count = self.core().counters.entry(COUNT)?;
        *count += 1;
        let number = *count;
        *self.core().counters.entry(key)? = number;
        Some(number)
    }

    /// The thread is about to send something.
    pub(crate) fn sends(&mut self, file: usize, code: usize) {
        let Some(channel) = self.channel(file) else { return };
        let key = channel << 5 | stands_for::CHANNEL;
        let sent = self.core().counters.entry(key).map_or(1, |sent| {
            *sent += 1;
            *sent
        });
        self.stand_in(Op::Update, channel as usize, stands_for::CHANNEL, code, (sent - 1, sent));
    }

    /// The thread has received something.
    pub(crate) fn receives(&mut self, file: usize, code: usize) {
        let Some(channel) = self.channel(file) else { return };
        let key = channel << 5 | stands_for::CHANNEL;
        let sent = self.core().counters.get(key).map_or(0, |sent| *sent);
        self.stand_in(Op::AtomicRead, channel as usize, stands_for::CHANNEL, code, (sent, 0));
    }

    /// The thread is about to give a descriptor back.
    fn closes(&mut self, file: usize, code: usize) {
        let key = (file as u64) << 5 | stands_for::DESCRIPTOR;
        let closed = self.core().counters.entry(key).map_or(1, |closed| {
            *closed += 1;
            *closed
        });
        self.stand_in(Op::AtomicWrite, file, stands_for::DESCRIPTOR, code, (0, closed));
    }

    /// The thread has got a descriptor.
    pub(crate) fn opens(&mut self, file: usize, code: usize) {
        let key = (file as u64) << 5 | stands_for::DESCRIPTOR;
        // One that was never closed says nothing.
        if let Some(closed) = self.core().counters.get(key).map(|closed| *closed) {
            self.stand_in(Op::AtomicRead, file, stands_for::DESCRIPTOR, code, (closed, 0));
        }
    }
}

fn is_descriptor(result: usize) -> bool {
    (result as i32) >= 0
}

/// Notes the descriptors that a call gave.
fn opened(files: &[usize], code: usize) {
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        files.iter().filter(|&&file| is_descriptor(file)).for_each(|&file| inside.opens(file, code));
    }
}

/// Declares calls that give a descriptor.
macro_rules! opening {
    ($($name:ident ($($argument:ident),*);)*) => { $(
        extern "C" fn $name($($argument: usize,)* code: usize) -> usize {
            let result = real::$name($($argument),*);
            opened(&[result as u32 as usize], code);
            result
        }
    )* };
}

opening! {
    socket(domain, kind, protocol);
    open(name, flags, mode);
    open64(name, flags, mode);
    openat(folder, name, flags, mode);
    openat64(folder, name, flags, mode);
    dup(file);
    eventfd(value, flags);
    epoll_create(size);
    epoll_create1(flags);
}

/// Notes the two descriptors at `at` that a call gave.
fn opened_two(result: usize, at: usize, code: usize) -> usize {
    if result as i32 == 0 {
        let file = |place: usize| crate::access::load(at + 4 * place, 4) as usize;
        if let Some(mut inside) = Inside::enter() {
            inside.settle();
            inside.written(at, 8, code);
        }
        opened(&[file(0), file(1)], code);
    }
    result
}

extern "C" fn pipe(at: usize, code: usize) -> usize {
    opened_two(real::pipe(at), at, code)
}

extern "C" fn pipe2(at: usize, flags: usize, code: usize) -> usize {
    opened_two(real::pipe2(at, flags), at, code)
}

extern "C" fn socketpair(domain: usize, kind: usize, protocol: usize, at: usize, code: usize) -> usize {
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

extern "C" fn close(file: usize, code: usize) -> usize {
    closing(file, code);
    real::close(file)
}

extern "C" fn dup2(file: usize, other: usize, code: usize) -> usize {
    closing(other, code);
    let result = real::dup2(file, other);
    opened(&[result as u32 as usize], code);
    result
}

extern "C" fn dup3(file: usize, other: usize, flags: usize, code: usize) -> usize {
    closing(other, code);
    let result = real::dup3(file, other, flags);
    opened(&[result as u32 as usize], code);
    result
}

/// A set of descriptors gets or loses one: whoever waits for the set learns of that.
extern "C" fn epoll_ctl(set: usize, operation: usize, file: usize, event: usize, code: usize) -> usize {
    sending(set, code);
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
    open64(3) => open64;
    openat(4) => openat;
    openat64(4) => openat64;
    dup(1) => dup;
    dup2(2) => dup2;
    dup3(3) => dup3;
    eventfd(2) => eventfd;
    eventfd_write(2) => eventfd_write;
    epoll_create(1) => epoll_create;
    epoll_create1(1) => epoll_create1;
    epoll_ctl(4) => epoll_ctl;
    pipe(1) => pipe;
    pipe2(2) => pipe2;
    socketpair(4) => socketpair;
    close(1) => close;
}
