//! Calls that may take any time: the others run meanwhile.

use core::sync::atomic::Ordering::Relaxed;

use crate::abi::export::export;
use crate::libc::real;
use crate::libc::rendezvous::fail;
use crate::libc::streams;
use crate::libc::vectors::{Given, count, filled, fills};
use crate::record::inputs::{self, Source};
use crate::record::recording::Inside;
use crate::sched::clock::{self, Departure};
use crate::sched::policy::Step;
use crate::sys;

const IN: i16 = 1;
const OUT: i16 = 4;
const EINTR: i32 = 4;

impl Inside {
    /// Does something without the baton.
    pub(crate) fn elsewhere(&mut self, call: impl FnOnce() -> usize) -> usize {
        self.elsewhere_within(None, call)
    }

    /// The same for a call that answers 0 where it waited in vain, for so many nanoseconds.
    pub(crate) fn elsewhere_within(&mut self, time: Option<u64>, call: impl FnOnce() -> usize) -> usize {
        let departure = Departure::now();
        let away = Inside { me: self.me }.away();
        let departure = departure.map(Departure::leaves);
        let result = call();
        let arrival = departure.map(|departure| departure.arrival(time.filter(|_| result as u32 == 0)));
        core::mem::forget(away.back());
        clock::reach(arrival.unwrap_or(0));
        result
    }
}

/// Calls without the baton.
fn blocking(code: usize, call: impl FnOnce() -> usize) -> usize {
    match Inside::enter() {
        Some(mut inside) => {
            inside.settle();
            inside.passes(code);
            inside.elsewhere(call)
        }
        None => call(),
    }
}

/// A flag of calls on sockets that are not to wait.
const DONTWAIT: usize = 0x40;

/// Says of a call on a socket that it waits for all that it asks for.
pub(crate) const WAITALL: usize = 0x100;

/// Whether what a call with these flags asks for is there to be taken.
fn is_there(file: usize, flags: usize) -> bool {
    flags & WAITALL == 0 && sys::ready(file as i32, IN)
}

/// Whether a call on the file, with these flags, waits for nothing.
fn is_impatient(file: usize, flags: usize) -> bool {
    const GETFL: usize = 3;
    const NONBLOCK: isize = 0o4_000;
    flags & DONTWAIT != 0 || sys::call6(72, [file, GETFL, 0, 0, 0, 0]) & NONBLOCK != 0
}

/// Whether a call on the socket waits for no longer than some time.
fn has_limit(file: usize) -> bool {
    const SOL_SOCKET: usize = 1;
    const RCVTIMEO: usize = 20;
    let (mut time, mut length) = ([0u64; 2], 16u32);
    let asked = [file, SOL_SOCKET, RCVTIMEO, &raw mut time as usize, &raw mut length as usize, 0];
    sys::call6(55, asked) == 0 && time != [0, 0]
}

impl Inside {
    /// Waits without the baton until there is something to take from a file. So the call that takes it can be made with the baton,
    /// and who takes what is recorded in the order in which it happened. None where a signal came that ends the wait.
    pub(crate) fn await_input(&mut self, file: usize, flags: usize) -> Option<()> {
        if is_impatient(file, flags) || has_limit(file) {
            return Some(());
        }
        self.await_file(file, IN)
    }

    /// The same for input from one file and room in another, both at once.
    fn await_both(&mut self, from: usize, to: usize) -> Option<()> {
        let goes_on =
            |file, event| sys::ready(file as i32, event) || is_impatient(file, 0) || has_limit(file);
        while !(goes_on(from, IN) && goes_on(to, OUT)) {
            if !goes_on(from, IN) {
                self.await_file(from, IN)?;
            }
            if !goes_on(to, OUT) {
                self.await_file(to, OUT)?;
            }
        }
        Some(())
    }

    /// Waits without the baton until a file is ready.
    fn await_file(&mut self, file: usize, events: i16) -> Option<()> {
        #[repr(C)]
        struct Poll {
            file: i32,
            events: i16,
            happened: i16,
        }
        while !sys::ready(file as i32, events) {
            let mut poll = Poll { file: file as i32, events, happened: 0 };
            self.me.interrupted.store(false, Relaxed);
            self.elsewhere(|| real::poll(&raw mut poll as usize, 1, usize::MAX));
            if self.me.interrupted.load(Relaxed) {
                return None;
            }
        }
        Some(())
    }
}

/// Makes a call that takes from a file; what is taken is recorded after it.
pub(crate) fn on_file(file: usize, flags: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let Some(mut inside) = Inside::enter() else { return call() };
    inside.settle();
    inside.point(Step::Sync, code);
    if inside.await_input(file, flags).is_none() {
        return fail(EINTR);
    }
    let result =
        if is_there(file, flags) || is_impatient(file, flags) { call() } else { inside.elsewhere(call) };
    inside.receives(file, count(result) > 0, code);
    result
}

