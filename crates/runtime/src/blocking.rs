//! Calls that may take any time: the others run meanwhile.

use crate::clock::{self, Departure};
use crate::export::export;
use crate::inputs;
use crate::policy::Step;
use crate::real;
use crate::recording::Inside;
use crate::sys;

const IN: i16 = 1;
const OUT: i16 = 4;

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

/// Calls without the baton, unless the file is ready: then the call returns at once, and who runs next does not depend
/// on how long it takes.
fn on_file(file: usize, events: i16, code: usize, call: impl FnOnce() -> usize) -> usize {
    match Inside::enter() {
        Some(mut inside) => {
            inside.settle();
            inside.point(Step::Sync, code);
            if events == OUT {
                inside.sends(file, code);
            }
            let result = if sys::ready(file as i32, events) { call() } else { inside.elsewhere(call) };
            if events == IN && result as isize > 0 && result as u32 != u32::MAX {
                inside.receives(file, code);
            }
            result
        }
        None => call(),
    }
}

/// As [`on_file`], for a stream: only what is read from a regular file is certainly there as a whole.
fn on_stream(stream: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let Some(mut inside) = Inside::enter() else { return call() };
    inside.settle();
    if inputs::is_regular(real::fileno(stream)) {
        inside.point(Step::Sync, code);
        call()
    } else {
        inside.passes(code);
        inside.elsewhere(call)
    }
}

