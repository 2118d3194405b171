//! Calls that move what is in one descriptor to another, or between a descriptor and memory without a copy, and those for several
//! messages.

use crate::abi::access::load;
use crate::abi::export::export;
use crate::libc::blocking::{WAITALL, moves, on_file, sends};
use crate::libc::outside::waits::written;
use crate::libc::real;
use crate::libc::vectors::{Given, count, fills, given};
use crate::sys;

/// Makes a call that moves something; the offsets, where they are not null, are read and written.
fn moves_at(
    (from, from_offset): (usize, usize),
    (to, to_offset): (usize, usize),
    code: usize,
    call: impl FnOnce() -> usize,
) -> usize {
    const OFFSET: usize = 8;
    let offsets = [from_offset, to_offset].into_iter().filter(|&at| at != 0);
    offsets.clone().for_each(|at| given(Given::Bytes(at, OFFSET), code));
    let result = moves(from, to, code, call);
    if count(result) > 0 {
        offsets.for_each(|at| written(at, OFFSET, code));
    }
    result
}

// Their last argument is in the last register for arguments, so that none is left for the site.
pub(crate) extern "C" fn splice(
    from: usize,
    from_offset: usize,
    to: usize,
    to_offset: usize,
    length: usize,
    flags: usize,
) -> usize {
    let call = || real::splice(from, from_offset, to, to_offset, length, flags);
    moves_at((from, from_offset), (to, to_offset), 0, call)
}

pub(crate) extern "C" fn copy_file_range(
    from: usize,
    from_offset: usize,
    to: usize,
    to_offset: usize,
    length: usize,
    flags: usize,
) -> usize {
    let call = || real::copy_file_range(from, from_offset, to, to_offset, length, flags);
    moves_at((from, from_offset), (to, to_offset), 0, call)
}

pub(crate) extern "C" fn tee(from: usize, to: usize, length: usize, flags: usize, code: usize) -> usize {
    moves(from, to, code, || real::tee(from, to, length, flags))
}

pub(crate) extern "C" fn sendfile(to: usize, from: usize, offset: usize, count: usize, code: usize) -> usize {
    moves_at((from, offset), (to, 0), code, || real::sendfile(to, from, offset, count))
}

/// Gives memory to a pipe, or, at its other end, takes from it.
pub(crate) extern "C" fn vmsplice(
    file: usize,
    pieces: usize,
    number: usize,
    flags: usize,
    code: usize,
) -> usize {
    const FCNTL: usize = 72;
    const GETFL: usize = 3;
    const ACCESS: isize = 3;
    let memory = Given::Pieces(pieces, number);
    let call = || real::vmsplice(file, pieces, number, flags);
    if sys::call6(FCNTL, [file, GETFL, 0, 0, 0, 0]) & ACCESS != 0 {
        return sends(file, memory, code, call);
    }
    let result = on_file(file, 0, code, call);
    fills(memory, result, code);
    result
}

/// The size of an entry of a list of messages, and where in it the kernel writes how many bytes there were.
const MESSAGE: usize = 64;
const LENGTH: usize = 56;
const WAITFORONE: usize = 0x1_0000;

pub(crate) extern "C" fn recvmmsg(
    file: usize,
    messages: usize,
    number: usize,
    flags: usize,
    time: usize,
    code: usize,
) -> usize {
    // It waits for as many messages as are asked for.
    let all = if number as u32 > 1 && flags & WAITFORONE == 0 { WAITALL } else { 0 };
    let result = on_file(file, flags | all, code, || real::recvmmsg(file, messages, number, flags, time));
    for message in (0..usize::try_from(result as i32).unwrap_or(0)).map(|place| messages + place * MESSAGE) {
        written(message + LENGTH, 4, code);
        fills(Given::Message(message), load(message + LENGTH, 4) as usize, code);
    }
    result
}

pub(crate) extern "C" fn sendmmsg(
    file: usize,
    messages: usize,
    number: usize,
    flags: usize,
    code: usize,
) -> usize {
    for message in (1..number as u32 as usize).map(|place| messages + place * MESSAGE) {
        given(Given::Message(message), code);
    }
    let first = if number as u32 == 0 { Given::Bytes(0, 0) } else { Given::Message(messages) };
    let result = sends(file, first, code, || real::sendmmsg(file, messages, number, flags));
    for place in 0..usize::try_from(result as i32).unwrap_or(0) {
        written(messages + place * MESSAGE + LENGTH, 4, code);
    }
    result
}

export! {
    splice(6) => splice;
    copy_file_range(6) => copy_file_range;
    tee(4) => tee;
    sendfile(4) => sendfile;
    sendfile64(4) => sendfile;
    vmsplice(4) => vmsplice;
    recvmmsg(5) => recvmmsg;
    sendmmsg(4) => sendmmsg;
    __sendmmsg(4) => sendmmsg;
}
