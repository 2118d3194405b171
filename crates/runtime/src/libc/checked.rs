//! Functions that are given how much room there is, as compilers call them for `_FORTIFY_SOURCE`, and as `reweave cc` has gcc call
//! copies so that they stay calls. What does not fit is libc's business: it ends the program.

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::range::{length_of, plain};
use crate::libc::{blocking, real, sleeps};

/// Declares them, with libc's name, the arguments before the room, and how much of it is needed.
macro_rules! checked {
    ($($name:ident $real:ident ($($argument:ident),*) $needed:expr;)*) => { $(
        extern "C" fn $name($($argument: usize,)* room: usize, code: usize) -> usize {
            if $needed > room {
                return real::$real($($argument,)* room);
            }
            plain::$name($($argument,)* code)
        }
    )* };
}

checked! {
    memcpy __memcpy_chk(to, from, length) length;
    memmove __memmove_chk(to, from, length) length;
    memset __memset_chk(at, byte, length) length;
    strcpy __strcpy_chk(to, from) length_of(from) + 1;
    stpcpy __stpcpy_chk(to, from) length_of(from) + 1;
    strcat __strcat_chk(to, from) length_of(to) + length_of(from) + 1;
    strncpy __strncpy_chk(to, from, length) length;
}

/// Ends the program where something does not fit.
fn fits(needed: usize, room: usize) {
    if needed > room {
        real::__chk_fail();
    }
}

extern "C" fn mempcpy(to: usize, from: usize, length: usize, room: usize, code: usize) -> usize {
    fits(length, room);
    plain::mempcpy(to, from, length, code)
}

extern "C" fn stpncpy(to: usize, from: usize, length: usize, room: usize, code: usize) -> usize {
    fits(length, room);
    plain::stpncpy(to, from, length, code)
}

extern "C" fn strncat(to: usize, from: usize, most: usize, room: usize, code: usize) -> usize {
    let copied = (0..most).find(|place| load(from + place, 1) == 0).unwrap_or(most);
    fits(length_of(to) + copied + 1, room);
    plain::strncat(to, from, most, code)
}

extern "C" fn read(file: usize, at: usize, length: usize, room: usize, code: usize) -> usize {
    fits(length, room);
    blocking::read(file, at, length, code)
}

extern "C" fn recv(file: usize, at: usize, length: usize, room: usize, flags: usize, code: usize) -> usize {
    fits(length, room);
    blocking::recv(file, at, length, flags, code)
}

extern "C" fn fgets(at: usize, room: usize, length: usize, file: usize, code: usize) -> usize {
    fits(length as u32 as usize, room);
    blocking::fgets(at, length, file, code)
}

extern "C" fn fread(at: usize, room: usize, size: usize, number: usize, file: usize, code: usize) -> usize {
    fits(size.saturating_mul(number), room);
    blocking::fread(at, size, number, file, code)
}

/// The size of a `struct pollfd`.
const POLL: usize = 8;

extern "C" fn poll(files: usize, count: usize, time: usize, room: usize, code: usize) -> usize {
    fits(count.saturating_mul(POLL), room);
    sleeps::poll(files, count, time, code)
}

extern "C" fn ppoll(files: usize, count: usize, time: usize, mask: usize, room: usize, code: usize) -> usize {
    fits(count.saturating_mul(POLL), room);
    sleeps::ppoll(files, count, time, mask, code)
}

export! {
    __mempcpy_chk(4) => mempcpy;
    __stpncpy_chk(4) => stpncpy;
    __strncat_chk(4) => strncat;
    __read_chk(4) => read;
    __recv_chk(5) => recv;
    __fgets_chk(4) => fgets;
    __fread_chk(5) => fread;
    __poll_chk(4) => poll;
    __ppoll_chk(5) => ppoll;
    __memcpy_chk(4) => memcpy;
    __memmove_chk(4) => memmove;
    __memset_chk(4) => memset;
    __strcpy_chk(3) => strcpy;
    __stpcpy_chk(3) => stpcpy;
    __strcat_chk(3) => strcat;
    __strncpy_chk(4) => strncpy;
}