/// Makes a call that moves something from one file to another. Both are recorded before it, once it need not wait: what arrives
/// comes after what was taken for it. Should it wait nevertheless, others can have it let go of the baton.
pub(crate) fn moves(from: usize, to: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let Some(mut inside) = Inside::enter() else { return call() };
    inside.settle();
    inside.point(Step::Sync, code);
    if inside.await_both(from, to).is_none() {
        return fail(EINTR);
    }
    inside.at_once(code, |inside| {
        inside.receives(from, true, code);
        inside.sends(to, code);
    });
    drop(inside);
    call()
}

/// Makes a call that sends to a file; what is read for it, and that it is sent, is recorded before it.
pub(crate) fn sends(file: usize, given: Given, code: usize, call: impl FnOnce() -> usize) -> usize {
    let Some(mut inside) = Inside::enter() else { return call() };
    inside.settle();
    inside.point(Step::Sync, code);
    inside.gives(given, code);
    inside.sends(file, code);
    let fits = given.length() <= AT_ONCE || !inside.is_channel(file);
    if fits && sys::ready(file as i32, OUT) { call() } else { inside.elsewhere(call) }
}

/// How much a pipe or socket takes at once that says it takes something. For the rest of more, somebody may have to take first.
const AT_ONCE: usize = 4096;

/// As [`on_file`], for a stream: only what is read from a regular file is certainly there as a whole. Nobody else uses the stream
/// meanwhile.
pub(crate) fn on_stream(stream: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let Some(mut inside) = Inside::enter() else { return call() };
    inside.settle();
    inside.await_stream(stream);
    if inputs::is_regular(real::fileno(stream)) {
        inside.point(Step::Sync, code);
        inside.await_stream(stream);
        return call();
    }
    inside.passes(code);
    inside.reserve_stream(stream, true);
    let result = inside.elsewhere(call);
    inside.reserve_stream(stream, false);
    result
}

/// As [`on_stream`], for a call that takes from it.
pub(crate) fn takes(stream: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let result = on_stream(stream, code, call);
    streams::taken(stream, code);
    result
}

/// As [`on_file`], for calls that give a descriptor.
fn accepts(file: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let result = on_file(file, 0, code, call);
    if result as i32 >= 0
        && let Some(mut inside) = Inside::enter()
    {
        inside.opens(code);
    }
    result
}

/// As [`blocking`], for a call that another thread may answer.
fn connects(file: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    match Inside::enter() {
        Some(mut inside) => {
            inside.settle();
            inside.sends(file, code);
            inside.elsewhere(call)
        }
        None => call(),
    }
}

/// Declares calls that take from files, send to them, or only wait.
macro_rules! calls {
    ($($name:ident ($($argument:ident),*) $(with $other:ident $how:ident)? $(sends $file:ident ($given:expr))? $(takes $from:ident ($filled:expr))?;)*) => { $(
        pub(crate) extern "C" fn $name($($argument: usize,)* code: usize) -> usize {
            let result = calls!(@call code $([$other $how])? $(($file $given))? $({$from})? || real::$name($($argument),*));
            $( fills($filled, result, code); )?
            result
        }
    )* };
    (@call $code:ident ($file:ident $given:expr) $call:expr) => { sends($file, $given, $code, $call) };
    (@call $code:ident {$file:ident} $call:expr) => { on_file($file, 0, $code, $call) };
    (@call $code:ident [$other:ident $how:ident] $call:expr) => { $how($other, $code, $call) };
    (@call $code:ident $call:expr) => { blocking($code, $call) };
}

calls! {
    write(file, at, length) sends file (Given::Bytes(at, length));
    writev(file, pieces, count) sends file (Given::Pieces(pieces, count));
    send(file, at, length, flags) sends file (Given::Bytes(at, length));
    sendmsg(file, message, flags) sends file (Given::Message(message));
    readv(file, pieces, count) takes file (Given::Pieces(pieces, count));
    preadv2(file, pieces, count, offset, flags) takes file (Given::Pieces(pieces, count));
    preadv64v2(file, pieces, count, offset, flags) takes file (Given::Pieces(pieces, count));
    accept(file, address, length) with file accepts;
    accept4(file, address, length, flags) with file accepts;
    connect(file, address, length) with file connects;
    sigsuspend(set);
    system(command);
    fsync(file);
}

pub(crate) extern "C" fn recvmsg(file: usize, message: usize, flags: usize, code: usize) -> usize {
    let result = on_file(file, flags, code, || real::recvmsg(file, message, flags));
    fills(Given::Message(message), result, code);
    result
}

pub(crate) extern "C" fn eventfd_read(file: usize, value: usize, code: usize) -> usize {
    let result = on_file(file, 0, code, || real::eventfd_read(file, value));
    fills(Given::Bytes(value, 8), if result as i32 == 0 { 8 } else { 0 }, code);
    result
}