/// As [`on_file`], for calls that give a descriptor.
fn accepts(file: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let result = on_file(file, IN, code, call);
    if result as i32 >= 0
        && let Some(mut inside) = Inside::enter()
    {
        inside.opens(result as u32 as usize, code);
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

/// Records that libc wrote so many bytes for the program.
fn filled(at: usize, length: usize, code: usize) {
    if length == 0 || length > isize::MAX as usize {
        return;
    }
    if let Some(mut inside) = Inside::enter() {
        inside.settle();
        inside.written(at, length, code);
    }
}

/// Declares calls that read into memory, or only wait.
macro_rules! calls {
    ($($name:ident ($($argument:ident),*) $(file $file:ident $events:ident)? $(with $other:ident $how:ident)? $(fills $at:ident $times:expr)?;)*) => { $(
        extern "C" fn $name($($argument: usize,)* code: usize) -> usize {
            let result = calls!(@call code $(($file $events))? $([$other $how])? || real::$name($($argument),*));
            $( filled($at, result.wrapping_mul($times), code); )?
            result
        }
    )* };
    (@call $code:ident ($file:ident $events:ident) $call:expr) => { on_file($file, $events, $code, $call) };
    (@call $code:ident [$other:ident $how:ident] $call:expr) => { $how($other, $code, $call) };
    (@call $code:ident $call:expr) => { blocking($code, $call) };
}

calls! {
    write(file, at, length) file file OUT;
    readv(file, pieces, count) file file IN;
    writev(file, pieces, count) file file OUT;
    recvmsg(file, message, flags) file file IN;
    send(file, at, length, flags) file file OUT;
    sendmsg(file, message, flags) file file OUT;
    accept(file, address, length) with file accepts;
    accept4(file, address, length, flags) with file accepts;
    connect(file, address, length) with file connects;
    eventfd_read(file, value) file file IN;
    sigwait(set, signal);
    sigwaitinfo(set, info);
    sigtimedwait(set, info, time);
    sigsuspend(set);
    pause();
    wait(status);
    waitpid(process, status, options);
    waitid(kind, process, info, options);
    wait4(process, status, options, usage);
    system(command);
    getline(line, length, stream) with stream on_stream;
    getdelim(line, length, delimiter, stream) with stream on_stream;
    fsync(file);
}

/// How many bytes a call that fills memory has filled.
fn count(result: usize) -> usize {
    if result > isize::MAX as usize { 0 } else { result }
}

/// Reads; what comes from outside is kept, or given again.
fn reads(kind: u32, file: usize, at: usize, length: usize, code: usize, call: impl Fn() -> usize) -> usize {
    let Some(mut inside) = Inside::enter() else { return call() };
    inside.settle();
    inside.point(Step::Sync, code);
    let foreign = inputs::is_foreign(file);
    // What another thread sent through a socket is taken out, though it is known what it was.
    let ready = sys::ready(file as i32, IN);
    let taken = if ready && file != 0 { Some(call()) } else { None };
    let given = if foreign { inside.given(kind, at, length) } else { None };
    let result = match given.or(taken) {
        Some(result) => result,
        None if ready => call(),
        None => inside.elsewhere(call),
    };
    if foreign && given.is_none() {
        inside.keep(kind, result, at, count(result));
    }
    if count(result) > 0 {
        inside.receives(file, code);
    }
    drop(inside);
    filled(at, result, code);
    result
}

extern "C" fn read(file: usize, at: usize, length: usize, code: usize) -> usize {
    reads(inputs::kind::READ, file, at, length, code, || real::read(file, at, length))
}

extern "C" fn recv(file: usize, at: usize, length: usize, flags: usize, code: usize) -> usize {
    reads(inputs::kind::RECEIVE, file, at, length, code, || real::recv(file, at, length, flags))
}

extern "C" fn fread(at: usize, size: usize, number: usize, file: usize, code: usize) -> usize {
    let call = || on_stream(file, code, || real::fread(at, size, number, file));
    let room = size.saturating_mul(number);
    let result = if inputs::is_standard(file) {
        inputs::input(inputs::kind::STREAM, at, room, |result| result.saturating_mul(size), call)
    } else {
        call()
    };
    filled(at, result.wrapping_mul(size), code);
    result
}

fn character(file: usize, code: usize, call: impl FnOnce() -> usize) -> usize {
    let call = || on_stream(file, code, call);
    if !inputs::is_standard(file) {
        return call();
    }
    // The end of the input is no error that anybody looks up.
    let result = inputs::input(inputs::kind::CHARACTER, 0, 0, |_| 0, || call() as u32 as usize);
    result as u32 as usize
}

extern "C" fn fgetc(file: usize, code: usize) -> usize {
    character(file, code, || real::fgetc(file))
}

extern "C" fn getc(file: usize, code: usize) -> usize {
    character(file, code, || real::getc(file))
}

extern "C" fn getchar(code: usize) -> usize {
    character(inputs::standard(), code, real::getchar)
}

/// The length of a line with the zero at its end.
fn line_length(at: usize, length: usize) -> usize {
    (0..length).find(|place| crate::access::load(at + place, 1) == 0).map_or(length, |place| place + 1)
}

extern "C" fn fgets(at: usize, length: usize, file: usize, code: usize) -> usize {
    let call = || on_stream(file, code, || real::fgets(at, length, file));
    let result = if inputs::is_standard(file) {
        // Whether there was a line, as a number that is the same in every run.
        let bytes = |there: usize| if there == 1 { line_length(at, length) } else { 0 };
        let there = inputs::input(inputs::kind::LINE, at, length, bytes, || usize::from(call() != 0));
        if there == 1 { at } else { 0 }
    } else {
        call()
    };
    if result != 0 {
        let mut filled_bytes = 0;
        while filled_bytes < length && crate::access::load(at + filled_bytes, 1) != 0 {
            filled_bytes += 1;
        }
        filled(at, (filled_bytes + 1).min(length), code);
    }
    result
}

extern "C" fn recvfrom(
    file: usize,
    at: usize,
    length: usize,
    flags: usize,
    from: usize,
    from_length: usize,
) -> usize {
    let result = on_file(file, IN, 0, || real::recvfrom(file, at, length, flags, from, from_length));
    filled(at, result, 0);
    result
}

extern "C" fn sendto(
    file: usize,
    at: usize,
    length: usize,
    flags: usize,
    to: usize,
    to_length: usize,
) -> usize {
    on_file(file, OUT, 0, || real::sendto(file, at, length, flags, to, to_length))
}

export! {
    read(3) => read;
    write(3) => write;
    readv(3) => readv;
    writev(3) => writev;
    recv(4) => recv;
    recvmsg(3) => recvmsg;
    recvfrom(6) => recvfrom;
    sendto(6) => sendto;
    send(4) => send;
    sendmsg(3) => sendmsg;
    accept(3) => accept;
    accept4(4) => accept4;
    connect(3) => connect;
    eventfd_read(2) => eventfd_read;
    sigwait(2) => sigwait;
    sigwaitinfo(2) => sigwaitinfo;
    sigtimedwait(3) => sigtimedwait;
    sigsuspend(1) => sigsuspend;
    pause(0) => pause;
    wait(1) => wait;
    waitpid(3) => waitpid;
    waitid(4) => waitid;
    wait4(4) => wait4;
    system(1) => system;
    fread(4) => fread;
    fgets(3) => fgets;
    getline(3) => getline;
    getdelim(4) => getdelim;
    fgetc(1) => fgetc;
    getc(1) => getc;
    getchar(0) => getchar;
    fsync(1) => fsync;
}
