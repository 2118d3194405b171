//! Copies that are told how much room there is, as compilers make them for `_FORTIFY_SOURCE`, and as `reweave cc` has gcc make
//! them so that they stay calls. What does not fit is libc's business: it ends the program.

use crate::export::export;
use crate::range::{length_of, plain};
use crate::real;

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

export! {
    __memcpy_chk(4) => memcpy;
    __memmove_chk(4) => memmove;
    __memset_chk(4) => memset;
    __strcpy_chk(3) => strcpy;
    __stpcpy_chk(3) => stpcpy;
    __strcat_chk(3) => strcat;
    __strncpy_chk(4) => strncpy;
}