/// Reads; what comes from outside is kept, or given again.
fn reads(
    (kind, flags): (u32, usize),
    file: usize,
    (at, length): (usize, usize),
    code: usize,
    call: impl Fn() -> usize,
) -> usize {
    let Some(mut inside) = Inside::enter() else { return call() };
    inside.settle();
    inside.point(Step::Sync, code);
    let foreign = inputs::is_foreign(file);
    // What another thread sent through a socket is taken out, though it is known what it was.
    let taken = if is_there(file, flags) && file != 0 { Some(call()) } else { None };
    let given = if foreign { inside.given(kind, Source::Descriptor(file), at, length) } else { None };
    let result = match given.or(taken) {
        Some(result) => result,
        None if inside.await_input(file, flags).is_none() => fail(EINTR),
        None if is_there(file, flags) || is_impatient(file, flags) => call(),
        None => inside.elsewhere(call),
    };
    if foreign && given.is_none() {
        inside.keep(kind, Source::Descriptor(file), result, at, count(result));
    }
    inside.receives(file, count(result) > 0, code);
    drop(inside);
    filled(at, result, code);
    result
}

pub(crate) extern "C" fn read(file: usize, at: usize, length: usize, code: usize) -> usize {
    reads((inputs::kind::READ, 0), file, (at, length), code, || real::read(file, at, length))
}

pub(crate) extern "C" fn recv(file: usize, at: usize, length: usize, flags: usize, code: usize) -> usize {
    reads((inputs::kind::RECEIVE, flags), file, (at, length), code, || real::recv(file, at, length, flags))
}

pub(crate) extern "C" fn fread(at: usize, size: usize, number: usize, file: usize, code: usize) -> usize {
    let call = || on_stream(file, code, || real::fread(at, size, number, file));
    let room = size.saturating_mul(number);
    let result = if inputs::is_standard(file) {
        inputs::input(
            inputs::kind::STREAM,
            Source::Descriptor(0),
            at,
            room,
            |result| result.saturating_mul(size),
            call,
        )
    } else {
        call()
    };
    streams::taken(file, code);
    filled(at, result.wrapping_mul(size), code);
    result
}

pub(crate) fn character(file: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let call = || on_stream(file, code, call);
    let result = if inputs::is_standard(file) {
        // The end of the input is no error that anybody looks up.
        inputs::input(inputs::kind::CHARACTER, Source::Descriptor(0), 0, 0, |_| 0, || call() as u32 as usize)
            as u32 as usize
    } else {
        call()
    };
    streams::taken(file, code);
    result
}

/// The length of a line with the zero at its end.
pub(crate) fn line_length(at: usize, length: usize) -> usize {
    (0..length).find(|place| crate::abi::access::load(at + place, 1) == 0).map_or(length, |place| place + 1)
}

pub(crate) extern "C" fn fgets(at: usize, length: usize, file: usize, code: usize) -> usize {
    let call = || on_stream(file, code, || real::fgets(at, length, file));
    let result = if inputs::is_standard(file) {
        // Whether there was a line, as a number that is the same in every run.
        let bytes = |there: usize| if there == 1 { line_length(at, length) } else { 0 };
        let there = inputs::input(inputs::kind::LINE, Source::Descriptor(0), at, length, bytes, || {
            usize::from(call() != 0)
        });
        if there == 1 { at } else { 0 }
    } else {
        call()
    };
    streams::taken(file, code);
    if result != 0 {
        let mut filled_bytes = 0;
        while filled_bytes < length && crate::abi::access::load(at + filled_bytes, 1) != 0 {
            filled_bytes += 1;
        }
        filled(at, (filled_bytes + 1).min(length), code);
    }
    result
}

pub(crate) extern "C" fn recvfrom(
    file: usize,
    at: usize,
    length: usize,
    flags: usize,
    from: usize,
    from_length: usize,
) -> usize {
    let result = on_file(file, flags, 0, || real::recvfrom(file, at, length, flags, from, from_length));
    filled(at, result, 0);
    result
}

pub(crate) extern "C" fn sendto(
    file: usize,
    at: usize,
    length: usize,
    flags: usize,
    to: usize,
    to_length: usize,
) -> usize {
    sends(file, Given::Bytes(at, length), 0, || real::sendto(file, at, length, flags, to, to_length))
}

export! {
    read(3) => read;
    __read(3) => read;
    write(3) => write;
    __write(3) => write;
    readv(3) => readv;
    writev(3) => writev;
    preadv2(5) => preadv2;
    preadv64v2(5) => preadv64v2;
    recv(4) => recv;
    __recv(4) => recv;
    recvmsg(3) => recvmsg;
    recvfrom(6) => recvfrom;
    sendto(6) => sendto;
    send(4) => send;
    __send(4) => send;
    sendmsg(3) => sendmsg;
    accept(3) => accept;
    accept4(4) => accept4;
    connect(3) => connect;
    __connect(3) => connect;
    eventfd_read(2) => eventfd_read;
    sigsuspend(1) => sigsuspend;
    system(1) => system;
    fread(4) => fread;
    fgets(3) => fgets;
    fsync(1) => fsync;
}
